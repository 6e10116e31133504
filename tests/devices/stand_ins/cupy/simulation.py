"""The state that all modules of the stand-in share, and functions for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Transfers", "count", "finish", "later", "take_transfers"]

device_count: int = 2
"""The number of GPUs; a test may set it to 0."""


class Transfers(NamedTuple):
    """The number of array copies; arrays without elements need none."""

    uploads: int = 0
    downloads: int = 0
    moves: int = 0
    """From one GPU to another."""


_transfers: list[str] = []
_late: list[Callable[[], None]] = []


def take_transfers() -> Transfers:
    """Return the transfers since the last call."""
    found = Transfers(*map(_transfers.count, Transfers._fields))
    _transfers.clear()
    return found


def count(kind: str) -> None:
    """Count a transfer of this kind."""
    _transfers.append(kind)


def later(copy: Callable[[], None]) -> None:
    """Make a copy at the next wait for the GPU."""
    _late.append(copy)


def finish() -> None:
    """Make all pending copies."""
    while _late:
        _late.pop(0)()
