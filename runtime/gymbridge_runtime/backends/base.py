"""The base of all backends: facts about an array library, and operations on its arrays.

A conversion goes from one library's array to a NumPy view of its memory and from there to the
other library's array, so one description of a library is enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from importlib.util import find_spec
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, cast

import numpy as np
from gymbridge_runtime.core.describe import describe, shown
from gymbridge_runtime.core.dtypes import AnyDType, spelled_dtype
from gymbridge_runtime.core.errors import BackendNotInstalledError, ConversionError
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gymbridge_runtime.types import HostArray

ArrayT_contra = TypeVar("ArrayT_contra", contravariant=True)
DeviceT_contra = TypeVar("DeviceT_contra", contravariant=True)


class HostView(NamedTuple):
    """A NumPy view of an array's memory, or of a copy if a view is impossible."""

    array: HostArray
    owned: bool
    """Whether nothing else holds the memory, so that no further copy is needed."""
    copied: bool = False
    """Whether the memory is, or may be, a copy of the array's memory."""


class Export(NamedTuple):
    """An array that other libraries can import on its device, without the host."""

    array: object
    """The object that speaks DLPack."""
    place: tuple[int, int]
    """Its DLPack device: the kind of device, and its index."""
    dtype: AnyDType
    dense: bool
    """Whether its memory has no gaps and no unusual strides."""
    owned: bool = False
    """Whether nothing else holds the memory, so that no copy is needed."""


