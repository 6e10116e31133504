"""Looks for a GPU for CuPy; without one, a stand-in replaces CuPy."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path


def _cupy_works() -> bool:
    if find_spec("cupy") is None:
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    found = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
    return found and count.value > 0


STAND_INS = [] if _cupy_works() else [Path(__file__).with_name("stand_ins")]
"""Folders for the front of `sys.path`; none if CuPy works."""
