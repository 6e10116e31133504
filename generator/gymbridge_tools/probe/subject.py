"""The probed library: makes and reads its arrays."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from gymbridge_runtime.backends.dlpack_devices import dotted
from gymbridge_runtime.backends.dlpack_protocol import LegacyExporter, Producer, host_view

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    import numpy.typing as npt
    from gymbridge_runtime.types import HostArray

    from gymbridge_tools.probe.findings import Question, Way

_LONGEST: Final = 120
"""The most characters of an error that are quoted."""


class WrongError(Exception):
    """The library returned a wrong result."""


class Caught:
    """A block that catches any error, to read it afterwards."""

    error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if isinstance(error, Exception):
            self.error = error
        return self.error is not None

    @property
    def said(self) -> str:
        """The error in a line."""
        text = str(self.error).strip().partition("\n")[0]
        name = "" if isinstance(self.error, WrongError) else f"{type(self.error).__name__}: "
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}…"
        return f"{name}{text}".rstrip(": ")


def attribute(owner: object, name: str) -> object:
    """Return an attribute of an untyped object, or None."""
    return cast("object", getattr(owner, name, None))


def called(function: object, *arguments: object, **keywords: object) -> object:
    """Call an untyped object."""
    return cast("Callable[..., object]", function)(*arguments, **keywords)


def dotted_if_there(path: str, module: str) -> object:
    """Return the object at ``path``, or None."""
    try:
        return dotted(path, module)
    except (AttributeError, ImportError):
        return None


class Subject:
    """One library, imported."""

    def __init__(self, question: Question) -> None:
        self.name: str = question.module
        self.about: str = question.about
        self.module: object = import_module(question.module)
        self.is_numpy: bool = question.module.partition(".")[0] == "numpy"
        self._way: Way | None = question.way
        if question.way is not None and question.way.start is not None:
            _ = called(dotted(question.way.start, question.module))

    def make(self, view: HostArray, *, legacy: bool = False) -> object:
        """Import NumPy memory."""
        numbers = cast("npt.NDArray[np.number]", view)
        return self.take(LegacyExporter(numbers) if legacy else numbers)

    def take(self, producer: object) -> object:
        """Import an exporting object.

        Raises:
            WrongError: The result is no array of the library.
        """
        way = self._way
        if way is None:
            raise WrongError("no way to make an array is known")
        exporter = cast("Producer", producer)
        given = exporter.__dlpack__() if way.capsule else producer
        array = called(dotted(way.importer, self.name), given)
        if issubclass(type(array), np.ndarray) and not self.is_numpy:
            raise WrongError(f"{way.importer} returns arrays of NumPy")
        if not hasattr(array, "__dlpack__"):
            raise WrongError(f"{way.importer} returns {type(array).__name__}, without DLPack")
        return array

    def seen(self, array: object) -> HostArray:
        """Return NumPy's view of an array of the library."""
        return host_view(cast("Producer", array)).array

    def checked(self, view: HostArray) -> object:
        """Import memory, and read it again.

        Raises:
            WrongError: It has other values, or another shape.
        """
        array = self.make(view)
        there = self.seen(array)
        if there.shape != view.shape:
            raise WrongError(f"shape {view.shape} became {there.shape}")
        if not np.array_equal(there, view):
            raise WrongError("the values became others")
        return array


def aligned(values: npt.ArrayLike, offset: int = 0) -> HostArray:
    """Return values in memory that begins ``offset`` bytes behind a multiple of 64."""
    source: HostArray = np.asarray(values)
    raw = np.zeros(source.nbytes + 192, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    view: HostArray = raw[start : start + source.nbytes].view(source.dtype).reshape(source.shape)
    view[...] = source
    return view
