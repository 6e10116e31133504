"""Actions as the environment's own ``action_space`` would have sampled them.

For every space there is a rule that knows the type, the dtype and the structure of its samples. An
action, or a part of one, that fits no rule goes through the plain conversion of trees, and the
environment judges it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
from gymbridge_runtime.action_shortcuts import OrdinaryAction, action_shortcut, ordinary_action
from gymbridge_runtime.apart import is_apart
from gymbridge_runtime.backend import HostView
from gymbridge_runtime.containers import LIST, MAPPING, TUPLE, items_of
from gymbridge_runtime.describe import describe, step_to
from gymbridge_runtime.dtypes import AnyDType, first_misfit, is_integer
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.memory import silence
from gymbridge_runtime.narrowing import (
    is_box,
    is_dict_space,
    is_mapping,
    is_one_of,
    is_plain_dict,
    is_sequence,
    is_tuple,
    is_tuple_space,
)
from gymbridge_runtime.ownership import Ownership
from gymbridge_runtime.sampling import samples_like
from gymbridge_runtime.views import Views
from gymnasium import spaces

if TYPE_CHECKING:
    from gymbridge_runtime.arrays import ArrayImport
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["ActionRules"]

_FLAT = (spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)
"""The spaces whose samples are one array or number."""

ActionRule: TypeAlias = Callable[[object], object]
"""From an agent's action, or a part of one, to the environment's."""


class ActionRules:
    """The rules of all spaces towards one library.

    Args:
        agent: The library that actions come from.
        imports: How arrays get there.
        plain: The conversion of what fits no rule.
        apart: The rules of what is no batch, where batches are laid over many devices.
    """

    def __init__(
        self,
        agent: AnyBackend,
        imports: ArrayImport,
        plain: ActionRule,
        apart: ActionRules | None = None,
    ) -> None:
        self._agent: AnyBackend = agent
        self._imports: ArrayImport = imports
        self._plain: ActionRule = plain
        self._apart: ActionRules = self if apart is None else apart
        self._views: Views = Views()

    def of(self, space: AnySpace, name: str = "") -> ActionRule:
        """Return the rule of ``space``; one with samples of its own has none but the plain one.

        Args:
            space: What the environment wants.
            name: How error messages call the action.
        """
        rule = _below(name, self._rule(space)) if name else self._rule(space)
        if samples_like(space) in _FLAT:
            return action_shortcut(self._agent, self._imports, space, rule)
        return rule

    def ordinary(self, space: AnySpace, rule: ActionRule) -> OrdinaryAction | None:
        """Return what is ordinary of the actions of ``space``, all of which go by ``rule``."""
        return ordinary_action(self._agent, self._imports, space, rule)

    def _rule(self, space: AnySpace) -> ActionRule:
        if self._apart is not self and is_apart(space):
            return self._apart.of(space)
        kind = samples_like(space)
        if kind is spaces.Discrete:
            return self._number(space)
        if kind in {spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary}:
            return self._array(space)
        if kind is spaces.Dict and is_dict_space(space):
            return self._dict({key: self.of(below) for key, below in space.items()})
        if kind is spaces.Tuple and is_tuple_space(space):
            return self._tuple([self.of(below) for below in space.spaces])
        if kind is spaces.OneOf and is_one_of(space):
            return self._one_of(space)
        if kind is spaces.Sequence and isinstance(space, spaces.Sequence):
            return self._sequence(space)
        if kind is spaces.Graph and isinstance(space, spaces.Graph):
            return self._graph(space)
        return self._plain

    # -- leaves -------------------------------------------------------------------------------

    def _number(self, space: AnySpace) -> ActionRule:
        dtype = self._dtype_of(space)

        def rule(action: object) -> object:
            view = self._views.of(action)
            if view is None or view.size != 1 or not _casts(view, dtype):
                return self._plain(action)
            number = silence().run(view.reshape(()).astype, dtype)
            if self._imports.target.host_scalars:
                return number[()]
            return self._imports.fresh(number, None)

        return _described(rule)

    def _dtype_of(self, space: AnySpace) -> AnyDType:
        dtype: AnyDType = np.dtype(space.dtype)
        # of all libraries NumPy alone has numbers of another machine's byte order
        return dtype if self._imports.target.host_arrays else dtype.newbyteorder("=")

    def _array(self, space: AnySpace, *, batch: bool = False) -> ActionRule:
        if not batch and is_box(space) and not space.shape and _samples_scalars(space):
            return self._number(space)
        dtype = self._dtype_of(space)
        shape = None if batch else space.shape
        axes = len(space.shape or ()) + batch

        def rule(action: object) -> object:
            view = self._seen(action, axes, dtype)
            if view is None or not _casts(view.array, dtype):
                return self._plain(action)
            if shape is not None and view.array.shape != shape:
                view = view._replace(array=_as_shape(view.array, shape))
            return self._imports.take_shown(view, None, dtype)

        return _described(rule)

    def _seen(self, action: object, depth: int, dtype: AnyDType) -> HostView | None:
        """View an array, or copy a list of numbers and arrays, nested at most ``depth`` deep.

        Those of different dtypes have to become ``dtype`` each by itself.
        """
        view = self._views.shown(action)
        never = self._imports.ownership is Ownership.NEVER_COPY
        if view is not None or not depth or never or not is_sequence(action):
            return view
        parts = _parts_of(action)
        views = [
            _below(f"[{index}]", partial(self._seen, depth=depth - 1, dtype=dtype))(part)
            for index, part in enumerate(parts)
        ]
        arrays = [view.array for view in views if isinstance(view, HostView)]
        if len(arrays) < len(parts) or len({array.shape for array in arrays}) != 1:
            return None
        if len({array.dtype for array in arrays}) == 1:
            return HostView(np.stack(arrays), owned=True)
        if not all(_casts(array, dtype) for array in arrays):
            return None
        cast = [silence().run(array.astype, dtype) for array in arrays]
        return HostView(np.stack(cast), owned=True)

    # -- structures ---------------------------------------------------------------------------

    def _dict(self, rules: Mapping[str, ActionRule]) -> ActionRule:
        parts = {key: _below(step_to(key), one) for key, one in rules.items()}

        def rule(action: object) -> object:
            if not is_mapping(action):
                return self._plain(action)
            held = action if is_plain_dict(action) else dict(items_of(MAPPING, action))
            if held.keys() != parts.keys():
                return self._plain(action)
            return {key: one(held[key]) for key, one in parts.items()}

        return rule

    def _tuple(self, rules: Sequence[ActionRule]) -> ActionRule:
        parts = [_below(f"[{index}]", one) for index, one in enumerate(rules)]

        def rule(action: object) -> object:
            held = _parts_of(action) if is_sequence(action) else None
            if held is None or len(held) != len(parts):
                return self._plain(action)
            return tuple([one(part) for one, part in zip(parts, held, strict=True)])

        return rule

    def _one_of(self, space: spaces.OneOf[object]) -> ActionRule:
        number = self._number(spaces.Discrete(len(space.spaces)))
        choices = [self._tuple((number, self.of(below))) for below in space.spaces]
        which = _below("[0]", self._views.of)

        def rule(action: object) -> object:
            held = _parts_of(action) if is_sequence(action) else None
            chosen = cast("HostArray | None", which(held[0])) if held else None
            number = None if chosen is None or chosen.size != 1 else cast("float", chosen.item())
            if number is None or number not in range(len(choices)):
                return self._plain(action)
            return choices[int(number)](action)

        return rule

    def _sequence(self, space: spaces.Sequence) -> ActionRule:
        if space.stack:
            return self._stacked(space.feature_space)
        return self._many(self.of(space.feature_space))

    def _many(self, one: ActionRule) -> ActionRule:
        def rule(action: object) -> object:
            if not is_sequence(action):
                return self._plain(action)
            return self._tuple([one] * len(_parts_of(action)))(action)

        return rule

    def _stacked(self, space: AnySpace) -> ActionRule:
        """Return the rule of many samples of ``space`` in one batch of any length."""
        if is_dict_space(space):
            return self._dict({key: self._stacked(one) for key, one in space.items()})
        if is_tuple_space(space):
            return self._tuple([self._stacked(one) for one in space.spaces])
        flat: object = space
        if isinstance(flat, _FLAT):
            return self._array(space, batch=True)
        return self._many(self.of(space))  # what has no batch is stacked as a tuple of samples

    def _graph(self, space: spaces.Graph) -> ActionRule:
        nodes = self._stacked(space.node_space)
        edges = self._plain if space.edge_space is None else self._stacked(space.edge_space)
        links = self._array(spaces.Box(0, 1, dtype=np.int32), batch=True)
        parts = self._tuple((nodes, edges, links))
        # whatever the library's arrays are
        make = cast("Callable[..., object]", spaces.GraphInstance)

        def rule(action: object) -> object:
            converted = parts(action)
            if is_tuple(converted) and len(converted) == len(spaces.GraphInstance._fields):
                return make(*converted)
            return converted

        return rule


def _below(step: str, rule: ActionRule) -> ActionRule:
    """Return ``rule`` for what sits below ``step``."""

    def below(part: object) -> object:
        try:
            return rule(part)
        except ConversionError as error:
            error.below(step)
            raise

    return below


def _parts_of(action: tuple[object, ...] | list[object]) -> Sequence[object]:
    """Return what is in ``action``; classes of a user's own may show more than they hold."""
    if type(action) in {tuple, list}:
        return action
    return [part for _, part in items_of(TUPLE if is_tuple(action) else LIST, action)]


