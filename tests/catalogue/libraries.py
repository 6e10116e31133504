"""Make and read arrays of the catalogue's libraries without the code under test.

Each library is imported at its first use, because some do not work in one process with others.
"""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar

import ml_dtypes
import numpy as np
from typing_extensions import override

from tests.support import Array, Host, Library

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")
_COMPLEX = ("complex64", "complex128")


class CatalogueLibrary(Library):
    """A library, and the facts that the tests need."""

    module: str
    dtypes: tuple[str, ...]
    """The dtypes that its arrays can have."""
    numbers: tuple[int, ...] = ()
    """The shape of a single number."""
    max_ndim: int = 64
    alignment: int = 1
    """The alignment in bytes that the library needs to compute."""
    views_writable: bool = True
    """Whether NumPy may write into exported memory."""
    devices: bool = True

    @property
    def xp(self) -> Array:
        """The library."""
        return import_module(self.module)

    def overwrite(self, array: Array) -> None:
        """Write sevens into an array of a library with writable arrays."""
        array[:] = 7


class _Warp(CatalogueLibrary):
    name = "warp"
    module = "warp"
    dtypes = ("bool", *_INTEGERS, "bfloat16", *_FLOATS)
    numbers = (1,)
    max_ndim = 4
    views_writable = False

    @override
    def make(self, values: Array) -> Array:
        host = np.array(values, order="C")
        name = "bfloat16" if host.dtype == ml_dtypes.bfloat16 else host.dtype.name
        host = host.reshape(1) if host.ndim == 0 else host
        plain = host.view("u2") if name == "bfloat16" else host
        made = self.xp.array(plain, dtype=getattr(self.xp, str(plain.dtype)), device="cpu")
        return made.view(self.xp.bfloat16) if name == "bfloat16" else made

    @override
    def values(self, array: Array) -> Host:
        if array.dtype is self.xp.bfloat16:
            bits: Host = array.contiguous().view(self.xp.uint16).numpy()
            return np.array(bits.view(ml_dtypes.bfloat16))
        values: Host = array.numpy().copy()
        return values

    @override
    def is_array(self, value: object) -> bool:
        return type(value) is self.xp.array

    @override
    def address(self, array: Array) -> int:
        address: int = array.ptr
        return address

    @override
    def dtype(self, array: Array) -> str:
        name: str = array.dtype.__name__
        return name

    @override
    def overwrite(self, array: Array) -> None:
        array.fill_(7)


class _TensorFlow(CatalogueLibrary):
    name = "tensorflow"
    module = "tensorflow"
    alignment = 64
    mutable = False
    shares = False
    dtypes = ("bool", *_INTEGERS, "bfloat16", *_FLOATS, *_COMPLEX)

    @override
    def make(self, values: Array) -> Array:
        return self.xp.constant(np.array(values))

    @override
    def values(self, array: Array) -> Host:
        return np.array(array.numpy())

    @override
    def is_array(self, value: object) -> bool:
        return isinstance(value, self.xp.Tensor)

    @override
    def address(self, array: Array) -> int:
        address: int = np.asarray(array).ctypes.data
        return address

    @override
    def dtype(self, array: Array) -> str:
        name: str = array.dtype.name
        return name


class _Paddle(CatalogueLibrary):
    name = "paddle"
    module = "paddle"
    dtypes = ("bool", *_INTEGERS, "bfloat16", *_FLOATS, *_COMPLEX)
    max_ndim = 9

    @override
    def make(self, values: Array) -> Array:
        host = np.array(values, order="C")
        if host.dtype == ml_dtypes.bfloat16:
            return self.xp.to_tensor(host.astype("f4")).astype("bfloat16")
        if host.dtype.name in {"uint16", "uint32", "uint64"}:  # to_tensor takes the first for bf16
            return self.xp.from_dlpack(host)
        return self.xp.to_tensor(host)

    @override
    def values(self, array: Array) -> Host:
        if self.dtype(array) == "bfloat16":
            return np.asarray(array.detach().astype("float32").numpy()).astype(ml_dtypes.bfloat16)
        values: Host = array.detach().numpy().copy()
        return values

    @override
    def is_array(self, value: object) -> bool:
        return isinstance(value, self.xp.Tensor)

    @override
    def address(self, array: Array) -> int:
        address: int = array.data_ptr()
        return address

    @override
    def dtype(self, array: Array) -> str:
        # as text, its uint16 is "paddle.bfloat16"
        return next(name for name in self.dtypes if array.dtype == getattr(self.xp, name))


class _Dpnp(CatalogueLibrary):
    name = "dpnp"
    module = "dpnp"
    shares = False
    dtypes = ("bool", *_INTEGERS, *_FLOATS, *_COMPLEX)

    @override
    def make(self, values: Array) -> Array:
        return self.xp.asarray(np.array(values))

    @override
    def values(self, array: Array) -> Host:
        return np.array(self.xp.asnumpy(array))

    @override
    def is_array(self, value: object) -> bool:
        return isinstance(value, self.xp.ndarray)

    @override
    def address(self, array: Array) -> int:
        address: int = array.get_array()._pointer
        return address


class _PyArrow(CatalogueLibrary):
    name = "pyarrow"
    narrow: ClassVar[dict[str, str]] = {"bool": "uint8"}
    module = "pyarrow"
    mutable = False
    shares = False
    dtypes = (*_INTEGERS, *_FLOATS)
    devices = False
    _NAMES: ClassVar[dict[str, str]] = {
        "halffloat": "float16",
        "float": "float32",
        "double": "float64",
    }

    @override
    def make(self, values: Array) -> Array:
        return self.xp.Tensor.from_numpy(np.array(values, order="C"))

    @override
    def values(self, array: Array) -> Host:
        return np.array(array.to_numpy())

    @override
    def is_array(self, value: object) -> bool:
        return type(value) is self.xp.Tensor

    @override
    def address(self, array: Array) -> int:
        address: int = array.to_numpy().ctypes.data
        return address

    @override
    def dtype(self, array: Array) -> str:
        name = str(array.type)
        return self._NAMES.get(name, name)


CATALOGUE = {
    library.name: library for library in (_Warp(), _TensorFlow(), _Paddle(), _Dpnp(), _PyArrow())
}
