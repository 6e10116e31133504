"""On which line of a TOML file a key is.

`tomllib` keeps no positions, so ever longer beginnings of the file are parsed until the key is
there. Quadratic, exact for all of TOML, and done only to report an error.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from gymbridge_generator.toml import is_array, is_table

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["line_of"]

_CLOSERS = ("", "]", "]]", '"""', "'''")
"""What makes a beginning whole that stops inside an array or a long text."""


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line on which ``path`` begins, or the nearest of its parents that is there."""
    lines = text.splitlines(keepends=True)
    best, depth = 1, 0
    for number in range(1, len(lines) + 1):
        beginning = "".join(lines[:number])
        reached = max(_depth(beginning + closer, path) for closer in _CLOSERS)
        if reached > depth:
            best, depth = number, reached
        if depth == len(path):
            break
    return best


def _depth(text: str, path: Sequence[str | int]) -> int:
    """Return how much of ``path`` there is in ``text``: nothing if that is not TOML."""
    try:
        node: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return 0
    for depth, key in enumerate(path):
        if is_table(node) and isinstance(key, str) and key in node:
            node = node[key]
            continue
        if is_array(node) and isinstance(key, int) and key < len(node):
            node = node[key]
            continue
        return depth
    return len(path)
