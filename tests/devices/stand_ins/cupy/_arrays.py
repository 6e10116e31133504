"""Arrays on a GPU, and the functions that make them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin
from typing_extensions import override

from . import simulation
from .cuda import Device, runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import CapsuleType

    from .cuda import Stream

__all__ = [
    "array",
    "asarray",
    "asnumpy",
    "concatenate",
    "empty",
    "from_dlpack",
    "ndarray",
    "zeros",
]

Host: TypeAlias = npt.NDArray[Any]
Value: TypeAlias = Any
"""Any argument of a user, or any result."""
Order: TypeAlias = Literal["C", "F", "A", "K"] | None
Layout: TypeAlias = Literal["C", "F"]
DType: TypeAlias = npt.DTypeLike | None
Shape: TypeAlias = int | tuple[int, ...]
Axis: TypeAlias = int | tuple[int, ...] | None

CPU, CUDA = 1, 2
"""DLPack's numbers of kinds of devices."""

_CHARACTERS = frozenset("?bhilqBHILQefdFD")
_SCALARS = (bool, int, float, complex, np.generic)


class Flags(NamedTuple):
    c_contiguous: bool
    f_contiguous: bool
    owndata: bool


class Memory(NamedTuple):
    """The value of `ndarray.data`: the place of an array's memory."""

    ptr: int
    device: Device


class Capsule(NamedTuple):
    """The result of `__dlpack__`: memory on a GPU, which the host cannot import."""

    array: ndarray


