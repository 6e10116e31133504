"""Finds the line of a key in a TOML file.

`tomllib` keeps no positions, so beginnings of the file are parsed: the line is the last one of the
shortest beginning that has the key. The result is exact unless brackets are nested deeper than
in any real spec. Lines are computed only to report an error.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from contextlib import suppress
from typing import TYPE_CHECKING

from gymbridge_generator.toml import is_array, is_table

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOSERS = ("", "]", "]]", '"""', "'''", "]}", "]}}")
"""Endings that complete a beginning which stops inside an array or a long text. Inline tables have
line ends only in their arrays."""
_PATIENCE = 1 << 21
"""The most characters that are parsed for one file; a key not found by then gets the last line."""


class Lines:
    """The lines of one file. Text that was parsed for one key is not parsed again for the next."""

    def __init__(self, text: str) -> None:
        self._lines: list[str] = text.split("\n")  # TOML has no other line ends
        self._parsed: dict[int, object] = {}
        self._patience: int = _PATIENCE

    def line_of(self, path: Sequence[str | int]) -> int:
        """Return the line on which ``path`` begins, or the line of its nearest parent."""
        numbers = range(1, len(self._lines) + 1)
        depth = self._depth(numbers[-1], path)
        # more text never removes a key
        first = bisect_left(numbers, depth, key=lambda number: self._depth(number, path))
        return self._whole(numbers[first])[0] if depth else 1

    def _depth(self, number: int, path: Sequence[str | int]) -> int:
        return _depth(self._whole(number)[1], path)

    def _whole(self, number: int) -> tuple[int, object]:
        """Return the first line from ``number`` on that ends valid TOML, and the tables so far."""
        while self._patience > 0 or number in self._parsed:
            if number not in self._parsed:
                self._parsed[number] = self._parse(number)
            if self._parsed[number] is not None:
                return number, self._parsed[number]
            if number == len(self._lines):
                return number, None
            number += 1
        return len(self._lines), None

    def _parse(self, number: int) -> object:
        """Return the tables in the lines up to ``number``; None if they are not valid TOML."""
        text = "\n".join([*self._lines[:number], ""])  # a closer must not end up in a comment
        for closer in _CLOSERS:
            self._patience -= len(text)
            with suppress(ValueError, RecursionError):
                return tomllib.loads(text + closer)
        return None


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line on which ``path`` begins, or the line of its nearest parent."""
    return Lines(text).line_of(path)


def _depth(node: object, path: Sequence[str | int]) -> int:
    """Return how many keys of ``path`` exist in ``node``."""
    for depth, key in enumerate(path):
        if is_table(node) and isinstance(key, str) and key in node:
            node = node[key]
            continue
        if is_array(node) and isinstance(key, int) and key < len(node):
            node = node[key]
            continue
        return depth
    return len(path)
