"""What a space proves about the integers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from gymbridge_runtime.narrowing import is_box, is_discrete, is_multi_discrete
from gymnasium import spaces

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["proves_fit"]

_INTEGERS: tuple[AnyDType, ...] = tuple(map(np.dtype, "bhilqBHILQ"))


def proves_fit(space: AnySpace, target: AnyBackend) -> bool:
    """Tell whether every integer in ``space`` fits the dtype in which ``target`` would keep it.

    Spaces of arrays and numbers may prove it, whatever dtype of integers they come as: environments
    return others than they declare. A space that holds others proves nothing about what an
    environment puts beside what is declared.
    """
    extremes = _extremes(space)
    return extremes is not None and all(_fit(extremes, dtype, target) for dtype in _INTEGERS)


def _fit(extremes: tuple[float, float], dtype: AnyDType, target: AnyBackend) -> bool:
    """Tell whether ``target`` keeps all numbers between ``extremes`` that ``dtype`` can be."""
    stored = target.narrowest(dtype)
    if stored is None or stored == dtype:
        return True  # or it refuses them all
    given, kept = np.iinfo(dtype), np.iinfo(stored)
    least, greatest = extremes
    return kept.min <= max(least, given.min) and min(greatest, given.max) <= kept.max


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
