"""The short way for ordinary arrays: one library call behind one look at the array.

A shortcut does what `ArrayImport.convert` does, at a fraction of its cost, for arrays of which
both libraries say that there is nothing special about them; all others take the long way. It
stands before the rule of an array inside a tree, and before the whole conversion for a tree that
is a single array, as most observations are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, cast

import numpy as np
from gymbridge_runtime.backend import Convert, ConvertFour, no_import
from gymbridge_runtime.dtypes import AnyDType, is_floating
from gymbridge_runtime.narrowing import is_plain_dict
from gymbridge_runtime.ownership import Ownership, obstacle
from gymbridge_runtime.plain import HandingOver, ShortWay, Viewing, answering, answering_all
from gymbridge_runtime.slots import Slot
from gymbridge_runtime.trees import rule_of
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.arrays import ArrayImport
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.trees import Bag, Rule
    from gymbridge_runtime.types import HostArray

__all__ = ["OrdinaryArrays", "Shortcuts", "TrustedArrays"]

SharedT = TypeVar("SharedT")


class OrdinaryArrays(NamedTuple):
    """The arrays that one call makes the target's, as far as their type tells."""

    kind: type[object] | None
    """None: there are none."""
    share: Convert
    """Shares the memory of one; answers None for what is special in any way."""


class TrustedArrays(Generic[SharedT]):
    """The same, for code that hears itself what is special: `REFUSALS`.

    It sets the kind to None then, and leaves this array and all others to the core, which asks
    first.
    """

    __slots__: tuple[str, ...] = ("kind", "share")

    kind: type[object] | None
    """None: there are none, or none any more."""
    share: Callable[[object], SharedT]
    """Shares the memory of one. It takes NumPy's arrays if others may write into them."""

    def __init__(self, kind: type[object] | None, share: Callable[[object], SharedT]) -> None:
        self.kind = kind
        self.share = share


