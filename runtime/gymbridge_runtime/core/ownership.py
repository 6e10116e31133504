"""Who may reach the memory of an array: the meanings of ``copy``, and the proof of ownership.

The proof is CPython's reference count. If an array owns its memory, and only the returned value
refers to the array, nobody else can reach the memory. A view needs the same proof for its base. A
weak reference counts as well. Memory that NumPy did not allocate (a C extension's, a memory map)
has no proof.

The count that a function sees depends on the interpreter and on the code around the call. So the
expected counts are measured once, at import, by similar functions, on a fresh array and on a held
one. If these counts do not differ by one, nothing is ever shared.
"""

from __future__ import annotations

import sys
import sysconfig
from enum import Enum
from typing import TYPE_CHECKING, Final
from weakref import getweakrefcount

import numpy as np
from gymbridge_runtime.core.dtypes import is_floating
from gymbridge_runtime.core.memory import silence
from gymbridge_runtime.core.narrowing import is_exact_dict

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

ALLOW_COPIES: Final = "allow copies: copy=None or copy=True"
"""What to do about a `CopyRequiredError`."""


class Ownership(Enum):
    """What a conversion may do with the memory of its source."""

    SHARE = "share where the libraries allow it"
    """``copy=None`` for converters: the caller holds the value and knows it."""

    PROVE = "share what nobody else can reach, copy the rest"
    """``copy=None`` for values that an environment returns."""

    SNAPSHOT = "copy whatever could change later"
    """``copy=None`` for values that an agent passes: the agent keeps its arrays."""

    COPY = "copy, even what cannot change"
    """``copy=True``."""

    NEVER_COPY = "share, or refuse"
    """``copy=False``."""

    @classmethod
    def of(cls, copy: object, default: Ownership) -> Ownership:
        """Return the meaning of the argument ``copy``; ``default`` is the meaning of None."""
        if copy is None:
            return default
        if copy not in (True, False):
            raise TypeError(f"copy={copy!r} is none of None, True and False")
        return cls.COPY if copy else cls.NEVER_COPY


def obstacle(target: AnyBackend, *, changes: bool, writable: bool) -> str | None:
    """Return why arrays of ``target`` must not share some memory, or None if they may.

    Memory ``changes`` if anybody may write into it. It is ``writable`` if everybody may.
    """
    if not target.mutable:
        return f"{target.title} arrays never change, and this memory may" if changes else None
    if not writable and not target.keeps_read_only:
        return f"{target.title} would write through to memory that is read-only"
    return None


# -- counting references ----------------------------------------------------------------------

# From Python 3.14 on, the interpreter borrows references to local variables, so a count may depend
# on the code after a call ("What's New In Python 3.14", `sys.getrefcount`). Builds without the
# global lock defer counts. Neither was tested, so wrappers copy there.
_HAS_GLOBAL_LOCK: Final = not sysconfig.get_config_var("Py_GIL_DISABLED")
_COUNTS: Final = (
    sys.implementation.name == "cpython" and sys.version_info < (3, 14) and _HAS_GLOBAL_LOCK
)


_NEVER: Final = -1
"""A count that no object has."""

getrefcount: Final[Callable[[object], int]] = sys.getrefcount if _COUNTS else lambda _value: 0


def _count_of_argument(value: object) -> int:
    return getrefcount(value)


def _as_argument(step: Callable[[], tuple[object, None]]) -> int:
    """Return the count that a function sees for a local variable of its caller."""
    value, _ = step()
    return _count_of_argument(value)


def _as_child(step: Callable[[], tuple[object, None]]) -> int:
    """Return the count that a loop over a list of children sees."""
    value, _ = step()
    parent = [value]
    del value
    children = [*parent]
    count = 0
    for child in children:
        count = getrefcount(child)
    return count


def _as_item(step: Callable[[], tuple[object, None]]) -> int:
    """Return the count that a loop over the items of a dictionary sees for a value."""
    value, _ = step()
    parent = {"a": value}
    del value
    count = 0
    for key, child in parent.items():
        count = getrefcount(child) * len(key)
    return count


def _of_base(view: HostArray) -> int:
    """Return the count that a function sees for the base of a view."""
    base = view.base
    return getrefcount(base)


def _as_base(step: Callable[[], tuple[HostArray, None]]) -> int:
    array, _ = step()
    view = array[:]
    del array
    return _of_base(view)


def _calibrated(count: Callable[[Callable[[], tuple[HostArray, None]]], int]) -> int:
    """Return the count for a fresh array; `_NEVER` if a held array does not have one more."""
    held = np.zeros(1)
    fresh_count = count(lambda: (np.zeros(1), None))
    return fresh_count if 0 < fresh_count == count(lambda: (held, None)) - 1 else _NEVER


ALONE_AS_ARGUMENT: Final = _calibrated(_as_argument)
"""The count that a function sees for a fresh array in a local variable of its caller."""

