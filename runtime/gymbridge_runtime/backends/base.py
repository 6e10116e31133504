"""The base of all backends: facts about an array library, and operations on its arrays.

A conversion goes from one library's array to a NumPy view of its memory and from there to the
other library's array, so a library is described once and works with every other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from importlib.util import find_spec
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, cast

import numpy as np
from gymbridge_runtime.core.describe import describe, shown
from gymbridge_runtime.core.dtypes import AnyDType, named_dtype
from gymbridge_runtime.core.errors import BackendNotInstalledError, ConversionError
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gymbridge_runtime.types import HostArray
    from typing_extensions import TypeIs

__all__ = ["AnyBackend", "Backend", "Export", "HostView", "load"]

ArrayT_contra = TypeVar("ArrayT_contra", contravariant=True)
DeviceT_contra = TypeVar("DeviceT_contra", contravariant=True)


class HostView(NamedTuple):
    """A NumPy view of an array's memory, or of a copy where there is no way without one."""

    array: HostArray
    owned: bool
    """Whether nothing else holds the memory, so that no further copy is needed."""
    copied: bool = False
    """Whether the memory is, or may be, another than that of the array."""


class Export(NamedTuple):
    """An array that other libraries can import from where it is, without going over the host."""

    array: object
    """What speaks DLPack."""
    place: tuple[int, int]
    """Its DLPack device: the number of its kind, and which one of them."""
    dtype: AnyDType
    dense: bool
    """Whether its memory has no gaps and no strides that an importer might not take."""
    owned: bool = False
    """Whether nothing else holds the memory, so that no copy is needed."""


