"""PyTorch: mutable arrays on many devices. It ignores read-only flags."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import torch
from gymbridge_runtime.backends.base import Backend, Export, HostView
from gymbridge_runtime.backends.dlpack_protocol import CUDA, ROCM, Producer, device_of
from gymbridge_runtime.backends.packing import by_place, download, upload
from gymbridge_runtime.core.describe import shown
from gymbridge_runtime.core.dtypes import COMMON_DTYPES, HALVES, AnyDType, named_dtype
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.layouts import has_whole_strides
from gymbridge_runtime.core.memory import is_writable
from gymbridge_runtime.core.narrowing import getattr_untyped
from torch.utils.dlpack import from_dlpack
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gymbridge_runtime.types import HostArray, MakeArray

# PyTorch does not import these dtypes of ml_dtypes, so their bits are passed
_EXTENDED: Final = (
    *("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    "float8_e8m0fnu",
)
_DTYPES: Final = {
    name: cast("torch.dtype", getattr_untyped(torch, name))
    for name in (*COMMON_DTYPES, *_EXTENDED)
    if hasattr(torch, name)  # float8_e8m0fnu came with PyTorch 2.7
}
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}
_COMMON: Final = frozenset(_DTYPES[name] for name in COMMON_DTYPES)
_FREED: Final = (
    "PyTorch has no memory behind the tensor",
    "convert it before its memory is released",
)
_TRANSFORMED: Final = (
    "PyTorch is transforming a function, within which tensors have no memory to show",
    "convert outside of vmap, grad and jvp",
)

# -- the calls of the fast path: PyTorch's own functions, with types --------------------------

from_numpy: Final = cast("MakeArray", getattr_untyped(torch, "from_numpy"))
"""Share aligned memory of non-negative strides."""
to_numpy: Final = cast("Callable[[object], HostArray]", torch.Tensor.numpy)
"""View a tensor on the host that has no gradients, no conjugate bit and no negative bit."""
item: Final = cast("Callable[[object], int | float]", torch.Tensor.item)
"""Return the number of a tensor that has one."""

_is_on_host: Final = cast("Callable[[torch.Tensor], bool]", attrgetter("is_cpu"))
_is_transformed: Final = cast(
    "Callable[[torch.Tensor], bool]",
    getattr_untyped(import_module("torch._C._functorch"), "is_functorch_wrapped_tensor"),
)
"""Tell whether a tensor stands for others within a function of ``torch.func``."""


@cache
def _has_float64(device: torch.device) -> bool:
    """Tell whether tensors on ``device`` may be float64; PyTorch's errors pass."""
    if device.type == "cpu":
        return True
    _ = torch.zeros((), dtype=torch.float32).to(device)
    try:
        _ = torch.zeros((), dtype=torch.float64).to(device)
    except TypeError:
        return False
    return True


@cache
def _has_storage(device: torch.device) -> bool:
    """Tell whether tensors on ``device`` have memory that can be viewed as another dtype.

    Tensors of XLA, of PyTorch's lazy device and of devices written in Python have none.
    """
    if device.type == "cpu":
        return False
    try:
        return bool(torch.zeros(8, dtype=torch.uint8).to(device).untyped_storage().data_ptr())
    except REFUSED:
        return False


