"""The conversion of single leaves: which are shared, copied, cast or refused.

A leaf is either converted at once, or becomes a host view that the target may keep. All host views
are imported together afterwards.
"""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from gymbridge_runtime.backends.registry import recognise
from gymbridge_runtime.core.describe import shown as text_of
from gymbridge_runtime.core.dtypes import (
    AnyDType,
    first_misfit,
    is_floating,
    is_integer,
    is_number,
)
from gymbridge_runtime.core.errors import REFUSED, ConversionError, CopyRequiredError
from gymbridge_runtime.core.layouts import odd_layout
from gymbridge_runtime.core.leaves import TYPES, LeafType
from gymbridge_runtime.core.memory import is_writable, silence
from gymbridge_runtime.core.narrowing import is_host_array
from gymbridge_runtime.core.ownership import ALLOW_COPIES, Ownership, is_alone, obstacle
from gymbridge_runtime.core.tree import warn_if_unconverted, warn_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gymbridge_runtime.backends.base import AnyBackend, Export, HostView
    from gymbridge_runtime.types import HostArray

_BITS_IN_WORDS = 1024


class LeafConverter:
    """Converts single leaves to ``target``.

    Args:
        target: The library of the results.
        device: Where results go: the library's own object, or text; None for its default.
        copy: None is ``default``, True always copies, False never does.
        float_dtype: The dtype to which floating arrays are cast.
        default: What ``copy=None`` means.
        arrays_only: Whether Python numbers and NumPy scalars stay as they are.
        keeps_large: Whether integers that do not fit int64 stay as they are, or raise errors.
        root: The name of the tree in error messages.
    """

    def __init__(
        self,
        target: AnyBackend,
        *,
        device: object = None,
        copy: bool | None = None,
        float_dtype: object = None,
        default: Ownership = Ownership.SHARE,
        arrays_only: bool = False,
        keeps_large: bool = False,
        root: str = "value",
    ) -> None:
        recognise(target)
        device = target.parse_device(device)
        ownership = Ownership.of(copy, default)
        wanted = None if float_dtype is None else target.dtype(float_dtype)
        self.target: AnyBackend = target
        self.device: object = device
        self.ownership: Ownership = ownership
        self.float_dtype: AnyDType | None = wanted
        self.arrays_only: bool = arrays_only
        self.keeps_large: bool = keeps_large
        self.root: str = root
        self._stored: Callable[[AnyDType], AnyDType | None] = (
            target.stored_as if device is None else partial(target.stored_at, device=device)
        )
        self._never: bool = ownership is Ownership.NEVER_COPY
        self._kept: frozenset[AnyDType] = frozenset(
            dtype for dtype in target.kept_dtypes if self._stored(dtype) == dtype
        )
        # the default device is not asked: that starts JAX, and then AsyncVectorEnv must not fork
        self._import_copies: bool = target.copies_in or (
            device is not None and target.leaves_host(device)
        )
        self._proves: bool = ownership is Ownership.PROVE
        self._always: bool = ownership in {Ownership.COPY, Ownership.SNAPSHOT}

    # -- leaves that are converted at once ----------------------------------------------------

    def keep(self, value: object, kind: LeafType) -> object:
        """Return ``value`` itself, or a copy where it may change later."""
        if kind.role == "unknown":
            warn_if_unconverted(value, lambda: _items_of(value))
            return value
        if kind.backend is not None:
            is_mutable = kind.backend.mutable
        else:  # a scalar with fields is a view of a row of an array
            is_mutable = cast("np.void", value).dtype.names is not None
        # a mask, or an object in a field, may be held where the array is not
        return deepcopy(value) if is_mutable and (self._proves or self._always) else value

    def _is_held(self, array: object, *, is_free: bool) -> bool:
        """Tell whether to copy: somebody else may hold the memory, or a copy was asked for."""
        if self._proves:
            return not (is_free and is_host_array(array) and is_alone(array))
        return self._always

    def sends(self, array: object) -> bool:
        """Tell whether an array of the target library travels to `device` with other arrays."""
        return self.device is not None and self.target.is_sent(array, self.device)

    def of_target(self, array: object, *, is_free: bool) -> object:
        """Move, cast or copy an array that is already of the target library."""
        target, wanted = self.target, self.float_dtype
        held = None if wanted is None else target.dtype_of(array)
        if (wanted is not None and held is not None and is_floating(held)) and (
            held not in {wanted, target.stored_as(wanted)}
        ):
            return self._cast(array, held)
        try:
            is_held = target.mutable and self._is_held(array, is_free=is_free)
            if is_held or self.ownership is Ownership.COPY:
                return target.snapshot(array, self.device)
            moved = target.to_device(array, self.device)
        except ConversionError:
            raise
        except REFUSED as error:
            raise ConversionError(
                f"{target.title} could not copy or move its array{self._place()}: {text_of(error)}",
                "see the cause above",
            ) from error
        if self._never and moved is not array:
            raise CopyRequiredError(
                f"the array would have to be copied to {self.device}",
                "move it there first, or allow copies",
            )
        return moved

    def _cast(self, array: object, held: AnyDType) -> object:
        """Cast an array of the target library to `float_dtype`, on its device or on `device`."""
        if self._never:
            raise CopyRequiredError.for_cast(held, self.float_dtype)
        view = self.target.show(array).array
        dtype = self._dtype_of(view)
        cast_copy = silence().run(self.target.private_copy, view, dtype)
        if self.device is None:
            return self.target.like(array, cast_copy)
        return self.target.from_host(cast_copy, self.device)

    # -- leaves on a device that both libraries reach -----------------------------------------

    def direct(self, source: AnyBackend, array: object) -> object | None:
        """Return an array over the same device memory or a copy; None if the host is needed."""
        export = source.export(array)
        if export is None or not self._takes(export):
            return None
        reason = None if export.owned else self._obstacle_on_device(source, export)
        if reason is not None and self._never:
            raise CopyRequiredError(reason, ALLOW_COPIES)
        try:
            # the source makes the copy: it knows when the read has finished
            memory = export.array if reason is None else source.snapshot(export.array, None)
            return self.target.from_dlpack(memory)
        except REFUSED as error:
            raise ConversionError(
                f"{self.target.title} could not take the array over from {source.title}: "
                + text_of(error),
                "see the cause above, or move the array to the host first",
            ) from error

    def _takes(self, export: Export) -> bool:
        """Tell whether the target can have the array without a transfer or a cast."""
        dtype = export.dtype
        return (
            (self.float_dtype in {None, dtype} or not is_floating(dtype))
            and self.target.stored_as(dtype) == dtype
            and self.target.imports_at(export.place, self.device)
        )

    def _obstacle_on_device(self, source: AnyBackend, export: Export) -> str | None:
        """Return why the target cannot or must not share the memory, or None if it may."""
        if self._always:
            return "a copy was asked for"
        if self._proves and not source.never_changes:
            return "the environment may hold the memory"
        writable = source.mutable and source.writable_views
        gaps = None if export.dense else f"{self.target.title} may not take memory with gaps"
        return obstacle(self.target, changes=writable, writable=writable) or gaps

    # -- leaves that are imported from the host -----------------------------------------------

    def number(self, value: object) -> HostArray | None:
        """Return an array for the target with one number; None if the number stays itself."""
        array: HostArray = np.array(value)
        dtype = array.dtype
        if dtype.kind in "uO" and issubclass(type(value), int):
            self._refuse(cast("int", value))
            return None
        if dtype in self._kept and self.float_dtype is None:
            return array
        stored = self._dtype_of(array)
        if stored == dtype and self.target.accepts(array):
            return array
        return silence().run(self.target.private_copy, array, stored)

    def entry(self, value: object) -> object | None:
        """Return a number as an array, and a leaf that stays itself; None for anything else."""
        kind = TYPES[type(value)]
        if type(kind) is not LeafType:
            return None
        if kind.role in {"number", "scalar"}:
            return value if self.arrays_only else self.number(value)
        return value if kind.role == "keep" else None

    def _refuse(self, value: int) -> None:
        """Raise an error, or warn once for each type, because no array can hold ``value``."""
        # Python refuses to print integers with very many digits
        is_long = self.keeps_large or value.bit_length() > _BITS_IN_WORDS
        text = f"an int of {value.bit_length()} bits" if is_long else f"the int {value}"
        text += " does not fit int64"
        if not self.keeps_large:
            raise ConversionError(text, "pass it as a str, or leave it out")
        warn_once(type(value), f"{text}: it stays as it is", RuntimeWarning)

    def memory(
        self,
        leaf: object,
        shown: HostView | None,
        source: AnyBackend | None,
        is_free: bool,
    ) -> HostArray:
        """Return an array for the target over the same memory, a copy or a cast.

        Args:
            leaf: The array.
            shown: Its host view; None for an array of NumPy.
            source: Its library; None if nothing is known of it.
            is_free: Whether nobody else refers to it.
        """
        target = self.target
        array, owned, copied = (np.asarray(leaf), False, False) if shown is None else shown
        if self._never and copied:
            words = "the array had to be copied to be seen from the host"
            raise CopyRequiredError(words, ALLOW_COPIES)
        owned = owned or (shown is None and self._proves and is_free and is_alone(array))
        dtype = array.dtype
        if self.float_dtype is not None or dtype not in self._kept:
            dtype = self._dtype_of(array)
            if dtype != array.dtype:
                if self._never and not owned:
                    raise CopyRequiredError.for_cast(array.dtype, dtype)
                return silence().run(target.private_copy, array, dtype)
        if target.accepts(array):
            if owned or (self._import_copies and not self._never):
                return array
            is_held = self._proves and (source is None or not source.never_changes)
            if not (is_held or self._always) and self._obstacle(array) is None:
                return array
        if self._never and not owned:
            layout = f"{target.title} does not take {odd_layout(array)}"
            raise CopyRequiredError(self._obstacle(array) or layout, ALLOW_COPIES)
        return target.private_copy(array, dtype)

    def _obstacle(self, array: HostArray) -> str | None:
        """Return why the target must not share ``array``, or None if it may."""
        if self.target.copies_in:
            return f"{self.target.title} copies whatever it imports"
        if self._import_copies:
            return f"the array would have to be transferred to {self.device}"
        # a read-only view does not mean that the memory never changes
        return obstacle(self.target, changes=True, writable=is_writable(array))

    def _dtype_of(self, array: HostArray) -> AnyDType:
        """Return the dtype of the result; integers that do not fit raise an error."""
        target, wanted = self.target, self.float_dtype
        dtype = array.dtype.newbyteorder("=")
        dtype = wanted if wanted is not None and is_floating(dtype) else dtype
        stored = self._stored(dtype)
        if stored is None or not (dtype.kind in "biufc" or is_number(dtype)):
            raise ConversionError(f"{target.title} has no dtype for {dtype}", "cast it first")
        if stored != dtype and dtype.kind not in "fc" and is_integer(dtype):
            when, advice = target.narrowing
            misfit = first_misfit(array, stored)
            if misfit is not None:
                raise ConversionError(
                    f"{target.title} cannot hold the {dtype} value {misfit} {when}".rstrip(), advice
                )
        return stored

    def not_made(self, error: Exception) -> ConversionError:
        """Return the error for arrays that the target could not make."""
        return ConversionError(
            f"{self.target.title} could not make the array{self._place()}: {text_of(error)}",
            "see the cause above",
        )

    def _place(self) -> str:
        return "" if self.device is None else f" on {self.device}"


def _items_of(value: object) -> Iterable[object]:
    items = getattr(value, "values", None)
    return cast("Iterable[object]", items() if callable(items) else value)