def _described(rule: ActionRule) -> ActionRule:
    """Return ``rule``, whose errors say what the action is, but where they are about a part."""

    def described(action: object) -> object:
        try:
            return rule(action)
        except ConversionError as error:
            if not error.path:
                error.about(describe(action))
            raise
        except Exception as error:
            raise ConversionError.unforeseen(error, describe(action)) from error

    return described


def _samples_scalars(space: spaces.Box) -> bool:
    """Tell whether the 0-d ``space`` samples scalars: Gymnasium's bounded integers do."""
    like = copy.deepcopy(space)  # of some bounds it can make no sample at all
    like.low, like.high = np.zeros((), space.dtype), np.ones((), space.dtype)
    return isinstance(like.sample(), np.generic)


def _casts(view: HostArray, dtype: AnyDType) -> bool:
    """Tell whether ``view`` becomes ``dtype`` without another kind of number or value."""
    if view.dtype == dtype:
        return True
    if is_integer(dtype):
        is_whole = view.dtype.kind == "b" or is_integer(view.dtype)
        return is_whole and first_misfit(view, dtype) is None
    return np.can_cast(view.dtype, dtype, "same_kind")


def _as_shape(view: HostArray, shape: tuple[int, ...]) -> HostArray:
    """Return ``view`` in ``shape`` where they differ by axes of length one, as (n, 1) and (n,)."""
    is_shape: tuple[int, ...] = view.shape
    long = [length for length in is_shape if length != 1]
    return view.reshape(shape) if long == [length for length in shape if length != 1] else view
