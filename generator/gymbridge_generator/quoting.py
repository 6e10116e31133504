"""Quotes other people's text in messages: on one line, readable and short."""

from __future__ import annotations

import reprlib
from difflib import get_close_matches
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 80


class _Quotes(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring: int = _LONGEST
        self.maxother: int = _LONGEST

    @override
    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write very long numbers in decimal
        return self.repr_str(hex(x), level)[1:-1] if x.bit_length() > _LONGEST else repr(x)


_QUOTES = _Quotes()


def quoted(value: object) -> str:
    """Return the ``repr`` of ``value``; a long one loses its middle."""
    return _QUOTES.repr(value)


def printable(text: object) -> str:
    """Return a text; characters that would move a terminal's cursor are escaped."""
    words = str(text)
    return words if words.isprintable() else ascii(words)


def instead(name: str, known: Sequence[str]) -> str:
    """Suggest a name in ``known``, or list them all."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"allowed are {', '.join(known)}"


def spell(path: Sequence[str | int]) -> str:
    """Spell the path of a key, such as ``backend[0].name``, with the quotes that TOML needs."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in path)[1:]


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "_").isidentifier()
    return key if bare and len(key) <= _LONGEST else quoted(key)
