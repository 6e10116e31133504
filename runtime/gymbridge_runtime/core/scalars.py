"""Reward and flags as the Python values that Gymnasium promises."""

from __future__ import annotations

from decimal import Decimal
from math import prod
from numbers import Real
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.core.containers import container_of
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.describe import describe, shown
from gymbridge_runtime.core.dtypes import is_number
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.foreign import foreign_view
from gymbridge_runtime.core.leaves import TYPES, LeafType
from gymbridge_runtime.core.memory import number_of
from gymbridge_runtime.core.narrowing import is_mapping
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import HostArray


CONVERTIBLE: Final = frozenset({bool, float, np.bool_, np.float32, np.float64})
"""The types of most rewards and flags; Python converts all their values."""

to_float: Final = cast("Callable[[object], float]", float)


def to_python(value: object, python: type[float] | type[bool]) -> object:
    """Return one number of any library as a value of type ``python``; None for anything else."""
    make = cast("Callable[[object], object]", python)
    kind = type(value)
    if kind in CONVERTIBLE:
        return make(value)
    try:
        if type(value) is np.ndarray and value.size == 1 and value.dtype.kind in "biuf":
            return make(number_of(value))
        # NumPy's time spans are registered as real numbers
        is_real = issubclass(kind, (float, bool, np.floating, np.bool_, Real, Decimal))
        if is_real and not issubclass(kind, np.timedelta64):
            return make(value)
    except REFUSED as error:  # an int of a thousand digits, a signalling NaN
        raise ConversionError(
            f"Python makes no {python.__name__} of it: {shown(error)}",
            "return a number that is one",
            describe(value),
        ) from error
    view = host_numbers(value)
    if view is None or view.size != 1 or (view.dtype.kind == "c" and python is float):
        return None
    return make(number_of(view))


def host_numbers(value: object) -> HostArray | None:
    """Return a host view of an array of numbers, or None for anything else."""
    kind = TYPES[type(value)]
    if type(kind) is not LeafType:
        return None
    if kind.role == "foreign":
        view = foreign_view(value).array
    elif kind.backend is not None and kind.role != "opaque":
        view = kind.backend.show(value).array
    else:
        return None
    return view if is_number(view.dtype) else None


class NumberConverter:
    """Makes a reward or a flag the Python number that Gymnasium promises.

    Anything else, such as rewards of several objectives, becomes arrays.

    Args:
        python: The type of the number.
        to_arrays: The converter for anything else.
    """

    def __init__(self, python: type[float] | type[bool], to_arrays: Converter) -> None:
        self.python: type[float] | type[bool] = python
        self.to_arrays: Converter = to_arrays
        self._host: Converter = Converter(NUMPY, arrays_only=True, root=to_arrays.root)

    def converter_for(self, value: object) -> Converter:
        """Return the converter to the host for a number, and that to the agent for the rest."""
        return self._host if _is_one_number(value) else self.to_arrays

    def __call__(self, value: object) -> object:
        """Convert ``value``."""
        number = self._number(value, "")
        return self.to_arrays(value) if number is None else number

    def _number(self, value: object, step: str) -> object:
        """Return one number as a Python value; None for anything else."""
        try:
            return to_python(value, self.python)
        except ConversionError as error:
            error.below(self.to_arrays.root + step)
            raise


class EachNumberConverter(NumberConverter):
    """Makes every value of a mapping the Python number that PettingZoo promises."""

    @override
    def converter_for(self, value: object) -> Converter:
        if not is_mapping(value):
            return super().converter_for(value)
        return self._host if any(map(_is_one_number, value.values())) else self.to_arrays

    @override
    def __call__(self, value: object) -> object:
        if not is_mapping(value):
            return super().__call__(value)
        new: dict[object, object] = {}
        others: dict[object, object] = {}
        for agent, one in value.items():
            new[agent] = one if type(one) is self.python else self._number(one, f"[{agent!r}]")
            if new[agent] is None:
                others[agent] = one
        if others:
            new.update(cast("dict[object, object]", self.to_arrays(others)))
        # PettingZoo's own environments return a defaultdict of rewards
        container = None if type(value) is dict else container_of(type(value))
        if container is None:
            return new
        keys, _ = container.flatten(value)
        if [*keys] != [*new]:  # the children of a ChainMap are dictionaries
            return new
        built = container.unflatten(value, keys, [*new.values()])
        return new if built is None else built


def _is_one_number(value: object) -> bool:
    """Tell whether ``value`` is no container, and no array with more or less than one element."""
    kind = TYPES[type(value)]
    if type(kind) is not LeafType:
        return False
    shape = cast("tuple[int, ...]", getattr(value, "shape", ()))
    return kind.role not in {"host", "array", "foreign"} or prod(shape) == 1
