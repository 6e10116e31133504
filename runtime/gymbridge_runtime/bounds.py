"""What a space proves about the integers in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.dtypes import AnyDType, first_misfit, is_integer
from gymnasium import spaces

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace

__all__ = ["proves_fit"]


def proves_fit(space: AnySpace, target: AnyBackend) -> bool:
    """Tell whether every integer in ``space`` fits the dtype in which ``target`` would keep it."""
    if isinstance(space, spaces.Dict):
        return all(proves_fit(below, target) for below in space.spaces.values())
    if isinstance(space, (spaces.Tuple, spaces.OneOf)):
        return all(proves_fit(below, target) for below in space.spaces)
    if isinstance(space, spaces.Sequence):
        return proves_fit(space.feature_space, target)
    if isinstance(space, spaces.Text):
        return True
    if space.dtype is None or not isinstance(
        space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
    ):
        return False
    dtype: AnyDType = np.dtype(space.dtype)
    stored = target.narrowest(dtype)
    if stored == dtype or not is_integer(dtype):
        return True
    return stored is not None and all(
        first_misfit(np.asarray(extreme), stored) is None for extreme in _extremes(space)
    )


def _extremes(
    space: spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary,
) -> tuple[object, ...]:
    if isinstance(space, spaces.Box):
        return space.low, space.high
    if isinstance(space, spaces.Discrete):
        return space.start, space.start + space.n - 1
    if isinstance(space, spaces.MultiDiscrete):
        return space.start, space.start + space.nvec - 1
    return 0, 1