class TorchBackend(Backend[torch.Tensor, torch.device]):
    """PyTorch's strided tensors; sparse, nested, quantized and fake ones are refused."""

    name: str = "torch"
    title: str = "PyTorch"
    integer_advice: str = "use `.long()`"
    reference: str = "gymbridge_runtime.backends.torch:TORCH"
    roots: frozenset[str] = frozenset({"torch"})
    # C has two equal types of 64 unsigned bits, and PyTorch refuses one of them
    kept_dtypes: frozenset[AnyDType] = frozenset(
        np.dtype(name) for name in COMMON_DTYPES if name != "uint64"
    )

    @override
    def calls_reach(self, device: torch.device | None) -> bool:
        return device is None or device.type == "cpu"

    @property
    @override
    def fast_type(self) -> type[object] | None:
        return torch.Tensor

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, torch.Tensor)

    @override
    def to_host(self, array: torch.Tensor) -> HostView:
        if array.is_cpu and array.dtype in _COMMON and not array.requires_grad:
            try:
                view = to_numpy(array)
            except REFUSED:
                view = None  # conjugate, negative, sparse, nested, …
            # NumPy allocates new memory for a tensor without memory
            if view is not None and not view.flags.owndata:
                return HostView(view, owned=False)
        tensor = _detached(array)
        if not tensor.is_cpu:
            tensor = tensor.cpu()
        if _is_transformed(tensor):  # even if the original is not
            raise ConversionError(*_TRANSFORMED)
        plain = tensor.resolve_conj().resolve_neg()
        owned = not array.is_cpu or plain.data_ptr() != tensor.data_ptr()
        if plain.dtype in _COMMON:
            return HostView(to_numpy(plain), owned, copied=owned)
        bits = plain.view(_DTYPES[f"uint{8 * plain.itemsize}"])
        return HostView(to_numpy(bits).view(_dtype_of(plain)), owned, copied=owned)

    @override
    def from_host(self, view: HostArray, device: torch.device | None) -> object:
        tensor = self._as_tensor(view)
        return tensor if device is None else tensor.to(device)

    def _as_tensor(self, view: HostArray) -> torch.Tensor:
        """Return a tensor over the memory of ``view``; its dtype may be one of ml_dtypes."""
        flags = view.flags
        if view.dtype in self.kept_dtypes and flags.owndata and flags.behaved:
            return from_numpy(view)
        name = view.dtype.name
        bits = view.view(f"u{view.itemsize}") if name in _EXTENDED else view
        if bits.dtype == np.uint64:
            bits = bits.view(np.uint64)  # C has two such types, and PyTorch takes one
        # from_numpy warns about read-only memory, which comes here only for a transfer
        tensor: torch.Tensor
        try:
            tensor = from_numpy(bits) if is_writable(bits) else from_dlpack(bits)
        except BufferError:  # PyTorch 2.6 imports no read-only memory
            tensor = from_numpy(bits.copy())
        return tensor.view(_DTYPES[name]) if name in _EXTENDED else tensor

    @override
    def from_host_many(
        self, views: Sequence[HostArray], device: torch.device | None
    ) -> Iterable[object]:
        if device is None:
            return map(self._as_tensor, views)
        if len(views) == 1 or not _has_storage(device):
            return super().from_host_many(views, device)
        return upload(views, lambda view: self._as_tensor(view).to(device), _taken)

    @override
    def show_many(self, arrays: Sequence[torch.Tensor]) -> Iterable[HostView]:
        if all(map(_is_on_host, arrays)):
            return super().show_many(arrays)
        packed: dict[int, HostView] = {}
        for device, numbers in by_place([array.device for array in arrays]).items():
            if len(numbers) > 1 and _has_storage(device):
                with suppress(REFUSED):  # then one by one, so that the error names the tensor
                    views = self._fetched([arrays[number] for number in numbers])
                    packed.update(zip(numbers, views, strict=True))
        return (packed.get(n) or self.show(array) for n, array in enumerate(arrays))

    def _fetched(self, arrays: Sequence[torch.Tensor]) -> list[HostView]:
        """Fetch tensors of one device by one transfer."""
        tensors = [_detached(array).resolve_conj().resolve_neg() for array in arrays]
        views = download(tensors, [_dtype_of(tensor) for tensor in tensors], _octets)
        return [HostView(view, owned=True, copied=True) for view in views]

    @override
    def like(self, array: torch.Tensor, view: HostArray) -> object:
        return self.from_host(view, array.device)

    @override
    def snapshot(self, array: torch.Tensor, device: torch.device | None) -> object:
        if _is_transformed(array):
            raise ConversionError(*_TRANSFORMED)
        own = array.detach()  # this needs no view from NumPy
        if array.is_nested or array.is_quantized or array.layout is not torch.strided:
            copy = own.clone()
            return copy if device is None else copy.to(device)
        if array.is_cpu and array.numel() and not array.untyped_storage().nbytes():
            raise ConversionError(*_FREED)
        return own.to(device or array.device, copy=True)

    @override
    def accepts(self, view: HostArray) -> bool:
        flags = view.flags
        # a view of one element may have any stride: a field of a structured array
        if flags.c_contiguous and flags.aligned and flags.owndata:
            return True
        # PyTorch's loops over unaligned complex numbers abort the process
        if view.dtype.kind == "c" and not view.flags.aligned:
            return False
        return has_whole_strides(view)  # a negative one makes torch.from_dlpack abort the process

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        return dtype if dtype.name in _DTYPES else None

    @override
    def stored_at(self, dtype: AnyDType, device: torch.device | None) -> AnyDType | None:
        if device is not None and dtype in HALVES and not _has_float64(device):
            return HALVES[dtype]
        return self.stored_as(dtype)

    @override
    def dtype_of(self, array: torch.Tensor) -> AnyDType | None:
        return _dtype_of(array) if array.dtype in _NAMES else None

    @override
    def parse_device(self, device: object) -> object:
        if device is None:
            return None
        try:
            if not isinstance(device, (str, torch.device)):
                raise TypeError(f"a device is text or a torch.device, not {type(device).__name__}")
            # conversions are joined by the identity of their device
            parsed = torch.device(device) if isinstance(device, str) else device
            if parsed.type == "cpu" and parsed.index:
                raise ValueError("the host is one device")
            # the first use shows whether the device exists
            _ = _has_float64(parsed), _has_storage(parsed)
        except REFUSED as error:
            there = ", ".join(map(repr, self.devices()))
            reason = shown(error).splitlines()[0].partition(". ")[0]  # the rest is advice
            raise ValueError(
                f"PyTorch cannot use device={device!r}: {reason}; write one of {there}"
            ) from error
        if parsed.type == "meta":
            raise ConversionError(
                "PyTorch's device 'meta' has no memory to hold values", "name another device"
            )
        # the host has one device, but PyTorch copies from "cpu" to "cpu:0"
        return torch.device("cpu") if parsed.type == "cpu" else parsed

    @override
    def device_text(self, device: torch.device | None) -> object:
        return None if device is None else str(device)

    @override
    def devices(self) -> Sequence[str]:
        found = torch.accelerator
        # PyTorch 2.6 names no current accelerator without a device
        places = (f"{found.current_accelerator()}:{n}" for n in range(found.device_count()))
        return ("cpu", *places)

    @override
    def to_device(self, array: torch.Tensor, device: torch.device | None) -> object:
        return array if device is None else array.to(device)

    @override
    def is_sent(self, array: torch.Tensor, device: torch.device) -> bool:
        is_sent = type(array) is torch.Tensor and array.layout is torch.strided
        is_sent = is_sent and array.dtype in _NAMES and not array.is_nested
        is_sent = is_sent and not array.requires_grad and not _is_transformed(array)
        return is_sent and array.is_cpu != (device.type == "cpu")

    @override
    def leaves_host(self, device: torch.device | None) -> bool:
        return device is not None and device.type != "cpu"

    @override
    def export(self, array: torch.Tensor) -> Export | None:
        if not array.is_cuda or array.dtype not in _COMMON | {torch.bfloat16}:
            return None
        tensor = _detached(array)
        plain = tensor.resolve_conj().resolve_neg()
        return Export(
            plain,
            device_of(cast("Producer", cast("object", plain))),
            _dtype_of(plain),
            dense=plain.is_contiguous(),
            owned=plain.data_ptr() != tensor.data_ptr(),
        )

    @override
    def imports_at(self, place: tuple[int, int], device: torch.device | None) -> bool:
        kind, index = place
        cuda = CUDA if torch.version.hip is None else ROCM  # PyTorch calls both "cuda"
        if kind != cuda or not torch.cuda.is_available():
            return False
        is_current = str(device) == "cuda" and torch.cuda.current_device() == index
        return device is None or is_current or device == torch.device("cuda", index)

    @override
    def from_dlpack(self, array: object) -> object:
        return from_dlpack(array)


