"""Reads the version of DLPack capsules, and makes a capsule with an offset."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt
    from gymbridge_runtime.types import HostArray
    from typing_extensions import CapsuleType

_pointer = cast(
    "Callable[[object, bytes], int]",
    ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    ),
)


_DATA, _BYTE_OFFSET = 0, 40
"""The offsets of two fields of a DLManagedTensor, both of 64 bits."""


def version_of(capsule: object) -> str:
    """Return the version of a capsule: ``"legacy"``, ``"1.0"``."""
    if '"dltensor"' in repr(capsule):
        return "legacy"
    address = _pointer(capsule, b"dltensor_versioned")
    major, minor = (ctypes.c_uint32.from_address(address + size).value for size in (0, 4))
    return f"{major}.{minor}"


class WithOffset:
    """Exports memory with an offset, as MLX does for slices.

    Args:
        view: The memory.
        before: The offset in bytes.
    """

    def __init__(self, view: HostArray, before: int) -> None:
        self._view: HostArray = view
        self._before: int = before

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **keywords: object) -> CapsuleType:
        del keywords  # always a legacy capsule
        capsule = cast("npt.NDArray[np.number]", self._view).__dlpack__()
        address = _pointer(capsule, b"dltensor")
        ctypes.c_uint64.from_address(address + _DATA).value -= self._before
        ctypes.c_uint64.from_address(address + _BYTE_OFFSET).value = self._before
        return capsule