class Backend(ABC, Generic[ArrayT_contra, DeviceT_contra]):
    """One array library. A subclass states its facts as attributes; one instance is used."""

    # -- facts ------------------------------------------------------------------------------

    name: str
    """How specs, pickles and module names spell it: ``"torch"``."""
    title: str
    """How people spell it: ``"PyTorch"``."""
    reference: str
    """Where the instance is found, ``"package.module:NAME"``: pickles hold this text."""
    roots: frozenset[str]
    """The top-level packages that its array types say they come from."""
    metadata_word: str = ""
    """What Gymnasium calls it in the metadata of environments that have its arrays."""
    mutable: bool = True
    """Whether its users can write into an array."""
    writable_views: bool = True
    """Whether the views of `to_host` may be written into, if its arrays are mutable."""
    keeps_read_only: bool = False
    """Whether an array over read-only memory is read-only in this library as well."""
    copies_in: bool = False
    """Whether importing always copies, at once, so that nothing can be shared with it."""
    never_changes: bool = False
    """Whether the memory behind a view of `to_host` never changes while the view exists."""
    kept_dtypes: frozenset[AnyDType] = frozenset()
    """The dtypes that `stored_as` keeps, whatever the settings of the library are."""
    narrowing: tuple[str, str] = ("", "cast it first")
    """When it narrows dtypes, in words, and what a user can do about it."""

    # -- the fast path ------------------------------------------------------------------------

    @property
    def usual_type(self) -> type[object] | None:
        """The exact type of the arrays that the functions named as calls take; None: no calls."""
        return None

    def calls_reach(self, device: DeviceT_contra | None) -> bool:
        """Tell whether the functions that a spec names as calls put arrays on ``device``.

        It is asked when an environment is reset, not before.
        """
        return device is None

    # -- recognition --------------------------------------------------------------------------

    @abstractmethod
    def is_array(self, kind: type[object]) -> bool:
        """Tell whether instances of ``kind`` are this library's arrays, opaque ones included."""

    def is_opaque(self, kind: type[object]) -> bool:
        """Tell whether ``kind`` looks like an array but is to be left as it is."""
        del kind
        return False

    # -- one array ----------------------------------------------------------------------------

    @abstractmethod
    def to_host(self, array: ArrayT_contra) -> HostView:
        """View ``array`` from NumPy: without a copy where its memory is on the host."""

    def show(self, array: ArrayT_contra) -> HostView:
        """Return what `to_host` returns, or say of ``array`` what keeps it from being seen."""
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
        """View several arrays from NumPy; a library that fetches them by one transfer does so."""
        return map(self.show, arrays)

    @abstractmethod
    def from_host(self, view: HostArray, device: DeviceT_contra | None) -> object:
        """Return an array over the memory of ``view``, whose layout `accepts` has allowed.

        The memory is kept for as long as the array lives, and nobody else writes into it unless
        both sides agreed to share.
        """

    def from_host_many(
        self, views: Sequence[HostArray], device: DeviceT_contra | None
    ) -> Iterable[object]:
        """Import several arrays; a library that does it by one call does so here."""
        return map(self.from_host, views, repeat(device))

    def beside(self, array: ArrayT_contra, view: HostArray) -> object:
        """Return an array over memory that is nobody else's, where this library's ``array`` is."""
        del array
        return self.from_host(view, None)

    @abstractmethod
    def snapshot(self, array: ArrayT_contra, device: DeviceT_contra | None) -> object:
        """Return a copy of this library's own ``array``, on ``device`` if that is not None."""

    def accepts(self, view: HostArray) -> bool:
        """Tell whether `from_host` takes the layout of ``view``."""
        del view
        return True

    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        """Return how this library keeps ``dtype``: as itself, as a narrower one, or not (None)."""
        return dtype

    def stored_at(self, dtype: AnyDType, device: DeviceT_contra | None) -> AnyDType | None:
        """Return how ``device`` keeps ``dtype``: as `stored_as` says, or narrower still."""
        del device
        return self.stored_as(dtype)

    def stored_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape in which this library keeps an array of ``shape``: nearly always it."""
        return shape

    def narrowest(self, dtype: AnyDType) -> AnyDType | None:
        """Return the narrowest dtype that `stored_as` may say: a setting may change any time."""
        return self.stored_as(dtype)

    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        """Copy ``view`` into fresh memory that `from_host` takes."""
        return view.copy() if dtype is view.dtype else np.array(view, dtype, order="C")

    def dtype_of(self, array: ArrayT_contra) -> AnyDType | None:
        """Return the NumPy dtype of this library's own ``array``, or None if NumPy has none."""
        return self.show(array).array.dtype

    def dtype(self, name: object) -> AnyDType:
        """Return the NumPy dtype of a dtype of this library, or of the name of one."""
        return named_dtype(name)

    # -- devices ------------------------------------------------------------------------------

    def parse_device(self, device: object) -> object:
        """Turn what a user gave for a device into the library's own object, or None."""
        if device is not None:
            raise ValueError(f"{self.title} has no devices to choose from, got device={device!r}")
        return None

    def device_text(self, device: DeviceT_contra | None) -> object:
        """Turn a device into text that `parse_device` reads, where there is such text."""
        return device

    def devices(self) -> Sequence[str]:
        """Return the devices that are there, as `parse_device` reads them; none to choose: none."""
        return ()

    def to_device(self, array: ArrayT_contra, device: DeviceT_contra | None) -> object:
        """Return ``array`` on ``device``: itself where it is there already."""
        del device
        return array

    def leaves_host(self, device: DeviceT_contra | None) -> bool:
        """Tell whether going to ``device`` copies out of host memory, at once."""
        del device
        return False

    def replicated(self, device: DeviceT_contra | None) -> object:
        """Return where values go that are no batch, given where batches go."""
        return device

    # -- straight from another library, for memory that is not on the host -------------------

    def export(self, array: ArrayT_contra) -> Export | None:
        """Return how to import ``array`` from where it is.

        None where that is the host, where only the host can show all of it, and where `to_host`
        says better what is wrong with it.
        """
        del array
        return None

    def imports_at(self, place: tuple[int, int], device: DeviceT_contra | None) -> bool:
        """Tell whether `from_dlpack` takes memory at the DLPack device ``place``.

        If ``device`` is not None it has to be that place: results go there.
        """
        del place, device
        return False

    def from_dlpack(self, array: object) -> object:
        """Return an array over the memory of what `export` returned, at a place it imports at."""
        raise NotImplementedError(f"{self.title} imports from the host only, not {array!r}")

    # -- identity -----------------------------------------------------------------------------

    @override
    def __repr__(self) -> str:
        return f"<backend {self.name}>"

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return load, (self.reference,)


AnyBackend: TypeAlias = Backend[Any, Any]  # pyright: ignore[reportExplicitAny] any library
"""A backend, whatever its arrays and devices are."""


def load(reference: str) -> AnyBackend:
    """Return the backend at ``package.module:NAME``.

    Raises:
        BackendNotInstalledError: Its library, or something that the library needs, is missing.
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
    if not _is_backend(found):
        raise TypeError(f"{reference} is {found!r} and no gymbridge backend; correct the reference")
    return found


def _is_backend(value: object) -> TypeIs[AnyBackend]:
    return isinstance(value, Backend)
