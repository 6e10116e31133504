"""Memory in every layout that an environment may return, and a way to overwrite it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Host

SIZES = (8, 4096, 99_992, 100_000, 131_072, 1 << 20, 20_000_000)
"""Sizes in bytes: from two numbers to an image batch, with sizes next to thresholds."""


class Exposed(NamedTuple):
    """An array and the memory below it, which `overwrite` changes."""

    array: Host
    memory: Host

    def overwrite(self) -> None:
        self.memory.fill(0xA5)


def _memory(size: int, offset: int) -> Host:
    """Return ``size`` bytes that begin ``offset`` bytes behind a multiple of 64."""
    raw = np.zeros(size + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    return raw[start : start + size]


def _numbers(memory: Host) -> Host:
    numbers: Host = memory.view(np.float32)
    numbers[...] = np.arange(numbers.size) % 1021
    return numbers


def _contiguous(size: int, offset: int = 0) -> Exposed:
    memory = _memory(size, offset)
    return Exposed(_numbers(memory).reshape(2, -1), memory)


def _between_numbers(size: int) -> Exposed:
    exposed = _contiguous(size, 2)
    assert not exposed.array.flags.aligned
    return exposed


def _fortran(size: int) -> Exposed:
    array, memory = _contiguous(size)
    return Exposed(array.T, memory)


def _strided(size: int) -> Exposed:
    memory = _memory(2 * size, 0)
    return Exposed(_numbers(memory)[::2].reshape(-1, 1), memory)


def _within_bytes(size: int) -> Exposed:
    """Numbers in records of six bytes: the stride is no multiple of the item size."""
    memory = _memory(size // 4 * 6, 0)
    array: Host = memory.view(np.dtype([("number", "f4"), ("rest", "u2")]))["number"]
    array[...] = np.arange(array.size) % 1021
    return Exposed(array, memory)


def _negative(size: int) -> Exposed:
    array, memory = _contiguous(size)
    return Exposed(array[::-1, ::-1], memory)


def _broadcast(size: int) -> Exposed:
    row, memory = _contiguous(max(8, size // 64 * 8))
    numbers = row.reshape(-1)
    return Exposed(as_strided(numbers, (8, numbers.size), (0, numbers.itemsize)), memory)


def _read_only(size: int) -> Exposed:
    array, memory = _contiguous(size)
    array.flags.writeable = False
    return Exposed(array, memory)


LAYOUTS: dict[str, Callable[[int], Exposed]] = {
    "aligned to 64 bytes": _contiguous,
    "aligned to 4 bytes": lambda size: _contiguous(size, 4),
    "between numbers": _between_numbers,
    "Fortran": _fortran,
    "strided": _strided,
    "within bytes": _within_bytes,
    "negative": _negative,
    "broadcast": _broadcast,
    "read-only": _read_only,
}


def expose(layout: str, size: int) -> Exposed:
    """Return an array of about ``size`` bytes in ``layout``."""
    return LAYOUTS[layout](size)
