"""The short way for ordinary arrays: one library call behind one look at the array.

A shortcut does what `ArrayImport.convert` does, at a fraction of its cost, for arrays of which
both libraries say that there is nothing special about them; all others take the long way.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TYPE_CHECKING, TypeAlias

from gymbridge_runtime.dtypes import AnyDType, is_floating
from gymbridge_runtime.ownership import Ownership
from gymbridge_runtime.slots import Slot

if TYPE_CHECKING:
    from gymbridge_runtime.arrays import ArrayImport
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.trees import Bag, Rule
    from gymbridge_runtime.types import HostArray

__all__ = ["shortcut"]

_View: TypeAlias = Callable[[object], "HostArray | None"]


def shortcut(imports: ArrayImport, source: AnyBackend, kind: type[object], long_way: Rule) -> Rule:
    """Return the rule for arrays of ``kind``: a shortcut before ``long_way`` where there is one."""
    target = imports.target
    view_of = source.plain_view(kind)
    # a plain view may turn out to be a copy, and a device wants more than one call
    if view_of is None or imports.device is not None or imports.ownership is Ownership.NEVER_COPY:
        return long_way
    plain = target.plain_dtypes
    if imports.float_dtype is not None:
        plain = frozenset(dtype for dtype in plain if not is_floating(dtype))
    if target.batches:
        return _batched(view_of, plain, imports, long_way)
    if target.plain_import is None:
        return long_way
    if imports.ownership is Ownership.WHERE_SAFE and target.mutable:
        if target.keeps_read_only:
            return _viewed(view_of, plain, target.plain_import, long_way)
        if source.mutable:
            return _shared(view_of, plain, target.plain_import, long_way)
    return _copied(view_of, plain, target.plain_import, long_way)


def _shared(
    view_of: _View, plain: Set[AnyDType], over: Callable[[HostArray], object], long_way: Rule
) -> Rule:
    def rule(array: object, depth: int, bag: Bag | None) -> object:
        view = view_of(array)
        if view is not None and view.dtype in plain and view.flags.carray:
            return over(view)
        return long_way(array, depth, bag)

    return rule


def _viewed(
    view_of: _View, plain: Set[AnyDType], over: Callable[[HostArray], object], long_way: Rule
) -> Rule:
    def rule(array: object, depth: int, bag: Bag | None) -> object:
        view = view_of(array)
        if view is not None and view.dtype in plain:
            return over(view)
        return long_way(array, depth, bag)

    return rule


def _copied(
    view_of: _View, plain: Set[AnyDType], over: Callable[[HostArray], object], long_way: Rule
) -> Rule:
    def rule(array: object, depth: int, bag: Bag | None) -> object:
        view = view_of(array)
        if view is not None and view.dtype in plain:
            return over(view.copy())
        return long_way(array, depth, bag)

    return rule


def _batched(view_of: _View, plain: Set[AnyDType], imports: ArrayImport, long_way: Rule) -> Rule:
    private_copy = imports.target.private_copy
    hand_over = imports.hand_over

    def rule(array: object, depth: int, bag: Bag | None) -> object:
        view = view_of(array)
        if view is None or view.dtype not in plain:
            return long_way(array, depth, bag)
        copy = private_copy(view, view.dtype)
        if bag is None:
            return hand_over(copy)
        bag.append(copy)
        return Slot(len(bag) - 1)

    return rule