class Shortcuts:
    """The short ways from ``source`` through ``imports``; none where either asks for more."""

    def __init__(self, imports: ArrayImport, source: AnyBackend) -> None:
        target = imports.target
        self._imports: ArrayImport = imports
        self._source: AnyBackend = source
        self._kind: type[object] | None = source.plain_kind()
        self._casts: bool = imports.float_dtype is not None
        self._dtypes: frozenset[AnyDType] = frozenset(
            dtype
            for dtype in target.plain_dtypes
            if imports.float_dtype in {None, dtype} or not is_floating(dtype)
        )
        self._shares: bool = (
            imports.ownership is Ownership.WHERE_SAFE
            and obstacle(target, changes=True, writable=source.mutable and source.writable_views)
            is None
        )
        self._exist: bool = (
            self._kind is not None
            and source is not target
            and bool(self._dtypes)
            # a device wants more than one call, and a host view may turn out to be a copy
            and imports.device is None
            and imports.ownership is not Ownership.NEVER_COPY
        )

    def _is_plain(self, array: object) -> bool:
        return self._source.is_plain(array, self._imports.target.plain_dtypes)

    def _is_accepted(self, view: HostArray) -> bool:
        target = self._imports.target
        return view.dtype in target.plain_dtypes and target.accepts(view)

    def _sharing(self) -> Viewing | None:
        """Return how ordinary arrays are shared, if they are, all of them, and by one call."""
        target = self._imports.target
        if not self._exist or not self._shares or self._casts:
            return None
        if target.keeps_read_only:
            return Viewing(self._kind, self._source.plain_view(), self._is_plain)
        if not (self._source.host_arrays and target.keeps_or_refuses):
            return None
        return HandingOver(self._kind, target.plain_import(), self._is_accepted)

    def _copying(self) -> ShortWay | None:
        """Return how ordinary arrays are copied, if they may be, all of them, and by few calls."""
        source, target = self._source, self._imports.target
        if not self._exist or self._casts or target.batches or target.copies_in:
            return None
        if not target.keeps_or_refuses:
            return None
        over = None if target.host_arrays else target.plain_import()
        copy = source.plain_copy()
        if copy is not None:
            return ShortWay(self._kind, copy, over, self._is_plain)
        view: Callable[[object], HostArray] = source.plain_view()
        if over is None:
            return ShortWay(self._kind, view, np.ndarray.copy, self._is_plain)

        def copied(array: object) -> HostArray:
            return view(array).copy()

        return ShortWay(self._kind, copied, over, self._is_plain)

    @property
    def ordinary(self) -> OrdinaryArrays:
        """Which arrays one call shares, for code that looks at them itself."""
        way = self._sharing()
        if way is None:
            return OrdinaryArrays(None, no_import)
        return OrdinaryArrays(self._kind, way.answer())

    @property
    def trusted(self) -> TrustedArrays[object]:
        """The same until one of them is refused."""
        way = self._sharing()
        if way is None:
            return TrustedArrays(None, no_import)
        return TrustedArrays(self._kind, way.share)

    def _way(self) -> ShortWay | None:
        return self._sharing() if self._shares else self._copying()

    def before(self, long_way: Rule) -> Rule:
        """Return ``long_way`` behind a shortcut for one ordinary array, if there is one."""
        if not self._exist:
            return long_way
        target = self._imports.target
        if target.batches:
            return self._collecting(long_way)
        if target.copies_in:
            return self._passing_on(long_way, only_behaved=False)
        way = self._way()
        if way is not None:
            return way.before(long_way)
        if self._shares:
            return self._passing_on(long_way, only_behaved=not target.keeps_read_only)
        return self._copying_some(long_way)

    def before_dict(self, long_way: Rule) -> Rule:
        """Return ``long_way``, the rule of dictionaries, behind one for ordinary arrays in them."""
        way = self._sharing()
        return long_way if way is None else way.before_dict(long_way)

    def before_four(self, long_way: ConvertFour) -> ConvertFour:
        """Return ``long_way`` behind a shortcut for four ordinary arrays, if there is one."""
        if not self._exist or self._casts:
            return long_way
        if self._imports.target.batches:
            return self._collecting_four(long_way)
        way = self._way()
        return long_way if way is None else way.before_four(long_way)

    def _seeing(self) -> Callable[[object], HostArray | None]:
        """Return what views an ordinary array, and answers None for anything else."""
        kind, view_of = self._kind, answering(self._source.plain_view(), self._is_plain)

        def see(value: object) -> HostArray | None:
            return view_of(value) if type(value) is kind else None

        return see

    def _seeing_all(self) -> Callable[[Sequence[object]], Sequence[HostArray] | None]:
        """Return the same for several values, all of which have to be ordinary arrays."""
        kind, views_of = self._kind, answering_all(self._source.plain_view(), self._is_plain)
        are_views = self._source.host_arrays

        def see(values: Sequence[object]) -> Sequence[HostArray] | None:
            for value in values:
                if type(value) is not kind:
                    return None
            return cast("Sequence[HostArray]", values) if are_views else views_of(values)

        return see

    def _passing_on(self, long_way: Rule, *, only_behaved: bool) -> Rule:
        """Hand over what is not cast, and of a dtype that the target has.

        Args:
            long_way: What is done with all the rest.
            only_behaved: Whether memory has to be aligned and writable.
        """
        see, dtypes = self._seeing(), self._dtypes
        over = self._imports.target.plain_import()

        def hand_over(view: HostArray) -> object | None:
            return over(view) if not only_behaved or view.flags.behaved else None

        make = answering(hand_over, self._is_accepted)

        def pass_on(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            view = see(value)
            made = make(view) if view is not None and view.dtype in dtypes else None
            return long_way(value, depth, bag) if made is None else made

        return pass_on

    def _copying_some(self, long_way: Rule) -> Rule:
        """Copy what is not cast, and of a dtype that the target has."""
        see, make, dtypes = self._seeing(), self._imports.target.plain_import(), self._dtypes
        make_of_copy = ShortWay(np.ndarray, np.ndarray.copy, make, self._is_accepted).answer()

        def copy(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            view = see(value)
            made = make_of_copy(view) if view is not None and view.dtype in dtypes else None
            return long_way(value, depth, bag) if made is None else made

        return copy

    def _collecting(self, long_way: Rule) -> Rule:
        kind, dtypes = self._kind, self._dtypes
        target, quiet = self._imports.target, self._imports.quiet
        find = no_import if self._casts else target.again()
        over, most, private_copy = target.plain_import(), target.plain_bytes, target.private_copy
        is_view = self._source.host_arrays
        view_of = answering(self._source.plain_view(), self._is_plain)

        def import_copy(view: HostArray) -> object | None:
            dtype = view.dtype if view.dtype in dtypes else quiet(view.dtype)
            return None if dtype is None else over(private_copy(view, dtype))

        make = answering(import_copy, self._is_accepted)

        def collect(value: HostArray, depth: int = 0, bag: Bag | None = None) -> object:
            made = None
            view = None if type(value) is not kind else value if is_view else view_of(value)
            if view is not None and bag is None:
                again = find((view.dtype, view.shape))
                made = make(view) if again is None else again(view.copy())
            elif (view is not None and bag is not None and view.nbytes < most) and (
                view.dtype in dtypes or quiet(view.dtype) is not None
            ):
                bag.append(view)  # to be copied with the others
                return Slot(len(bag) - 1)
            return long_way(value, depth, bag) if made is None else made

        return rule_of(collect)

    def _collecting_four(self, long_way: ConvertFour) -> ConvertFour:
        """Import arrays of which the likes were imported often: four, or dictionaries and three."""
        again = self._imports.target.many_again()
        kind, views_of = self._kind, self._seeing_all()
        are_views = self._source.host_arrays

        def collect(a: object, b: object, c: object, d: object) -> tuple[object, ...]:
            tree = None
            if are_views and type(a) is type(b) is type(c) is type(d) is kind:
                views: Sequence[HostArray] | None = cast("tuple[HostArray, ...]", (a, b, c, d))
            else:
                tree = a if is_plain_dict(a) else None
                views = views_of((*((a,) if tree is None else tree.values()), b, c, d))
            arrays = None if views is None else again(views)
            if arrays is None:
                return long_way(a, b, c, d)
            if tree is None:
                return tuple(arrays)
            return dict(zip(tree, arrays, strict=False)), *arrays[-3:]

        return collect
