"""Arrays of libraries without a backend that support DLPack or the array API."""

from __future__ import annotations

from inspect import getattr_static

import numpy as np
from gymbridge_runtime.backends.base import HostView
from gymbridge_runtime.backends.dlpack_protocol import Producer, host_view
from gymbridge_runtime.core.describe import describe, shown
from gymbridge_runtime.core.errors import ConversionError


def is_foreign_array(kind: type[object]) -> bool:
    """Tell whether ``kind`` has the methods of an array."""
    return _offers(kind, "__dlpack__") or _offers(kind, "__array_namespace__")


def foreign_view(array: object) -> HostView:
    """Return a host view of an array by the protocols that it supports."""
    try:
        if isinstance(array, Producer):
            return host_view(array)
        # lazy and chunked arrays have no memory to export until they are computed
        if not _offers(type(array), "__array__"):  # NumPy would read it as a sequence
            raise TypeError("it has neither __dlpack__ with __dlpack_device__ nor __array__")
        return HostView(np.asarray(array), owned=False, copied=True)
    except Exception as error:
        raise ConversionError(
            f"the array could not be shown in host memory: {shown(error)}",
            "see the cause above, or turn it into an ordinary array first",
            describe(array),
        ) from error


def _offers(kind: type[object], name: str) -> bool:
    """Tell whether ``kind`` has a method; a metaclass may claim that its classes have any."""
    return getattr_static(kind, name, None) is not None
