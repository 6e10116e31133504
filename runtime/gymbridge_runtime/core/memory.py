"""Host memory: which arrays may be shared, and how private copies are made."""

from __future__ import annotations

from contextvars import Context
from operator import attrgetter
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from gymbridge_runtime.core.narrowing import is_exact_dict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

# -- functions of NumPy that rendered code calls with values of unknown type ------------------

ndarray: Final = np.ndarray
as_array: Final = cast("Callable[[object], HostArray]", np.asarray)
copied: Final = cast("Callable[[object], HostArray]", np.ndarray.copy)
is_behaved: Final = cast("Callable[[object], bool]", attrgetter("flags.behaved"))
"""Tell whether an array is aligned and writable."""


def behaved(array: object) -> HostArray:
    """Return an array that is aligned and writable; anything else takes the general path."""
    if is_behaved(array):
        return cast("HostArray", array)
    raise ValueError("the array is not aligned, or not writable")


number_of: Final = cast("Callable[[object], int | float]", np.ndarray.item)
"""Return the number in an array with one element."""


def items_of_type(value: object, kind: type[object] | None) -> dict[object, object] | None:
    """Return ``value`` if it is a dictionary whose values all have the type ``kind``, or None."""
    if not is_exact_dict(value):
        return None
    for array in value.values():
        if type(array) is not kind:
            return None
    return value


def behaved_items(value: object) -> dict[object, HostArray] | None:
    """Return ``value`` if it is a dictionary of aligned, writable NumPy arrays, or None."""
    items = items_of_type(value, np.ndarray)
    is_shared = items is not None and all(map(is_behaved, items.values()))
    return cast("dict[object, HostArray]", items) if is_shared else None


# -- private copies ---------------------------------------------------------------------------


def _silent() -> Context:
    context = Context()
    _ = context.run(np.seterr, over="ignore", invalid="ignore")
    return context


silence: Final[Callable[[], Context]] = _silent().copy
"""Return a context in which NumPy casts without warnings, as other libraries do.

NumPy would warn about numbers that become infinite, and signalling NaNs. It keeps this setting in
the context. So ``silence().run(array.astype, dtype)`` has the effect of `numpy.errstate`, and takes
.1 µs instead of .65.
"""


def aligned_copy(view: HostArray, dtype: AnyDType, alignment: int) -> HostArray:
    """Copy ``view`` as ``dtype`` into fresh C-ordered memory at a multiple of ``alignment``."""
    size = view.size * dtype.itemsize
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    copy: HostArray = np.ndarray(view.shape, dtype, memory, start)
    copy[...] = view
    return copy


def is_writable(view: HostArray) -> bool:
    """Tell whether NumPy lets other libraries write into ``view``.

    They may not write into results of `numpy.broadcast_arrays`, although NumPy itself may. For
    these, reading ``view.flags.writeable`` gives a warning.
    """
    _, is_read_only = cast("tuple[int, bool]", view.__array_interface__["data"])
    return not is_read_only
