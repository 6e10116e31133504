"""A backend for any array API namespace."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, cast

import array_api_compat
import numpy as np
from gymbridge_runtime.backends.base import Backend, HostView
from gymbridge_runtime.backends.dlpack_devices import listed_devices, short_name
from gymbridge_runtime.backends.dlpack_protocol import Producer, host_view, is_host_memory
from gymbridge_runtime.backends.namespaces import Namespace, module_namespace, namespace_name
from gymbridge_runtime.backends.registry import backend_named, register
from gymbridge_runtime.core.memory import aligned_copy
from gymbridge_runtime.core.narrowing import getattr_untyped
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

_ALIGNMENT = 64
"""The alignment in bytes that DLPack asks for."""

# array-api-compat types only the arrays and devices of a few libraries
_device_of: Final = cast("Callable[[object], object]", getattr_untyped(array_api_compat, "device"))
_to_device: Final = cast(
    "Callable[[object, object], Producer]", getattr_untyped(array_api_compat, "to_device")
)


class _Standard(Protocol):
    """The functions of the array API that this module calls."""

    def zeros(self, shape: int, /) -> object: ...
    def asarray(self, value: object, /, *, copy: bool | None = None) -> object: ...
    def from_dlpack(self, value: object, /) -> object: ...


class NamespaceBackend(Backend[object, object]):
    """A library with an array API namespace; an instance registers itself for its arrays.

    It imports what the standard promises: contiguous, writable memory. A library that does not
    speak DLPack copies whatever it imports.
    """

    def __init__(self, name: str) -> None:
        """Describe the library whose own module is ``name``, ``"dask.array"`` for example."""
        self.name: str = name
        self.title: str = name
        self.reference: str = f"the array API namespace {name}"
        self.roots: frozenset[str] = frozenset({name.partition(".")[0]})
        self._namespace: _Standard = cast("_Standard", cast("object", module_namespace(name)))
        empty = self._namespace.zeros(0)
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
    def to_host(self, array: object) -> HostView:
        if isinstance(array, Producer):
            return host_view(array)
        if hasattr(array, "todense"):  # a sparse array has no dense memory
            array = cast("Callable[[], object]", getattr_untyped(array, "todense"))()
        # lazy and chunked arrays have no memory until they are computed
        return HostView(np.asarray(array), owned=False, copied=True)

    @override
    def from_host(self, view: HostArray, device: object) -> object:
        namespace = self._namespace
        array = namespace.from_dlpack(view) if self._imports_dlpack else namespace.asarray(view)
        return self.to_device(array, device)

    @override
    def like(self, array: object, view: HostArray) -> object:
        return self.from_host(view, _device_of(array))

    @override
    def snapshot(self, array: object, device: object) -> object:
        return self.to_device(self._namespace.asarray(array, copy=True), device)

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
    def parse_device(self, device: object) -> object:
        """Accept the library's own object, its text, or the name in that text: ``"device1"``."""
        if not isinstance(device, str):
            return device
        known = listed_devices(self._namespace)
        for found in known:
            if device in {str(found), short_name(found)}:
                return found
        raise ValueError(f"{self.title} has no device {device!r}; it has {known}")

    @override
    def device_text(self, device: object) -> object:
        return None if device is None else str(device)

    @override
    def to_device(self, array: object, device: object) -> object:
        there = device is None or _device_of(array) == device
        return array if there else _to_device(array, device)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return NamespaceBackend.of, (self.name,)


def backend_for(xp: Namespace) -> AnyBackend:
    """Return the backend of a library: its own, or a generic one."""
    name = namespace_name(xp)
    backend = backend_named(name.partition(".")[0])
    return NamespaceBackend.of(name) if backend is None else backend
