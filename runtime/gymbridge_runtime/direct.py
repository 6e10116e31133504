"""Arrays from one library to another at the place where they are, without going over the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.describe import shown
from gymbridge_runtime.dtypes import is_floating
from gymbridge_runtime.errors import ConversionError, CopyRequiredError
from gymbridge_runtime.ownership import Ownership

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend, Export
    from gymbridge_runtime.dtypes import AnyDType

__all__ = ["DirectImport"]


class DirectImport:
    """The import of arrays into ``target`` from memory that both libraries reach.

    What has to be copied is copied by its own library before it is handed over: it alone knows when
    the memory is read and when it may be used again.

    Args:
        target: The library of the results.
        device: The target's own device object, or None for where the array is.
        ownership: What may be done with the memory of the source.
        float_dtype: What floating arrays are cast to.
    """

    def __init__(
        self,
        target: AnyBackend,
        device: object,
        ownership: Ownership,
        float_dtype: AnyDType | None,
    ) -> None:
        self._target: AnyBackend = target
        self._device: object = device
        self._float_dtype: AnyDType | None = float_dtype
        self._copies: bool = ownership in {Ownership.SNAPSHOT, Ownership.ALWAYS_COPY}
        self._never: bool = ownership is Ownership.NEVER_COPY

    def takes(self, export: Export) -> bool:
        """Tell whether the array can stay where it is, and as it is."""
        dtype = export.dtype
        cast = self._float_dtype if is_floating(dtype) else None
        return (
            cast in {None, dtype}
            and self._target.stored_as(dtype) == dtype
            and self._target.imports_at(export.place, self._device)
        )

    def take(self, source: AnyBackend, export: Export) -> object:
        """Return an array of the target over the memory of one of ``source``, or over a copy.

        Raises:
            CopyRequiredError: They must not share memory, and copies are not allowed.
            ConversionError: One of the libraries refuses.
        """
        target = self._target
        obstacle = None if export.owned else self._obstacle(source, export)
        if obstacle is not None and self._never:
            raise CopyRequiredError(obstacle, "allow copies: copy=None or copy=True")
        try:
            array = export.array if obstacle is None else source.snapshot(export.array, None)
            return target.from_dlpack(array)
        except Exception as error:
            raise ConversionError(
                f"{target.title} could not take the array over from {source.title}: {shown(error)}",
                "see the cause above, or move the array to the host first",
            ) from error

    def _obstacle(self, source: AnyBackend, export: Export) -> str | None:
        """Return why the target cannot or must not share the memory, or None if it can."""
        target = self._target
        writable = source.mutable and source.writable_views
        if self._copies:
            return "a copy was asked for"
        if writable and not target.mutable:
            return f"{target.title} arrays never change, and this memory may"
        if target.mutable and not writable:
            return f"{target.title} would write through to memory that is read-only"
        if not export.dense:
            return f"{target.title} may not take memory with gaps"
        return None
