"""The generator, its templates and the runtime agree."""

from __future__ import annotations

import ast
import inspect
from typing import get_args

import gymbridge_runtime
import pytest
from gymbridge_runtime.backends.dlpack import DlpackBackend

from gymbridge_generator import naming
from gymbridge_generator.load import parse
from gymbridge_generator.model import Dlpack, Export, Spec
from gymbridge_generator.package_plan import RUNTIME_API
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import shipped_spec, templates


def bound_names(tree: ast.Module) -> set[str]:
    """Return what a module imports, or binds when an exception is caught."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


@pytest.fixture(params=["shipped", "own"])
def spec(request: pytest.FixtureRequest, own_spec: str) -> str:
    return own_spec if request.param == "own" else shipped_spec().read_text(encoding="utf-8")


def test_every_name_that_templates_bind_is_reserved(spec: str) -> None:
    selection = parse(spec, "spec.toml")
    own = {naming.wrapper(a, b) for a, b in selection.pairs}
    own |= {naming.forward(a, b) for a, b in selection.pairs}
    own |= {"require_runtime_api", "lazy_names"}  # only in packages with wrappers
    own |= {"testing", "BridgeMismatchError", "ClassVar", "Library", "Pair", "check_bridge"}
    own |= {"ArrayConversion", "array_conversion", "module_name_to_namespace", "module_namespace"}
    own |= set(get_args(Export))
    for pair in selection.pairs:
        for library in pair:
            own |= naming.Names.of(library).all() | {library.module.partition(".")[0]}
            for statement in library.imports or ():
                own |= bound_names(ast.parse(statement))
    for path, text in render(plan(selection), templates(), "spec.toml").items():
        assert bound_names(ast.parse(text)) <= own | naming.RESERVED, path


def test_generated_code_requires_the_current_runtime_api() -> None:
    assert RUNTIME_API == gymbridge_runtime.RUNTIME_API


def test_everything_a_package_re_exports_exists() -> None:
    assert set(get_args(Export)) <= set(gymbridge_runtime.__all__)


def test_the_generic_backend_takes_every_fact_of_a_spec() -> None:
    parameters = inspect.signature(DlpackBackend).parameters.keys()
    always = {"name", "title", "reference", "module", "array", "mutable", "read_only", "copies_in"}
    always |= {"views"}
    assert parameters == always | Dlpack.model_fields.keys()


def test_a_library_needs_only_name_title_module_and_array(own_spec: str) -> None:
    (backend,) = parse(own_spec, "my.toml").spec.backend
    required = [name for name, field in type(backend).model_fields.items() if field.is_required()]
    assert required == ["name", "title", "module", "array"]
    assert [n for n, f in Spec.model_fields.items() if f.is_required()] == ["spec_version"]
