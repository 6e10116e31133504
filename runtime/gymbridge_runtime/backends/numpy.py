"""NumPy, the library that every conversion passes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from gymbridge_runtime.backends.base import Backend, HostView
from gymbridge_runtime.types import HostArray
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.core.dtypes import AnyDType


class NumpyBackend(Backend[HostArray, None]):
    """NumPy: mutable arrays in host memory, read-only where a flag says so."""

    name: str = "numpy"
    title: str = "NumPy"
    integer_advice: str = "use `.astype(int)`"
    reference: str = "gymbridge_runtime.backends.numpy:NUMPY"
    roots: frozenset[str] = frozenset({"numpy"})
    keeps_read_only: bool = True
    kept_dtypes: frozenset[AnyDType] = frozenset(map(np.dtype, "?bhilqBHILQefdFD"))

    @property
    @override
    def fast_type(self) -> type[object] | None:
        return np.ndarray

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, np.ndarray)

    @override
    def is_opaque(self, kind: type[object]) -> bool:
        return issubclass(kind, np.ma.MaskedArray)  # a masked array would lose its mask

    @override
    def to_host(self, array: HostArray) -> HostView:
        return HostView(np.asarray(array), owned=False)

    @override
    def from_host(self, view: HostArray, device: None) -> object:
        return view

    @override
    def from_host_many(self, views: Sequence[HostArray], device: None) -> Sequence[HostArray]:
        return views

    @override
    def snapshot(self, array: HostArray, device: None) -> object:
        return np.array(array, copy=True, subok=True)

    @override
    def parse_device(self, device: object) -> object:
        if device not in {None, "cpu"}:
            raise ValueError(f"NumPy has the device 'cpu' only, got device={device!r}")
        return None

    @override
    def devices(self) -> Sequence[str]:
        return ("cpu",)


NUMPY: Final = NumpyBackend()
