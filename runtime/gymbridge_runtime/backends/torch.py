"""PyTorch: mutable arrays on many devices, and blind to memory that is read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import numpy as np
import torch
from gymbridge_runtime.backend import (
    Backend,
    Export,
    HostView,
    Import,
)
from gymbridge_runtime.dlpack import CUDA, ROCM, Producer, device_of
from gymbridge_runtime.dtypes import AnyDType, extended_dtype, named_dtype
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.layouts import has_whole_strides
from gymbridge_runtime.memory import is_writable
from gymbridge_runtime.narrowing import untyped
from torch.utils.dlpack import from_dlpack
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import HostArray

__all__ = ["TORCH", "TorchBackend"]

_DTYPES: Final = {
    torch.bool: "bool",
    torch.uint8: "uint8",
    torch.uint16: "uint16",
    torch.uint32: "uint32",
    torch.uint64: "uint64",
    torch.int8: "int8",
    torch.int16: "int16",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.float16: "float16",
    torch.float32: "float32",
    torch.float64: "float64",
    torch.complex64: "complex64",
    torch.complex128: "complex128",
}
_PLAIN: Final = frozenset(_DTYPES)

# NumPy has these from ml_dtypes, and PyTorch does not take them from there: the bits travel
_BITS: Final = {
    torch.bfloat16: torch.uint16,
    torch.float8_e4m3fn: torch.uint8,
    torch.float8_e4m3fnuz: torch.uint8,
    torch.float8_e5m2: torch.uint8,
    torch.float8_e5m2fnuz: torch.uint8,
    torch.float8_e8m0fnu: torch.uint8,
}
_NAME: Final = {dtype: str(dtype).removeprefix("torch.") for dtype in _BITS}
_EXTENDED: Final = {name: dtype for dtype, name in _NAME.items()}
_FREED: Final = (
    "PyTorch has no memory behind the tensor",
    "convert it while it has, or what it stands for",
)
_NAMES: Final = frozenset(_DTYPES.values()) | frozenset(_EXTENDED)

_from_numpy: Final = cast("Callable[[HostArray], torch.Tensor]", untyped(torch, "from_numpy"))


class TorchBackend(Backend[torch.Tensor, torch.device]):
    """PyTorch's strided tensors; sparse, nested, quantized and fake ones are refused."""

    name: str = "torch"
    title: str = "PyTorch"
    reference: str = "gymbridge_runtime.backends.torch:TORCH"
    roots: frozenset[str] = frozenset({"torch"})
    # C has two types of 64 unsigned bits, which are equal, and PyTorch refuses one of them
    plain_dtypes: frozenset[AnyDType] = frozenset(
        np.dtype(name) for name in _DTYPES.values() if name != "uint64"
    )

    keeps_or_refuses: bool = True

    @override
    def plain_kind(self) -> type[object] | None:
        return torch.Tensor

    @override
    def plain_view(self) -> Callable[[torch.Tensor], HostArray]:
        # it refuses what requires gradients, is conjugate, sparse, quantized, or on a GPU
        return cast("Callable[[torch.Tensor], HostArray]", torch.Tensor.numpy)

    @override
    def is_plain(self, array: torch.Tensor, dtypes: frozenset[AnyDType]) -> bool:
        return (
            (array.is_cpu and not array.is_nested)
            and (array.dtype in _PLAIN and array.layout is torch.strided)
            and not (array.requires_grad or array.is_neg() or array.is_conj())
        )

    @override
    def plain_import(self) -> Import:
        return _from_numpy

    @override
    def plain_number(self) -> Callable[[torch.Tensor], complex | None]:
        return _number_of

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, torch.Tensor)

    @override
    def to_host(self, array: torch.Tensor) -> HostView:
        tensor = _ordinary(array)
        plain = tensor.cpu().resolve_conj().resolve_neg()
        owned = plain.data_ptr() != tensor.data_ptr()
        if tensor.dtype in _BITS:
            bits: HostArray = plain.view(_BITS[tensor.dtype]).numpy()
            return HostView(bits.view(extended_dtype(_NAME[tensor.dtype])), owned, copied=owned)
        return HostView(plain.numpy(), owned, copied=owned)

    @override
    def from_host(self, view: HostArray, device: torch.device | None) -> object:
        dtype = _EXTENDED.get(view.dtype.name)
        bits = view if dtype is None else view.view(f"u{view.itemsize}")
        if bits.dtype == np.uint64:
            bits = bits.view(np.uint64)  # not the other one
        # from_numpy warns of read-only memory, which comes here only to be moved off the host
        tensor = _from_numpy(bits) if is_writable(bits) else from_dlpack(bits)
        if dtype is not None:
            tensor = tensor.view(dtype)
        return tensor if device is None else tensor.to(device)

    @override
    def beside(self, array: torch.Tensor, view: HostArray) -> object:
        return self.from_host(view, array.device)

    @override
    def snapshot(self, array: torch.Tensor, device: torch.device | None) -> object:
        own = array.detach()  # of what NumPy need not be shown
        if array.is_nested or array.is_quantized or array.layout is not torch.strided:
            copy = own.clone()
            return copy if device is None else copy.to(device)
        if array.numel() and not array.untyped_storage().nbytes():
            raise ConversionError(*_FREED)
        return own.to(device or array.device, copy=True)

    @override
    def accepts(self, view: HostArray) -> bool:
        # PyTorch's loops over complex numbers end the process where these are not aligned
        if view.dtype.kind == "c" and not view.flags.aligned:
            return False
        return has_whole_strides(view)  # a negative one makes torch.from_dlpack abort the process

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        return dtype if dtype.name in _NAMES else None

    @override
    def dtype_of(self, array: torch.Tensor) -> AnyDType | None:
        name = _DTYPES.get(array.dtype) or _NAME.get(array.dtype)
        return None if name is None else named_dtype(name)

    @override
    def dtype(self, name: object) -> AnyDType:
        return named_dtype(str(name) if isinstance(name, torch.dtype) else name)

    @override
    def parse_device(self, device: object) -> object:
        if device is None:
            return None
        parsed = device if isinstance(device, torch.device) else torch.device(str(device))
        if parsed.type == "meta":
            raise ConversionError(
                "PyTorch's device 'meta' has no memory to hold values", "name another device"
            )
        # the host has one device, and to move from "cpu" to "cpu:0" is a copy to PyTorch
        return torch.device("cpu") if parsed.type == "cpu" else parsed

    @override
    def device_text(self, device: torch.device | None) -> object:
        return None if device is None else str(device)

    @override
    def devices(self) -> Sequence[str]:
        found = torch.accelerator.current_accelerator()
        count = torch.accelerator.device_count()  # none where nothing is found
        return ("cpu", *(f"{found}:{index}" for index in range(count)))

    @override
    def to_device(self, array: torch.Tensor, device: torch.device | None) -> object:
        return array if device is None else array.to(device)

    @override
    def leaves_host(self, device: torch.device | None) -> bool:
        return device is not None and device.type != "cpu"

    @override
    def export(self, array: torch.Tensor) -> Export | None:
        if not array.is_cuda or array.dtype not in _PLAIN | {torch.bfloat16}:
            return None
        tensor = _ordinary(array)
        plain = tensor.resolve_conj().resolve_neg()
        return Export(
            plain,
            device_of(cast("Producer", cast("object", plain))),
            self.dtype(plain.dtype),
            dense=plain.is_contiguous(),
            owned=plain.data_ptr() != tensor.data_ptr(),
        )

    @override
    def imports_at(self, place: tuple[int, int], device: torch.device | None) -> bool:
        kind, index = place
        if kind != (CUDA if torch.version.hip is None else ROCM):  # "cuda" to PyTorch, both
            return False
        if device is None or not torch.cuda.is_available():
            return torch.cuda.is_available()
        current = str(device) == "cuda" and torch.cuda.current_device() == index
        return current or device == torch.device("cuda", index)

    @override
    def from_dlpack(self, array: object) -> object:
        return from_dlpack(array)


