"""Reward and flags as the Python values that Gymnasium promises."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from gymbridge_runtime.core.describe import describe, shown
from gymbridge_runtime.core.dtypes import is_number
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.foreign import foreign_view
from gymbridge_runtime.core.leaves import TYPES, LeafType
from gymbridge_runtime.core.memory import number_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.core.converter import Converter
    from gymbridge_runtime.types import HostArray


USUAL: Final = frozenset({bool, float, np.bool_, np.float32, np.float64})
"""The types of most rewards and flags; Python converts all their values."""

to_float: Final = cast("Callable[[object], float]", float)


def to_python(value: object, python: type[float] | type[bool], tree: Converter) -> object:
    """Return one number of any library as a value of type ``python``.

    ``tree`` converts everything else, such as rewards for several objectives.
    """
    make = cast("Callable[[object], object]", python)
    kind = type(value)
    if kind in USUAL:
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
            tree.root,
        ) from error
    try:
        view = host_numbers(value)
    except ConversionError as error:
        error.below(tree.root)
        raise
    if view is None or view.size != 1 or (view.dtype.kind == "c" and python is float):
        return tree(value)
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
