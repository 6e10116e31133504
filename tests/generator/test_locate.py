"""Errors name the exact line of a key."""

from __future__ import annotations

import tomllib

import pytest

from gymbridge_generator import locate
from gymbridge_generator.locate import line_of

TEXT = '''\
# a comment
title = """
three
lines"""

[[backend]]
name = "a"
imports = [
    "one",  # and a comment
    "two", "three",
]

[[backend]]
name = "b"
dlpack = { zero_d = true, nested = { deep = 1 } }

[backend.more]
x.y = 1

[matrix]
pairs = [
    ["a", "b"],
    [
        "b",
        "a",
    ],
]
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("backend",), 6),
        (("backend", 0, "name"), 7),
        (("backend", 0, "imports"), 8),
        (("backend", 0, "imports", 0), 9),
        (("backend", 0, "imports", 2), 10),
        (("backend", 1), 13),
        (("backend", 1, "name"), 14),
        (("backend", 1, "dlpack", "nested", "deep"), 15),
        (("backend", 1, "more", "x", "y"), 18),
        (("matrix", "pairs", 0), 22),
        (("matrix", "pairs", 1), 23),
        (("matrix", "pairs", 1, 1), 25),
        # a missing key is reported at its table
        (("backend", 1, "title"), 13),
        (("matrix", "forms"), 20),
        (("package", "name"), 1),
    ],
)
def test_every_key_is_found_on_its_line(path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(TEXT)
    assert line_of(TEXT, path) == line


def test_keys_in_an_inline_table_of_several_lines_are_found() -> None:
    text = "a = 1\nb = { c = [\n1,\n2,\n], d = { e = [\n3,\n] } }\n"
    tomllib.loads(text)
    paths: list[tuple[str | int, ...]] = [("b",), ("b", "c", 1), ("b", "d"), ("b", "d", "e", 0)]
    assert [line_of(text, path) for path in paths] == [2, 4, 5, 6]


def test_keys_beside_deeply_nested_brackets_are_found() -> None:
    text = "a = 1\nb = [[[\n" + "1,\n" * 10 + "]]]\nc = 2\n"
    tomllib.loads(text)
    assert [line_of(text, (key,)) for key in "abc"] == [1, 13, 14]
    # a missing top-level key is reported on line 1, even if no part of the file is valid alone
    assert line_of("b = [[[\n1,\n]]]\n", ("c",)) == 1


def test_a_search_that_takes_too_long_stops_after_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        locate, "_PATIENCE", len(TEXT) + 2
    )  # enough to parse the whole file and one beginning
    assert 2 < line_of(TEXT, ("title",)) < len(TEXT.splitlines())
