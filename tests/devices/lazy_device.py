"""PyTorch's own `lazy` device: tensors without storage, and the error messages of real devices."""

from __future__ import annotations

from typing import Any, NoReturn

from torch._lazy import ts_backend

from tests.devices.device import Device


def start() -> Device:
    """Let PyTorch start the device."""
    untyped: Any = ts_backend
    untyped.init()
    return Device("lazy:0", _uncounted)


def _uncounted() -> NoReturn:
    raise NotImplementedError("PyTorch's lazy device does not count transfers")
