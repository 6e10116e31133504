"""Private copies in memory of the alignment that a library asks of what it takes over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

__all__ = ["aligned_copy", "is_aligned"]


def aligned_copy(view: HostArray, dtype: AnyDType, alignment: int) -> HostArray:
    """Copy ``view`` as ``dtype`` into fresh C-ordered memory at a multiple of ``alignment``."""
    size = view.size * dtype.itemsize
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    copy: HostArray = memory[start : start + size].view(dtype).reshape(view.shape)
    copy[...] = view
    return copy


def is_aligned(view: HostArray, alignment: int) -> bool:
    """Tell whether the memory of ``view`` begins at a multiple of ``alignment``."""
    return view.ctypes.data % alignment == 0
