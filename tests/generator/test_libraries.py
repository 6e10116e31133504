"""Facts of a spec reach the generated module of the library."""

from __future__ import annotations

import ast

import pytest

from gymbridge_generator.fast_path import FastPaths
from gymbridge_generator.load import parse
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import shipped_spec, templates


def module(text: str) -> ast.Module:
    """Return the generated module of the library in ``text``."""
    return ast.parse(
        render(plan(parse(text, "my.toml")), templates(), "my.toml")["backends/strict.py"]
    )


@pytest.mark.parametrize(
    ("more", "copies"), [("", False), ("copies_in = true\n", True), ("host = false\n", True)]
)
def test_a_library_without_host_memory_copies_imports(
    own_spec: str, more: str, *, copies: bool
) -> None:
    (said,) = [
        ast.literal_eval(node.value)
        for node in ast.walk(module(own_spec + more))
        if isinstance(node, ast.keyword) and node.arg == "copies_in"
    ]
    assert said is copies


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("STRICT", "from mine.backend import STRICT"),
        ("BACKEND", "from mine.backend import BACKEND as STRICT"),
    ],
)
def test_a_hand_written_backend_may_have_any_name(own_spec: str, name: str, statement: str) -> None:
    text = f'{own_spec}runtime = "mine.backend:{name}"\n'
    found = {ast.unparse(node) for node in ast.walk(module(text)) if isinstance(node, ast.stmt)}
    assert statement in found


@pytest.mark.parametrize(
    ("source", "target", "has_path"),
    [
        ("numpy", "torch", True),
        ("torch", "numpy", True),
        ("jax", "mlx", True),
        ("numpy", "strict", False),  # the entry of strict names no calls
        ("strict", "torch", False),
    ],
)
def test_a_pair_has_a_fast_path_where_both_libraries_name_calls(
    own_spec: str, source: str, target: str, has_path: bool
) -> None:
    shipped = parse(shipped_spec().read_text(encoding="utf-8"), "backends.toml").spec.backend
    known = {backend.name: backend for backend in (*shipped, *parse(own_spec, "").spec.backend)}
    paths = FastPaths.of(known[source], known[target])
    assert (paths.obs is not None) is has_path
    assert (paths.action is not None) is has_path
