"""A PyTorch device in Python; its tensors have no storage, and each holds a NumPy array."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from torch.utils import _pytree as pytree
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from tests.devices.device import SIMULATED, Device, Transfers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Host

Value: TypeAlias = Any
"""The arguments and results of operations: tensors, trees of them, and other values."""

_KEY = "PrivateUse1"  # PyTorch's dispatch key for external devices
_DTYPES = {
    torch.from_numpy(np.empty(0, dtype)).dtype: np.dtype(dtype) for dtype in "?bhilBHILefdFD"
}
_transfers: list[str] = []


def start() -> Device:
    """Register the device with PyTorch, once per process; it has one index."""
    _setup_privateuseone_for_python_backend(SIMULATED)
    library: Value = torch.library.Library
    aten, every = library("aten", "IMPL"), library("_", "IMPL")
    for name, operation in _OPERATIONS.items():
        aten.impl(name, operation, _KEY)
    for name in ("clone", "detach"):  # PyTorch's versions need a storage
        aten.impl(name, partial(_kernel, getattr(torch.ops.aten, name).default), _KEY)
    every.fallback(_kernel, _KEY)
    _KEPT.extend((aten, every))
    return Device(f"{SIMULATED}:0", _take_transfers)


_KEPT: list[object] = []
"""PyTorch drops the operations of a library that is garbage-collected."""


def _take_transfers() -> Transfers:
    found = Transfers(_transfers.count("upload"), _transfers.count("download"))
    _transfers.clear()
    return found


def _made(memory: Host) -> Value:
    tensor: Value = torch._C._acc.create_empty_tensor(memory.shape, torch.from_numpy(memory).dtype)
    tensor.memory = memory
    return tensor


def _on_host(value: Value) -> Value:
    """Return a CPU tensor over the memory of a tensor; return other values unchanged."""
    is_here = isinstance(value, torch.Tensor) and value.device.type == SIMULATED
    return torch.from_numpy(value.memory) if is_here else value


def _kernel(operation: Callable[..., Value], *operands: Value, **options: Value) -> Value:
    """Run any other operation on the CPU, over the same memory; this counts as no transfer."""
    operands, options = pytree.tree_map(_on_host, (operands, options))
    return pytree.tree_map(
        lambda value: _made(value.numpy()) if isinstance(value, torch.Tensor) else value,
        operation(*operands, **options),
    )


def _empty(
    size: tuple[int, ...], *_: Value, dtype: torch.dtype | None = None, **__: Value
) -> Value:
    return _made(np.empty(size, _DTYPES[dtype or torch.get_default_dtype()]))


def _copy(source: torch.Tensor, target: torch.Tensor, *_: bool) -> torch.Tensor:
    if source.is_cpu or target.is_cpu:
        _transfers.append("upload" if source.is_cpu else "download")
    _on_host(target).copy_(_on_host(source))
    return target


def _item(tensor: torch.Tensor) -> Value:
    _transfers.append("download")
    return _on_host(tensor).item()


_OPERATIONS: dict[str, Callable[..., Value]] = {
    "empty.memory_format": _empty,
    "empty_strided": _empty,
    "_copy_from": _copy,
    "_local_scalar_dense": _item,
}
