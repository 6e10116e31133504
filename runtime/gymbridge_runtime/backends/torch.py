"""PyTorch: mutable arrays on many devices, and blind to memory that is read-only."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import torch
from gymbridge_runtime.backends.base import Backend, Export, HostView
from gymbridge_runtime.backends.dlpack_protocol import CUDA, ROCM, Producer, device_of
from gymbridge_runtime.backends.torch_packing import download, upload
from gymbridge_runtime.core.describe import shown
from gymbridge_runtime.core.dtypes import HALVES, ORDINARY, AnyDType, extended_dtype, named_dtype
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.layouts import has_whole_strides
from gymbridge_runtime.core.memory import is_writable
from gymbridge_runtime.core.narrowing import untyped
from torch.utils.dlpack import from_dlpack
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gymbridge_runtime.types import HostArray, MakeArray

__all__ = ["TORCH", "TorchBackend", "from_numpy", "item", "to_numpy"]

# NumPy has these from ml_dtypes, and PyTorch does not take them from there: the bits travel
_EXTENDED: Final = (
    *("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    "float8_e8m0fnu",
)
_DTYPES: Final = {
    name: cast("torch.dtype", untyped(torch, name)) for name in (*ORDINARY, *_EXTENDED)
}
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}
_PLAIN: Final = frozenset(_DTYPES[name] for name in ORDINARY)
_FREED: Final = (
    "has no memory behind the tensor",
    "convert it while it has, or what it stands for",
)

# -- the calls of the fast path: PyTorch's own functions, with types --------------------------

from_numpy: Final = cast("MakeArray", untyped(torch, "from_numpy"))
"""Share aligned memory of non-negative strides."""
to_numpy: Final = cast("Callable[[object], HostArray]", torch.Tensor.numpy)
"""View a tensor on the host that has no gradients, no conjugate bit and no negative bit."""
item: Final = cast("Callable[[object], int | float]", torch.Tensor.item)
"""Return the number of a tensor that has one."""

_from_numpy: Final = cast("Callable[[HostArray], torch.Tensor]", untyped(torch, "from_numpy"))


@cache
def _has_float64(device: torch.device) -> bool:
    """Tell whether tensors on ``device`` may be of float64; raise whatever PyTorch raises."""
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

    Those of XLA, of PyTorch's lazy device and of devices written in Python have none.
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
    reference: str = "gymbridge_runtime.backends.torch:TORCH"
    roots: frozenset[str] = frozenset({"torch"})
    # C has two types of 64 unsigned bits, which are equal, and PyTorch refuses one of them
    kept_dtypes: frozenset[AnyDType] = frozenset(
        np.dtype(name) for name in ORDINARY if name != "uint64"
    )

    @override
    def calls_reach(self, device: torch.device | None) -> bool:
        return device is None or device.type == "cpu"

    @property
    @override
    def usual_type(self) -> type[object] | None:
        return torch.Tensor

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, torch.Tensor)

    @override
    def to_host(self, array: torch.Tensor) -> HostView:
        if array.is_cpu and array.dtype in _PLAIN and not array.requires_grad:
            try:
                view = to_numpy(array)
            except REFUSED:
                view = None  # conjugate, negative, sparse, nested, …
            # NumPy makes memory of its own for a tensor without any
            if view is not None and view.base is not None:
                return HostView(view, owned=False)
        tensor = _ordinary(array)
        plain = tensor.cpu().resolve_conj().resolve_neg()
        owned = not tensor.is_cpu or plain.data_ptr() != tensor.data_ptr()
        return self._shown(plain, owned=owned)

    def _shown(self, tensor: torch.Tensor, *, owned: bool) -> HostView:
        """View an ordinary tensor on the host."""
        if tensor.dtype in _PLAIN:
            return HostView(tensor.numpy(), owned, copied=owned)
        bits = tensor.view(_DTYPES[f"uint{8 * tensor.itemsize}"])
        dtype = extended_dtype(_NAMES[tensor.dtype])
        return HostView(to_numpy(bits).view(dtype), owned, copied=owned)

    @override
    def from_host(self, view: HostArray, device: torch.device | None) -> object:
        tensor = self._as_tensor(view)
        return tensor if device is None else tensor.to(device)

    def _as_tensor(self, view: HostArray) -> torch.Tensor:
        """Return a tensor over the memory of ``view``, which may be of a dtype of ml_dtypes."""
        flags = view.flags
        if view.dtype in self.kept_dtypes and flags.owndata and flags.behaved:
            return _from_numpy(view)
        name = view.dtype.name
        bits = view.view(f"u{view.itemsize}") if name in _EXTENDED else view
        if bits.dtype == np.uint64:
            bits = bits.view(np.uint64)  # C has two such types, and PyTorch takes one
        # from_numpy warns of read-only memory, which comes here only to be moved off the host
        tensor = _from_numpy(bits) if is_writable(bits) else from_dlpack(bits)
        return tensor.view(_DTYPES[name]) if name in _EXTENDED else tensor

    @override
    def from_host_many(
        self, views: Sequence[HostArray], device: torch.device | None
    ) -> Iterable[object]:
        if device is None:
            return map(self._as_tensor, views)
        if len(views) == 1 or not _has_storage(device):
            return super().from_host_many(views, device)
        return upload(views, device, self._as_tensor)

    @override
    def show_many(self, arrays: Sequence[torch.Tensor]) -> Iterable[HostView]:
        first = arrays[0].device
        is_one_place = all(array.device == first for array in arrays)
        if len(arrays) == 1 or not is_one_place or not _has_storage(first):
            return super().show_many(arrays)
        tensors = [_ordinary(array).resolve_conj().resolve_neg() for array in arrays]
        return [self._shown(tensor, owned=True) for tensor in download(tensors)]

    @override
    def beside(self, array: torch.Tensor, view: HostArray) -> object:
        return self.from_host(view, array.device)

    @override
    def snapshot(self, array: torch.Tensor, device: torch.device | None) -> object:
        own = array.detach()  # of what NumPy need not be shown
        if array.is_nested or array.is_quantized or array.layout is not torch.strided:
            copy = own.clone()
            return copy if device is None else copy.to(device)
        if array.is_cpu and array.numel() and not array.untyped_storage().nbytes():
            raise ConversionError(f"PyTorch {_FREED[0]}", _FREED[1])
        return own.to(device or array.device, copy=True)

    @override
    def accepts(self, view: HostArray) -> bool:
        flags = view.flags
        # a view of one element may have any stride: a field of a structured array
        if flags.c_contiguous and flags.aligned and flags.owndata:
            return True
        # PyTorch's loops over complex numbers end the process where these are not aligned
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
        name = _NAMES.get(array.dtype)
        return None if name is None else named_dtype(name)

    @override
    def dtype(self, name: object) -> AnyDType:
        return named_dtype(str(name) if isinstance(name, torch.dtype) else name)

    @override
    def parse_device(self, device: object) -> object:
        if device is None:
            return None
        try:
            if not isinstance(device, (str, torch.device)):
                raise TypeError(f"a device is text or a torch.device, not {type(device).__name__}")
            # what converts together is told by the identity of its device
            parsed = torch.device(device) if isinstance(device, str) else device
            # the first use tells whether the device is there
            _ = _has_float64(parsed), _has_storage(parsed)
        except REFUSED as error:
            there = ", ".join(map(repr, self.devices()))
            raise ValueError(
                f"PyTorch cannot use device={device!r}: {shown(error).splitlines()[0]}; "
                + f"write one of {there}"
            ) from error
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
        is_cuda = kind == (CUDA if torch.version.hip is None else ROCM)  # "cuda" to PyTorch, both
        if device is None or not is_cuda or not torch.cuda.is_available():
            return is_cuda and torch.cuda.is_available()
        current = str(device) == "cuda" and torch.cuda.current_device() == index
        return current or device == torch.device("cuda", index)

    @override
    def from_dlpack(self, array: object) -> object:
        return from_dlpack(array)


def _ordinary(array: torch.Tensor) -> torch.Tensor:
    """Return ``array`` without its history; refuse what has no memory of strided numbers."""
    refusal = None
    if type(array).__name__ == "FakeTensor":
        refusal = (
            "cannot show a FakeTensor, which has a shape and no values",
            "convert outside the mode",
        )
    elif array.is_nested:
        refusal = (
            "has no one shape for a nested tensor",
            "pad it with to_padded_tensor(), or unbind() it",
        )
    elif array.layout is not torch.strided:
        refusal = (
            f"cannot show the layout {array.layout} as strided memory",
            "call to_dense() first",
        )
    elif array.device.type == "meta":
        refusal = "holds no values in a tensor on the device 'meta'", "make it on a real device"
    elif array.is_quantized:
        refusal = f"stores {array.dtype} as quantized numbers", "call dequantize() first"
    elif array.is_cpu and array.numel() and not array.untyped_storage().data_ptr():
        # NumPy would make memory of its own for it, full of what was there before
        refusal = _FREED
    elif array.dtype not in _NAMES:
        refusal = f"has {array.dtype}, which NumPy has not", "cast it with to() first"
    if refusal is None:
        return array.detach()
    problem, advice = refusal
    raise ConversionError(f"PyTorch {problem}", advice)


TORCH: Final = TorchBackend()
