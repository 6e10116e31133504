"""Renders a plan: returns the text of every file and writes nothing."""

from __future__ import annotations

import ast
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from jinja2 import Environment, FunctionLoader, StrictUndefined, Undefined
from jinja2.meta import find_referenced_templates

from gymbridge_generator.header import with_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gymbridge_generator.plan import Page

MARKER = "py.typed"
"""The empty file that tells type checkers that the package has types."""


def render(
    pages: Iterable[Page], templates: Mapping[str, str], spec: str, *, package: bool = True
) -> dict[str, str]:
    """Return the text of every file by its path, all of it valid Python.

    Args:
        pages: What to render.
        templates: Every template by its name.
        spec: The name of the spec in headers.
        package: Whether the pages are a package, which needs the marker ``py.typed``.
    """
    environment = _environment(templates)
    files = {MARKER: ""} if package else {}
    for page in pages:
        body = environment.get_template(page.template).render(content=page.content)
        _ = ast.parse(body, filename=page.path)
        used = {name: templates[name] for name in _used(page.template, environment, templates)}
        inputs = json.dumps([used, asdict(page.content)], sort_keys=True)
        files[page.path] = with_header(body, [spec, f"templates/{page.template}"], inputs)
    return files


def _environment(templates: Mapping[str, str]) -> Environment:
    return Environment(
        # the name puts the template into tracebacks
        loader=FunctionLoader(lambda name: (templates[name], name, None)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_placeable,
        autoescape=False,
    )


def _placeable(value: object) -> str | int:
    if isinstance(value, Undefined):
        return str(value)  # raises, and names what is undefined
    # StrictUndefined lets `{{ a if b }}` place nothing, and None would be placed as "None"
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"a template places {value!r}")
    return value


def _used(name: str, environment: Environment, templates: Mapping[str, str]) -> set[str]:
    """Return the names of a template and of the templates that it imports."""
    imported = find_referenced_templates(environment.parse(templates[name]))
    return {name}.union(*(_used(other, environment, templates) for other in imported if other))
