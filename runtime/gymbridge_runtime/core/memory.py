"""Memory: what may be taken over as it is, and private copies, aligned or cast silently."""

from __future__ import annotations

from contextvars import Context
from operator import attrgetter
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from gymbridge_runtime.core.narrowing import is_plain_dict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

__all__ = [
    "aligned_copy",
    "as_array",
    "behaved_items",
    "copied",
    "is_aligned",
    "is_behaved",
    "is_writable",
    "ndarray",
    "number_of",
    "silence",
    "usual_items",
]

# -- what rendered code calls of NumPy, for values of which a type checker knows nothing -------

ndarray: Final = np.ndarray
as_array: Final = cast("Callable[[object], HostArray]", np.asarray)
copied: Final = cast("Callable[[object], HostArray]", np.ndarray.copy)
is_behaved: Final = cast("Callable[[object], bool]", attrgetter("flags.behaved"))
"""Tell whether an array is aligned and may be written into."""
number_of: Final = cast("Callable[[object], int | float]", np.ndarray.item)
"""Return the number of an array that has one."""


def usual_items(value: object, usual: type[object] | None) -> dict[object, object] | None:
    """Return a dictionary that holds usual arrays and nothing else; None for anything else."""
    if not is_plain_dict(value):
        return None
    for array in value.values():
        if type(array) is not usual:
            return None
    return value


def behaved_items(value: object) -> dict[object, HostArray] | None:
    """Return a dictionary of NumPy arrays that may be shared; None for anything else."""
    items = usual_items(value, np.ndarray)
    is_shared = items is not None and all(map(is_behaved, items.values()))
    return cast("dict[object, HostArray]", items) if is_shared else None


# -- private copies ---------------------------------------------------------------------------


def _silent() -> Context:
    context = Context()
    _ = context.run(np.seterr, over="ignore", invalid="ignore")
    return context


_SILENCE: Final = _silent()


def silence() -> Context:
    """Return a context in which NumPy casts without a word, as the libraries do when they narrow.

    What does not fit is infinite then, and a NaN may be a signal. NumPy keeps what it does about
    such numbers in the context, so ``silence().run(array.astype, dtype)`` is what `numpy.errstate`
    around the cast would be, at .1 µs instead of .65.
    """
    return _SILENCE.copy()


def aligned_copy(view: HostArray, dtype: AnyDType, alignment: int) -> HostArray:
    """Copy ``view`` as ``dtype`` into fresh C-ordered memory at a multiple of ``alignment``."""
    size = view.size * dtype.itemsize
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    copy: HostArray = np.ndarray(view.shape, dtype, memory, start)
    copy[...] = view
    return copy


def is_writable(view: HostArray) -> bool:
    """Tell whether others may write into ``view``, as NumPy tells other libraries.

    What `numpy.broadcast_arrays` returned is not, though NumPy lets one write into it, and warns
    those who ask ``view.flags.writeable``.
    """
    _, is_read_only = cast("tuple[int, bool]", view.__array_interface__["data"])
    return not is_read_only


def is_aligned(view: HostArray, alignment: int) -> bool:
    """Tell whether the memory of ``view`` begins at a multiple of ``alignment``."""
    return view.ctypes.data % alignment == 0
