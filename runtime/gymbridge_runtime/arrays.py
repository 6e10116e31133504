"""One array from one library to another: what is shared, copied, cast or refused."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.backend import AnyBackend, HostView
from gymbridge_runtime.describe import describe, shown
from gymbridge_runtime.direct import DirectImport
from gymbridge_runtime.dtypes import AnyDType, first_misfit, is_floating, is_integer, is_number
from gymbridge_runtime.errors import ConversionError, CopyRequiredError
from gymbridge_runtime.layouts import odd_layout
from gymbridge_runtime.memory import is_writable, silence
from gymbridge_runtime.ownership import ALLOW_COPIES, Ownership, obstacle
from gymbridge_runtime.slots import Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.backend import Import
    from gymbridge_runtime.trees import Bag
    from gymbridge_runtime.types import HostArray

__all__ = ["ArrayImport"]

_INT64 = np.iinfo(np.int64)
_BITS_IN_WORDS = 1024
_CAST_FIRST = "cast it first, or allow copies"


class ArrayImport:
    """The import of single arrays into ``target``.

    Args:
        target: The library of the results.
        device: The target's own device object, or None for its default.
        ownership: What may be done with the memory of the source.
        float_dtype: What floating arrays are cast to.
        bounded: Whether integers are known to fit the target, so that none is looked at.
    """

    def __init__(
        self,
        target: AnyBackend,
        device: object,
        ownership: Ownership,
        float_dtype: AnyDType | None,
        *,
        bounded: bool,
    ) -> None:
        self.target: AnyBackend = target
        self.device: object = device
        self.ownership: Ownership = ownership
        self.float_dtype: AnyDType | None = float_dtype
        self._bounded: bool = bounded
        self.copies: bool = ownership.copies
        self._never: bool = ownership is Ownership.NEVER_COPY
        self._over: Import = target.plain_import()

        self._direct: DirectImport = DirectImport(target, device, ownership, float_dtype)

    @cached_property
    def _import_copies(self) -> bool:
        # not before the first array: to ask for a default device starts JAX, and a process in
        # which JAX has started must not fork, as AsyncVectorEnv does
        return self.target.copies_in or self.target.leaves_host(self.device)

    def own(self, array: object) -> object:
        """Return an array of the target library itself, moved, cast or copied as was asked."""
        try:
            return self._own(array)
        except ConversionError as error:
            error.about(describe(array))
            raise
        except Exception as error:
            raise ConversionError(
                f"{self.target.title} could not copy or move its array{self._place()}: "
                + shown(error),
                "see the cause above",
                describe(array),
            ) from error

    def _own(self, array: object) -> object:
        target, wanted = self.target, self.float_dtype
        held = None if wanted is None else target.dtype_of(array)
        if (wanted is not None and held is not None) and (
            is_floating(held) and held not in {wanted, target.stored_as(wanted)}
        ):
            return self._cast(array, held)
        if self.ownership is Ownership.ALWAYS_COPY or (
            self.ownership is Ownership.SNAPSHOT and target.mutable
        ):
            return target.snapshot(array, self.device)
        moved = target.to_device(array, self.device)
        if self._never and moved is not array:
            raise CopyRequiredError(
                f"the array would have to be copied to {self.device}",
                "move it there first, or allow copies",
            )
        return moved

    def _cast(self, array: object, held: AnyDType) -> object:
        """Return an array of the target library as `float_dtype`, where it is or has to go."""
        if self._never:
            raise CopyRequiredError(
                f"{held} would have to be cast to {self.float_dtype}", _CAST_FIRST
            )
        view = self.target.show(array).array
        dtype = self._dtype_of(view, self._cast_of(view))
        cast = silence().run(self.target.private_copy, view, dtype)
        return self.target.beside(array, cast) if self.device is None else self.hand_over(cast)

    def convert(self, source: AnyBackend, array: object, bag: Bag | None) -> object:
        """Return the counterpart of an array of another library."""
        try:
            export = source.export(array)
            if export is not None and self._direct.takes(export):
                return self._direct.take(source, export)
            return self.take_shown(source.show(array), bag)
        except ConversionError as error:
            error.about(describe(array))
            raise
        except Exception as error:
            raise ConversionError.unforeseen(error, describe(array)) from error

    def take_shown(self, view: HostView, bag: Bag | None, dtype: AnyDType | None = None) -> object:
        """Return an array of the target for what an array of another library showed.

        The arguments are those of `take`.
        """
        if self._never and view.copied:
            raise CopyRequiredError(
                "the array had to be copied to be seen from the host", ALLOW_COPIES
            )
        return self.take(view, bag, dtype)

    def number(self, value: complex, bag: Bag | None) -> object:
        """Return a 0-d array that keeps the value of a Python number."""
        if isinstance(value, int):
            if not _INT64.min <= value <= _INT64.max:
                # of many digits Python writes none
                many = value.bit_length() > _BITS_IN_WORDS
                known = f"an int of {value.bit_length()} bits" if many else f"the int {value}"
                raise ConversionError(
                    f"{known} does not fit the 64 bits of an array",
                    "pass it as a str, or leave it out",
                )
            array = np.array(value, _INT64.dtype)
        else:
            array = np.array(value, np.float64 if isinstance(value, float) else np.complex128)
        return self.fresh(array, bag)

    def fresh(self, array: HostArray, bag: Bag | None) -> object:
        """Return an array of the target over one without dimensions that was made for it."""
        dtype = array.dtype
        if self.device is not None or self.float_dtype is not None:
            return self.take(HostView(array, owned=True), bag)
        if dtype not in self.target.plain_dtypes:
            stored = self.target.stored_as(dtype) if dtype.kind in "iuf" else None
            if (
                stored is None
                or stored not in self.target.plain_dtypes
                or (dtype.kind != "f" and first_misfit(array, stored) is not None)
            ):
                return self.take(HostView(array, owned=True), bag)
            array = self.target.private_copy(array, stored)
        if bag is None:
            return self._over(array)
        bag.append(array)
        return Slot(len(bag) - 1)

    def take(self, view: HostView, bag: Bag | None, dtype: AnyDType | None = None) -> object:
        """Return an array of the target over the memory of ``view``, or over a copy of it.

        Args:
            view: What is to be had from the host.
            bag: Where arrays go that are imported together, or None.
            dtype: What the array is cast to before the target has a say.
        """
        array, owned = view.array, view.owned
        target = self.target
        dtype = self._dtype_of(array, self._cast_of(array) if dtype is None else dtype)
        if dtype != array.dtype:
            if self._never and not owned:
                raise CopyRequiredError(
                    f"{array.dtype} would have to be cast to {dtype}", _CAST_FIRST
                )
            array = silence().run(target.private_copy, array, dtype)
        elif not owned:
            reason = self._obstacle(array)
            if reason is not None and self._never:
                raise CopyRequiredError(reason, ALLOW_COPIES)
            if reason is not None and not (self._import_copies and target.accepts(array)):
                array = target.private_copy(array, dtype)
        elif not target.accepts(array):
            array = target.private_copy(array, dtype)
        if bag is not None:
            bag.append(array)
            return Slot(len(bag) - 1)
        return self.hand_over(array)

    def hand_over(self, array: HostArray) -> object:
        """Return an array of the target over memory that it may have."""
        try:
            return self.target.from_host(array, self.device)
        except ConversionError:
            raise
        except Exception as error:
            raise self.not_made(error) from error

    def hand_over_many(self, arrays: Sequence[HostArray]) -> list[object]:
        """Return arrays of the target over memory that it may have."""
        try:
            return self.target.from_host_many(arrays, self.device)
        except ConversionError:
            raise
        except Exception as error:
            raise self.not_made(error) from error

    def not_made(self, error: Exception, value: object = None) -> ConversionError:
        """Say that the target refused to make an array, and of which value if that is known."""
        return ConversionError(
            f"{self.target.title} could not make the array{self._place()}: {shown(error)}",
            "see the cause above",
            "" if value is None else describe(value),
        )

    def _place(self) -> str:
        return "" if self.device is None else f" on {self.device}"

    def quiet(self, dtype: AnyDType) -> AnyDType | None:
        """Return the dtype of a result whose values need no look, or None if they may need one."""
        if self.float_dtype is not None or not dtype.isnative or not is_floating(dtype):
            return None
        return self.target.stored_as(dtype)

    def _obstacle(self, array: HostArray) -> str | None:
        """Return why the target cannot or must not share ``array``, or None if it can."""
        target = self.target
        if self.copies:
            return "a copy was asked for"
        if self._import_copies:
            return f"{target.title} copies whatever it imports"
        # what is read-only here may be written into by who owns it
        reason = obstacle(target, changes=True, writable=is_writable(array))
        if reason is None and not target.accepts(array):
            return f"{target.title} does not take {odd_layout(array)}"
        return reason

    def _cast_of(self, array: HostArray) -> AnyDType:
        dtype = array.dtype
        if self.float_dtype is not None and is_floating(dtype):
            return self.float_dtype
        return dtype.newbyteorder("=")

    def _dtype_of(self, array: HostArray, dtype: AnyDType) -> AnyDType:
        """Return the dtype of the result, after a look at what a narrower one would lose."""
        target = self.target
        stored = target.stored_as(dtype) if is_number(dtype) else None
        when, advice = target.narrowing
        if stored is None:
            raise ConversionError(f"{target.title} has no dtype for {dtype}", "cast it first")
        if stored != dtype and is_integer(dtype) and not self._bounded:
            misfit = first_misfit(array, stored)
            if misfit is not None:
                raise ConversionError(
                    f"{target.title} cannot hold the {dtype} value {misfit} {when}".rstrip(), advice
                )
        return stored
