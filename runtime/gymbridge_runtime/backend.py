"""What the core asks of an array library: facts, and a few operations on one array.

A conversion goes from one library's array to a NumPy view of its memory and from there to the
other library's array, so a library is described once and works with every other.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, cast

import numpy as np
from gymbridge_runtime.describe import describe, shown
from gymbridge_runtime.dtypes import AnyDType, named_dtype
from gymbridge_runtime.errors import BackendNotInstalledError, ConversionError
from gymbridge_runtime.types import HostArray
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import TypeIs

__all__ = [
    "AnyBackend",
    "Backend",
    "Convert",
    "ConvertFour",
    "Export",
    "HostView",
    "Import",
    "load",
    "no_import",
]

ArrayT_contra = TypeVar("ArrayT_contra", contravariant=True)
DeviceT_contra = TypeVar("DeviceT_contra", contravariant=True)


ConvertFour: TypeAlias = Callable[[object, object, object, object], tuple[object, ...]]
"""A conversion of observations, rewards, terminations and truncations."""

Convert: TypeAlias = Callable[[object], object]
"""A conversion of anything."""

Import: TypeAlias = Callable[[HostArray], object]
"""From NumPy's memory to an array of a library."""


def no_import(value: object) -> None:
    """Import nothing: for where a shortcut is not to be taken."""
    del value


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
    """Whether `to_host` may show memory that others write into, if its arrays are mutable."""
    keeps_read_only: bool = False
    """Whether an array over read-only memory is read-only in this library as well."""
    copies_in: bool = False
    """Whether importing always copies, at once, so that nothing can be shared with it."""
    batches: bool = False
    """Whether importing many arrays at once is cheaper than one after the other."""
    host_arrays: bool = False
    """Whether its arrays are their own host views."""
    host_scalars: bool = False
    """Whether its environments sample single numbers as NumPy scalars, not as 0-d arrays."""
    narrowing: tuple[str, str] = ("", "cast it first")
    """When it narrows dtypes, in words, and what a user can do about it."""

    # -- a cheap way for ordinary arrays; each says the same as the operations below, or raises an
    # -- error for what is special, which `gymbridge_runtime.plain` takes for "no" -------------

    plain_dtypes: frozenset[AnyDType] = frozenset()
    """The dtypes that `plain_import` takes and keeps, or narrows as `stored_as` says it does; none:
    there is no cheap way in."""
    keeps_or_refuses: bool = False
    """Whether `plain_import` keeps every dtype that it does not refuse by an error."""
    plain_bytes: int = sys.maxsize
    """The size below which a batch of copies is imported at once."""

    def plain_kind(self) -> type[object] | None:
        """Return the exact type of ordinary arrays; None: there is no cheap way out."""
        return None

    def plain_view(self) -> Callable[[ArrayT_contra], HostArray]:
        """Return what views, or copies, an array of the plain kind.

        It raises an error for an array that is special in any way.
        """
        return lambda array: self.to_host(array).array

    def is_plain(self, array: ArrayT_contra, dtypes: frozenset[AnyDType]) -> bool:
        """Tell whether an array of the plain kind, as it looks, is not special after all.

        It is asked after one was refused; to ask always would cost more than it saves.

        Args:
            array: What `plain_view` may refuse.
            dtypes: The `plain_dtypes` of the library that it goes to, which may refuse others.
        """
        del array, dtypes
        return True

    def plain_copy(self) -> Callable[[ArrayT_contra], HostArray] | None:
        """Return what copies such an array in one call, or None: a copy of the view is one."""
        return None

    def plain_number(self) -> Callable[[ArrayT_contra], complex | None]:
        """Return what tells the one number of an array of the plain kind without dimensions.

        It answers None for one with dimensions, and raises an error for one that is special.
        """
        view_of = self.plain_view()

        def number_of(array: ArrayT_contra) -> complex | None:
            view = view_of(array)
            return None if view.shape else view.item()

        return number_of

    def plain_import(self) -> Import:
        """Return what imports aligned, writable, C-ordered memory of a plain dtype."""
        return lambda view: self.from_host(view, None)

    def plain_import_of(self, dtype: AnyDType, shape: tuple[int, ...], otherwise: Import) -> Import:
        """Return the same for memory of one plain dtype and shape, of which there will be a lot.

        Args:
            dtype: What they are arrays of.
            shape: The shape of all of them.
            otherwise: What imports one that is refused nevertheless, or says why that cannot be.
        """
        del dtype, shape, otherwise
        return self.plain_import()

    def again(self) -> Callable[[tuple[AnyDType, tuple[int, ...]]], Import | None]:
        """Return what finds the import of copies of arrays with a dtype and a shape.

        None: their like was not imported often. The import answers None where the library refuses.
        """
        return no_import

    def many_again(self) -> Callable[[Sequence[HostArray]], Sequence[object] | None]:
        """Return what imports copies of several arrays if their like was imported often.

        It answers None for others, and where the library refuses.
        """
        return no_import

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

    @abstractmethod
    def from_host(self, view: HostArray, device: DeviceT_contra | None) -> object:
        """Return an array over the memory of ``view``, whose layout `accepts` has allowed.

        The memory is kept for as long as the array lives, and nobody else writes into it unless
        both sides agreed to share.
        """

    def from_host_many(
        self, views: Sequence[HostArray], device: DeviceT_contra | None
    ) -> list[object]:
        """Import arrays at once where that is cheaper.

        Nobody else holds those of `plain_bytes` or more. Smaller ones are copied first by a library
        with `batches`, and narrowed as `stored_as` has it; other libraries are given copies.
        """
        return [self.from_host(view, device) for view in views]

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

    def stored_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape in which this library keeps an array of ``shape``: nearly always it."""
        return shape

    def narrowest(self, dtype: AnyDType) -> AnyDType | None:
        """Return the narrowest dtype that `stored_as` may say: a setting may change any time."""
        return self.stored_as(dtype)

    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        """Copy ``view`` into fresh memory that `from_host` takes."""
        return np.array(view, dtype, order="C")

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

    def everywhere(self, device: DeviceT_contra | None) -> object:
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
