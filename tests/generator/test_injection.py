"""A spec is data: it cannot run code, end a string or leave the folder."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbridge_generator.errors import SpecError
from gymbridge_generator.expressions import import_statement, type_expression
from gymbridge_generator.header import HEADER_LINES, with_header
from gymbridge_generator.load import parse
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import templates

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """\
spec_version = 1
extends = ["gymbridge"]

[package]
name = "mine"

[[backend]]
name = "mine"
title = "Mine"
class_name = "Mine"
module = "mine"
array = "mine.Array"
dtype = "str"
imports = ["import mine"]
"""

HEAD = SPEC.splitlines()[:6]
BACKEND = SPEC.splitlines()[6:]

ATTACKS = [
    "../../evil",
    "/etc/evil",
    "a.b",
    "mine\\nimport os",
    'mine\\"\\"\\"\\nimport os',
    "mine'",
    "mine{{ 7 * 7 }}",
    "mine\\\\",
    "mine\\u0000",
    "mine; import os",
    "mine # x",
    "\N{FULLWIDTH LATIN SMALL LETTER M}ine",
    "__import__('os').system('x')",
    "(lambda: 0)()",
    "[x for x in y]",
    "mine.__class__",
    '\\"x\\"',
]


# these values are harmless for these keys
HARMLESS = {
    ("title", "a.b"),
    ("title", "mine.__class__"),
    ("distribution", "a.b"),
    ("distribution", "mine.__class__"),
    *((key, "mine # x") for key in ("dtype", "annotation", "leaf", "action", "device")),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("key", ["name", "title", "class_name", "module", "array", "dtype"])
def test_attacks_are_refused(key: str, attack: str) -> None:
    lines = [f'{key} = "{attack}"' if line.startswith(f"{key} =") else line for line in BACKEND]
    check_refused("\n".join([*HEAD, *lines]), key, attack)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    "key",
    ["annotation", "leaf", "action", "device", "extra", "distribution", "runtime", "read_only"],
)
def test_attacks_on_optional_keys_are_refused(key: str, attack: str) -> None:
    check_refused(f'{SPEC}{key} = "{attack}"\n', key, attack)


def check_refused(text: str, key: str, attack: str) -> None:
    if (key, attack) in HARMLESS:
        files = render(plan(parse(text, "my.toml")), templates(), "my.toml")
        assert "# x" not in files["backends/mine.py"]
        return
    with pytest.raises(SpecError) as caught:
        parse(text, "my.toml")
    assert f"backend[0].{key}: " in str(caught.value) or "backend[0].array: " in str(caught.value)


@pytest.mark.parametrize(
    "attack",
    [
        "import os; os.remove('x')",
        "import os\\nimport sys",
        "from __future__ import annotations",
        "from . import x",
        "from x import *",
        "from x import (a, b)",
        "print('x')",
        "",
        "import \N{FULLWIDTH LATIN SMALL LETTER M}ine",
    ],
)
def test_statements_are_refused(attack: str) -> None:
    with pytest.raises(SpecError, match=r"backend\[0\]\.imports\[0\]: "):
        parse(SPEC.replace('["import mine"]', f'["{attack}"]'), "my.toml")


@pytest.mark.parametrize("attack", ["../up", "mine.bridges\\n", "a'b", "1a", "a..b", "class"])
def test_package_names_are_refused(attack: str) -> None:
    with pytest.raises(SpecError, match=r"package\.name: "):
        parse(SPEC.replace('[package]\nname = "mine"', f'[package]\nname = "{attack}"'), "my.toml")


def test_expressions_are_written_in_pythons_own_spelling() -> None:
    assert type_expression(" a . b|\\\n c [ int,str ]") == "a.b | c[int, str]"
    assert type_expression("(a  # a comment\n)") == "a"
    assert type_expression("tuple[int, ...]|None") == "tuple[int, ...] | None"
    assert type_expression("a" * 200) == "a" * 200
    assert import_statement("from   a.b import(  c  as  d  )  # a comment") == (
        "from a.b import c as d"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("A,", "a, b", "(a, b)", "(a | b)[c]", "a | (b | c)", "tuple[()]", "", "None()"),
        *("a" * 201, "1", "a[1]", "a['b']", "__builtins__", "a | __name__", "a.__dict__"),
    ],
)
def test_texts_that_are_not_one_type_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a type expression"):
        type_expression(text)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30) | st.from_regex(r"[a-z.|\[\], ()'\"\n#=:*+]{1,20}", fullmatch=True))
def test_type_expressions_hold_only_types(text: str) -> None:
    try:
        spelled = type_expression(text)
    except ValueError:
        return
    assert not set(spelled) & set("\"'\n#()=:{}\\")
    for node in ast.walk(ast.parse(spelled, mode="eval")):
        assert not isinstance(node, (ast.Call, ast.Lambda, ast.Await, ast.NamedExpr))


def test_paths_stay_in_the_output_folder(own_spec: str, tmp_path: Path) -> None:
    selection = parse(own_spec, "my.toml")
    for path in render(plan(selection), templates(), "my.toml"):
        assert (tmp_path / path).resolve().is_relative_to(tmp_path)


def test_a_file_name_cannot_end_the_header() -> None:
    text = with_header("x = 1\n", ["a\nimport os", "b"], "")
    assert text.splitlines()[HEADER_LINES:] == ["x = 1"]
    assert text.splitlines()[0] == r"# @generated by gymbridge from 'a\nimport os' and b."
