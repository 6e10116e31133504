"""Any library that speaks DLPack: a backend made from facts, without code of its own."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, cast

import numpy as np
from gymbridge_runtime.backend import Backend, HostView
from gymbridge_runtime.dlpack import LegacyExporter, Producer, host_view
from gymbridge_runtime.dlpack_devices import DlpackDevices
from gymbridge_runtime.dotted import dotted
from gymbridge_runtime.dtypes import (
    extended_dtype,
    is_extended_name,
    named_dtype,
    spelled_dtype,
    words_of,
)
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.known import register
from gymbridge_runtime.layouts import Layouts
from gymbridge_runtime.memory import aligned_copy, is_writable
from gymbridge_runtime.narrowing import untyped
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

__all__ = ["DlpackBackend"]

_STANDARD = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
"""The dtypes of the array API standard."""

_BITS: Final = {1: "uint8", 2: "int16"}
"""What numbers that NumPy does not take from DLPack travel as; PaddlePaddle has no other two."""


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
        start: The function to call once before arrays are made.
        importer: The function that imports, ``<module>.from_dlpack`` by default.
        importer_takes: Whether the importer wants an array or the capsule of one.
        import_version: The newest DLPack that the importer understands.
        asynchronous: Whether the importer returns before it has read the memory.
        prepare: Methods of an array that are called, one on what the other returned, before it is
            exported.
        export_version: The newest DLPack to ask its arrays for.
        export_keywords: The keywords that ``__dlpack__`` of its arrays takes; None: look.
        not_exported: Words for the dtypes whose arrays must not be asked to export themselves.
        strides: Which layouts the importer takes.
        negative_strides: Whether the importer takes negative strides.
        alignment: To how many bytes memory has to be aligned.
        zero_d: Whether there are arrays without dimensions; if not, they get one of length 1.
        max_ndim: The most dimensions an array can have.
        dtypes: The dtypes it has, by the names of NumPy and ml_dtypes.
        narrows: What becomes of dtypes that it does not have; without an entry they are refused.
        reinterpret: The function that gives memory another dtype, for those that NumPy does not
            take from DLPack; by default arrays have a method ``view``.
        device_read: The attribute of an array that says where it is.
        device_move: The method of an array that returns it on another device.
        device_parse: The function that turns text into a device; by default the method takes text.
        device_within: The context manager in which `device_copy` puts arrays on a device.
        device_copy: The function that copies to the device of the context.
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
        start: str | None = None,
        importer: str | None = None,
        importer_takes: Literal["object", "capsule"] = "object",
        import_version: Literal["legacy", "1.0", "1.1", "1.2", "1.3"] = "1.0",
        asynchronous: bool = False,
        prepare: tuple[str, ...] = (),
        export_version: Literal["legacy", "1.0", "1.1", "1.2", "1.3"] = "1.3",
        export_keywords: tuple[str, ...] | None = None,
        not_exported: tuple[str, ...] = (),
        strides: Literal["any", "permuted", "row-major"] = "any",
        negative_strides: bool = False,
        alignment: int = 1,
        zero_d: bool = True,
        max_ndim: int = 64,
        dtypes: tuple[str, ...] = _STANDARD,
        narrows: Mapping[str, str] | None = None,
        reinterpret: str | None = None,
        device_read: str = "device",
        device_move: str = "to_device",
        device_parse: str | None = None,
        device_within: str | None = None,
        device_copy: str | None = None,
    ) -> None:
        self.name: str = name
        self.title: str = title
        self.reference: str = reference
        self.roots: frozenset[str] = frozenset({module.partition(".")[0]})
        self.mutable: bool = mutable
        self.keeps_read_only: bool = read_only == "kept"
        self.writable_views: bool = mutable and views == "writable"
        self.copies_in: bool = copies_in or asynchronous
        self._module: str = module
        self._array: str = array
        self._start: str | None = start
        self._importer: str = importer or f"{module}.from_dlpack"
        self._takes_capsule: bool = importer_takes == "capsule"
        self._imports_legacy: bool = import_version == "legacy"
        self._asynchronous: bool = asynchronous
        self._prepare: tuple[str, ...] = prepare
        self._newest: tuple[int, int] = _version(export_version)
        self._keywords: frozenset[str] | None = (
            None if export_keywords is None else frozenset(export_keywords)
        )
        self._not_exported: frozenset[str] = frozenset(not_exported)
        self._refuses_read_only: bool = read_only == "refused"
        self._layouts: Layouts = Layouts(strides, negative_strides, alignment)
        self._min_ndim: int = 0 if zero_d else 1
        self._max_ndim: int = max_ndim
        self._dtypes: frozenset[str] = frozenset(dtypes)
        self._narrowed: dict[str, AnyDType] = {
            dtype: named_dtype(stored) for dtype, stored in (narrows or {}).items()
        }
        self._reinterpret: str | None = reinterpret
        self._devices: DlpackDevices = DlpackDevices(
            title, module, device_read, device_move, device_parse, device_within, device_copy
        )
        register(self)

    @cached_property
    def _array_type(self) -> type[object]:
        found = dotted(self._array, self._module)
        if not isinstance(found, type):
            raise TypeError(f"{self._array} is {found!r} and no type; correct `array` in the spec")
        return found

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, self._array_type)

    # -- out ----------------------------------------------------------------------------------

    @override
    def to_host(self, array: Producer) -> HostView:
        for method in self._prepare:
            array = cast("Callable[[], Producer]", getattr(array, method))()
        dtype = cast("object", getattr(array, "dtype", None))
        if self._not_exported and not self._not_exported.isdisjoint(words_of(dtype)):
            raise ConversionError(
                f"{self.title} does not export arrays of {dtype}", "leave it out, or convert it"
            )
        # by comparison: PaddlePaddle's uint16 calls itself bfloat16
        name = next((name for name, known in self._extended.items() if dtype == known), None)
        if name is None:
            view, owned, copied = self._exported(array)
        else:
            numbers = extended_dtype(name)
            bits = self._seen_as(array, _BITS[numbers.itemsize])
            view, owned, copied = self._exported(cast("Producer", bits))
            view = view.view(numbers)
        if not self.writable_views:
            view = view.view()
            view.flags.writeable = False
        return HostView(view, owned, copied)

    @cached_property
    def _extended(self) -> dict[str, object]:
        """The library's own dtypes of those that NumPy does not take from DLPack, by name."""
        names = sorted(filter(is_extended_name, self._dtypes))
        return {name: self._own_dtype(name) for name in names}

    def _own_dtype(self, name: str) -> object:
        return dotted(f"{self._module}.{name}", self._module)

    def _exported(self, array: Producer) -> HostView:
        return host_view(array, self._keywords, self._newest)

    def _seen_as(self, array: object, dtype: str) -> object:
        """Return the memory of ``array`` as numbers of another dtype of the same size."""
        wanted = self._own_dtype(dtype)
        if self._reinterpret is not None:
            function = dotted(self._reinterpret, self._module)
            return cast("Callable[[object, object], object]", function)(array, wanted)
        return cast("Callable[[object], object]", untyped(array, "view"))(wanted)

    # -- in -----------------------------------------------------------------------------------

    @override
    def from_host(self, view: HostArray, device: object) -> object:
        shape = self.stored_shape(view.shape)
        view = view if view.shape == shape else view.reshape(shape)
        if view.ndim > self._max_ndim:
            raise ConversionError(
                f"{self.title} has arrays of at most {self._max_ndim} dimensions, "
                + f"this one has {view.ndim}",
                "reshape it first",
            )
        array = self._imported(view)
        return array if device is None else self._devices.moved(array, device)

    @cached_property
    def _import(self) -> Callable[[object], object]:
        if self._start is not None:
            _ = cast("Callable[[], object]", dotted(self._start, self._module))()
        return cast("Callable[[object], object]", dotted(self._importer, self._module))

    def _imported(self, view: HostArray) -> object:
        name = view.dtype.name
        if is_extended_name(name):
            bits: HostArray = view.view(_BITS[view.itemsize])
            return self._seen_as(self._imported(bits), name)
        # what has no DLPack type was refused before, by `stored_as`
        numbers = cast("npt.NDArray[np.number]", view)
        memory = LegacyExporter(numbers) if self._imports_legacy else numbers
        return self._import(memory.__dlpack__() if self._takes_capsule else memory)

    @override
    def beside(self, array: Producer, view: HostArray) -> object:
        return self.from_host(view, self._devices.of(array))

    @override
    def snapshot(self, array: Producer, device: object) -> object:
        view = self.to_host(array).array
        copy = self.private_copy(view, view.dtype)
        return self.beside(array, copy) if device is None else self.from_host(copy, device)

    @override
    def accepts(self, view: HostArray) -> bool:
        if self._asynchronous or (self._refuses_read_only and not is_writable(view)):
            return False
        return self._layouts.accepts(view)

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        if dtype.name in self._dtypes:
            return dtype
        return self._narrowed.get(dtype.name)

    @override
    def stored_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if len(shape) >= self._min_ndim else (1,)

    @override
    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        return aligned_copy(view, dtype, self._layouts.alignment)

    @override
    def dtype(self, name: object) -> AnyDType:
        return spelled_dtype(name)

    # -- devices ------------------------------------------------------------------------------

    @override
    def parse_device(self, device: object) -> object:
        return None if device is None else self._devices.found(device, self._probe)

    @override
    def device_text(self, device: object) -> object:
        return None if device is None else self._devices.text(device)

    @override
    def devices(self) -> tuple[str, ...]:
        return self._devices.known()

    @override
    def to_device(self, array: Producer, device: object) -> object:
        return array if device is None else self._devices.moved(array, device)

    def _probe(self) -> object:
        """Return an array of the library, to see what becomes of it."""
        dtype = min(self._dtypes & {"float32", "int32", "uint8"} or self._dtypes)
        values = np.zeros((1,) * self._min_ndim, named_dtype(dtype))
        return self._imported(self.private_copy(values, values.dtype))

    @cached_property
    def _home(self) -> object:
        """The device of arrays over host memory."""
        return self._devices.of(self._probe())

    @override
    def leaves_host(self, device: object) -> bool:
        return device is not None and device != self._home


def _version(text: str) -> tuple[int, int]:
    """Return the version that is called ``text``; "legacy" is any before the first."""
    major, _, minor = "0.8".partition(".") if text == "legacy" else text.partition(".")
    return int(major), int(minor)
