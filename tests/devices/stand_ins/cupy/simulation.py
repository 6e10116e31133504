"""What a test asks of the simulation, and what of it all modules share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Transfers", "count", "finish", "later", "take_transfers"]

device_count: int = 2
"""How many GPUs there are; a test may say that there is none."""


class Transfers(NamedTuple):
    """How many copies of arrays were made; arrays without elements need none."""

    uploads: int = 0
    downloads: int = 0
    moves: int = 0
    """From one GPU to another."""


_transfers: list[str] = []
_late: list[Callable[[], None]] = []


def take_transfers() -> Transfers:
    """Return what was transferred since this was last asked."""
    found = Transfers(*map(_transfers.count, Transfers._fields))
    _transfers.clear()
    return found


def count(kind: str) -> None:
    """Count a transfer of this kind."""
    _transfers.append(kind)


def later(copy: Callable[[], None]) -> None:
    """Make a copy when the GPU is next waited for."""
    _late.append(copy)


def finish() -> None:
    """Make the copies that are still to be made."""
    while _late:
        _late.pop(0)()
