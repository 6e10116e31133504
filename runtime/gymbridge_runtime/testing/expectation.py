"""Compares converted values with the originals, leaf by leaf."""

from __future__ import annotations

import dataclasses
from collections import deque
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from gymbridge_runtime.core.describe import describe
from gymbridge_runtime.core.dtypes import is_floating
from gymbridge_runtime.core.narrowing import (
    is_host_array,
    is_host_scalar,
    is_mapping,
    is_single_number,
)
from gymbridge_runtime.testing.side import numbers_of
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.testing.side import Side
    from gymbridge_runtime.types import HostArray

_LONG = 60


class Difference(NamedTuple):
    """One place with a wrong value."""

    path: str
    expected: str
    found: str

    @override
    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


class Expectation:
    """Compares the result of a conversion to a library with the original.

    Args:
        side: The library.
        float_dtype: The dtype to which floating arrays must be cast.
        values: Whether values are compared; kinds, dtypes, shapes and structure always are.
        scalars: Whether NumPy scalars must stay scalars, as in actions for NumPy environments.
        arrays_only: Whether all numbers must stay numbers.
    """

    def __init__(
        self,
        side: Side,
        *,
        float_dtype: AnyDType | None = None,
        values: bool = True,
        scalars: bool = False,
        arrays_only: bool = False,
    ) -> None:
        self._side: Side = side
        self._float_dtype: AnyDType | None = float_dtype
        self._values: bool = values
        self._scalars: bool = scalars
        self._arrays_only: bool = arrays_only
        self.leaves: int = 0
        """The number of compared leaves."""

    def differences(self, found: object, bare: object, path: str) -> Iterator[Difference]:
        """Yield the places where ``found`` is not the conversion of ``bare``."""
        if is_host_array(bare) and bare.dtype.kind == "O":
            yield from self._objects(found, bare, path)
            return
        items = items_of(bare)
        if items is not None:
            yield from self._container(found, bare, items, path)
            return
        self.leaves += 1
        numbers = None if self._arrays_only and is_single_number(bare) else numbers_of(bare)
        if numbers is None:
            if not _equal(found, bare, values=self._values):
                yield Difference(path, _shown(bare), _shown(found))
        else:
            yield from self._array(found, bare, numbers, path)

    def alike(self, found: object, wanted: object) -> bool:
        """Tell whether two values have one type, and are equal if values are compared."""
        return _equal(found, wanted, values=self._values)

    def _container(
        self, found: object, bare: object, items: list[tuple[str, object]], path: str
    ) -> Iterator[Difference]:
        others = items_of(found)
        if type(found) is not type(bare) or others is None:
            yield Difference(path, f"a {type(bare).__name__}", _shown(found))
            return
        if [step for step, _ in others] != [step for step, _ in items]:
            yield Difference(path, _steps(items), _steps(others))
            return
        for (step, child), (_, other) in zip(items, others, strict=True):
            yield from self.differences(other, child, f"{path}{step}")

    def _objects(self, found: object, bare: HostArray, path: str) -> Iterator[Difference]:
        if not (is_host_array(found) and found.dtype == bare.dtype and found.shape == bare.shape):
            yield Difference(path, describe(bare), describe(found))
            return
        for index in np.ndindex(bare.shape):
            yield from self.differences(found[index], bare[index], f"{path}{list(index)}")

    def _array(
        self, found: object, bare: object, numbers: HostArray, path: str
    ) -> Iterator[Difference]:
        dtype = self._dtype(numbers.dtype)
        scalar = self._scalars and is_host_scalar(type(bare))
        right = type(found) is type(bare) if scalar else self._side.is_array(found)
        if dtype is None or not right:
            kind = type(bare).__name__ if scalar else f"an array of {self._side.title}"
            yield Difference(path, f"{kind} of {dtype}", describe(found))
            return
        values: HostArray = np.array(found) if scalar else self._side.values(found)
        shape = numbers.shape if scalar else self._side.backend.stored_shape(numbers.shape)
        if (values.dtype, values.shape) != (dtype, shape):
            yield Difference(
                path, f"{dtype} of shape {shape}", f"{values.dtype} of shape {values.shape}"
            )
            return
        with np.errstate(over="ignore", invalid="ignore"):
            wanted = numbers.astype(dtype)
        if self._values and wanted.tobytes() != values.tobytes():
            yield Difference(path, _shown(wanted), _shown(values))

    def _dtype(self, dtype: AnyDType) -> AnyDType | None:
        dtype = dtype.newbyteorder("=")
        if self._float_dtype is not None and is_floating(dtype):
            dtype = self._float_dtype
        return self._side.stored(dtype)


def items_of(value: object) -> list[tuple[str, object]] | None:
    """Return the items of a container, each with its step of a path; None for a leaf."""
    if is_mapping(value):
        return [(f"[{key!r}]", child) for key, child in value.items()]
    if isinstance(value, (tuple, list, deque)):
        children = cast("Iterable[object]", value)
        return [(f"[{place}]", child) for place, child in enumerate(children)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return [(f".{name}", getattr(value, name)) for name in names if hasattr(value, name)]
    return None


def _equal(found: object, bare: object, *, values: bool) -> bool:
    if type(found) is not type(bare):
        return False
    if is_host_array(found) and is_host_array(bare):
        alike = (found.dtype, found.shape) == (bare.dtype, bare.shape)
        return alike and (not values or found.tobytes() == bare.tobytes())
    return found is bare or not values or _looks_equal(found, bare)


def _looks_equal(found: object, bare: object) -> bool:
    """Tell whether two objects of one type may be equal."""
    if isinstance(bare, (type, Enum)):
        return False  # each exists only once
    if type(bare).__eq__ is object.__eq__:
        return True  # the class defines no equality
    with suppress(Exception):  # a class may raise any error
        if found == bare:
            return True
    return repr(found) == repr(bare)  # NaN and NaT are equal to nothing


def _steps(items: list[tuple[str, object]]) -> str:
    return f"the parts {''.join(step for step, _ in items) or 'of nothing'}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"
