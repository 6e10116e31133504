"""CuPy: arrays on GPUs, shared with other libraries on the same GPU.

This module follows the documentation of CuPy and DLPack; there was no GPU to run it on. Tests cover
its facts, its errors without a GPU and, with stand-ins for the libraries, the transfer of arrays
from one GPU library to another.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

import numpy as np
from gymbridge_runtime.backends.base import Backend, Export, HostView
from gymbridge_runtime.backends.dlpack_protocol import GPUS, device_of, is_host_memory
from gymbridge_runtime.backends.packing import by_place, download, upload
from gymbridge_runtime.core.dtypes import COMMON_DTYPES
from gymbridge_runtime.core.errors import REFUSED
from gymbridge_runtime.core.narrowing import getattr_untyped
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray
    from typing_extensions import CapsuleType


class _Flags(Protocol):
    @property
    def c_contiguous(self) -> bool: ...


class _Device(Protocol):
    """A GPU; as a context manager it is the current one."""

    @property
    def id(self) -> int: ...
    def __enter__(self) -> object: ...
    def __exit__(self, *error: object) -> None: ...


class _Array(Protocol):
    """The part of `cupy.ndarray`, which has no types, that this module uses."""

    @property
    def dtype(self) -> AnyDType: ...
    @property
    def device(self) -> _Device: ...
    @property
    def flags(self) -> _Flags: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, key: slice, /) -> _Array: ...
    def copy(self) -> _Array: ...
    def reshape(self, shape: int | tuple[int, ...], /) -> _Array: ...
    def view(self, dtype: AnyDType, /) -> _Array: ...
    def __dlpack__(self, **keywords: object) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


class _Devices(Protocol):
    Device: Callable[[int | _Device], _Device]


class _Module(Protocol):
    ndarray: type[object]
    cuda: _Devices

    def asarray(self, values: object, *, blocking: bool = False) -> _Array: ...
    def asnumpy(self, array: _Array, /) -> HostArray: ...
    def concatenate(self, arrays: Sequence[_Array], /) -> _Array: ...
    def from_dlpack(self, array: object, /) -> _Array: ...


_cupy: Final = cast("_Module", cast("object", import_module("cupy")))
_OCTET: Final[AnyDType] = np.dtype(np.uint8)


class CupyBackend(Backend[_Array, _Device]):
    """CuPy's arrays, on the current device unless another one is named."""

    name: str = "cupy"
    title: str = "CuPy"
    integer_advice: str = "use `.astype(int)`"
    reference: str = "gymbridge_runtime.backends.cupy:CUPY"
    roots: frozenset[str] = frozenset({"cupy"})
    copies_in: bool = True  # from the host

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, _cupy.ndarray)

    @override
    def to_host(self, array: _Array) -> HostView:
        return HostView(_cupy.asnumpy(array), owned=True, copied=True)

    @override
    def from_host(self, view: HostArray, device: _Device | None) -> object:
        # a non-blocking copy may still run when the owner writes into the memory
        with _on(device):
            return _cupy.asarray(view, blocking=True)

    @override
    def from_host_many(
        self, views: Sequence[HostArray], device: _Device | None
    ) -> Iterable[object]:
        with _on(device):
            return upload(views, lambda view: _cupy.asarray(view, blocking=True), _taken)

    @override
    def show_many(self, arrays: Sequence[_Array]) -> Iterable[HostView]:
        views: dict[int, HostArray] = {}
        for numbers in by_place([array.device.id for array in arrays]).values():
            some = [arrays[number] for number in numbers]
            with some[0].device:
                fetched = download(some, [array.dtype for array in some], _fetched)
            views.update(zip(numbers, fetched, strict=True))
        return [HostView(views[n], owned=True, copied=True) for n in range(len(arrays))]

    @override
    def like(self, array: _Array, view: HostArray) -> object:
        return self.from_host(view, array.device)

    @override
    def dtype_of(self, array: _Array) -> AnyDType | None:
        return array.dtype

    @override
    def snapshot(self, array: _Array, device: _Device | None) -> object:
        moved = self.to_device(array, device)
        if moved is not array:
            return moved
        with _on(array.device):
            return array.copy()

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        return dtype if dtype.name in {*COMMON_DTYPES, "bfloat16"} else None

    @override
    def parse_device(self, device: object) -> object:
        """Accept CuPy's own object, the number of a GPU, or text such as ``"cuda:1"``."""
        if device is None:
            return None
        is_object = hasattr(device, "id")
        given = device if isinstance(device, str) else f"cuda:{getattr(device, 'id', device)}"
        name = "cuda:0" if given == "cuda" else given
        there = self.devices()
        if name not in there:
            names = f"write one of {', '.join(map(repr, there))}" if there else "it finds no GPU"
            raise ValueError(f"CuPy has no device {device!r}; {names}")
        # conversions are joined by the identity of their device
        return device if is_object else _cupy.cuda.Device(there.index(name))

    @override
    def device_text(self, device: _Device | None) -> object:
        return None if device is None else f"cuda:{device.id}"

    @override
    def devices(self) -> Sequence[str]:
        runtime = getattr_untyped(_cupy.cuda, "runtime")
        count = cast("Callable[[], int]", getattr_untyped(runtime, "getDeviceCount"))
        try:
            return tuple(f"cuda:{index}" for index in range(count()))
        except REFUSED:  # no GPU, or no driver
            return ()

    @override
    def to_device(self, array: _Array, device: _Device | None) -> _Array:
        if device is None or array.device.id == device.id:
            return array
        if not array.flags.c_contiguous:  # CuPy does not move arrays with gaps
            with array.device:
                array = array.copy()
        with device:
            return _cupy.asarray(array)

    @override
    def leaves_host(self, device: _Device | None) -> bool:
        return True

    @override
    def export(self, array: _Array) -> Export | None:
        if is_host_memory(array):
            return None  # managed memory: the host can read it
        return Export(array, device_of(array), array.dtype, dense=array.flags.c_contiguous)

    @override
    def imports_at(self, place: tuple[int, int], device: _Device | None) -> bool:
        kind, index = place
        return kind in GPUS and (device is None or device.id == index)

    @override
    def from_dlpack(self, array: object) -> object:
        return _cupy.from_dlpack(array)


def _on(device: _Device | None) -> AbstractContextManager[object]:
    """Return a context in which ``device`` is the current one."""
    return nullcontext() if device is None else device


def _taken(packed: _Array, place: slice, like: HostArray) -> _Array:
    """Return a slice of ``packed`` as an array of the dtype and shape of ``like``."""
    return packed[place].view(like.dtype).reshape(like.shape)


def _fetched(arrays: Sequence[_Array]) -> HostArray:
    """Fetch the bytes of ``arrays`` from the current device by one transfer."""
    parts = [array.reshape(-1).view(_OCTET) for array in arrays]
    return _cupy.asnumpy(_cupy.concatenate(parts) if len(parts) > 1 else parts[0])


CUPY: Final = CupyBackend()
