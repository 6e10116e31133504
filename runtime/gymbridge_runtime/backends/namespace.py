"""Any array API namespace: a backend for libraries of which only the standard is known."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, cast

import array_api_compat
import numpy as np
from gymbridge_runtime.backend import Backend, HostView
from gymbridge_runtime.dlpack import Producer, host_view, is_host_memory
from gymbridge_runtime.dlpack_devices import short_name
from gymbridge_runtime.dtypes import AnyDType, spelled_dtype
from gymbridge_runtime.known import backend_named, register
from gymbridge_runtime.memory import aligned_copy
from gymbridge_runtime.namespaces import Namespace, module_name_to_namespace, namespace_name
from gymbridge_runtime.narrowing import untyped
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import HostArray

__all__ = ["NamespaceBackend", "backend_for"]

_ALIGNMENT = 64
"""What DLPack asks of memory, and the strictest libraries of what they take over."""


# any library's arrays and devices, of which the types of array-api-compat name a few
_device_of: Final = cast("Callable[[object], object]", untyped(array_api_compat, "device"))
_to_device: Final = cast(
    "Callable[[object, object], Producer]", untyped(array_api_compat, "to_device")
)


class _Devices(Protocol):
    def devices(self) -> Sequence[object]: ...


class _Standard(Protocol):
    """The functions of the array API that are called here."""

    def zeros(self, shape: int, /) -> object: ...
    def asarray(self, value: object, /, *, copy: bool | None = None) -> object: ...
    def from_dlpack(self, value: object, /) -> object: ...
    def __array_namespace_info__(self) -> _Devices: ...


class _Sparse(Protocol):
    def todense(self) -> object: ...


class NamespaceBackend(Backend[object, object]):
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
        self._namespace: _Standard = _standard(module_name_to_namespace(name))
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
        if hasattr(array, "todense"):  # a sparse array has no memory of all its elements
            array = cast("_Sparse", array).todense()
        # lazy and chunked arrays have no memory until they are computed
        return HostView(np.asarray(array), owned=False, copied=True)

    @override
    def from_host(self, view: HostArray, device: object) -> object:
        namespace = self._namespace
        array = namespace.from_dlpack(view) if self._imports_dlpack else namespace.asarray(view)
        return array if device is None else _to_device(array, device)

    @override
    def beside(self, array: object, view: HostArray) -> object:
        return self.from_host(view, _device_of(array))

    @override
    def snapshot(self, array: object, device: object) -> object:
        copy = self._namespace.asarray(array, copy=True)
        return copy if device is None else _to_device(copy, device)

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
        return spelled_dtype(name)

    @override
    def parse_device(self, device: object) -> object:
        """Take the library's own object, its text, or the name within it: ``"device1"``."""
        if not isinstance(device, str):
            return device
        known = self._namespace.__array_namespace_info__().devices()
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


def _standard(namespace: object) -> _Standard:
    return cast("_Standard", namespace)


def backend_for(xp: Namespace) -> AnyBackend:
    """Return the backend of a library: its own if there is one, else one made of the standard."""
    name = namespace_name(xp)
    backend = backend_named(name.partition(".")[0])
    return NamespaceBackend.of(name) if backend is None else backend
