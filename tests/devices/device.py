"""A simulated device of PyTorch, as tests see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SIMULATED", "Device", "Transfers"]

SIMULATED = "simulated"
"""What PyTorch calls the devices that are made here."""


class Transfers(NamedTuple):
    """How many copies of tensors were made; kernels make none."""

    uploads: int = 0
    downloads: int = 0
    moves: int = 0
    """From one index to another."""


@dataclass(frozen=True)
class Device:
    """A device that was started in this process, where it stays for ever."""

    name: str
    take_transfers: Callable[[], Transfers]
    """Returns what was transferred since it was last called."""
    other: str | None = None
    """Its second index, where it has one."""
