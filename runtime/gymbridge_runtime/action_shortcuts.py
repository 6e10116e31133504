"""The short way for ordinary actions: an array that has the dtype and shape of the space already.

As for observations, what is special in any way goes to the rule behind the shortcut.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from gymbridge_runtime.backend import REFUSALS, Convert
from gymbridge_runtime.dtypes import AnyDType, is_floating
from gymbridge_runtime.memory import silence
from gymbridge_runtime.narrowing import is_discrete
from gymbridge_runtime.ownership import Ownership
from gymbridge_runtime.plain import Plain
from gymbridge_runtime.sampling import samples_like
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.arrays import ArrayImport
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["OrdinaryAction", "action_shortcut", "ordinary_action"]


class OrdinaryAction(NamedTuple):
    """What a space samples if that is an array which takes no more than a copy and a call."""

    dtype: AnyDType
    shape: tuple[int, ...]
    make: Callable[[HostArray], object]
    """Makes the environment's array of a copy; NumPy's it copies itself."""


_ARRAYS = frozenset({spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary})

_NUMBERS = frozenset(map(np.dtype, "?bhilBHILefd"))

_MOST_NUMBERS = 64
"""How many numbers a space may have to have them made in advance: a scalar costs 0.15 µs."""


def action_shortcut(
    agent: AnyBackend, imports: ArrayImport, space: AnySpace, rule: Convert
) -> Convert:
    """Return ``rule``, which is the one of ``space``, behind a shortcut if there is one.

    Args:
        agent: The library that actions come from.
        imports: How arrays get to the environment.
        space: What the environment wants.
        rule: What does it for every action.
    """
    if not _exists(agent, imports):
        return rule
    if is_discrete(space):
        small = imports.target.host_scalars and space.n <= _MOST_NUMBERS
        return _number(agent, space, np.dtype(space.dtype), rule) if small else rule
    ordinary = ordinary_action(agent, imports, space)
    return rule if ordinary is None else _array(agent, imports.target, ordinary, rule)


def ordinary_action(
    agent: AnyBackend, imports: ArrayImport, space: AnySpace
) -> OrdinaryAction | None:
    """Return what is ordinary of the actions of ``space``, for code that looks at them itself."""
    if not _exists(agent, imports) or samples_like(space) not in _ARRAYS or not space.shape:
        return None
    dtype: AnyDType = np.dtype(space.dtype)
    target, shape = imports.target, space.shape
    small = dtype.itemsize * math.prod(shape) < target.plain_bytes
    if dtype not in target.plain_dtypes or not small:
        return None
    make = np.ndarray.copy if target.host_arrays else target.plain_import_of(dtype, shape)
    return OrdinaryAction(dtype, shape, make)


def _exists(agent: AnyBackend, imports: ArrayImport) -> bool:
    return (
        agent.plain_kind() is not None
        and imports.device is None
        and imports.ownership is not Ownership.NEVER_COPY
    )


def _number(
    agent: AnyBackend, space: spaces.Discrete[np.integer], dtype: AnyDType, rule: Convert
) -> Convert:
    kind = agent.plain_kind()
    first, n = int(space.start), int(space.n)
    scalars: dict[int, np.generic] = {
        number: dtype.type(number) for number in range(first, first + n)
    }
    number_of, get = agent.plain_number, scalars.get

    def short(action: object) -> object:
        try:
            if type(action) is kind:
                number = number_of(action)
                if type(number) is int and (scalar := get(number)) is not None:
                    return scalar
        except REFUSALS:
            pass
        return rule(action)

    return short


@cache
def _casts_to(dtype: AnyDType) -> frozenset[AnyDType]:
    """Return the dtypes whose every value becomes ``dtype`` without a look at it."""
    rule: Literal["safe", "same_kind"] = "same_kind" if is_floating(dtype) else "safe"
    return frozenset(one for one in _NUMBERS if np.can_cast(one, dtype, rule))


def _array(
    agent: AnyBackend, target: AnyBackend, ordinary: OrdinaryAction, rule: Convert
) -> Convert:
    dtype, shape, _ = ordinary
    over = target.plain_import()
    casts = _casts_to(dtype)
    plain = Plain(agent, target.plain_dtypes)
    view_of = plain.view()
    as_it_is = target.host_arrays

    def cast_to_fit(action: object) -> object:
        view = view_of(action)
        if view is not None and view.dtype in casts and view.shape == shape:
            copy = silence().run(view.astype, dtype, "C")
            return copy if as_it_is else over(copy)
        return rule(action)

    return plain.copying_like(dtype, shape, None if as_it_is else over, cast_to_fit)
