"""How errors quote what a file says: on one line, readable, and not at any length."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["quoted", "spell"]

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
    """Return ``value`` as Python writes it, with its middle left out where it is long."""
    return _QUOTES.repr(value)


def spell(path: Sequence[str | int]) -> str:
    """Spell a key as people do: ``backend[0].name``, with quotes where TOML needs them."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{_key(part)}" for part in path)[1:]


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "_").isidentifier()
    return key if bare and len(key) <= _LONGEST else quoted(key)
