"""What a space proves about the integers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from gymbridge_runtime.dtypes import AnyDType, is_integer
from gymbridge_runtime.narrowing import is_box, is_discrete, is_multi_discrete
from gymnasium import spaces

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["proves_fit"]

_WIDEST: AnyDType = np.dtype(np.int64)


def proves_fit(space: AnySpace, target: AnyBackend) -> bool:
    """Tell whether every integer in ``space`` fits the dtype in which ``target`` would keep it.

    Spaces of arrays and numbers may prove it. One that holds others proves nothing about what an
    environment puts beside what is declared.
    """
    extremes = _extremes(space)
    if space.dtype is None or extremes is None:
        return False
    # a space of floats contains integers, too
    dtype = space.dtype if is_integer(space.dtype) else _WIDEST
    stored = target.narrowest(dtype)
    if stored is None or stored == dtype:
        return stored is not None
    bounds = np.iinfo(stored)
    least, greatest = extremes
    return bounds.min <= least and greatest <= bounds.max


def _extremes(space: AnySpace) -> tuple[float, float] | None:
    """Return the least and the greatest number in ``space``, where it bounds its numbers.

    They are Python's: an array of small floats, or an addition of large integers, would overflow.
    """
    if is_box(space):
        return _extremes_of(space.low, space.high) if space.low.size else (0, 0)
    if is_discrete(space):
        return int(space.start), int(space.start) + int(space.n) - 1
    if is_multi_discrete(space):
        if not space.nvec.size:
            return 0, 0
        starts, counts = (map(int, array.ravel()) for array in (space.start, space.nvec))
        ranges = [(start, start + count - 1) for start, count in zip(starts, counts, strict=True)]
        return min(first for first, _ in ranges), max(last for _, last in ranges)
    return (0, 1) if isinstance(space, spaces.MultiBinary) else None


def _extremes_of(low: HostArray, high: HostArray) -> tuple[float, float]:
    least, greatest = cast("tuple[np.generic, np.generic]", (low.min(), high.max()))
    return cast("tuple[float, float]", (least.item(), greatest.item()))
