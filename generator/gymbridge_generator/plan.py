"""Computes all text that templates place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming
from gymbridge_generator.converter_plan import ConverterPlan
from gymbridge_generator.forms import FORMS
from gymbridge_generator.library_plan import LibraryPlan
from gymbridge_generator.package_plan import FolderPlan, PackagePlan, PassedOnPlan
from gymbridge_generator.testing_plan import TestingPlan
from gymbridge_generator.wrapper_plan import WrapperPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import DataclassInstance

    from gymbridge_generator.forms import FormFacts
    from gymbridge_generator.load import Selection
    from gymbridge_generator.model import Backend


@dataclass(frozen=True)
class Page:
    """A file to render: its path, its template and the content of the template."""

    path: str
    template: str
    content: DataclassInstance


def plan(selection: Selection) -> list[Page]:
    """Return the files of a spec."""
    spec, pairs = selection.spec, selection.pairs
    forms = [FORMS[form] for form in spec.matrix.forms]
    root = PackagePlan.root(pairs, spec.package, forms)
    template = "package.py.jinja" if root.passed_on or root.wrappers else "root.py.jinja"
    pages = [Page("__init__.py", template, root)]
    for form in forms:
        pages += _form(selection, form)
    backends = FolderPlan("The array libraries: their backends, and their types in signatures.")
    converters = FolderPlan("Functions that convert arrays, and trees of them.")
    pages.append(Page("backends/__init__.py", "folder.py.jinja", backends))
    pages.append(Page("converters/__init__.py", "folder.py.jinja", converters))
    pages.append(Page("testing.py", "testing.py.jinja", TestingPlan.of(selection)))
    for library in {library.name: library for pair in pairs for library in pair}.values():
        content = LibraryPlan.of(library)
        pages.append(Page(f"backends/{library.name}.py", "backend.py.jinja", content))
    for source, target in pairs:
        # one converter for observations, one for actions
        pages += [_converter(source, target), _converter(target, source)]
    return list({page.path: page for page in pages}.values())


def _form(selection: Selection, form: FormFacts) -> Iterator[Page]:
    """Return the files of one form."""
    spec, pairs = selection.spec, selection.pairs
    folder = f"{form.folder}/" if form.folder else ""
    if folder:
        below = PackagePlan.below(pairs, spec.package, form)
        yield Page(f"{folder}__init__.py", "package.py.jinja", below)
    if spec.package.array_conversion and form.array_conversion:
        anything = PassedOnPlan.of(form.array_conversion)
        yield Page(f"{folder}array_conversion.py", "array_conversion.py.jinja", anything)
    for source, target in pairs:
        path = f"{folder}{naming.forward(source, target)}.py"
        wrapper = WrapperPlan.of(source, target, form, spec.package.name, pairs)
        yield Page(path, form.template, wrapper)


def _converter(source: Backend, target: Backend) -> Page:
    path = f"converters/{naming.forward(source, target)}.py"
    return Page(path, "converter.py.jinja", ConverterPlan.of(source, target))
