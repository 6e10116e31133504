"""The short way for ordinary actions: an array that has the dtype and shape of the space already.

As for observations, what is special in any way goes to the rule behind the shortcut.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from gymbridge_runtime.dtypes import AnyDType, is_floating
from gymbridge_runtime.memory import silence
from gymbridge_runtime.narrowing import is_discrete
from gymbridge_runtime.ownership import Ownership
from gymbridge_runtime.plain import answering
from gymbridge_runtime.sampling import samples_like
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.arrays import ArrayImport
    from gymbridge_runtime.backend import AnyBackend, Convert
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["OrdinaryAction", "action_shortcut", "ordinary_action"]


class OrdinaryAction(NamedTuple):
    """What a space samples if that is an array which takes no more than a copy and a call."""

    kind: type[object] | None
    """The type of the agent's own array."""
    see: Callable[[object], HostArray | None]
    """Shows one to NumPy; answers None for one that is special in any way."""
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
        has_scalars = imports.target.host_scalars
        few = space.n <= _MOST_NUMBERS and _holds_all(space)
        return _number(agent, imports.target, space, rule) if few and has_scalars else rule
    ordinary = ordinary_action(agent, imports, space, rule)
    return rule if ordinary is None else _array(imports.target, ordinary, rule)


def ordinary_action(
    agent: AnyBackend, imports: ArrayImport, space: AnySpace, rule: Convert
) -> OrdinaryAction | None:
    """Return what is ordinary of the actions of ``space``, for code that looks at them itself.

    Args:
        agent: The library that actions come from.
        imports: How arrays get to the environment.
        space: What the environment wants.
        rule: What does it for every action.
    """
    if not _exists(agent, imports) or samples_like(space) not in _ARRAYS or not space.shape:
        return None
    dtype: AnyDType = np.dtype(space.dtype)
    target, shape = imports.target, space.shape
    small = dtype.itemsize * math.prod(shape) < target.plain_bytes
    if dtype not in target.plain_dtypes or not small:
        return None
    see = answering(agent.plain_view(), _asks(agent, target))
    make: Callable[[HostArray], object] = np.ndarray.copy
    if not target.host_arrays:
        make = target.plain_import_of(dtype, shape, rule)
    return OrdinaryAction(agent.plain_kind(), see, dtype, shape, make)


def _asks(agent: AnyBackend, target: AnyBackend) -> Callable[[object], bool]:
    return lambda array: agent.is_plain(array, target.plain_dtypes)


def _exists(agent: AnyBackend, imports: ArrayImport) -> bool:
    return (
        agent.plain_kind() is not None
        and imports.device is None
        and imports.ownership is not Ownership.NEVER_COPY
    )


def _holds_all(space: spaces.Discrete[np.integer]) -> bool:
    """Tell whether the dtype of ``space`` has all of its numbers, which Gymnasium does not ask."""
    dtype: AnyDType = np.dtype(space.dtype)
    bounds = np.iinfo(dtype)
    return bounds.min <= int(space.start) <= bounds.max - int(space.n) + 1


def _number(
    agent: AnyBackend, target: AnyBackend, space: spaces.Discrete[np.integer], rule: Convert
) -> Convert:
    kind, dtype = agent.plain_kind(), np.dtype(space.dtype)
    first, n = int(space.start), int(space.n)
    scalars: dict[int, np.generic] = {
        number: dtype.type(number) for number in range(first, first + n)
    }
    number_of, get = answering(agent.plain_number(), _asks(agent, target)), scalars.get

    def short(action: object) -> object:
        number: object = number_of(action) if type(action) is kind else None
        scalar = get(number) if type(number) is int else None
        return rule(action) if scalar is None else scalar

    return short


@cache
def _casts_to(dtype: AnyDType) -> frozenset[AnyDType]:
    """Return the dtypes whose every value becomes ``dtype`` without a look at it."""
    rule: Literal["safe", "same_kind"] = "same_kind" if is_floating(dtype) else "safe"
    return frozenset(one for one in _NUMBERS if np.can_cast(one, dtype, rule))


def _array(target: AnyBackend, ordinary: OrdinaryAction, rule: Convert) -> Convert:
    kind, see, dtype, shape, _ = ordinary
    casts = _casts_to(dtype)
    make = answering(target.plain_import(), lambda view: view.dtype in target.plain_dtypes)
    as_it_is = target.host_arrays

    def short(action: object) -> object:
        view = see(action) if type(action) is kind else None
        made = None
        if view is not None and view.shape == shape and view.dtype in casts:
            copy = view.copy() if view.dtype is dtype else silence().run(view.astype, dtype, "C")
            made = copy if as_it_is else make(copy)
        return rule(action) if made is None else made

    return short