ALONE_AS_CHILD: Final = _calibrated(_as_child)
"""The count that a loop over children sees for a fresh array."""

_ALONE_AS_ITEM: Final = _calibrated(_as_item)
_ALONE_AS_BASE: Final = _calibrated(_as_base)

_PROOFS: Final = (ALONE_AS_ARGUMENT, ALONE_AS_CHILD, _ALONE_AS_ITEM, _ALONE_AS_BASE)
IS_PROVABLE: Final = _NEVER not in _PROOFS
"""Whether reference counts tell fresh arrays from held ones on this interpreter."""


def is_alone(array: HostArray) -> bool:
    """Tell whether nobody else reaches the memory, if nobody else refers to ``array`` itself."""
    return not getweakrefcount(array) and (array.flags.owndata or _is_base_alone(array))


def _is_base_alone(view: HostArray) -> bool:
    base = view.base
    return (
        type(base) is np.ndarray
        and getrefcount(base) == _ALONE_AS_BASE
        and base.flags.owndata
        and not getweakrefcount(base)
    )


def own(array: HostArray) -> HostArray:
    """Return memory that nobody else holds: ``array`` itself, or a copy.

    The caller has ``array`` in one local variable. The proof is written out in each function,
    because the counts depend on the code around them.
    """
    if getrefcount(array) == ALONE_AS_ARGUMENT and not getweakrefcount(array):
        flags = array.flags
        if (flags.owndata and flags.behaved) or (flags.carray and _is_base_alone(array)):
            return array
    return array.copy()


def _nothing(_value: object) -> None:
    return None


_WHOLE: Final[frozenset[AnyDType | None]] = frozenset(map(np.dtype, "?bhilqBHILQ"))
"""Dtypes that are never cast; a lookup here takes a third of the time of `is_floating`."""


class Owner:
    """Like `own`, with the settings of one wrapper.

    Args:
        float_dtype: The dtype to which floating numbers are cast; None for no cast.
        shares: Whether an array that nobody else can reach may be returned itself.
        is_safe: Whether every array may be returned itself, because its memory never changes, or
            because the next call copies it.
        other: Converts other values of infos; returns None if it cannot.
    """

    __slots__: tuple[str, ...] = (
        *("_alone", "_alone_as_item", "_float_dtype", "_is_safe", "_other", "_uncast"),
    )

    def __init__(
        self,
        float_dtype: AnyDType | None,
        *,
        shares: bool,
        is_safe: bool = False,
        other: Callable[[object], object] = _nothing,
    ) -> None:
        self._float_dtype: AnyDType | None = float_dtype
        self._uncast: frozenset[AnyDType | None] = _WHOLE | {float_dtype}
        self._other: Callable[[object], object] = other
        self._alone: int = ALONE_AS_ARGUMENT if shares else _NEVER
        self._alone_as_item: int = _ALONE_AS_ITEM if shares else _NEVER
        self._is_safe: bool = is_safe

    def own(self, array: HostArray) -> HostArray:
        """Return an array that is safe to pass on: ``array`` itself, a copy or a cast."""
        wanted = self._float_dtype
        if wanted is not None and array.dtype not in self._uncast and is_floating(array.dtype):
            return _cast(array, wanted)
        if getrefcount(array) == self._alone and not getweakrefcount(array):
            flags = array.flags
            if (flags.owndata and flags.behaved) or (flags.carray and _is_base_alone(array)):
                return array
        return array if self._is_safe else array.copy()

    def own_items(self, arrays: object) -> dict[object, object] | None:
        """Like `own`, for a dictionary of NumPy arrays; return None for anything else."""
        if not is_exact_dict(arrays):
            return None
        wanted = self._float_dtype
        alone = self._alone_as_item if getrefcount(arrays) == self._alone else _NEVER
        new: dict[object, object] = {}
        for key, array in arrays.items():
            if type(array) is not np.ndarray:
                new[key] = other = self._other(array)
                if other is None:
                    return None
                continue
            if wanted is not None and array.dtype not in self._uncast and is_floating(array.dtype):
                new[key] = _cast(array, wanted)
                continue
            if getrefcount(array) == alone and not getweakrefcount(array):
                flags = array.flags
                if (flags.owndata and flags.behaved) or (flags.carray and _is_base_alone(array)):
                    new[key] = array
                    continue
            new[key] = array if self._is_safe else array.copy()
        return new

    def viewed_items(
        self, values: object, view: Callable[[object], HostArray], kind: type[object] | None
    ) -> dict[object, object] | None:
        """Like `own_items`, for arrays of another library; ``view`` makes their host views."""
        if not is_exact_dict(values):
            return None
        new: dict[object, object] = {}
        for key, value in values.items():
            new[key] = entry = self.own(view(value)) if type(value) is kind else self._other(value)
            if entry is None:
                return None
        return new


def _cast(array: HostArray, dtype: AnyDType) -> HostArray:
    return silence().run(array.astype, dtype, "C")
