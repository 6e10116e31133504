"""What a space proves about the integers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.dtypes import AnyDType, is_integer
from gymbridge_runtime.narrowing import (
    is_box,
    is_dict_space,
    is_discrete,
    is_multi_discrete,
    is_one_of,
    is_tuple_space,
)
from gymnasium import spaces

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["proves_fit"]

_WIDEST: AnyDType = np.dtype(np.int64)


def proves_fit(space: AnySpace, target: AnyBackend) -> bool:
    """Tell whether every integer in ``space`` fits the dtype in which ``target`` would keep it."""
    if is_dict_space(space):
        return all(proves_fit(below, target) for below in space.values())
    if is_tuple_space(space) or is_one_of(space):
        return all(proves_fit(below, target) for below in space.spaces)
    if isinstance(space, spaces.Sequence):
        return proves_fit(space.feature_space, target)
    if isinstance(space, spaces.Text):
        return True
    dtype, extremes = space.dtype, _extremes(space)
    if dtype is None or extremes is None:
        return False
    if not is_integer(dtype):
        dtype = _WIDEST  # a space of floats contains integers, too
    stored = target.narrowest(dtype)
    if stored is None or stored == dtype:
        return stored is not None
    bounds = np.iinfo(stored)
    least, greatest = extremes
    fits = np.all(np.greater_equal(least, bounds.min)) and np.all(
        np.less_equal(greatest, bounds.max)
    )
    return bool(fits)


def _extremes(space: AnySpace) -> tuple[HostArray, HostArray] | None:
    """Return the least and the greatest numbers in ``space``, where it bounds its numbers."""
    if is_box(space):
        return space.low, space.high
    if is_discrete(space):
        return np.asarray(space.start), np.asarray(space.start + space.n - 1)
    if is_multi_discrete(space):
        return space.start, space.start + space.nvec - 1
    return (np.zeros(()), np.ones(())) if isinstance(space, spaces.MultiBinary) else None