def _number_of(array: torch.Tensor) -> complex | None:
    return None if array.ndim or array.is_sparse else array.item()


def _ordinary(array: torch.Tensor) -> torch.Tensor:
    """Return ``array`` without its history; refuse what has no memory of strided numbers."""
    refusal = _refusal(array)
    if refusal is not None:
        raise ConversionError(*refusal)
    return array.detach()


def _refusal(array: torch.Tensor) -> tuple[str, str] | None:
    if type(array).__name__ == "FakeTensor":
        return (
            "PyTorch cannot show a FakeTensor, which has a shape and no values",
            "convert outside the mode",
        )
    if array.is_nested:
        return (
            "PyTorch has no one shape for a nested tensor",
            "pad it with to_padded_tensor(), or unbind() it",
        )
    if array.layout is not torch.strided:
        return (
            f"PyTorch cannot show the layout {array.layout} as strided memory",
            "call to_dense() first",
        )
    if array.device.type == "meta":
        return (
            "PyTorch holds no values in a tensor on the device 'meta'",
            "make it on a real device",
        )
    if array.is_quantized:
        return f"PyTorch stores {array.dtype} as quantized numbers", "call dequantize() first"
    if array.numel() and not array.untyped_storage().data_ptr():
        # NumPy would make memory of its own for it, full of what was there before
        return _FREED
    if array.dtype not in _PLAIN and array.dtype not in _BITS:
        return f"PyTorch has {array.dtype}, which NumPy has not", "cast it with to() first"
    return None


TORCH: Final = TorchBackend()
