"""Round trips through the converters generated from an entry."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from gymbridge_runtime.core.dtypes import extended_dtype

from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.layouts import LAYOUTS
from gymbridge_tools.probe.subject import Subject, WrongError, aligned, attribute

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

__all__ = ["LIBRARY", "PACKAGE", "QUESTIONS"]

LIBRARY, PACKAGE = "probed", "probed_bridges"
"""The names of the library and of the package with its wrappers."""


class _Converter(Protocol):
    def __call__(self, value: object, *, copy: bool | None) -> object: ...


def round_trip(subject: Subject) -> Answer:
    """Convert the values of another question there and back."""
    library = cast("AnyBackend", _generated(f"backends.{LIBRARY}", LIBRARY.upper()))
    there, back = (
        cast("_Converter", _generated(f"converters.{name}", name))
        for name in (f"numpy_to_{LIBRARY}", f"{LIBRARY}_to_numpy")
    )
    values = _values(subject.about)
    stored = library.stored_as(values.dtype)
    expected = values.astype(stored).reshape(library.stored_shape(values.shape))
    for copy in (None, True):
        array = there(values, copy=copy)
        if not library.is_array(type(array)):
            raise WrongError(f"{values.dtype} becomes {type(array).__name__}")
        found = np.asarray(back(array, copy=copy))
        if (found.dtype, found.shape) != (expected.dtype, expected.shape):
            raise WrongError(f"{_described(expected)} comes back as {_described(found)}")
        if found.tobytes() != expected.tobytes():
            raise WrongError(f"{_described(expected)} comes back with other values")
    return Answer(value=True, evidence="it comes back")


def _generated(module: str, name: str) -> object:
    return attribute(import_module(f"{PACKAGE}.{module}"), name)


def _described(values: HostArray) -> str:
    return f"{values.dtype} of shape {values.shape}"


def _values(about: str) -> HostArray:
    """Return the values of the question with this key."""
    name, _, kind = about.partition(" ")
    match name:
        case "dtype":
            return _numbers((2, 3), np.dtype(kind))
        case "bfloat16":
            return _numbers((2, 3), extended_dtype(name))
        case "layout":
            return LAYOUTS[kind]()
        case "offset":
            return aligned(np.ones((64, 64), np.float32), int(kind))
        case "dimensions":
            return _numbers((1,) * int(kind))
        case "zero_d":
            return _numbers(())
        case "empty":
            return _numbers((0, 4))
        case _:
            values = _numbers((2, 3))
            values.flags.writeable = False
            return values


def _numbers(shape: tuple[int, ...], dtype: AnyDType | None = None) -> HostArray:
    dtype = np.dtype(np.float32) if dtype is None else dtype
    numbers = np.arange(math.prod(shape), dtype=np.complex128).reshape(shape) * (1 + 1j)
    return aligned((numbers if dtype.kind == "c" else numbers.real).astype(dtype))


QUESTIONS = {"round_trip": round_trip}
