"""Any array API namespace: a backend for libraries of which only the standard is known."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import device as device_of
from array_api_compat import to_device
from gymbridge_runtime.backend import Backend, HostView
from gymbridge_runtime.dlpack import Producer, host_view, is_host_memory
from gymbridge_runtime.dtypes import AnyDType, named_dtype
from gymbridge_runtime.known import register
from gymbridge_runtime.memory import aligned_copy
from gymbridge_runtime.namespaces import module_name_to_namespace
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.types import HostArray

__all__ = ["NamespaceBackend"]

_ALIGNMENT = 64
"""What DLPack asks of memory, and the strictest libraries of what they take over."""


class NamespaceBackend(Backend[Any, Any]):
    """A library behind its array API namespace; making one makes its arrays recognised.

    Nothing is taken for granted that the standard does not say: only ordinary memory is handed
    over, read-only memory is copied, and a library that does not speak DLPack copies whatever it
    imports.

    Args:
        name: The library's own module: ``"array_api_strict"``, ``"dask.array"``.
    """

    def __init__(self, name: str) -> None:
        self.name: str = name
        self.title: str = name
        self.reference: str = f"the array API namespace {name}"
        self.roots: frozenset[str] = frozenset({name.partition(".")[0]})
        self._namespace: Any = module_name_to_namespace(name)
        empty: object = self._namespace.zeros(0)
        self._array_type: type[object] = type(empty)
        self._imports_dlpack: bool = (
            hasattr(self._namespace, "from_dlpack")
            and isinstance(empty, Producer)
            and is_host_memory(empty)
        )
        self.copies_in: bool = not self._imports_dlpack
        register(self)

    @staticmethod
    @cache
    def of(name: str) -> NamespaceBackend:
        """Return the one backend for the namespace ``name``."""
        return NamespaceBackend(name)

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, self._array_type) or hasattr(kind, "__array_namespace__")

    @override
    def to_host(self, array: Any) -> HostView:
        if isinstance(array, Producer):
            return host_view(array)
        if hasattr(array, "todense"):  # a sparse array has no memory of all its elements
            array = array.todense()
        # lazy and chunked arrays have no memory until they are computed
        return HostView(np.asarray(array), owned=False, copied=True)

    @override
    def from_host(self, view: HostArray, device: Any) -> object:
        namespace = self._namespace
        array = namespace.from_dlpack(view) if self._imports_dlpack else namespace.asarray(view)
        return array if device is None else to_device(array, device)

    @override
    def snapshot(self, array: Any, device: Any) -> object:
        copy = self._namespace.asarray(array, copy=True)
        return copy if device is None else to_device(copy, device)

    @override
    def accepts(self, view: HostArray) -> bool:
        return view.flags.c_contiguous and view.flags.aligned

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        return dtype if hasattr(self._namespace, dtype.name) else None

    @override
    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        return aligned_copy(view, dtype, _ALIGNMENT)

    @override
    def dtype(self, name: object) -> AnyDType:
        return named_dtype(name if isinstance(name, (str, type, np.dtype)) else str(name))

    @override
    def parse_device(self, device: object) -> object:
        """Take the library's own object, its text, or the name within it: ``"device1"``."""
        if not isinstance(device, str):
            return device
        known = self._namespace.__array_namespace_info__().devices()
        for found in known:
            if device == str(found) or str(found).endswith(f"('{device}')"):
                return found
        raise ValueError(f"{self.title} has no device {device!r}; it has {known}")

    @override
    def device_text(self, device: object) -> object:
        return None if device is None else str(device)

    @override
    def to_device(self, array: Any, device: object) -> object:
        there = device is None or device_of(array) == device
        return array if there else to_device(array, device)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return NamespaceBackend.of, (self.name,)