class Backend(ABC, Generic[ArrayT_contra, DeviceT_contra]):
    """One array library. A subclass states facts as attributes; there is one instance."""

    # -- facts ------------------------------------------------------------------------------

    name: str
    """The name in specs, pickles and module names: ``"torch"``."""
    title: str
    """The name for readers: ``"PyTorch"``."""
    reference: str
    """The place of the instance, ``"package.module:NAME"``; pickles hold this text."""
    roots: frozenset[str]
    """The top-level packages of its array types."""
    metadata_word: str = ""
    """Its key in the metadata of Gymnasium's environments."""
    mutable: bool = True
    """Whether users can write into its arrays."""
    writable_views: bool = True
    """Whether the views of `to_host` are writable, if its arrays are mutable."""
    keeps_read_only: bool = False
    """Whether an array over read-only memory is read-only in this library, too."""
    copies_in: bool = False
    """Whether every import copies at once, so that nothing can be shared."""
    calls_copy: bool = False
    """Whether the imports of the fast path always copy, and take read-only arrays."""
    never_changes: bool = False
    """Whether the memory behind a view of `to_host` never changes while the view exists."""
    kept_dtypes: frozenset[AnyDType] = frozenset()
    """The dtypes that `stored_as` keeps under all settings of the library."""
    integer_advice: str = "cast it first"
    """How users of the library turn an array into integers, in words."""
    narrowing: tuple[str, str] = ("", "cast it first")
    """For messages: when it narrows dtypes, and what a user can do."""

    # -- the fast path ------------------------------------------------------------------------

    @property
    def fast_type(self) -> type[object] | None:
        """The exact type of arrays that take the calls of the fast path; None: no calls."""
        return None

    def calls_reach(self, device: DeviceT_contra | None) -> bool:
        """Tell whether the calls of the fast path put arrays on ``device``.

        A wrapper asks at `reset`, not before.
        """
        return device is None

    # -- recognition --------------------------------------------------------------------------

    @abstractmethod
    def is_array(self, kind: type[object]) -> bool:
        """Tell whether instances of ``kind`` are this library's arrays, opaque ones included."""

    def is_opaque(self, kind: type[object]) -> bool:
        """Tell whether instances of ``kind`` look like arrays, but are not converted."""
        del kind
        return False

    # -- one array ----------------------------------------------------------------------------

    @abstractmethod
    def to_host(self, array: ArrayT_contra) -> HostView:
        """View ``array`` from NumPy, without a copy if its memory is on the host."""

    def show(self, array: ArrayT_contra) -> HostView:
        """Call `to_host`; an error says why ``array`` cannot be viewed."""
        try:
            return self.to_host(array)
        except ConversionError as error:
            error.about(describe(array))
            raise
        except Exception as error:
            raise ConversionError(
                f"{self.title} could not show the array in host memory: {shown(error)}",
                "see the cause above, or turn it into an ordinary array first",
                describe(array),
            ) from error

    def show_many(self, arrays: Sequence[ArrayT_contra]) -> Iterable[HostView]:
        """View several arrays from NumPy, by one transfer if the library can."""
        return map(self.show, arrays)

    @abstractmethod
    def from_host(self, view: HostArray, device: DeviceT_contra | None) -> object:
        """Return an array over the memory of ``view``; `accepts` has allowed its layout.

        The memory must live as long as the array. Nobody else writes into it, unless both sides
        agreed to share.
        """

    def from_host_many(
        self, views: Sequence[HostArray], device: DeviceT_contra | None
    ) -> Iterable[object]:
        """Import several arrays, by one call if the library can."""
        return map(self.from_host, views, repeat(device))

    def like(self, array: ArrayT_contra, view: HostArray) -> object:
        """Import the new memory ``view`` to the device of this library's ``array``."""
        del array
        return self.from_host(view, None)

    @abstractmethod
    def snapshot(self, array: ArrayT_contra, device: DeviceT_contra | None) -> object:
        """Return a copy of this library's own ``array``, on ``device`` if one is given."""

    def accepts(self, view: HostArray) -> bool:
        """Tell whether `from_host` takes the layout of ``view``."""
        del view
        return True

    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        """Return the dtype in which this library stores ``dtype``; None if it cannot."""
        return dtype

    def stored_at(self, dtype: AnyDType, device: DeviceT_contra | None) -> AnyDType | None:
        """Return the dtype in which ``device`` stores ``dtype``: as `stored_as`, or narrower."""
        del device
        return self.stored_as(dtype)

    def stored_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape in which this library stores ``shape``, nearly always the same."""
        return shape

    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        """Copy ``view`` into fresh memory that `from_host` takes."""
        return view.copy() if dtype is view.dtype else np.array(view, dtype, order="C")

    def dtype_of(self, array: ArrayT_contra) -> AnyDType | None:
        """Return the NumPy dtype of this library's own ``array``, or None if NumPy has none."""
        return self.show(array).array.dtype

    def dtype(self, name: object) -> AnyDType:
        """Return the NumPy dtype of a dtype of this library, or of the name of one."""
        return spelled_dtype(name)

    # -- devices ------------------------------------------------------------------------------

    def parse_device(self, device: object) -> object:
        """Turn a user's device into the library's own object, or None."""
        if device is not None:
            raise ValueError(f"{self.title} has no devices to choose from, got device={device!r}")
        return None

    def device_text(self, device: DeviceT_contra | None) -> object:
        """Turn a device into text for `parse_device`, if there is such text."""
        return device

    def devices(self) -> Sequence[str]:
        """Return the names of all devices, for `parse_device`; empty if there is no choice."""
        return ()

    def to_device(self, array: ArrayT_contra, device: DeviceT_contra | None) -> object:
        """Return ``array`` on ``device``: itself if it is there already."""
        del device
        return array

    def is_sent(self, array: ArrayT_contra, device: DeviceT_contra) -> bool:
        """Tell whether moving ``array`` to ``device`` is a transfer between the host and a device.

        Then it may travel with other arrays; otherwise `to_device` moves it alone.
        """
        del array, device
        return False

    def leaves_host(self, device: DeviceT_contra | None) -> bool:
        """Tell whether an import to ``device`` copies host memory at once."""
        del device
        return False

    def replicated(self, device: DeviceT_contra | None) -> object:
        """Return the device of values without a batch axis, given the device of batches."""
        return device

    # -- imports on a device, without the host -----------------------------------------------

    def export(self, array: ArrayT_contra) -> Export | None:
        """Return an export of ``array`` on its device.

        Return None if the device is the host, if only the host can show the whole array, and if
        `to_host` has a better error message.
        """
        del array
        return None

    def imports_at(self, place: tuple[int, int], device: DeviceT_contra | None) -> bool:
        """Tell whether `from_dlpack` takes memory at the DLPack device ``place``.

        If ``device`` is not None, it must be that place, because results go there.
        """
        del place, device
        return False

    def from_dlpack(self, array: object) -> object:
        """Return an array over the memory of an export."""
        raise NotImplementedError(f"{self.title} imports from the host only, not {array!r}")

    # -- identity -----------------------------------------------------------------------------

    @override
    def __repr__(self) -> str:
        return f"<backend {self.name}>"

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return load, (self.reference,)


AnyBackend: TypeAlias = Backend[Any, Any]  # pyright: ignore[reportExplicitAny] any library
"""A backend of any library."""


def load(reference: str) -> AnyBackend:
    """Return the backend at ``package.module:NAME``.

    Raises:
        BackendNotInstalledError: The library, or a module that it needs, is missing.
    """
    module_name, _, attribute = reference.partition(":")
    if find_spec(module_name.partition(".")[0]) is None:
        raise BackendNotInstalledError(
            f"the package of the backend {reference!r} is not installed; install it to restore this"
        )
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise BackendNotInstalledError.explain(
            reference, f"pip install {error.name}", error
        ) from error
    found = cast("object", getattr(module, attribute, None))
    if not issubclass(type(found), Backend):
        raise TypeError(f"{reference} is {found!r} and no gymbridge backend; correct the reference")
    return cast("AnyBackend", found)
