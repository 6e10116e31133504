"""Which layouts of memory an importer takes; arrays of other layouts are copied first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from gymbridge_runtime.types import HostArray


class Layouts(NamedTuple):
    """The strides and the alignment that an importer takes."""

    strides: Literal["any", "permuted", "row-major"] = "any"
    negative: bool = False
    """Whether strides may be negative."""
    alignment: int = 1
    """The number of bytes to which memory must be aligned."""

    def accepts(self, view: HostArray) -> bool:
        """Tell whether the importer takes ``view`` without a copy."""
        # DLPack counts strides in elements
        if any(stride % view.itemsize for stride in view.strides):
            return False
        if not self.negative and any(stride < 0 for stride in view.strides):
            return False
        if self.strides == "row-major" and not view.flags.c_contiguous:
            return False
        if self.strides == "permuted" and not _is_permuted(view):
            return False
        return view.ctypes.data % self.alignment == 0


def has_whole_strides(view: HostArray) -> bool:
    """Tell whether no stride is negative, and all are whole numbers of elements."""
    return all(stride >= 0 and stride % view.itemsize == 0 for stride in view.strides)


def odd_layout(view: HostArray) -> str:
    """Describe why an importer does not take ``view``: its alignment or its strides."""
    if has_whole_strides(view) and (view.flags.c_contiguous or not view.flags.aligned):
        return "memory that is not aligned"
    return f"memory with the strides {view.strides}"


def _is_permuted(view: HostArray) -> bool:
    """Tell whether ``view`` is dense, with its axes in any order."""
    order = sorted(range(view.ndim), key=lambda axis: view.strides[axis], reverse=True)
    return view.transpose(order).flags.c_contiguous
