"""A simulated device of PyTorch, as tests see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

SIMULATED = "simulated"
"""PyTorch's name for the simulated devices."""


class Transfers(NamedTuple):
    """The number of tensor copies between devices; kernels make none."""

    uploads: int = 0
    downloads: int = 0
    moves: int = 0
    """From one index to another."""


@dataclass(frozen=True)
class Device:
    """A started device; a process cannot stop it."""

    name: str
    take_transfers: Callable[[], Transfers]
    """Returns the transfers since the last call."""
    other: str | None = None
    """The name of its second index, if it has one."""
