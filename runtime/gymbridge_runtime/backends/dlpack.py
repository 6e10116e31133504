"""Any library that speaks DLPack: a backend made from facts, without code of its own."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Literal, Protocol, cast

import numpy as np
from gymbridge_runtime.backend import Backend, HostView
from gymbridge_runtime.dlpack import LegacyExporter, Producer, host_view
from gymbridge_runtime.dtypes import named_dtype
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.known import register
from gymbridge_runtime.memory import aligned_copy, is_aligned
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

__all__ = ["DlpackBackend"]

_STANDARD = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
"""The dtypes of the array API standard."""


class _Movable(Producer, Protocol):
    """An array of the array API, as far as devices go."""

    @property
    def device(self) -> object: ...
    def to_device(self, device: object, /) -> object: ...


class DlpackBackend(Backend[Producer, object]):
    """A library as its spec entry describes it; making one makes its arrays recognised.

    Args:
        name: How modules and texts spell it.
        title: How people spell it.
        reference: Where this object is found, ``"package.module:NAME"``.
        module: The module to import.
        array: The dotted path of its array type.
        mutable: Whether its users can write into an array.
        read_only: What it does with read-only memory.
        views: How others see its memory.
        copies_in: Whether importing always copies.
        importer: The function that imports, ``<module>.from_dlpack`` by default.
        importer_takes: Whether the importer wants an array or the capsule of one.
        import_version: The newest DLPack that the importer understands.
        export_keywords: The keywords that ``__dlpack__`` of its arrays takes; None: look.
        strides: Which layouts the importer takes.
        negative_strides: Whether the importer takes negative strides.
        alignment: To how many bytes memory has to be aligned.
        zero_d: Whether there are arrays without dimensions.
        max_ndim: The most dimensions an array can have.
        dtypes: The dtypes it has, by the names of NumPy and ml_dtypes.
    """

    def __init__(
        self,
        *,
        name: str,
        title: str,
        reference: str,
        module: str,
        array: str,
        mutable: bool = True,
        read_only: Literal["ignored", "kept", "refused"] = "ignored",
        views: Literal["writable", "read-only"] = "writable",
        copies_in: bool = False,
        importer: str | None = None,
        importer_takes: Literal["object", "capsule"] = "object",
        import_version: Literal["legacy", "1.0", "1.1", "1.2", "1.3"] = "1.0",
        export_keywords: tuple[str, ...] | None = None,
        strides: Literal["any", "permuted", "row-major"] = "any",
        negative_strides: bool = False,
        alignment: int = 1,
        zero_d: bool = True,
        max_ndim: int = 64,
        dtypes: tuple[str, ...] = _STANDARD,
    ) -> None:
        self.name: str = name
        self.title: str = title
        self.reference: str = reference
        self.roots: frozenset[str] = frozenset({module.partition(".")[0]})
        self.mutable: bool = mutable
        self.keeps_read_only: bool = read_only == "kept"
        self.writable_views: bool = mutable and views == "writable"
        self.copies_in: bool = copies_in
        self._module: str = module
        self._array: str = array
        self._importer: str = importer or f"{module}.from_dlpack"
        self._takes_capsule: bool = importer_takes == "capsule"
        self._legacy: bool = import_version == "legacy"
        self._keywords: frozenset[str] | None = (
            None if export_keywords is None else frozenset(export_keywords)
        )
        self._refuses_read_only: bool = read_only == "refused"
        self._strides: Literal["any", "permuted", "row-major"] = strides
        self._negative_strides: bool = negative_strides
        self._alignment: int = alignment
        self._min_ndim: int = 0 if zero_d else 1
        self._max_ndim: int = max_ndim
        self._dtypes: frozenset[str] = frozenset(dtypes)
        register(self)

    @cached_property
    def _array_type(self) -> type[object]:
        found = _named(self._array, self._module)
        if not isinstance(found, type):
            raise TypeError(f"{self._array} is {found!r} and no type; correct `array` in the spec")
        return found

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, self._array_type)

    @override
    def to_host(self, array: Producer) -> HostView:
        view, owned, copied = host_view(array, self._keywords)
        if not self.writable_views:
            view = view.view()
            view.flags.writeable = False
        return HostView(view, owned, copied)

    @override
    def from_host(self, view: HostArray, device: object) -> object:
        if not self._min_ndim <= view.ndim <= self._max_ndim:
            raise ConversionError(
                f"{self.title} has arrays of {self._min_ndim} to {self._max_ndim} dimensions, "
                + f"this one has {view.ndim}",
                "reshape it first",
            )
        importer = cast("Callable[[object], object]", _named(self._importer, self._module))
        # what has no DLPack type was refused before, by `stored_as`
        numbers = cast("npt.NDArray[np.number]", view)
        memory = LegacyExporter(numbers) if self._legacy else numbers
        array = importer(memory.__dlpack__() if self._takes_capsule else memory)
        return array if device is None else self.to_device(cast("Producer", array), device)

    @override
    def snapshot(self, array: Producer, device: object) -> object:
        view = self.to_host(array).array
        return self.from_host(self.private_copy(view, view.dtype), device)

    @override
    def accepts(self, view: HostArray) -> bool:
        if self._refuses_read_only and not view.flags.writeable:
            return False
        if not self._negative_strides and any(stride < 0 for stride in view.strides):
            return False
        if self._strides == "row-major" and not view.flags.c_contiguous:
            return False
        if self._strides == "permuted" and not _is_permuted(view):
            return False
        return is_aligned(view, self._alignment)

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        return dtype if dtype.name in self._dtypes else None

    @override
    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        return aligned_copy(view, dtype, self._alignment)

    @override
    def parse_device(self, device: object) -> object:
        return device

    @override
    def to_device(self, array: Producer, device: object) -> object:
        """Move with the ``to_device`` of the array API, unless the array is there already."""
        if device is None:
            return array
        movable = cast("_Movable", array)
        return array if movable.device == device else movable.to_device(device)

    @cached_property
    def _home(self) -> object:
        """The device of arrays over host memory."""
        dtype = min(self._dtypes & {"float32", "int32", "uint8"} or self._dtypes)
        probe = np.zeros((1,) * self._min_ndim, named_dtype(dtype))
        return getattr(self.from_host(self.private_copy(probe, probe.dtype), None), "device", None)

    @override
    def leaves_host(self, device: object) -> bool:
        return device is not None and device != self._home


def _named(path: str, module: str) -> object:
    """Return what ``path`` names, which begins with ``module``."""
    found: object = import_module(module)
    for name in path.removeprefix(module).split(".")[1:]:
        found = cast("object", getattr(found, name))
    return found


def _is_permuted(view: HostArray) -> bool:
    """Tell whether ``view`` is dense memory with its axes in any order."""
    order = sorted(range(view.ndim), key=lambda axis: view.strides[axis], reverse=True)
    return view.transpose(order).flags.c_contiguous
