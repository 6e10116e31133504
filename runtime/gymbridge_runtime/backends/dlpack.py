"""A backend for any library that speaks DLPack, made from facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import numpy as np
from gymbridge_runtime.backends.base import Backend, HostView
from gymbridge_runtime.backends.dlpack_devices import DlpackDevices, dotted
from gymbridge_runtime.backends.dlpack_protocol import LegacyExporter, Producer, host_view
from gymbridge_runtime.backends.registry import register
from gymbridge_runtime.core.dtypes import (
    COMMON_DTYPES,
    extended_dtype,
    is_extended_name,
    named_dtype,
    words_of,
)
from gymbridge_runtime.core.errors import ConversionError
from gymbridge_runtime.core.layouts import Layouts
from gymbridge_runtime.core.memory import aligned_copy, is_writable
from gymbridge_runtime.core.narrowing import getattr_untyped
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt
    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

_Version: TypeAlias = Literal["legacy", "1.0", "1.1", "1.2", "1.3"]

_STANDARD = tuple(name for name in COMMON_DTYPES if name != "float16")
"""The dtypes of the array API standard."""

_BITS: Final = {1: "uint8", 2: "int16"}
"""The integers that carry the bits of dtypes that NumPy does not import, by size in bytes."""


@dataclass(kw_only=True, eq=False, repr=False)
class DlpackBackend(DlpackDevices, Backend[Producer, object]):
    """A library described by its spec entry; an instance registers itself for its arrays."""

    name: str
    reference: str
    array: str
    """The dotted path of its array type."""
    mutable: bool = True
    read_only: Literal["ignored", "kept", "refused"] = "ignored"
    """What it does with read-only memory."""
    views: Literal["writable", "read-only", "constant"] = "writable"
    """How others see its memory."""
    copies_in: bool = False
    start: str | None = None
    """The function to call once before arrays are made."""
    importer: str | None = None
    """The function that imports, ``<module>.from_dlpack`` by default."""
    importer_takes: Literal["object", "capsule"] = "object"
    """Whether the importer wants an array or the capsule of one."""
    import_version: _Version = "1.0"
    """The newest DLPack that the importer understands."""
    asynchronous: bool = False
    """Whether the importer returns before it has read the memory."""
    prepare: tuple[str, ...] = ()
    """Methods to call in turn before an array is exported."""
    export_version: _Version = "1.3"
    """The newest DLPack to ask its arrays for."""
    export_keywords: tuple[str, ...] | None = None
    """The keywords that ``__dlpack__`` of its arrays takes; None: read its signature."""
    not_exported: tuple[str, ...] = ()
    """Words in the text of dtypes whose arrays must not be exported."""
    strides: Literal["any", "permuted", "row-major"] = "any"
    """Which layouts the importer takes."""
    negative_strides: bool = False
    """Whether the importer takes negative strides."""
    alignment: int = 1
    """The alignment of memory, in bytes."""
    zero_d: bool = True
    """Whether there are arrays without dimensions; if not, they get one of length 1."""
    max_ndim: int = 64
    """The most dimensions an array can have."""
    dtypes: tuple[str, ...] = _STANDARD
    """The dtypes it has, by the names of NumPy and ml_dtypes."""
    narrows: Mapping[str, str] = field(default_factory=dict[str, str])
    """The dtypes that replace missing ones; without an entry a dtype is refused."""
    reinterpret: str | None = None
    """The function that reinterprets memory, for dtypes that NumPy does not import.

    By default arrays have a method ``view``.
    """

    def __post_init__(self) -> None:
        self.roots: frozenset[str] = frozenset({self.module.partition(".")[0]})
        self.keeps_read_only: bool = self.read_only == "kept"
        self.writable_views: bool = self.mutable and self.views == "writable"
        self.never_changes: bool = not self.mutable or self.views == "constant"
        self.calls_copy: bool = self.copies_in and not self.asynchronous
        self.copies_in = self.copies_in or self.asynchronous
        self._layouts: Layouts = Layouts(self.strides, self.negative_strides, self.alignment)
        register(self)

    @cached_property
    def _array_type(self) -> type[object]:
        found = dotted(self.array, self.module)
        if not isinstance(found, type):
            raise TypeError(f"{self.array} is {found!r} and no type; correct `array` in the spec")
        return found

    @property
    @override
    def fast_type(self) -> type[object] | None:
        return self._array_type

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, self._array_type)

    # -- out ----------------------------------------------------------------------------------

    @override
    def to_host(self, array: Producer) -> HostView:
        for method in self.prepare:
            array = cast("Callable[[], Producer]", getattr(array, method))()
        dtype = cast("object", getattr(array, "dtype", None))
        if self.not_exported and not set(self.not_exported).isdisjoint(words_of(dtype)):
            raise ConversionError(
                f"{self.title} does not export arrays of {dtype}", "leave it out, or convert it"
            )
        # compare dtypes, not names: PaddlePaddle's uint16 calls itself bfloat16
        name = next((name for name, known in self._extended.items() if dtype == known), None)
        numbers = None if name is None else extended_dtype(name)
        if numbers is not None:
            array = self._seen_as(array, _BITS[numbers.itemsize])
        view, owned, copied = host_view(array, self.export_keywords, self._newest)
        if numbers is not None:
            view = view.view(numbers)
        if not self.writable_views:
            view = view.view()
            view.flags.writeable = False
        return HostView(view, owned, copied)

    @cached_property
    def _extended(self) -> dict[str, object]:
        """The library's own dtypes that NumPy does not import, by name."""
        names = sorted(filter(is_extended_name, self.dtypes))
        return {name: self._own_dtype(name) for name in names}

    def _own_dtype(self, name: str) -> object:
        return dotted(f"{self.module}.{name}", self.module)

    @cached_property
    def _newest(self) -> tuple[int, int]:
        version = "0.8" if self.export_version == "legacy" else self.export_version
        major, minor = map(int, version.split("."))
        return major, minor

    def _seen_as(self, array: Producer, dtype: str) -> Producer:
        """Reinterpret the memory of ``array`` as another dtype of the same size."""
        wanted = self._own_dtype(dtype)
        if self.reinterpret is not None:
            return cast("Producer", self.function(self.reinterpret)(array, wanted))
        return cast("Callable[[object], Producer]", getattr_untyped(array, "view"))(wanted)

    # -- in -----------------------------------------------------------------------------------

    @override
    def from_host(self, view: HostArray, device: object) -> object:
        shape = self.stored_shape(view.shape)
        view = view if view.shape == shape else view.reshape(shape)
        if view.ndim > self.max_ndim:
            raise ConversionError(
                f"{self.title} has arrays of at most {self.max_ndim} dimensions, "
                + f"this one has {view.ndim}",
                "reshape it first",
            )
        return self.to_device(self._imported(view), device)

    @cached_property
    def _import(self) -> Callable[..., object]:
        if self.start is not None:
            _ = self.function(self.start)()
        return self.function(self.importer or f"{self.module}.from_dlpack")

    def _imported(self, view: HostArray) -> Producer:
        name = view.dtype.name
        if is_extended_name(name):
            bits: HostArray = view.view(_BITS[view.itemsize])
            return self._seen_as(self._imported(bits), name)
        # `stored_as` has refused dtypes without a DLPack type
        numbers = cast("npt.NDArray[np.number]", view)
        memory = LegacyExporter(numbers) if self.import_version == "legacy" else numbers
        given = memory.__dlpack__() if self.importer_takes == "capsule" else memory
        return cast("Producer", self._import(given))

    @override
    def like(self, array: Producer, view: HostArray) -> object:
        return self.from_host(view, self.place_of(array))

    @override
    def snapshot(self, array: Producer, device: object) -> object:
        view = self.to_host(array).array
        copy = self.private_copy(view, view.dtype)
        return self.like(array, copy) if device is None else self.from_host(copy, device)

    @override
    def accepts(self, view: HostArray) -> bool:
        if self.asynchronous or (self.read_only == "refused" and not is_writable(view)):
            return False
        return self._layouts.accepts(view)

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        if dtype.name in self.dtypes:
            return dtype
        narrower = self.narrows.get(dtype.name)
        return None if narrower is None else named_dtype(narrower)

    @override
    def stored_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if shape or self.zero_d else (1,)

    @override
    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        return aligned_copy(view, dtype, self.alignment)

    # -- devices ------------------------------------------------------------------------------

    @override
    def parse_device(self, device: object) -> object:
        return None if device is None else self.found(device, self._probe)

    def _probe(self) -> Producer:
        """Return an array of the library, to read its device."""
        dtype = min({"float32", "int32", "uint8"}.intersection(self.dtypes) or self.dtypes)
        values = np.zeros(self.stored_shape(()), named_dtype(dtype))
        return self._imported(self.private_copy(values, values.dtype))

    @cached_property
    def _home(self) -> object:
        """The device of arrays over host memory."""
        return self.place_of(self._probe())

    @override
    def leaves_host(self, device: object) -> bool:
        return device is not None and device != self._home
