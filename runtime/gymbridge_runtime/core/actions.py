"""Actions as the environment's own ``action_space`` would have sampled them.

All arrays of an action become private NumPy arrays. Each part is fitted to its space. The result
becomes arrays of the environment. A part that fits no space is not changed further, and the
environment judges it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np
from gymbridge_runtime.core.describe import step_to
from gymbridge_runtime.core.dtypes import AnyDType, first_misfit, is_floating, is_integer, is_number
from gymbridge_runtime.core.errors import ConversionError, CopyRequiredError
from gymbridge_runtime.core.memory import silence
from gymbridge_runtime.core.narrowing import (
    getattr_untyped,
    is_box,
    is_dict_space,
    is_discrete,
    is_graph,
    is_host_array,
    is_mapping,
    is_multi_discrete,
    is_one_of,
    is_sequence,
    is_sequence_space,
    is_tuple_space,
)
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gymbridge_runtime.types import AnySpace, HostArray

_Fit: TypeAlias = "Callable[[AnySpace, object], object]"

_KNOWN: Final[frozenset[type[AnySpace]]] = frozenset(
    {
        *(spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete),
        *(spaces.Dict, spaces.Graph, spaces.OneOf, spaces.Sequence, spaces.Tuple),
    }
)
_FLAT: Final = (spaces.Discrete, spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)
"""The spaces whose samples are one array or number."""


def samples_like(space: AnySpace) -> type[AnySpace]:
    """Return the Gymnasium class whose ``sample`` method ``space`` has, or else its own class.

    A user's class with a ``sample`` method of its own may sample anything.
    """
    kind = type(space)
    base = next((one for one in _KNOWN if isinstance(space, one)), kind)
    return base if getattr_untyped(kind, "sample") is getattr_untyped(base, "sample") else kind


class Fitter:
    """Fits actions to spaces; all arrays are NumPy arrays.

    Args:
        never_copies: Whether to refuse casts and stacking.
        for_numpy: Whether the environment uses NumPy: only NumPy has scalars and every byte order.
        integer_advice: The advice on how to turn an array into integers, for error messages.
    """

    def __init__(self, *, never_copies: bool, for_numpy: bool, integer_advice: str) -> None:
        self._never_copies: bool = never_copies
        self._for_numpy: bool = for_numpy
        self._integer_advice: str = integer_advice

    def fit(self, space: AnySpace, action: object) -> object:
        """Return ``action`` as a sample of ``space``; parts that do not fit stay as they are."""
        kind = samples_like(space)
        if kind in _FLAT:
            return self._flat(space, action)
        if kind is spaces.Dict and is_dict_space(space):
            return self._dict(self.fit, space.spaces, action)
        if kind is spaces.Tuple and is_tuple_space(space):
            return self._tuple(self.fit, space.spaces, action)
        if kind is spaces.OneOf and is_one_of(space):
            return self._one_of(space, action)
        if kind is spaces.Sequence and is_sequence_space(space):
            if space.stack:
                return self._stacked(space.feature_space, action)
            return self._many(space.feature_space, action)
        if kind is spaces.Graph and is_graph(space):
            return self._graph(space, action)
        return action

    # -- one array or number ------------------------------------------------------------------

    def _flat(self, space: AnySpace, action: object, *, is_batch: bool = False) -> object:
        dtype: AnyDType = np.dtype(space.dtype)
        dtype = dtype if self._for_numpy else dtype.newbyteorder("=")
        if not is_batch and (is_discrete(space) or (is_box(space) and _samples_scalars(space))):
            return self._number(space, dtype, action)
        shape = space.shape or ()
        array = self._array_of(action, len(shape) + is_batch, dtype)
        if array is None or not _casts(array, dtype):
            self._refuse_floats(space, array)
            return action
        array = array if is_batch else _in_shape(array, shape)
        if self._never_copies:
            if array.dtype != dtype:
                raise CopyRequiredError.for_cast(array.dtype, dtype)
            return array
        return silence().run(np.asarray, array, dtype, "C")

    def _number(self, space: AnySpace, dtype: AnyDType, action: object) -> object:
        array = numbers_of(action)
        if array is None or array.size != 1 or not _casts(array, dtype):
            self._refuse_floats(space, array)
            return action
        number = silence().run(array.reshape(()).astype, dtype)
        return cast("object", number[()]) if self._for_numpy else number

    def _refuse_floats(self, space: AnySpace, array: HostArray | None) -> None:
        """Refuse floats for a space of choices; the error of an environment would be obscure."""
        is_choice = is_discrete(space) or is_multi_discrete(space)
        if is_choice and array is not None and is_floating(array.dtype):
            raise ConversionError(
                f"the action is {array.dtype} of shape {array.shape}; the space takes integers: "
                + self._integer_advice
            )

    def _array_of(self, action: object, depth: int, dtype: AnyDType) -> HostArray | None:
        """Return an array; stack lists of numbers and arrays, nested at most ``depth`` deep.

        Arrays of different dtypes are first cast to ``dtype`` one by one.
        """
        array = numbers_of(action)
        if array is not None or not depth or self._never_copies or not is_sequence(action):
            return array
        arrays = [self._array_of(part, depth - 1, dtype) for part in action]
        found = [array for array in arrays if array is not None]
        if len(found) < len(arrays) or len({array.shape for array in found}) != 1:
            return None
        if len({array.dtype for array in found}) == 1:
            return np.stack(found)
        if not all(_casts(array, dtype) for array in found):
            return None
        return np.stack([silence().run(array.astype, dtype) for array in found])

    # -- structures ---------------------------------------------------------------------------

    def _dict(self, fit: _Fit, parts: Mapping[str, AnySpace], action: object) -> object:
        if not is_mapping(action) or action.keys() != parts.keys():
            return action
        return {key: _below(fit, key, space, action[key]) for key, space in parts.items()}

    def _tuple(self, fit: _Fit, parts: Sequence[AnySpace], action: object) -> object:
        if not is_sequence(action) or len(action) != len(parts):
            return action
        pairs = enumerate(zip(parts, action, strict=True))
        return tuple([_below(fit, index, space, part) for index, (space, part) in pairs])

    def _many(self, space: AnySpace, action: object) -> object:
        if not is_sequence(action):
            return action
        return self._tuple(self.fit, [space] * len(action), action)

    def _one_of(self, space: spaces.OneOf[object], action: object) -> object:
        choice = numbers_of(action[0]) if is_sequence(action) and action else None
        if choice is None or choice.size != 1 or choice.dtype.kind not in "biuf":
            return action
        number = cast("float", choice.item())
        if number not in range(len(space.spaces)):
            return action
        chosen = cast("AnySpace", space.spaces[int(number)])
        return self._tuple(self.fit, (spaces.Discrete(len(space.spaces)), chosen), action)

    def _stacked(self, space: AnySpace, action: object) -> object:
        """Fit many samples of ``space`` in one batch of any length."""
        if is_dict_space(space):
            return self._dict(self._stacked, space.spaces, action)
        if is_tuple_space(space):
            return self._tuple(self._stacked, space.spaces, action)
        if issubclass(type(space), _FLAT):
            return self._flat(space, action, is_batch=True)
        return self._many(space, action)  # such samples are stacked as a tuple

    def _graph(self, space: spaces.Graph, action: object) -> object:
        if not is_sequence(action) or len(action) != len(spaces.GraphInstance._fields):
            return action
        nodes, edges, links = action
        make = cast("Callable[..., object]", spaces.GraphInstance)  # it takes any arrays
        return make(
            self._stacked(space.node_space, nodes),
            edges if space.edge_space is None else self._stacked(space.edge_space, edges),
            self._stacked(_LINKS, links),
        )


def _below(fit: _Fit, key: object, space: AnySpace, action: object) -> object:
    try:
        return fit(space, action)
    except ConversionError as error:
        error.below(step_to(key))
        raise


_LINKS: Final = spaces.Box(0, 1, dtype=np.int32)


def numbers_of(value: object) -> HostArray | None:
    """Return ``value`` as an array if it is a NumPy array of numbers or a Python integer.

    Conversions leave bools and members of integer enums as they are, so both arrive here.
    """
    if is_host_array(value):
        is_masked = isinstance(value, np.ma.MaskedArray)
        return value if is_number(value.dtype) and not is_masked else None
    return np.asarray(value) if isinstance(value, int) else None


def _samples_scalars(space: spaces.Box) -> bool:
    """Tell whether ``space`` samples scalars.

    Gymnasium rounds samples of integers, and NumPy rounds 0-d arrays to scalars.
    """
    return not space.shape and np.dtype(space.dtype).kind in "iub"


def _casts(array: HostArray, dtype: AnyDType) -> bool:
    """Tell whether ``array`` may be cast to ``dtype``: integers exactly, others in their kind."""
    if array.dtype == dtype:
        return True
    if is_integer(dtype):
        is_whole = array.dtype.kind == "b" or is_integer(array.dtype)
        return is_whole and first_misfit(array, dtype) is None
    return np.can_cast(array.dtype, dtype, "same_kind")


def _in_shape(array: HostArray, shape: tuple[int, ...]) -> HostArray:
    """Reshape ``array`` if only axes of length one differ, as in (n, 1) and (n,)."""
    has: tuple[int, ...] = array.shape
    long = [length for length in has if length != 1]
    return array.reshape(shape) if long == [length for length in shape if length != 1] else array
