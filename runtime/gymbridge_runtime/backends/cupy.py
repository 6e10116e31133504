"""CuPy: arrays on GPUs, where they are shared with the other libraries that are there.

Written after CuPy's documentation and DLPack's; there was no GPU to run it on. What is tested is
that it says so where there is none, what its facts are, and, with stand-ins for the libraries, the
way that arrays take from one GPU library to another.
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from gymbridge_runtime.backends.base import Backend, Export, HostView
from gymbridge_runtime.backends.dlpack_protocol import GPUS, device_of, is_host_memory
from gymbridge_runtime.core.dtypes import ORDINARY
from gymbridge_runtime.core.narrowing import untyped
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray
    from typing_extensions import CapsuleType

__all__ = ["CUPY", "CupyBackend"]


class _Flags(Protocol):
    @property
    def c_contiguous(self) -> bool: ...


class _Device(Protocol):
    """A GPU; entered, it is where new arrays go."""

    @property
    def id(self) -> int: ...
    def __enter__(self) -> object: ...
    def __exit__(self, *error: object) -> None: ...


class _Array(Protocol):
    """What is used here of `cupy.ndarray`, which has no types."""

    @property
    def dtype(self) -> AnyDType: ...
    @property
    def device(self) -> _Device: ...
    @property
    def flags(self) -> _Flags: ...
    def copy(self) -> _Array: ...
    def __dlpack__(self, **keywords: object) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


class _Devices(Protocol):
    Device: Callable[[int | _Device], _Device]


class _Module(Protocol):
    ndarray: type[object]
    cuda: _Devices

    def asarray(self, values: object, *, blocking: bool = False) -> _Array: ...
    def asnumpy(self, array: _Array, /) -> HostArray: ...
    def from_dlpack(self, array: object, /) -> _Array: ...


_cupy: Final = cast("_Module", cast("object", import_module("cupy")))


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
        # else the copy may still be running when the owner of the memory writes into it
        with _on(device):
            return _cupy.asarray(view, blocking=True)

    @override
    def beside(self, array: _Array, view: HostArray) -> object:
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
        return dtype if dtype.name in {*ORDINARY, "bfloat16"} else None

    @override
    def parse_device(self, device: object) -> object:
        """Take CuPy's own object, the number of a GPU, or text as ``"cuda:1"``."""
        if device is None:
            return None
        if isinstance(device, str):
            kind, _, number = device.partition(":")
            if kind != "cuda" or not (number or "0").isdecimal():
                raise ValueError(
                    f"CuPy has no device {device!r}; name one as cupy.cuda.Device(1), 1 or 'cuda:1'"
                )
            return _cupy.cuda.Device(int(number or 0))
        return _cupy.cuda.Device(cast("int | _Device", device))

    @override
    def device_text(self, device: _Device | None) -> object:
        return None if device is None else f"cuda:{device.id}"

    @override
    def devices(self) -> Sequence[str]:
        runtime = untyped(_cupy.cuda, "runtime")
        count = cast("Callable[[], int]", untyped(runtime, "getDeviceCount"))
        return tuple(f"cuda:{index}" for index in range(count()))

    @override
    def to_device(self, array: _Array, device: _Device | None) -> _Array:
        if device is None or array.device.id == device.id:
            return array
        if not array.flags.c_contiguous:  # CuPy moves no array with gaps
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
            return None  # memory that is managed for both
        return Export(array, device_of(array), array.dtype, dense=array.flags.c_contiguous)

    @override
    def imports_at(self, place: tuple[int, int], device: _Device | None) -> bool:
        kind, index = place
        return kind in GPUS and (device is None or device.id == index)

    @override
    def from_dlpack(self, array: object) -> object:
        return _cupy.from_dlpack(array)


def _on(device: _Device | None) -> AbstractContextManager[object]:
    """Return what makes ``device`` the current one for a while."""
    return nullcontext() if device is None else device


CUPY: Final = CupyBackend()
