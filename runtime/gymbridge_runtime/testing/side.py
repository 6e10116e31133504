"""An array library in a test: how its arrays are made, read and overwritten."""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.dtypes import is_number
from gymbridge_runtime.core.errors import ConversionError
from gymbridge_runtime.core.narrowing import is_host_scalar
from gymbridge_runtime.core.scalars import host_numbers

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray


class Library(Protocol):
    """Makes and reads arrays of one library without the code under test."""

    def make(self, values: HostArray) -> object:
        """Return a new array of the library with these values."""
        ...

    def values(self, array: object) -> HostArray:
        """Return the values of ``array`` in memory of their own."""
        ...

    def address(self, array: object) -> int:
        """Return the address of the memory of ``array``."""
        ...


class _ByItsBackend:
    """Makes and reads arrays by the backend, for a library without a description."""

    def __init__(self, backend: AnyBackend, make: Converter) -> None:
        self._backend: AnyBackend = backend
        self._make: Converter = make

    def make(self, values: HostArray) -> object:
        return self._make(values)

    def values(self, array: object) -> HostArray:
        return np.array(self._backend.show(array).array)

    def address(self, array: object) -> int:
        return self._backend.show(array).array.ctypes.data


class Side:
    """One of the two libraries of a pair.

    Args:
        backend: The library.
        library: Makes and reads its arrays; by default, the backend does.
        device: The device of its arrays; by default, the library chooses.
    """

    def __init__(
        self, backend: AnyBackend, library: Library | None = None, device: object = None
    ) -> None:
        self.backend: AnyBackend = backend
        self.title: str = backend.title
        place = backend.replicated(backend.parse_device(device))
        self._convert: Converter = Converter(backend, device=place, copy=True)
        self._library: Library = library or _ByItsBackend(backend, self._convert)

    def why_unusable(self) -> str:
        """Return why the library cannot make arrays on this machine; empty if it can."""
        try:
            _ = self._convert(np.zeros(1, np.float32))
        except ConversionError as error:
            return str(error)
        return ""

    @cached_property
    def shows_copies(self) -> bool:
        """Whether its arrays are off the host, so that host views are copies."""
        return self.backend.show(self.make(np.zeros(1, np.float32))).copied

    def make(self, values: HostArray) -> object:
        """Return a new array of the library with these values."""
        return self._library.make(values)

    def values(self, array: object) -> HostArray:
        """Return the values of ``array`` in memory of their own."""
        return self._library.values(array)

    def address(self, array: object) -> int:
        """Return the address of the memory of ``array``."""
        return self._library.address(array)

    def is_array(self, value: object) -> bool:
        """Tell whether ``value`` is an array of the library."""
        return self.backend.is_array(type(value))

    def stored(self, dtype: AnyDType) -> AnyDType | None:
        """Return the dtype in which the library keeps ``dtype`` on its device, or None."""
        return self.backend.stored_at(dtype, self._convert.device)

    def refuses(self, values: HostArray) -> bool:
        """Tell whether the library refuses ``values``, as its backend declares.

        Raises:
            AssertionError: The backend declares such arrays, but the library could not make one.
        """
        try:
            _ = self._convert(values)
        except ConversionError as error:
            if error.__cause__ is None:
                return True
            raise AssertionError(
                f"{self.title} is said to have arrays of {values.dtype} and of shape "
                + f"{values.shape}, and could not make one: {error}"
            ) from error
        return False

    def keeps(self, values: HostArray) -> bool:
        """Tell whether the library has an array like ``values``, of the same dtype and shape."""
        shape: tuple[int, ...] = values.shape
        alike = self.stored(values.dtype) == values.dtype
        return alike and self.backend.stored_shape(shape) == shape and not self.refuses(values)

    def overwrite(self, array: object) -> bool:
        """Overwrite the memory of ``array``; tell whether that was possible."""
        view = self.backend.show(array).array
        return self.write(array, np.full_like(view, not view.all()))

    def write(self, array: object, values: HostArray) -> bool:
        """Write ``values`` into the memory of ``array``; tell whether that was possible."""
        view = self.backend.show(array).array
        writable = self.backend.mutable and self.backend.writable_views and view.flags.writeable
        if not writable or self.shows_copies:
            return False
        view[...] = values
        return True

    def is_writable(self, array: object) -> bool:
        """Tell whether whoever holds ``array`` can write into its memory."""
        return self.backend.mutable and self.backend.show(array).array.flags.writeable


def numbers_of(value: object) -> HostArray | None:
    """Return the numbers in an array or number of any library; None for everything else."""
    if isinstance(value, (bool, Enum, str, bytes)):
        return None
    if isinstance(value, int):
        return np.array(value, np.int64) if -(2**63) <= value < 2**63 else None
    if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return np.array(value)
    if is_host_scalar(type(value)):
        array: HostArray = np.asarray(value)
        return array if is_number(array.dtype) else None
    return host_numbers(value)


def same_bytes(one: HostArray, other: HostArray) -> bool:
    """Tell whether two arrays are equal, bit for bit.

    Tests call this instead of comparing bytes in an `assert`: in CI, pytest explains every
    difference, which takes minutes for some thousand bytes.
    """
    return one.tobytes() == other.tobytes()
