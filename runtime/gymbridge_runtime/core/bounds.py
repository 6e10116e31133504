"""What a space proves about the integers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from gymbridge_runtime.core.narrowing import is_box, is_discrete, is_multi_discrete
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import AnySpace

__all__ = ["proves_fit"]

_INTEGERS: tuple[AnyDType, ...] = tuple(map(np.dtype, "bhilqBHILQ"))


def proves_fit(space: AnySpace, target: AnyBackend) -> bool:
    """Tell whether every integer in ``space`` fits the dtype in which ``target`` would keep it.

    The integers may have any dtype: environments return others than they declare. A space that
    holds other spaces proves nothing: environments return more than these declare.
    """
    bounds = _bounds(space)
    if bounds is None:
        return False
    least, greatest = min(bounds, default=0), max(bounds, default=0)
    for dtype in _INTEGERS:
        stored = target.narrowest(dtype)
        if stored is None or stored == dtype:
            continue  # nothing is narrowed
        given, kept = np.iinfo(dtype), np.iinfo(stored)
        if max(least, given.min) < kept.min or kept.max < min(greatest, given.max):
            return False
    return True


def _bounds(space: AnySpace) -> Sequence[float] | None:
    """Return the bounds of the numbers in ``space``, or None where there are none.

    They are Python's: an array of small floats, or an addition of large integers, would overflow.
    """
    if is_box(space):
        ends = [space.low.min(), space.high.max()] if space.low.size else []
        return [cast("float", end.item()) for end in cast("list[np.generic]", ends)]
    if is_discrete(space):
        return [int(space.start), int(space.start) + int(space.n) - 1]
    if is_multi_discrete(space):
        pairs = zip(map(int, space.start.ravel()), map(int, space.nvec.ravel()), strict=True)
        return [end for first, count in pairs for end in (first, first + count - 1)]
    return [0, 1] if isinstance(space, spaces.MultiBinary) else None
