"""Ordinary arrays of one library, on their way by one or two calls behind one look at them.

What is special about an array its library knows, and may say by an error only. To ask beforehand
for everything that PyTorch refuses takes four tenths of the time of its call, and to be refused
8 µs: tensors on a GPU, or with gradients. Those seldom turn up, or always do. So arrays that look
ordinary are taken for it until one is refused; from then on the library is asked first.

This is the one place where a refusal of a library's sends an array another way, but for converters,
which make the call themselves. Whoever asks for an answer is told by None; everything else goes the
other way, which can do it, or says why nobody can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from gymbridge_runtime.backend import no_import
from gymbridge_runtime.trees import rule_of
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backend import Convert, ConvertFour
    from gymbridge_runtime.trees import Bag, Rule
    from gymbridge_runtime.types import HostArray

__all__ = [
    "REFUSALS",
    "HandingOver",
    "ShortWay",
    "Viewing",
    "answering",
    "answering_all",
    "preferring",
]

GivenT = TypeVar("GivenT")
MadeT = TypeVar("MadeT")
OtherT = TypeVar("OtherT")

REFUSALS: Final = Exception
"""What libraries raise when an array that looks ordinary turns out to be special.

That may be anything: a mode of PyTorch raises what its author likes, and warnings may be errors.
"""


def _always(given: object) -> bool:
    del given
    return True


def answering(
    call: Callable[[GivenT], MadeT],
    is_plain: Callable[[GivenT], bool] = _always,
    *,
    wary: bool = False,
) -> Callable[[GivenT], MadeT | None]:
    """Return ``call``, which answers None for what is special.

    The arguments are those of `preferring`.
    """
    return preferring(call, no_import, is_plain, wary=wary)


def preferring(
    call: Callable[[GivenT], MadeT],
    otherwise: Callable[[GivenT], OtherT],
    is_plain: Callable[[GivenT], bool] = _always,
    *,
    wary: bool = False,
) -> Callable[[GivenT], MadeT | OtherT]:
    """Return ``call``, and ``otherwise`` for what is special.

    Args:
        call: Is given an array that looks ordinary.
        otherwise: Is given all others.
        is_plain: Tells whether ``call`` takes an array; asked once it has refused one.
        wary: Whether it is asked from the beginning.
    """

    def convert(array: GivenT) -> MadeT | OtherT:
        nonlocal wary
        try:
            if not wary or is_plain(array):
                return call(array)
        except REFUSALS:
            wary = True
        return otherwise(array)

    return convert


def answering_all(
    call: Callable[[GivenT], MadeT], is_plain: Callable[[GivenT], bool]
) -> Callable[[Sequence[GivenT]], Sequence[MadeT] | None]:
    """Return the same for several arrays at once, all of them ordinary."""
    wary = False

    def answer(arrays: Sequence[GivenT]) -> Sequence[MadeT] | None:
        nonlocal wary
        try:
            return None if wary and not all(map(is_plain, arrays)) else list(map(call, arrays))
        except REFUSALS:
            wary = True
            return None

    return answer


class ShortWay:
    """What is done with ordinary arrays.

    Each form of it is written out: a further call of Python is a tenth of the library's.

    Args:
        kind: The exact type of ordinary arrays.
        first: The call that takes one.
        then: The call that takes what ``first`` returns, or None.
        is_plain: Tells whether both take an array; asked once one of them has refused one.
    """

    def __init__(
        self,
        kind: type[object] | None,
        first: Callable[..., object],
        then: Callable[..., object] | None,
        is_plain: Callable[..., bool],
    ) -> None:
        self._kind: type[object] | None = kind
        self._first: Callable[..., object] = first
        self._then: Callable[..., object] | None = then
        self._is_plain: Callable[..., bool] = is_plain

    def answer(self) -> Convert:
        """Return it as a function of an array of the kind, which answers None for a special one."""
        if self._then is None:
            return answering(self._first, self._is_plain)
        first, then = self._first, self._then
        return answering(lambda array: then(first(array)), self._is_plain)

    def before(self, otherwise: Rule) -> Rule:
        """Return ``otherwise`` behind a test for ordinary arrays, which go this way."""
        kind, first, then = self._kind, self._first, self._then
        is_plain, wary = self._is_plain, False

        def by_one(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            nonlocal wary
            try:
                if type(value) is kind and (not wary or is_plain(value)):
                    return first(value)
            except REFUSALS:
                wary = True
            return otherwise(value, depth, bag)

        if then is None:
            return by_one

        def by_two(value: object, depth: int = 0, bag: Bag | None = None) -> object:
            nonlocal wary
            try:
                if type(value) is kind and (not wary or is_plain(value)):
                    return then(first(value))
            except REFUSALS:
                wary = True
            return otherwise(value, depth, bag)

        return by_two

    def before_four(self, otherwise: ConvertFour) -> ConvertFour:
        """Return the same for four values at once, all of them ordinary."""
        kind, first, then = self._kind, self._first, self._then
        is_plain, wary = self._is_plain, False

        def by_one(a: object, b: object, c: object, d: object) -> tuple[object, ...]:
            nonlocal wary
            try:
                if type(a) is type(b) is type(c) is type(d) is kind and (
                    not wary or all(map(is_plain, (a, b, c, d)))
                ):
                    return first(a), first(b), first(c), first(d)
            except REFUSALS:
                wary = True
            return otherwise(a, b, c, d)

        if then is None:
            return by_one

        def by_two(a: object, b: object, c: object, d: object) -> tuple[object, ...]:
            nonlocal wary
            try:
                if type(a) is type(b) is type(c) is type(d) is kind and (
                    not wary or all(map(is_plain, (a, b, c, d)))
                ):
                    return then(first(a)), then(first(b)), then(first(c)), then(first(d))
            except REFUSALS:
                wary = True
            return otherwise(a, b, c, d)

        return by_two


class Viewing(ShortWay):
    """The same for arrays whose memory is shared by one call.

    Args:
        kind: The exact type of ordinary arrays.
        share: The call.
        is_plain: Tells whether it takes an array; asked once it has refused one.
    """

    def __init__(
        self,
        kind: type[object] | None,
        share: Callable[..., object],
        is_plain: Callable[..., bool],
    ) -> None:
        super().__init__(kind, share, None, is_plain)
        self.share: Callable[..., object] = share

    def before_dict(self, otherwise: Rule) -> Rule:
        """Return the same for dictionaries that hold ordinary arrays and nothing else."""
        kind, share, is_plain, wary = self._kind, self.share, self._is_plain, False

        def shared(value: dict[object, object], depth: int = 0, bag: Bag | None = None) -> object:
            nonlocal wary
            new: dict[object, object] = {}
            try:
                for key, child in value.items():
                    if type(child) is not kind or (wary and not is_plain(child)):
                        break
                    new[key] = share(child)
                else:
                    return new
            except REFUSALS:
                wary = True
            return otherwise(value, depth, bag)

        return rule_of(shared)


class HandingOver(Viewing):
    """The same for arrays of NumPy, which say of themselves whether others may write into them."""

    @override
    def answer(self) -> Convert:
        share, is_plain, wary = self.share, self._is_plain, False

        def shared(array: HostArray) -> object:
            nonlocal wary
            try:
                if array.flags.behaved and (not wary or is_plain(array)):
                    return share(array)
            except REFUSALS:
                wary = True
            return None

        return cast("Convert", shared)  # what it is given are NumPy arrays

    @override
    def before(self, otherwise: Rule) -> Rule:
        kind, share, is_plain, wary = self._kind, self.share, self._is_plain, False

        def shared(value: HostArray, depth: int = 0, bag: Bag | None = None) -> object:
            nonlocal wary
            try:
                if (type(value) is kind and value.flags.behaved) and (not wary or is_plain(value)):
                    return share(value)
            except REFUSALS:
                wary = True
            return otherwise(value, depth, bag)

        return rule_of(shared)

    @override
    def before_four(self, otherwise: ConvertFour) -> ConvertFour:
        kind, share, is_plain, wary = self._kind, self.share, self._is_plain, False

        def shared(a: HostArray, b: HostArray, c: HostArray, d: HostArray) -> tuple[object, ...]:
            nonlocal wary
            try:
                if (
                    (type(a) is kind and a.flags.behaved)
                    and (type(b) is kind and b.flags.behaved)
                    and (type(c) is kind and c.flags.behaved)
                    and (type(d) is kind and d.flags.behaved)
                    and (not wary or all(map(is_plain, (a, b, c, d))))
                ):
                    return share(a), share(b), share(c), share(d)
            except REFUSALS:
                wary = True
            return otherwise(a, b, c, d)

        return cast("ConvertFour", shared)

    @override
    def before_dict(self, otherwise: Rule) -> Rule:
        kind, share, is_plain, wary = self._kind, self.share, self._is_plain, False

        def shared(
            value: dict[object, HostArray], depth: int = 0, bag: Bag | None = None
        ) -> object:
            nonlocal wary
            new: dict[object, object] = {}
            try:
                for key, child in value.items():
                    if (type(child) is not kind or not child.flags.behaved) or (
                        wary and not is_plain(child)
                    ):
                        break
                    new[key] = share(child)
                else:
                    return new
            except REFUSALS:
                wary = True
            return otherwise(value, depth, bag)

        return rule_of(shared)
