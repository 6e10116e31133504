"""MLX: lazy arrays. Every import copies, and views are read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import mlx.core as mx
import numpy as np
from gymbridge_runtime.backends.base import Backend, HostView
from gymbridge_runtime.core.dtypes import (
    COMMON_DTYPES,
    HALVES,
    AnyDType,
    extended_dtype,
)
from gymbridge_runtime.core.errors import ConversionError
from gymbridge_runtime.core.layouts import has_whole_strides
from gymbridge_runtime.core.narrowing import getattr_untyped
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import HostArray, MakeArray

# every import narrows float64, although MLX's CPU can compute with it
_KEPT: Final = frozenset(map(np.dtype, COMMON_DTYPES)) - HALVES.keys()

_made: Final = cast("Callable[..., mx.array]", mx.array)
_computed: Final = cast("Callable[[mx.array], None]", getattr_untyped(mx, "eval"))

# -- the calls of the fast path ---------------------------------------------------------------
# the declared types of DLPack differ on both sides, but the objects match

from_numpy: Final = cast("MakeArray", mx.from_dlpack)
"""Copy a NumPy array into MLX."""
to_numpy: Final = cast("Callable[[object], HostArray]", np.from_dlpack)
"""View an array of a dtype that NumPy has; the view is read-only."""


class MlxBackend(Backend[mx.array, None]):
    """MLX's arrays. An import is a copy; an export is a read-only view.

    Arrays are mutable, but several may share memory (after ``astype`` to the same dtype,
    ``reshape``, ``copy.copy``). MLX copies this memory before it writes into one of them. NumPy
    would not: a writable view would change all of them.
    """

    name: str = "mlx"
    title: str = "MLX"
    integer_advice: str = "use `.astype(mx.int32)`"
    reference: str = "gymbridge_runtime.backends.mlx:MLX"
    roots: frozenset[str] = frozenset({"mlx"})
    writable_views: bool = False
    copies_in: bool = True
    calls_copy: bool = True
    kept_dtypes: frozenset[AnyDType] = _KEPT
    never_changes: bool = True  # MLX copies viewed memory before it writes

    @property
    @override
    def fast_type(self) -> type[object] | None:
        return mx.array

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, mx.array)

    @override
    def to_host(self, array: mx.array) -> HostView:
        try:
            _computed(array)
        except RuntimeError as error:
            if "Stream" not in str(error):
                raise
            raise ConversionError(
                f"MLX has not computed the array yet, and cannot do it here: {error}",
                "call mx.eval() on it in the thread that made it",
            ) from error
        if array.dtype == mx.bfloat16:  # NumPy does not import bfloat16 from DLPack
            bits = to_numpy(array.view(mx.uint16))
            return HostView(bits.view(extended_dtype("bfloat16")), owned=False)
        return HostView(to_numpy(array), owned=False)

    @override
    def from_host(self, view: HostArray, device: None) -> object:
        if view.dtype in _KEPT:
            return from_numpy(view)
        return _made(view)  # NumPy does not export bfloat16 over DLPack

    @override
    def snapshot(self, array: mx.array, device: None) -> object:
        # an import would narrow float64
        return _made(self.to_host(array).array, dtype=array.dtype)

    @override
    def accepts(self, view: HostArray) -> bool:
        return has_whole_strides(view)

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        if dtype in _KEPT or dtype.name == "bfloat16":
            return dtype
        return HALVES.get(dtype)


MLX: Final = MlxBackend()
