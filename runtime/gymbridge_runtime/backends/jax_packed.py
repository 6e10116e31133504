"""Several small arrays into JAX as one: each further argument of a compiled call costs 2 µs.

Their bytes are put one after the other on the host, and XLA takes them apart again, bit by bit.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

import jax
import numpy as np
from gymbridge_runtime.memory import silence
from gymbridge_runtime.narrowing import untyped
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

__all__ = ["ImportMany", "import_of", "jitted"]

ResultT = TypeVar("ResultT")

ImportMany: TypeAlias = "Callable[[Sequence[HostArray]], Sequence[object]]"
"""From arrays of NumPy to copies of them in JAX."""

_MOST_RESULTS: Final = 7
"""Results of one call; from 8 on XLA takes threads for it, and 10 to 30 µs longer."""

_MOST_BYTES: Final = 4096
"""Bytes of an array from which it costs more to be packed than to be an argument."""

_PACKED: Final = frozenset(map(np.dtype, "?bBhHeiIlLqQfd"))

_FLOAT64: Final[AnyDType] = np.dtype(np.float64)
_FLOAT32: Final[AnyDType] = np.dtype(np.float32)
"""What JAX makes of the former, unless x64 is on."""

_WORD: Final = 4
"""Bytes of the elements that are handed over: XLA takes single bytes apart at a third the speed."""

_WORDS: Final[AnyDType] = np.dtype(np.int32)

_octets: Final[Callable[[HostArray], bytes]] = np.ndarray.tobytes


class _Packed(NamedTuple):
    """Where an array is among the bytes of all, and what becomes of it."""

    which: int
    start: int
    stop: int
    shape: tuple[int, ...]
    dtype: AnyDType


def jitted(
    function: Callable[..., ResultT], donated: tuple[int, ...] = ()
) -> Callable[..., ResultT]:
    """Return ``function``, compiled.

    Args:
        function: What to compile.
        donated: The arguments whose memory results may have.
    """
    jit = cast("Callable[..., Callable[..., ResultT]]", untyped(jax, "jit"))
    return jit(function, donate_argnums=donated)


_bits: Final = cast(
    "Callable[[jax.Array, AnyDType], jax.Array]", untyped(jax.lax, "bitcast_convert_type")
)


@jitted
def _same(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    return arrays


def _copied(arrays: Sequence[HostArray]) -> Sequence[object]:
    return _same(*[array.copy() for array in arrays])


def _copied_narrow(arrays: Sequence[HostArray]) -> Sequence[object]:
    return _same(*map(_narrow, arrays))


def _narrow(array: HostArray) -> HostArray:
    """Return a copy in the dtype that JAX has without x64; JAX itself would do it aloud."""
    if array.dtype != _FLOAT64:
        return array.copy()
    return silence().run(array.astype, _FLOAT32, "C")


def import_of(views: Sequence[HostArray], *, wide: bool, packed: bool) -> ImportMany:
    """Return the import of copies of arrays like ``views``.

    Args:
        views: Arrays of dtypes that JAX has, and float64.
        wide: Whether JAX has float64 as well, and does not store it as float32.
        packed: Whether they are packed, seven at a time, which takes .1 s each to compile where
            they are all different; else they are arguments of one call.
    """
    if not packed:
        return _copied if wide else _copied_narrow
    compiled: dict[object, ImportMany] = {}
    calls: list[tuple[slice, ImportMany]] = []
    count = -(-len(views) // _MOST_RESULTS)
    for number in range(count):  # of as nearly the same size as can be
        part = slice(number * len(views) // count, (number + 1) * len(views) // count)
        signature = tuple([(view.dtype, view.shape) for view in views[part]])
        if signature not in compiled:  # parts that are alike need one compilation
            compiled[signature] = _in_one_call(views[part], wide=wide)
        calls.append((part, compiled[signature]))
    if len(calls) == 1:
        return calls[0][1]

    def imported(arrays: Sequence[HostArray]) -> Sequence[object]:
        found: list[object] = []
        for part, call in calls:
            found += call(arrays[part])
        return found

    return imported


def _in_one_call(views: Sequence[HostArray], *, wide: bool) -> ImportMany:
    """Return the import by one compiled call, with one argument for all that can be packed."""
    packed, end = _places(views, wide=wide)
    if len(packed) <= 1:
        return _copied if wide else _copied_narrow
    order = [one.which for one in packed]
    others = [index for index in range(len(views)) if index not in order]
    in_order: Callable[[Sequence[HostArray]], tuple[HostArray, ...]] = itemgetter(*order)
    narrowed = [
        place for place, which in enumerate(order) if views[which].dtype == _FLOAT64 and not wide
    ]
    own: Callable[[HostArray], HostArray] = np.ndarray.copy if wide else _narrow
    padding = [np.zeros(-end % _WORD, np.uint8)] if end % _WORD else []

    @jitted
    def unpack(words: jax.Array, *arrays: jax.Array) -> tuple[jax.Array, ...]:
        found = dict(zip(others, arrays, strict=True))
        found.update({one.which: _unpacked(words, one) for one in packed})
        return tuple([found[index] for index in range(len(views))])

    def imported(arrays: Sequence[HostArray]) -> Sequence[object]:
        joined = [*in_order(arrays), *padding]
        for place in narrowed:
            joined[place] = silence().run(joined[place].astype, _FLOAT32)
        words = np.frombuffer(b"".join(map(_octets, joined)), _WORDS)
        return unpack(words, *[own(arrays[index]) for index in others]) if others else unpack(words)

    return imported


def _places(views: Sequence[HostArray], *, wide: bool) -> tuple[list[_Packed], int]:
    """Return the arrays that are packed, those of the widest elements first, and where they end."""
    places: list[_Packed] = []
    start = 0
    for index, view in sorted(enumerate(views), key=lambda one: -one[1].itemsize):
        if view.dtype in _PACKED and 0 < view.nbytes < _MOST_BYTES:
            dtype = _FLOAT32 if view.dtype == _FLOAT64 and not wide else view.dtype
            stop = start + view.size * dtype.itemsize
            places.append(_Packed(index, start, stop, view.shape, dtype))
            start = stop
    return places, start


def _unpacked(words: jax.Array, one: _Packed) -> jax.Array:
    """Take one array from among the words of all."""
    width = one.dtype.itemsize
    first = one.start // _WORD
    part = words[first : -(-one.stop // _WORD)]
    if width < _WORD:
        octets = _bits(part, np.dtype(np.uint8)).reshape(-1)
        part = octets[one.start - first * _WORD : one.stop - first * _WORD]
    if one.dtype == np.dtype(np.bool_):
        return part.astype(bool).reshape(one.shape)
    if width not in {1, _WORD}:  # an axis more for those that together are one element
        part = part.reshape(-1, 2)
    return _bits(part, one.dtype).reshape(one.shape)
