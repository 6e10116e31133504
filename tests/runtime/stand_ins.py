"""GPUs for machines that have none: the libraries' arrays, on memory of the host.

What they do is what the libraries' documentation says of arrays on GPUs, as far as gymbridge's
backends ask for it: where arrays are, what moves or copies them, and what they export.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from typing_extensions import override

from tests.libraries.torch import torch

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

    from tests.support import Array, Host

__all__ = ["CUDA", "MANAGED", "Cuda", "CudaTensor", "GpuArray", "cupy_of", "on_the_host"]

DEVICES = 3
CUDA, MANAGED = 2, 13
"""DLPack's numbers of memory on a GPU, and of memory that a GPU and the host share."""


class Cuda:
    """`cupy.cuda.Device`: entered, it is the current one."""

    current: ClassVar[list[int]] = [0]

    def __init__(self, number: int | Cuda) -> None:
        self.id: int = number.id if isinstance(number, Cuda) else number

    def __enter__(self) -> Self:
        self.current.append(self.id)
        return self

    def __exit__(self, *_: object) -> None:
        self.current.pop()


class GpuArray:
    """`cupy.ndarray`: its methods need their device to be the current one, as kernels do."""

    def __init__(self, memory: Host, number: int, kind: int = CUDA) -> None:
        self.memory = memory
        self.device = Cuda(number)
        self.kind = kind

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.memory.dtype

    @property
    def flags(self) -> object:
        return self.memory.flags

    @property
    def address(self) -> int:
        return self.memory.ctypes.data

    def copy(self) -> GpuArray:
        if Cuda.current[-1] != self.device.id:
            raise RuntimeError("cudaErrorIllegalAddress: the array is on another device")
        return GpuArray(self.memory.copy(), self.device.id)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, self.device.id

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        return self.memory.__dlpack__(max_version=max_version)


def cupy_of(asked: list[tuple[str, object]]) -> object:
    """Return the module `cupy`; what it is asked to do goes to ``asked``."""

    def asarray(values: Array, *, blocking: bool = False) -> GpuArray:
        asked.append(("asarray", blocking))
        memory = values.memory if isinstance(values, GpuArray) else values
        return GpuArray(np.array(memory), Cuda.current[-1])

    def asnumpy(array: GpuArray) -> Host:
        asked.append(("asnumpy", array.device.id))
        return array.memory.copy()

    def from_dlpack(array: Array) -> GpuArray:
        kind, number = array.__dlpack_device__()
        if kind != CUDA:
            raise BufferError(f"CuPy imports from GPUs, not from device type {kind}")
        asked.append(("from_dlpack", number))
        return GpuArray(np.from_dlpack(on_the_host(array)), number)

    return SimpleNamespace(
        ndarray=GpuArray,
        cuda=SimpleNamespace(Device=Cuda, runtime=SimpleNamespace(getDeviceCount=lambda: DEVICES)),
        asarray=asarray,
        asnumpy=asnumpy,
        from_dlpack=from_dlpack,
    )


class _OnTheHost:
    """The same memory, for importers that have no GPU."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **_: object) -> CapsuleType:
        capsule: CapsuleType = self._array.__dlpack__(max_version=max_version)
        return capsule


def on_the_host(array: Array) -> Array:
    """Return a producer of the memory of ``array`` that says that it is on the host."""
    return _OnTheHost(array.as_subclass(torch.Tensor) if isinstance(array, CudaTensor) else array)


class CudaTensor(torch.Tensor):
    """A tensor that says that it is on the second GPU."""

    is_cuda: bool = True

    @override
    def __dlpack_device__(self) -> Array:
        return CUDA, 1
