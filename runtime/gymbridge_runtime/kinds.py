"""What is found out about types once, and looked up from then on."""

from __future__ import annotations

from typing import Final

from typing_extensions import TypeVar

__all__ = ["Kinds"]

KnownT = TypeVar("KnownT")

_KEPT: Final = 1024
"""How many types are remembered: a program may make types without end."""


class Kinds(dict[type[object], KnownT]):
    """From types to what is known of them; their ``__missing__`` finds it out."""

    def remember(self, kind: type[object], known: KnownT) -> KnownT:
        """Keep and return what is known of ``kind``; too much is forgotten, and found out anew."""
        if len(self) >= _KEPT:
            self.clear()
        self[kind] = known
        return known
