"""Small arrays into JAX: compiled for shapes that come again, fewer arguments than arrays.

A jitted identity is the cheapest way in, at 4 µs an argument against 17 µs of `jax.device_put`. A
signature costs about 7 ms and 1 MB to compile, so it is compiled when it was seen often, for a
bounded number of signatures; infos have ever new shapes. Each further argument costs 2 µs, so
arrays of one shape travel as rows of one matrix, where no value can be lost by that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

import jax
import numpy as np

if TYPE_CHECKING:
    from gymbridge_runtime.types import HostArray

__all__ = ["CONFIG", "SMALL", "SMALL_ARRAYS"]

SMALL: Final = 100_000
"""Bytes of an array from which taking over its memory is cheaper than to copy it once more."""

_OFTEN: Final = 16
_MOST_SIGNATURES: Final = 64
_MOST_SEEN: Final = 1024

_ROW_BYTES: Final = 4096
"""Bytes of an array from which the rows of a matrix cost more than arguments."""

_ROW_DTYPES: Final = frozenset(
    map(np.dtype, ("bool", "int8", "int16", "uint8", "uint16", "float32"))
)
"""The dtypes whose values all are float32 values."""


class Config(Protocol):
    """The part of ``jax.config`` that is asked here; its attributes are made at run time."""

    jax_disable_jit: bool
    jax_enable_x64: bool
    jax_transfer_guard_host_to_device: str | None


CONFIG: Final = cast("Config", jax.config)

_Import: TypeAlias = Callable[..., Sequence[jax.Array]]


class SmallArrays:
    """The imports that were compiled, and how often other signatures were seen."""

    def __init__(self) -> None:
        self._compiled: dict[object, _Import] = {}
        self._seen: dict[object, int] = {}

    def one(self, view: HostArray) -> object:
        """Return a JAX array of ``view``, or None where there is no compiled import for it."""
        call = self._compiled.get((view.dtype, view.shape)) or self._promoted((view,))
        return None if call is None or _is_restricted() else call(view)[0]

    def many(self, views: Sequence[HostArray]) -> list[object] | None:
        """Return JAX arrays of two or more views, or None where no import is compiled for them."""
        signature = tuple([(view.dtype, view.shape) for view in views])
        call = self._compiled.get(signature) or self._promoted(views)
        return None if call is None or _is_restricted() else list(call(*views))

    def _promoted(self, views: Sequence[HostArray]) -> _Import | None:
        """Count the signature of ``views``, and compile it if it was seen often."""
        full = len(self._compiled) >= _MOST_SIGNATURES
        if full or any(view.nbytes >= SMALL for view in views):
            return None
        signatures = [(view.dtype, view.shape) for view in views]
        signature = tuple(signatures) if len(views) > 1 else signatures[0]
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count = self._seen.pop(signature, 0) + 1
        if count < _OFTEN:
            self._seen[signature] = count
            return None
        call = self._compiled[signature] = _import_of(views)
        return call


SMALL_ARRAYS: Final = SmallArrays()


def _is_restricted() -> bool:
    # without jit NumPy arrays come back, and a guard takes NumPy arguments for implicit transfers
    return CONFIG.jax_disable_jit or bool(CONFIG.jax_transfer_guard_host_to_device)


def _import_of(views: Sequence[HostArray]) -> _Import:
    """Return the import of arrays like ``views``: those of the commonest shape as one matrix."""
    shapes = [
        view.shape for view in views if view.dtype in _ROW_DTYPES and view.nbytes < _ROW_BYTES
    ]
    shape = max(shapes, key=shapes.count, default=None)
    if shape is None or shapes.count(shape) == 1:
        return jax.jit(_same)
    rows = [
        index
        for index, view in enumerate(views)
        if view.shape == shape and view.dtype in _ROW_DTYPES
    ]
    return _with_matrix(views, shape, rows)


def _same(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    return arrays


def _with_matrix(
    views: Sequence[HostArray], shape: tuple[int, ...], rows: Sequence[int]
) -> _Import:
    dtypes = [views[index].dtype for index in rows]
    others = [index for index in range(len(views)) if index not in rows]

    @jax.jit
    def split(matrix: jax.Array, *arrays: jax.Array) -> tuple[jax.Array, ...]:
        found = dict(zip(others, arrays, strict=True))
        for row, (index, dtype) in enumerate(zip(rows, dtypes, strict=True)):
            found[index] = matrix[row].astype(dtype)
        return tuple([found[index] for index in range(len(views))])

    def imported(*arrays: HostArray) -> Sequence[jax.Array]:
        matrix = np.empty((len(rows), *shape), np.float32)
        for row, index in enumerate(rows):
            matrix[row] = arrays[index]
        result: Sequence[jax.Array] = split(matrix, *[arrays[index] for index in others])
        return result

    return imported