class ndarray(NDArrayOperatorsMixin):
    """An array on a GPU; its operators call `__array_ufunc__`."""

    __module__ = "cupy"

    def __init__(self, shape: Shape, dtype: DType = float, order: Layout = "C") -> None:
        memory = np.empty(_sized(shape), supported(np.dtype(dtype)), order)
        self._hold(memory, runtime.getDevice(), None)

    def _hold(self, memory: Host, device: int, base: ndarray | None) -> None:
        self._late_memory: Host = memory
        self._device: int = device
        self.base: ndarray | None = base

    @property
    def _memory(self) -> Host:
        """The memory, after all pending copies."""
        simulation.finish()
        return self._late_memory

    def _view(self, memory: Host) -> ndarray:
        return made(memory, self._device, self if self.base is None else self.base)

    # -- facts ------------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._late_memory.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._late_memory.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self._late_memory.strides

    @property
    def ndim(self) -> int:
        return self._late_memory.ndim

    @property
    def size(self) -> int:
        return self._late_memory.size

    @property
    def nbytes(self) -> int:
        return self._late_memory.nbytes

    @property
    def flags(self) -> Flags:
        flags = self._late_memory.flags
        return Flags(flags.c_contiguous, flags.f_contiguous, self.base is None)

    @property
    def device(self) -> Device:
        return Device(self._device)

    @property
    def data(self) -> Memory:
        return Memory(self._late_memory.ctypes.data, self.device)

    # -- to the host ------------------------------------------------------------------------------

    def get(
        self,
        stream: Stream | None = None,
        order: Order = "C",
        out: Host | None = None,
        blocking: bool = True,
    ) -> Host:
        if out is None:
            fortran = order == "F" or (order == "A" and self.flags.f_contiguous)
            out = np.empty(self.shape, self.dtype, "F" if fortran else "C")
        elif out.dtype != self.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
        elif out.shape != self.shape:
            raise ValueError(f"Shape mismatch. Expected {self.shape}, actual shape: {out.shape}")
        if self.size:
            simulation.count("downloads")
            simulation.later(partial(np.copyto, out, self._late_memory))
            if blocking:
                simulation.finish()
        return out

    def item(self) -> Value:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    def tolist(self) -> Value:
        return self.get().tolist()

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    @override
    def __repr__(self) -> str:
        return repr(self.get())

    def __array__(self, dtype: DType = None, copy: bool | None = None) -> Host:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    # -- from the host ----------------------------------------------------------------------------

    def set(self, arr: Host, stream: Stream | None = None) -> None:
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.dtype != self.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if arr.shape != self.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        upload(arr, self._late_memory)

    # -- copies and views -------------------------------------------------------------------------

    def copy(self, order: Order = "C") -> ndarray:
        """Return a copy on the current device, which may be another one."""
        here = runtime.getDevice()
        if here == self._device or not self.size:
            return self.astype(self.dtype, order)
        dense = self
        if not self._is_in(order):
            with self.device:
                dense = self.astype(self.dtype, order)
        if not (dense.flags.c_contiguous or dense.flags.f_contiguous):
            raise NotImplementedError("CuPy cannot copy non-contiguous array between devices.")
        simulation.count("moves")
        return made(dense._memory.copy("A"), here)

    def _is_in(self, order: Order) -> bool:
        flags = self.flags
        either = flags.c_contiguous or flags.f_contiguous
        orders = {"C": flags.c_contiguous, "F": flags.f_contiguous, "A": either}
        return orders.get(order or "K", True)

    def astype(
        self,
        dtype: DType,
        order: Order = "K",
        casting: str | None = None,
        subok: bool | None = None,
        copy: bool = True,
    ) -> ndarray:
        if casting is not None or subok is not None:
            raise TypeError("casting and subok are not supported yet")
        wanted = supported(np.dtype(dtype))
        if not copy and wanted == self.dtype and self._is_in(order):
            return self
        result: ndarray = launch(partial(np.array, dtype=wanted, order=order or "K"), self)
        return result

    def view(self, dtype: DType = None) -> ndarray:
        return self._view(self._memory.view(dtype) if dtype else self._memory.view())

    def reshape(self, *shape: Value, order: Literal["C", "F", "A"] = "C") -> ndarray:
        reshaped = self._memory.reshape(*shape, order=order)
        return self._view(reshaped) if np.shares_memory(reshaped, self._memory) else made(reshaped)

    @property
    def T(self) -> ndarray:
        return self._view(self._memory.T)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: object) -> ndarray:
        with self.device:
            return self.copy()

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return array, (self.get(),)

    # -- elements ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._late_memory)

    def __iter__(self) -> Iterator[ndarray]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Value) -> ndarray:
        found = self._memory[_key(key)]
        return self._view(found) if found.base is not None else made(found, self._device)

    def __setitem__(self, key: Value, value: Value) -> None:
        if isinstance(value, np.ndarray):
            if value.shape:
                raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
            value = value.item()
        launch(partial(_assign, _key(key)), self, value)

    def fill(self, value: Value) -> None:
        self[...] = value

    # -- calculation ------------------------------------------------------------------------------

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Value, out: tuple[ndarray] | None = None
    ) -> Value:
        if method != "__call__":
            return NotImplemented
        result = launch(ufunc, *inputs)
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    def sum(self, axis: Axis = None, dtype: DType = None, out: None = None) -> ndarray:
        result: ndarray = launch(partial(np.sum, axis=axis, dtype=dtype), self)
        return result

    def any(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> ndarray:
        result: ndarray = launch(partial(np.any, axis=axis, keepdims=keepdims), self)
        return result

    def all(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> ndarray:
        result: ndarray = launch(partial(np.all, axis=axis, keepdims=keepdims), self)
        return result

    # -- DLPack -----------------------------------------------------------------------------------

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self._device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType | Capsule:
        if dl_device == (CPU, 0):
            if copy is False:
                raise ValueError("GPU memory cannot be exported to CPU without copy.")
            return self.get(order="A").__dlpack__(max_version=max_version)
        if dl_device not in {None, self.__dlpack_device__()}:
            raise BufferError("unsupported device requested.")
        if copy:
            raise BufferError("copy=True only supported for copy to CPU.")
        if stream is not None and stream < -1:
            raise ValueError(f"On CUDA, the stream is -1 or more, but {stream} was provided")
        return Capsule(self)


# -- the GPU --------------------------------------------------------------------------------------


def made(memory: Host, device: int | None = None, base: ndarray | None = None) -> ndarray:
    """Return an array over the memory of a device, by default the current one."""
    new = ndarray.__new__(ndarray)
    new._hold(memory, runtime.getDevice() if device is None else device, base)
    return new


def _sized(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else shape


def supported(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return ``dtype`` if a GPU has it."""
    if dtype.char not in _CHARACTERS and dtype.name != "bfloat16":
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def upload(source: Host, target: Host) -> None:
    """Copy to a GPU at the next wait for it."""
    if target.size:
        simulation.count("uploads")
        simulation.later(partial(np.copyto, target, source))


class Kernel(Protocol):
    """A kernel of a GPU; here, a function of NumPy."""

    def __call__(self, *operands: Value) -> Value: ...


def launch(kernel: Kernel, *operands: Value) -> Value:
    """Run a kernel on the current device, with numbers and arrays of that device."""
    result = kernel(*map(_operand, operands))
    return made(np.asarray(result)) if isinstance(result, (np.ndarray, np.generic)) else result


def _assign(key: tuple[Value, ...], memory: Host, value: Value) -> None:
    memory[key] = value


def _operand(value: Value) -> Value:
    if isinstance(value, ndarray):
        if value.size and (there := value.device.id) != (here := runtime.getDevice()):
            raise ValueError(
                f"The device where the array resides ({there}) is different from the current "
                f"device ({here}). Peer access is unavailable between these devices."
            )
        return value._memory
    if isinstance(value, _SCALARS):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def _key(key: Value) -> tuple[Value, ...]:
    """Return a NumPy index that gives an array even for a single element."""
    parts = key if isinstance(key, tuple) else (key,)
    parts = tuple(part._memory if isinstance(part, ndarray) else part for part in parts)
    return parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)


# -- functions ------------------------------------------------------------------------------------


def empty(shape: Shape, dtype: DType = float, order: Layout = "C") -> ndarray:
    return ndarray(shape, dtype, order)


def zeros(shape: Shape, dtype: DType = float, order: Layout = "C") -> ndarray:
    new = ndarray(shape, dtype, order)
    new.fill(0)
    return new


def array(
    obj: Value,
    dtype: DType = None,
    copy: bool | None = True,
    order: Order = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    if subok:
        raise NotImplementedError
    if isinstance(obj, ndarray):
        here = obj if obj.device.id == runtime.getDevice() else obj.copy(order)
        found = here.astype(dtype or obj.dtype, order, copy=bool(copy) and here is obj)
        if copy is False and found is not obj:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return (
            found
            if found.ndim >= ndmin
            else found.reshape((1,) * (ndmin - found.ndim) + found.shape)
        )
    source = np.array(obj, dtype, copy=None, ndmin=ndmin)
    native = source.dtype.newbyteorder("=")
    fortran = order == "F" or (order in {"A", "K", None} and source.flags.fnc)
    new = ndarray(source.shape, native, "F" if fortran else "C")
    upload(source, new._late_memory)
    if blocking:
        simulation.finish()
    return new


def asarray(
    a: Value,
    dtype: DType = None,
    order: Order = None,
    *,
    copy: bool | None = None,
    blocking: bool = False,
) -> ndarray:
    return array(a, dtype, copy, order or "K", blocking=blocking)


def asnumpy(
    a: Value,
    stream: Stream | None = None,
    order: Order = "C",
    out: Host | None = None,
    *,
    blocking: bool = True,
) -> Host:
    if isinstance(a, ndarray):
        return a.get(stream, order, out, blocking)
    if out is None:
        return np.asarray(a, order=order)
    np.copyto(out, a)
    return out


def concatenate(tup: Sequence[ndarray], axis: int | None = 0) -> ndarray:
    result: ndarray = launch(lambda *parts: np.concatenate(parts, axis), *tup)
    return result


class Producer(Protocol):
    """Another library's array."""

    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(self, **keywords: object) -> CapsuleType | Capsule: ...


def from_dlpack(
    array: Producer, *, device: tuple[int, int] | None = None, copy: bool | None = None
) -> ndarray:
    if device is not None:
        raise NotImplementedError("from_dlpack() does not support device yet.")
    kind, index = array.__dlpack_device__()
    if kind == CPU:
        raise TypeError(
            "CPU arrays cannot be directly imported to CuPy. "
            "Use `cupy.array(numpy.from_dlpack(input))` instead."
        )
    if kind != CUDA:
        raise TypeError(f"Unsupported array type: {kind}")
    capsule = array.__dlpack__(stream=1, max_version=(1, 0), copy=copy)
    if isinstance(capsule, Capsule):
        return made(capsule.array._memory, index, capsule.array)
    return made(np.from_dlpack(_Simulated(capsule)), index)


class _Simulated:
    """A capsule of another library whose GPU memory is simulated on the host."""

    def __init__(self, capsule: CapsuleType) -> None:
        self._capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0

    def __dlpack__(self, **_: object) -> CapsuleType:
        return self._capsule
