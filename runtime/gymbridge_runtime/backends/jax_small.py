"""Small arrays into JAX: compiled for shapes that come again, fewer arguments than arrays.

A jitted identity is the cheapest way in, at 4 µs an argument against 17 µs of `jax.device_put`. A
signature costs about 7 ms and 1 MB to compile, so it is compiled when it was seen often, for a
bounded number of signatures; infos have ever new shapes. Each further argument costs 2 µs, so
arrays of one shape travel as rows of one matrix, where no value can be lost by that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

import jax
import numpy as np
from gymbridge_runtime.narrowing import untyped
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backend import Import
    from gymbridge_runtime.types import HostArray

__all__ = ["CONFIG", "SMALL", "SMALL_ARRAYS"]

ResultT = TypeVar("ResultT")

SMALL: Final = 100_000
"""Bytes of an array from which taking over its memory is cheaper than to copy it once more."""

_OFTEN: Final = 16
_MOST_SIGNATURES: Final = 64
_MOST_SEEN: Final = 1024

_ROW_BYTES: Final = 4096
"""Bytes of an array from which the rows of a matrix cost more than arguments."""

_MOST_RESULTS: Final = 8
"""Results of one call from which XLA takes threads for it, and 30 µs longer."""

_MOST_ROWS: Final = 64
"""Arrays from which one identity is compiled: it takes longer to run, and much less to compile."""

_ROW_DTYPES: Final = frozenset(
    map(np.dtype, ("bool", "int8", "int16", "uint8", "uint16", "float32"))
)
"""The dtypes whose values all are float32 values."""


class Config(Protocol):
    """The part of ``jax.config`` that is asked here; its attributes are made at run time."""

    jax_disable_jit: bool
    jax_enable_x64: bool
    jax_transfer_guard_host_to_device: str | None


CONFIG: Final = cast("Config", cast("object", jax.config))

_Import: TypeAlias = "Callable[..., Sequence[jax.Array]]"


class SmallArrays:
    """The imports that were compiled, and how often other signatures were seen."""

    def __init__(self) -> None:
        self._compiled: dict[object, Callable[..., object]] = {}
        self._seen: dict[object, int] = {}

    def importer(self, otherwise: Import) -> Import:
        """Return the import of one small array: by ``otherwise`` where none is compiled for it."""
        find, promoted, config = self._compiled.get, self._promoted, CONFIG

        def imported(view: HostArray) -> object:
            signature = (view.dtype, view.shape)
            call = find(signature) or promoted(signature, (view,))
            if (
                call is None
                or config.jax_disable_jit
                or config.jax_transfer_guard_host_to_device is not None
            ):
                return otherwise(view)
            return call(view)

        return imported

    def many(self, views: Sequence[HostArray]) -> list[object] | None:
        """Return JAX arrays of two or more views, or None where no import is compiled for them."""
        signature = tuple([(view.dtype, view.shape) for view in views])
        call = self._compiled.get(signature) or self._promoted(signature, views)
        if (
            call is None
            or CONFIG.jax_disable_jit  # it would give NumPy arrays back
            or CONFIG.jax_transfer_guard_host_to_device is not None  # it takes them for implicit
        ):
            return None
        return list(cast("Sequence[object]", call(*views)))

    def _promoted(
        self, signature: object, views: Sequence[HostArray]
    ) -> Callable[..., object] | None:
        """Count the signature of ``views``, and compile it if it was seen often."""
        full = len(self._compiled) >= _MOST_SIGNATURES
        if full or any(view.nbytes >= SMALL for view in views):
            return None
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count = self._seen.pop(signature, 0) + 1
        if count < _OFTEN:
            self._seen[signature] = count
            return None
        call: Callable[..., object] = _one if len(views) == 1 else _import_of(views)
        self._compiled[signature] = call
        return call


def _jitted(function: Callable[..., ResultT]) -> Callable[..., ResultT]:
    jit = untyped(jax, "jit")
    return cast("Callable[[Callable[..., ResultT]], Callable[..., ResultT]]", jit)(function)


@_jitted
def _one(array: jax.Array) -> jax.Array:
    return array


@_jitted
def _same(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    return arrays


SMALL_ARRAYS: Final = SmallArrays()


def _import_of(views: Sequence[HostArray]) -> _Import:
    """Return the import of arrays like ``views``."""
    if len(views) <= _MOST_RESULTS:
        return _in_one_call(views)
    return _in_calls(views) if len(views) <= _MOST_ROWS else _same


def _in_calls(views: Sequence[HostArray]) -> _Import:
    """Return an import of many arrays by several calls, those of one shape together."""
    by_shape: dict[object, list[int]] = {}
    for index, view in enumerate(views):
        by_shape.setdefault(view.shape if _is_row(view) else None, []).append(index)
    parts = [
        indices[start : start + _MOST_RESULTS]
        for indices in by_shape.values()
        for start in range(0, len(indices), _MOST_RESULTS)
    ]
    compiled: dict[object, _Import] = {}
    calls: list[tuple[list[int], _Import]] = []
    for part in parts:
        like = [views[index] for index in part]
        signature = tuple([(view.dtype, view.shape) for view in like])
        if signature not in compiled:  # parts that are alike need one compilation
            compiled[signature] = _in_one_call(like)
        calls.append((part, compiled[signature]))

    def imported(*arrays: HostArray) -> Sequence[jax.Array]:
        found: dict[int, jax.Array] = {}
        for part, call in calls:
            found.update(zip(part, call(*[arrays[index] for index in part]), strict=True))
        return [found[index] for index in range(len(arrays))]

    return imported


def _in_one_call(views: Sequence[HostArray]) -> _Import:
    """Return an import by one compiled call: the arrays of the commonest shape as one matrix."""
    shapes = [view.shape for view in views if _is_row(view)]
    shape = max(shapes, key=shapes.count, default=None)
    if shape is None or shapes.count(shape) == 1:
        return _same
    rows = [index for index, view in enumerate(views) if _is_row(view) and view.shape == shape]
    others = [index for index in range(len(views)) if index not in rows]
    dtypes = [views[index].dtype for index in rows]

    @_jitted
    def split(matrix: jax.Array, *arrays: jax.Array) -> tuple[jax.Array, ...]:
        found = dict(zip(others, arrays, strict=True))
        for row, (index, dtype) in enumerate(zip(rows, dtypes, strict=True)):
            found[index] = matrix[row].astype(dtype)
        return tuple([found[index] for index in range(len(views))])

    def imported(*arrays: HostArray) -> Sequence[jax.Array]:
        matrix = np.empty((len(rows), *shape), np.float32)
        for row, index in enumerate(rows):
            matrix[row] = arrays[index]
        return split(matrix, *[arrays[index] for index in others])

    return imported


def _is_row(view: HostArray) -> bool:
    return view.dtype in _ROW_DTYPES and view.nbytes < _ROW_BYTES
