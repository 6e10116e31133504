"""A stand-in for CuPy without a GPU: NumPy arrays that behave as CuPy's documentation says.

The stand-in is strict where CuPy may be lenient: kernels take only arrays of the current device,
and a non-blocking upload runs at the next wait for the GPU. There are two devices. CuPy itself has
no `cupy.simulation`, which counts transfers and sets the number of devices.
"""

from __future__ import annotations

from . import cuda, simulation
from ._arrays import array, asarray, asnumpy, concatenate, empty, from_dlpack, ndarray, zeros

__all__ = [
    "__version__",
    "array",
    "asarray",
    "asnumpy",
    "concatenate",
    "cuda",
    "empty",
    "from_dlpack",
    "ndarray",
    "simulation",
    "zeros",
]

__version__ = "14.2.0"
