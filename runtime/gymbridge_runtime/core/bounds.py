"""Proofs from a space that its integers fit the target."""

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

_INTEGERS: tuple[AnyDType, ...] = tuple(map(np.dtype, "bhilqBHILQ"))


def proves_fit(space: AnySpace, target: AnyBackend) -> bool:
    """Tell whether every integer in ``space`` fits the dtype in which ``target`` stores it.

    Environments return other dtypes than they declare, so every dtype is tried. A space of spaces
    proves nothing, because environments return more items than it declares.
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
    """Return the bounds of ``space`` as Python numbers, which do not overflow, or None."""
    if is_box(space):
        ends = [space.low.min(), space.high.max()] if space.low.size else []
        return [cast("float", end.item()) for end in cast("list[np.generic]", ends)]
    if is_discrete(space):
        return [int(space.start), int(space.start) + int(space.n) - 1]
    if is_multi_discrete(space):
        pairs = zip(map(int, space.start.ravel()), map(int, space.nvec.ravel()), strict=True)
        return [end for first, count in pairs for end in (first, first + count - 1)]
    return [0, 1] if isinstance(space, spaces.MultiBinary) else None
