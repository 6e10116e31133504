"""Ordinary arrays of one library, seen or copied by one call behind one look at them.

What a library refuses is no ordinary array, and takes the other way, which knows better or says
why. To ask before for everything that a library may refuse costs a third of the call itself
(PyTorch: 0.16 of 0.5 µs), and to be refused costs 8 µs: tensors on a GPU, or with gradients. Those
seldom turn up, or always do. So a short way takes all arrays for ordinary that look it until one is
refused, and asks from then on; one that has another behind it is not taken any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gymbridge_runtime.backend import REFUSALS
from gymbridge_runtime.trees import rule_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backend import AnyBackend, Convert, ConvertFour, Import
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.trees import Bag, Rule
    from gymbridge_runtime.types import HostArray

__all__ = ["Plain"]


class Plain:
    """The ordinary arrays of ``backend``, which has some.

    Args:
        backend: The library whose arrays they are.
        dtypes: The dtypes that the library which they go to takes as they are.
    """

    __slots__: tuple[str, ...] = ("_are_views", "_copy_of", "_kind", "_view_of", "is_plain", "wary")

    is_plain: Callable[[object], bool]
    """Asks the library, if `wary`, of an array of its ordinary type."""

    wary: bool
    """Whether an array was refused that looked ordinary, so that the library is asked first."""

    def __init__(self, backend: AnyBackend, dtypes: frozenset[AnyDType]) -> None:
        self._kind: type[object] | None = backend.plain_kind()
        self._view_of: Callable[[object], HostArray] = backend.plain_view()
        self._copy_of: Callable[[object], HostArray] | None = backend.plain_copy()
        self._are_views: bool = backend.host_arrays
        self.is_plain = lambda array: backend.is_plain(array, dtypes)
        self.wary = False

    def view(self) -> Callable[[object], HostArray | None]:
        """Return what views an ordinary array, and returns None for anything else."""
        kind, view_of, is_plain = self._kind, self._view_of, self.is_plain

        def view(value: object) -> HostArray | None:
            try:
                if type(value) is kind and (not self.wary or is_plain(value)):
                    return view_of(value)
            except REFUSALS:
                self.wary = True
            return None

        return view

    def views(self) -> Callable[[Sequence[object]], Sequence[HostArray] | None]:
        """Return what views ordinary arrays, and returns None if not all values are such."""
        kind, view_of, is_plain = self._kind, self._view_of, self.is_plain

        def themselves(values: Sequence[object]) -> Sequence[HostArray] | None:
            for value in values:
                if type(value) is not kind:
                    return None
            return cast("Sequence[HostArray]", values)

        def views(values: Sequence[object]) -> Sequence[HostArray] | None:
            seen: list[HostArray] = []
            try:
                for value in values:
                    if type(value) is not kind or (self.wary and not is_plain(value)):
                        return None
                    seen.append(view_of(value))
            except REFUSALS:
                self.wary = True
                return None
            return seen

        return themselves if self._are_views else views

    def viewing(self, otherwise: Rule) -> Rule:
        """Return ``otherwise`` behind a test for ordinary arrays, answered by their views."""
        kind, view_of, is_plain = self._kind, self._view_of, self.is_plain

        def view(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                if type(value) is kind and (not self.wary or is_plain(value)):
                    return view_of(value)
            except REFUSALS:
                self.wary = True
            return otherwise(value, depth, bag)

        return view

    def viewing_four(self, otherwise: ConvertFour) -> ConvertFour:
        """Return the same for four values at once, all of them ordinary."""
        kind, view_of = self._kind, self._view_of

        def view(a: object, b: object, c: object, d: object) -> tuple[object, ...]:
            nonlocal kind
            try:
                if type(a) is type(b) is type(c) is type(d) is kind:
                    return view_of(a), view_of(b), view_of(c), view_of(d)
            except REFUSALS:
                kind = None
            return otherwise(a, b, c, d)

        return view

    def viewing_dict(self, otherwise: Rule) -> Rule:
        """Return the same for dictionaries that hold ordinary arrays and nothing else."""
        kind, view_of, is_plain = self._kind, self._view_of, self.is_plain

        def view(value: dict[object, object], depth: int = 0, bag: Bag | None = None) -> object:
            new: dict[object, object] = {}
            try:
                for key, child in value.items():
                    if type(child) is not kind or (self.wary and not is_plain(child)):
                        break
                    new[key] = view_of(child)
                else:
                    return new
            except REFUSALS:
                self.wary = True
            return otherwise(value, depth, bag)

        return rule_of(view)

    def copying(self, over: Import | None, otherwise: Rule) -> Rule:
        """Return ``otherwise`` behind the same test, answered by copies.

        Args:
            over: What imports the copies; None: they are what is wanted.
            otherwise: What is done with all other values.
        """
        kind, view_of, copy_of = self._kind, self._view_of, self._copy_of
        is_plain = self.is_plain

        def copy_at_once(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                if (type(value) is kind and copy_of is not None) and (
                    not self.wary or is_plain(value)
                ):
                    return copy_of(value)
            except REFUSALS:
                self.wary = True
            return otherwise(value, depth, bag)

        def copy(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            try:
                if type(value) is kind and (not self.wary or is_plain(value)):
                    made = copy_of(value) if copy_of is not None else view_of(value).copy()
                    return made if over is None else over(made)
            except REFUSALS:
                self.wary = True
            return otherwise(value, depth, bag)

        return copy_at_once if copy_of is not None and over is None else copy

    def copying_four(self, over: Import | None, otherwise: ConvertFour) -> ConvertFour:
        """Return the same for four values at once, all of them ordinary."""
        kind, copy_of = self._kind, self._copy_of
        if copy_of is None:
            return otherwise

        def copy(a: object, b: object, c: object, d: object) -> tuple[object, ...]:
            nonlocal kind
            try:
                if type(a) is type(b) is type(c) is type(d) is kind:
                    if over is None:
                        return copy_of(a), copy_of(b), copy_of(c), copy_of(d)
                    return over(copy_of(a)), over(copy_of(b)), over(copy_of(c)), over(copy_of(d))
            except REFUSALS:
                kind = None
            return otherwise(a, b, c, d)

        return copy

    def copying_like(
        self, dtype: AnyDType, shape: tuple[int, ...], over: Import | None, otherwise: Convert
    ) -> Convert:
        """Return the same, for arrays of one dtype, and of one shape that has axes.

        The tuple of a shape is made and compared in .04 µs, two numbers are in .03.
        """
        kind, view_of, copy_of = self._kind, self._view_of, self._copy_of
        axes, rows = len(shape), shape[0]
        flat = axes == 1

        def copy_view(value: object) -> object:
            nonlocal kind
            try:
                if type(value) is kind:
                    made = view_of(value).copy()
                    if (
                        made.dtype is dtype
                        and (made.ndim == axes and len(made) == rows)
                        and (flat or made.shape == shape)
                    ):
                        return made
            except REFUSALS:
                kind = None
            return otherwise(value)

        def copy(value: object) -> object:
            nonlocal kind
            try:
                if type(value) is kind:
                    made = copy_of(value) if copy_of is not None else view_of(value).copy()
                    if (
                        made.dtype is dtype
                        and (made.ndim == axes and len(made) == rows)
                        and (flat or made.shape == shape)
                    ):
                        return made if over is None else over(made)
            except REFUSALS:
                kind = None
            return otherwise(value)

        return copy_view if copy_of is None and over is None else copy
