"""Import of arrays from memory that both libraries reach, without the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gymbridge_runtime.core.describe import shown
from gymbridge_runtime.core.dtypes import is_floating
from gymbridge_runtime.core.errors import REFUSED, ConversionError, CopyRequiredError
from gymbridge_runtime.core.ownership import ALLOW_COPIES, Ownership, obstacle

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend, Export
    from gymbridge_runtime.core.dtypes import AnyDType


class DirectImport(NamedTuple):
    """The import of arrays into ``target`` from memory that both libraries reach.

    The source makes the copies: only it knows when its memory is read and may be used again.
    """

    target: AnyBackend
    device: object
    """The target's own object; None keeps the array where it is."""
    ownership: Ownership
    float_dtype: AnyDType | None
    """The dtype to which floating arrays are cast."""

    def takes(self, export: Export) -> bool:
        """Tell whether the target can have the array without a transfer or a cast."""
        dtype = export.dtype
        return (
            (self.float_dtype in {None, dtype} or not is_floating(dtype))
            and self.target.stored_as(dtype) == dtype
            and self.target.imports_at(export.place, self.device)
        )

    def take(self, source: AnyBackend, export: Export) -> object:
        """Return an array of the target over the exported memory, or over a copy."""
        target = self.target
        reason = None if export.owned else self._obstacle(source, export)
        if reason is not None and self.ownership is Ownership.NEVER_COPY:
            raise CopyRequiredError(reason, ALLOW_COPIES)
        try:
            array = export.array if reason is None else source.snapshot(export.array, None)
            return target.from_dlpack(array)
        except REFUSED as error:
            raise ConversionError(
                f"{target.title} could not take the array over from {source.title}: {shown(error)}",
                "see the cause above, or move the array to the host first",
            ) from error

    def _obstacle(self, source: AnyBackend, export: Export) -> str | None:
        """Return why the target cannot or must not share the memory, or None if it may."""
        if self.ownership in {Ownership.COPY, Ownership.SNAPSHOT}:
            return "a copy was asked for"
        if self.ownership is Ownership.PROVE and not source.never_changes:
            return "the environment may hold the memory"
        writable = source.mutable and source.writable_views
        gaps = None if export.dense else f"{self.target.title} may not take memory with gaps"
        return obstacle(self.target, changes=writable, writable=writable) or gaps
