"""The functions of CUDA's runtime."""

from __future__ import annotations

import threading

from .. import simulation

__all__ = ["CUDARuntimeError", "getDevice", "getDeviceCount", "setDevice"]


class CUDARuntimeError(RuntimeError):
    pass


class _Thread(threading.local):
    device: int = 0  # every thread has a current device of its own


_thread = _Thread()


def getDeviceCount() -> int:
    if not simulation.device_count:
        raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    return simulation.device_count


def getDevice() -> int:
    _ = getDeviceCount()
    return _thread.device


def setDevice(device: int) -> None:
    if not 0 <= device < getDeviceCount():
        raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
    _thread.device = device
