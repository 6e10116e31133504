"""There are few suppressions of type checkers."""

from __future__ import annotations

import ast
import re
import tokenize
from typing import TYPE_CHECKING

import pytest

from tests.support import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCES = ("generated", "generator", "runtime")
MOST = 12
SILENCED = re.compile(r"#\s*(type:\s*ignore|(based)?pyright:|mypy:|pyrefly:|ty:)")
WITH_A_REASON = re.compile(r"# pyright: ignore\[report\w+\] \S.{8,}")


def modules(source: str) -> Iterator[Path]:
    """Return the modules below a source root."""
    found = sorted((REPOSITORY / source).rglob("*.py"))
    assert len(found) > 20
    return iter(found)


def silenced(source: str) -> list[str]:
    """Return the comments that suppress a type checker."""
    comments: list[str] = []
    for path in modules(source):
        with tokenize.open(path) as file:
            tokens = list(tokenize.generate_tokens(file.readline))
        found = [token.string for token in tokens if token.type == tokenize.COMMENT]
        comments += [comment for comment in found if SILENCED.search(comment)]
    return comments


def test_at_most_a_dozen_suppressions_and_each_has_a_reason() -> None:
    comments = [comment for source in SOURCES for comment in silenced(source)]
    assert 0 < len(comments) <= MOST
    assert [comment for comment in comments if not WITH_A_REASON.fullmatch(comment)] == []


@pytest.mark.parametrize("source", ["generated", "generator"])
def test_no_suppressions_in_generated_code_and_the_generator(source: str) -> None:
    assert silenced(source) == []


def test_generated_code_imports_no_any() -> None:
    """What nothing can be known of is `types.AnyType`: the defaults of type variables, `infer`.

    And the rewards of vector environments, whose type variable has a default from Gymnasium 1.4 on.
    """
    uses: set[str] = set()
    for path in modules("generated"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.Name) and node.id == "Any"), path
            assert not (isinstance(node, ast.alias) and node.name in {"Any", "AnyType"}), path
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.FunctionDef) and "AnyType" in _annotations(child):
                    place = "" if child.name == "infer" else f"{path.parent.name}: "
                    uses.add(place + child.name)
    assert uses == {"infer", "vector: __init__"}


def _annotations(function: ast.FunctionDef) -> str:
    arguments = [*function.args.args, *function.args.kwonlyargs]
    nodes = [function.returns, *(argument.annotation for argument in arguments)]
    return " ".join(ast.unparse(node) for node in nodes if node is not None)