def _dtype_of(tensor: torch.Tensor) -> AnyDType:
    """Return the NumPy dtype of a tensor whose dtype NumPy has."""
    return named_dtype(_NAMES[tensor.dtype])


def _detached(array: torch.Tensor) -> torch.Tensor:
    """Return ``array`` without its gradient history; refuse tensors without strided memory."""
    refusal = None
    if _is_transformed(array):
        refusal = _TRANSFORMED
    elif type(array).__name__ == "FakeTensor":
        refusal = (
            "PyTorch cannot show a FakeTensor, which has a shape and no values",
            "convert outside the mode",
        )
    elif array.is_nested:
        refusal = (
            "PyTorch has no one shape for a nested tensor",
            "pad it with to_padded_tensor(), or unbind() it",
        )
    elif array.layout is not torch.strided:
        refusal = (
            f"PyTorch cannot show the layout {array.layout} as strided memory",
            "call to_dense() first",
        )
    elif array.device.type == "meta":
        refusal = (
            "PyTorch holds no values in a tensor on the device 'meta'",
            "make it on a real device",
        )
    elif array.is_quantized:
        refusal = f"PyTorch stores {array.dtype} as quantized numbers", "call dequantize() first"
    elif array.is_cpu and array.numel() and not array.untyped_storage().data_ptr():
        # NumPy would allocate uninitialised memory for it
        refusal = _FREED
    elif array.dtype not in _NAMES:
        refusal = f"PyTorch has {array.dtype}, which NumPy has not", "cast it with to() first"
    if refusal is None:
        return array.detach()
    raise ConversionError(*refusal)


def _taken(packed: torch.Tensor, place: slice, like: HostArray) -> torch.Tensor:
    """Return a slice of ``packed`` as a tensor of the dtype and shape of ``like``."""
    part = packed[place].view(_DTYPES[like.dtype.name]).reshape(like.shape)
    # a separate version counter: a write into one tensor does not break gradients of another
    return part.data


def _octets(tensors: Sequence[torch.Tensor]) -> HostArray:
    """Fetch the bytes of ``tensors`` by one transfer."""
    parts = [tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in tensors]
    return to_numpy((torch.cat(parts) if len(parts) > 1 else parts[0]).cpu())


TORCH: Final = TorchBackend()
