"""What a space proves about the integers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.dtypes import first_misfit, is_integer
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
    from gymbridge_runtime.types import AnySpace

__all__ = ["proves_fit"]


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
    stored = target.narrowest(dtype)
    if stored == dtype or not is_integer(dtype):
        return True
    return stored is not None and all(
        first_misfit(np.asarray(extreme), stored) is None for extreme in extremes
    )


def _extremes(space: AnySpace) -> tuple[object, ...] | None:
    """Return the least and the greatest number in ``space``, where it bounds its numbers."""
    if is_box(space):
        return space.low, space.high
    if is_discrete(space):
        return space.start, space.start + space.n - 1
    if is_multi_discrete(space):
        return space.start, space.start + space.nvec - 1
    return (0, 1) if isinstance(space, spaces.MultiBinary) else None
