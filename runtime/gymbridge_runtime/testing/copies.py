"""Copies of results and actions, including arrays that Python cannot copy."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, cast

from gymbridge_runtime.backends.registry import backend_of
from gymbridge_runtime.core.narrowing import is_host_array
from gymbridge_runtime.testing.expectation import items_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gymbridge_runtime.types import HostArray

_T = TypeVar("_T")


def copied(value: _T) -> _T:
    """Return a deep copy of ``value`` in which every array is a copy that its library made.

    Values that Python cannot copy, such as a module or a lock, stay themselves.
    """
    memo: dict[int, object] = {}
    _note(value, memo, set())
    return copy.deepcopy(value, memo)


def _note(value: object, memo: dict[int, object], seen: set[int]) -> None:
    """Record the copies of the arrays in ``value`` for `copy.deepcopy`."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if is_host_array(value):
        for element in _elements(value):
            _note(element, memo, seen)
        return
    items = items_of(value)
    if items is not None:
        for _, child in items:
            _note(child, memo, seen)
        return
    backend = backend_of(type(value))
    if backend is not None and not backend.is_opaque(type(value)):
        memo[id(value)] = backend.snapshot(value, None)
    else:
        memo[id(value)] = _copy_of(value)


def _copy_of(value: object) -> object:
    with suppress(Exception):  # a class may raise any error
        return copy.deepcopy(value)
    return value


def _elements(array: HostArray) -> Iterable[object]:
    """Return the objects in an object array; other arrays are copied as a whole."""
    return cast("Iterable[object]", array.flat) if array.dtype.kind == "O" else ()
