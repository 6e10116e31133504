"""Arrays from one library to another at the place where they are, without going over the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.describe import shown
from gymbridge_runtime.dtypes import is_floating
from gymbridge_runtime.errors import ConversionError, CopyRequiredError
from gymbridge_runtime.ownership import ALLOW_COPIES, Ownership, obstacle

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
        self._ownership: Ownership = ownership

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
        reason = None if export.owned else self._obstacle(source, export)
        if reason is not None and self._ownership is Ownership.NEVER_COPY:
            raise CopyRequiredError(reason, ALLOW_COPIES)
        try:
            array = export.array if reason is None else source.snapshot(export.array, None)
            return target.from_dlpack(array)
        except Exception as error:
            raise ConversionError(
                f"{target.title} could not take the array over from {source.title}: {shown(error)}",
                "see the cause above, or move the array to the host first",
            ) from error

    def _obstacle(self, source: AnyBackend, export: Export) -> str | None:
        """Return why the target cannot or must not share the memory, or None if it can."""
        if self._ownership.copies:
            return "a copy was asked for"
        writable = source.mutable and source.writable_views
        gaps = None if export.dense else f"{self._target.title} may not take memory with gaps"
        return obstacle(self._target, changes=writable, writable=writable) or gaps
