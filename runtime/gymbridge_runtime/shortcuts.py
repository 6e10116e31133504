"""The short way for ordinary arrays: one library call behind one look at the array.

A shortcut does what `ArrayImport.convert` does, at a fraction of its cost, for arrays of which
both libraries say that there is nothing special about them; all others take the long way. It
stands before the rule of an array inside a tree, and before the whole conversion for a tree that
is a single array, as most observations are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from gymbridge_runtime.backend import REFUSALS, ConvertFour, no_import
from gymbridge_runtime.dtypes import AnyDType, is_floating
from gymbridge_runtime.narrowing import is_plain_dict
from gymbridge_runtime.ownership import Ownership
from gymbridge_runtime.plain import Plain
from gymbridge_runtime.slots import Slot
from gymbridge_runtime.trees import rule_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.arrays import ArrayImport
    from gymbridge_runtime.backend import AnyBackend, Convert, Import
    from gymbridge_runtime.trees import Bag, Rule
    from gymbridge_runtime.types import HostArray

__all__ = ["OrdinaryArrays", "OrdinaryCopies", "Shortcuts"]


class OrdinaryArrays(NamedTuple):
    """The arrays that one call shares, as far as their type tells; None where there are none."""

    kind: type[object] | None
    share: Convert | None
    """Shares one, or raises one of `REFUSALS` for what is special in any way.

    Of NumPy's arrays only those that behave may be given to it.
    """


_NONE = OrdinaryArrays(None, None)


class OrdinaryCopies(NamedTuple):
    """The arrays that one call copies to NumPy, and another makes the target's of the copy.

    Each raises one of `REFUSALS` for what is special in any way.
    """

    kind: type[object]
    copy: Callable[[object], HostArray]
    make: Import


class Shortcuts:
    """The short ways from ``source`` through ``imports``; none where either asks for more."""

    def __init__(self, imports: ArrayImport, source: AnyBackend) -> None:
        target = imports.target
        self._imports: ArrayImport = imports
        self._source: AnyBackend = source
        self._kind: type[object] | None = source.plain_kind()
        self._plain: Plain = Plain(source, target.plain_dtypes)
        self._over: Import = target.plain_import()
        self._casts: bool = imports.float_dtype is not None
        self._dtypes: frozenset[AnyDType] = frozenset(
            dtype
            for dtype in target.plain_dtypes
            if imports.float_dtype in {None, dtype} or not is_floating(dtype)
        )
        self._shares: bool = (
            imports.ownership is Ownership.WHERE_SAFE
            and target.mutable
            and ((source.mutable and source.writable_views) or target.keeps_read_only)
        )
        self._exist: bool = (
            self._kind is not None
            and source is not target
            and bool(self._dtypes)
            # a device wants more than one call, and a host view may turn out to be a copy
            and imports.device is None
            and imports.ownership is not Ownership.NEVER_COPY
        )
        shares_as_it_is = self._exist and self._shares and not self._casts
        self._views: bool = shares_as_it_is and target.keeps_read_only
        self._hands_over: bool = (
            shares_as_it_is and not target.keeps_read_only and source.host_arrays
        )

        self._copies_four: bool = (
            self._exist
            and not (self._shares or self._casts)
            and target.refuses_others
            and not (target.batches or target.copies_in)
        )

    @property
    def ordinary(self) -> OrdinaryArrays:
        """Which arrays one call shares, for code that looks at them itself."""
        if self._views:
            return OrdinaryArrays(self._kind, self._source.plain_view())
        if self._hands_over and self._imports.target.refuses_others:
            return OrdinaryArrays(self._kind, cast("Convert", self._over))
        return _NONE

    @property
    def copies_of_four(self) -> OrdinaryCopies | None:
        """Which arrays of a vector environment's step are copied so, where all of them are."""
        kind, copy, target = self._kind, self._source.plain_copy(), self._imports.target
        if kind is None or copy is None or not self._copies_four or target.host_arrays:
            return None
        return OrdinaryCopies(kind, copy, self._over)

    def alone(self, long_way: Convert) -> Convert | None:
        """Return the same as `before`, for what is no part of a tree, if there is a quicker one.

        Python calls what has no defaults .01 µs quicker, which shows where only a look is taken.
        """
        kind, share = self.ordinary
        if share is None or not self._hands_over:
            return None

        def look_and_share(value: HostArray) -> object:
            nonlocal kind
            try:
                if type(value) is kind and value.flags.behaved:
                    return share(value)
            except REFUSALS:
                kind = None
            return long_way(value)

        return cast("Convert", look_and_share)

    def before(self, long_way: Rule) -> Rule:
        """Return ``long_way`` behind a shortcut for one ordinary array, if there is one."""
        if not self._exist:
            return long_way
        if self._imports.target.batches:
            return self._collecting(long_way)
        if self._imports.target.copies_in:
            return self._importing(long_way)
        if not self._shares:
            return self._copying(long_way)
        if self._casts:
            return self._sharing_others(long_way)
        if self._views:
            return self._plain.viewing(long_way)
        return self._sharing(long_way) if self._hands_over else long_way

    def before_dict(self, long_way: Rule) -> Rule:
        """Return ``long_way``, the rule of dictionaries, behind one for ordinary arrays in them."""
        if self._views:
            return self._plain.viewing_dict(long_way)
        return self._sharing_dict(long_way) if self._hands_over else long_way

    def before_four(self, long_way: ConvertFour) -> ConvertFour:
        """Return ``long_way`` behind a shortcut for four ordinary arrays, if there is one."""
        if not self._exist or self._casts:
            return long_way
        target = self._imports.target
        if target.batches:
            return self._collecting_four(long_way)
        if self._copies_four:
            over = None if target.host_arrays else self._over
            return self._plain.copying_four(over, long_way)
        if self._views:
            return self._plain.viewing_four(long_way)
        return self._sharing_four(long_way) if self._hands_over else long_way

    def _sharing(self, long_way: Rule) -> Rule:
        kind, over, plain = self._kind, self._over, self._plain
        is_plain = plain.is_plain

        def share(value: HostArray, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                if (type(value) is kind and value.flags.behaved) and (
                    not plain.wary or is_plain(value)
                ):
                    return over(value)
            except REFUSALS:
                plain.wary = True
            return long_way(value, depth, bag)

        return rule_of(share)

    def _sharing_dict(self, long_way: Rule) -> Rule:
        kind, over, plain = self._kind, self._over, self._plain
        is_plain = plain.is_plain

        def share(value: dict[object, HostArray], depth: int = 0, bag: Bag | None = None) -> object:
            new: dict[object, object] = {}
            try:
                for key, child in value.items():
                    if (type(child) is not kind or not child.flags.behaved) or (
                        plain.wary and not is_plain(child)
                    ):
                        break
                    new[key] = over(child)
                else:
                    return new
            except REFUSALS:
                plain.wary = True
            return long_way(value, depth, bag)

        return rule_of(share)

    def _sharing_four(self, long_way: ConvertFour) -> ConvertFour:
        kind, over = self._kind, self._over

        def share(a: HostArray, b: HostArray, c: HostArray, d: HostArray) -> tuple[object, ...]:
            nonlocal kind
            try:
                if (
                    (type(a) is kind and a.flags.behaved)
                    and (type(b) is kind and b.flags.behaved)
                    and (type(c) is kind and c.flags.behaved)
                    and (type(d) is kind and d.flags.behaved)
                ):
                    return over(a), over(b), over(c), over(d)
            except REFUSALS:
                kind = None
            return long_way(a, b, c, d)

        return cast("ConvertFour", share)  # what it lets through are NumPy arrays

    def _sharing_others(self, long_way: Rule) -> Rule:
        """Share what is not cast."""
        view_of, over, dtypes = self._plain.view(), self._over, self._dtypes
        keeps_read_only = self._imports.target.keeps_read_only

        def share(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                view = view_of(value)
                if (view is not None and view.dtype in dtypes) and (
                    keeps_read_only or view.flags.behaved
                ):
                    return over(view)
            except REFUSALS:
                pass
            return long_way(value, depth, bag)

        return share

    def _copying(self, long_way: Rule) -> Rule:
        target = self._imports.target
        if target.refuses_others and not self._casts:
            return self._plain.copying(None if target.host_arrays else self._over, long_way)
        view_of, over, dtypes = self._plain.view(), self._over, self._dtypes

        def copy(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                view = view_of(value)
                if view is not None and view.dtype in dtypes:
                    return over(view.copy())
            except REFUSALS:
                pass
            return long_way(value, depth, bag)

        return copy

    def _importing(self, long_way: Rule) -> Rule:
        view_of, over, dtypes = self._plain.view(), self._over, self._dtypes

        def take(value: HostArray, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                view = view_of(value)
                if view is not None and view.dtype in dtypes:
                    return over(view)
            except REFUSALS:
                pass
            return long_way(value, depth, bag)

        return rule_of(take)

    def _collecting(self, long_way: Rule) -> Rule:
        kind, over, dtypes = self._kind, self._over, self._dtypes
        target, quiet = self._imports.target, self._imports.quiet
        again = no_import if self._casts else target.again()
        most, private_copy = target.plain_bytes, target.private_copy
        plain, view_of = self._plain, self._source.plain_view()
        is_view, is_plain = self._source.host_arrays, plain.is_plain

        def collect(value: HostArray, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                if type(value) is kind and (is_view or not plain.wary or is_plain(value)):
                    view = value if is_view else view_of(value)
                    if bag is None and (array := again(view)) is not None:
                        return array
                    dtype = view.dtype if view.dtype in dtypes else quiet(view.dtype)
                    if bag is None and dtype is not None:
                        return over(private_copy(view, dtype))
                    if bag is not None and dtype is not None and view.nbytes < most:
                        bag.append(view)  # to be copied with the others
                        return Slot(len(bag) - 1)
            except REFUSALS:
                plain.wary = True
            return long_way(value, depth, bag)

        return rule_of(collect)

    def _collecting_four(self, long_way: ConvertFour) -> ConvertFour:
        """Import arrays of which the likes were imported often: four, or dictionaries and three."""
        again = self._imports.target.many_again()
        kind, views_of = self._kind, self._plain.views()
        are_views = self._source.host_arrays

        def collect(a: object, b: object, c: object, d: object) -> tuple[object, ...]:
            tree = None
            try:
                if are_views and type(a) is type(b) is type(c) is type(d) is kind:
                    arrays = again(cast("tuple[HostArray, ...]", (a, b, c, d)))
                else:
                    tree = a if is_plain_dict(a) else None
                    views = views_of((*((a,) if tree is None else tree.values()), b, c, d))
                    arrays = None if views is None else again(views)
            except REFUSALS:
                arrays = None
            if arrays is None:
                return long_way(a, b, c, d)
            if tree is None:
                return tuple(arrays)
            return dict(zip(tree, arrays, strict=False)), *arrays[-3:]

        return collect
