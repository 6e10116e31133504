"""A stand-in for CuPy where there is no GPU: it answers as CuPy's documentation says, over NumPy.

It is strict where CuPy may be lenient: kernels take arrays of the current device only, and an
upload that does not block is made when the GPU is next waited for. It has two devices.
`cupy.simulation`, which CuPy has not, counts transfers and says how many devices there are.
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
