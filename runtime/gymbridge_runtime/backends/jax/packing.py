"""Imports several small arrays into JAX as one: each argument of a compiled call costs 2 µs.

The host joins the bytes of the arrays, and XLA splits them again.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

import jax
import numpy as np
from gymbridge_runtime.core.memory import silence
from gymbridge_runtime.core.narrowing import getattr_untyped
from jax.sharding import Sharding, SingleDeviceSharding
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

ResultT = TypeVar("ResultT")

_Import: TypeAlias = "Callable[[Sequence[HostArray]], Sequence[object]]"
"""Copies arrays of NumPy into JAX."""

_Signature: TypeAlias = "tuple[tuple[AnyDType, tuple[int, ...]], ...]"
"""The dtypes and the shapes of several arrays."""

_MOST_RESULTS: Final = 7
"""The most results of one call; from 8 on XLA uses threads and takes 10 to 30 µs longer."""

_MOST_BYTES: Final = 4096
"""The size in bytes from which a separate argument is cheaper than packing."""

_PACKED: Final = frozenset(map(np.dtype, "?bBhHeiIlLqQfd"))

_FLOAT64: Final[AnyDType] = np.dtype(np.float64)
_FLOAT32: Final[AnyDType] = np.dtype(np.float32)
"""The dtype that JAX makes of float64 with x64 off."""

_WORD: Final = 4
"""Bytes of one element of the joined array: XLA splits single bytes three times as slowly."""

_WORDS: Final[AnyDType] = np.dtype(np.int32)

_octets: Final[Callable[[HostArray], bytes]] = np.ndarray.tobytes


class _Packed(NamedTuple):
    """The place of an array among the joined bytes, and its dtype and shape."""

    which: int
    start: int
    stop: int
    shape: tuple[int, ...]
    dtype: AnyDType


def jitted(
    function: Callable[..., ResultT], device: object = None, donated: tuple[int, ...] = ()
) -> Callable[..., ResultT]:
    """Return the compiled ``function``.

    Args:
        function: The function to compile.
        device: The device of its results; None leaves them uncommitted on the default device.
        donated: The arguments whose memory the results may take.
    """
    jit = cast("Callable[..., Callable[..., ResultT]]", getattr_untyped(jax, "jit"))
    if device is None:
        return jit(function, donate_argnums=donated)
    placement = device if isinstance(device, Sharding) else _at_one(device)
    return jit(function, donate_argnums=donated, out_shardings=placement)


_at_one: Final = cast("Callable[[object], Sharding]", SingleDeviceSharding)  # declared untyped
_bits: Final = cast(
    "Callable[[jax.Array, AnyDType], jax.Array]", getattr_untyped(jax.lax, "bitcast_convert_type")
)


def _same(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    return arrays


@cache
def _unpacked_import(device: object, *, wide: bool) -> _Import:
    """Return the import of several arrays, each as an argument of one call."""
    same = jitted(_same, device)
    own = _own(wide=wide)
    return lambda arrays: same(*map(own, arrays))


def _own(*, wide: bool) -> Callable[[HostArray], HostArray]:
    """Return the function that copies an array, in the dtype that JAX stores."""
    return np.ndarray.copy if wide else _narrow


def _narrow(array: HostArray) -> HostArray:
    if array.dtype != _FLOAT64:
        return array.copy()
    return silence().run(array.astype, _FLOAT32, "C")  # JAX itself would warn


def import_of(views: Sequence[HostArray], device: object, *, wide: bool, packed: bool) -> _Import:
    """Return the import of copies of arrays like ``views``.

    Args:
        views: Arrays of dtypes that JAX has, and float64.
        device: The device of the results; None for the default device.
        wide: Whether JAX has float64 and does not store it as float32.
        packed: Whether arrays are packed, seven at a time; each new kind of pack takes .1 s to
            compile. Otherwise, each array is an argument of one call.
    """
    if not packed:
        return _unpacked_import(device, wide=wide)
    count = -(-len(views) // _MOST_RESULTS)
    ends = [number * len(views) // count for number in range(count + 1)]  # nearly equal parts
    calls: list[tuple[slice, _Import]] = []
    for part in [slice(*pair) for pair in pairwise(ends)]:
        signature = tuple([(view.dtype, view.shape) for view in views[part]])
        calls.append((part, _packed_import(signature, device, wide=wide)))
    if len(calls) == 1:
        return calls[0][1]
    return lambda arrays: [made for part, call in calls for made in call(arrays[part])]


@cache  # equal parts are compiled once
def _packed_import(signature: _Signature, device: object, *, wide: bool) -> _Import:
    """Return the import by one compiled call, with one argument for all packed arrays."""
    packed = _places(signature, wide=wide)
    if len(packed) <= 1:
        return _unpacked_import(device, wide=wide)
    order = [one.which for one in packed]
    in_order: Callable[[Sequence[HostArray]], tuple[HostArray, ...]] = itemgetter(*order)
    others = [index for index in range(len(signature)) if index not in order]
    narrowed = [place for place, one in enumerate(packed) if one.dtype != signature[one.which][0]]
    own = _own(wide=wide)
    padding = [np.zeros(-packed[-1].stop % _WORD, np.uint8)]

    def unpack(words: jax.Array, *arrays: jax.Array) -> tuple[jax.Array, ...]:
        found = dict(zip(others, arrays, strict=True))
        found.update({one.which: _unpacked(words, one) for one in packed})
        return tuple([found[index] for index in range(len(signature))])

    unpack_at = jitted(unpack, device)

    def imported(arrays: Sequence[HostArray]) -> Sequence[object]:
        joined = [*in_order(arrays), *padding]
        for place in narrowed:
            joined[place] = silence().run(joined[place].astype, _FLOAT32)
        words = np.frombuffer(b"".join(map(_octets, joined)), _WORDS)
        return unpack_at(words, *[own(arrays[index]) for index in others])

    return imported


def _places(signature: _Signature, *, wide: bool) -> list[_Packed]:
    """Return the packed arrays, widest elements first."""
    places: list[_Packed] = []
    end = 0
    for index, (dtype, shape) in sorted(enumerate(signature), key=lambda one: -one[1][0].itemsize):
        if dtype in _PACKED and 0 < prod(shape) * dtype.itemsize < _MOST_BYTES:
            stored = _FLOAT32 if dtype == _FLOAT64 and not wide else dtype
            start, end = end, end + prod(shape) * stored.itemsize
            places.append(_Packed(index, start, end, shape, stored))
    return places


def _unpacked(words: jax.Array, one: _Packed) -> jax.Array:
    """Take one array out of the joined words."""
    width = one.dtype.itemsize
    first = one.start // _WORD
    part = words[first : -(-one.stop // _WORD)]
    if width < _WORD:
        octets = _bits(part, np.dtype(np.uint8)).reshape(-1)
        part = octets[one.start - first * _WORD : one.stop - first * _WORD]
    if one.dtype == np.dtype(np.bool_):
        return part.astype(bool).reshape(one.shape)
    if width not in {1, _WORD}:  # one more axis for the words or bytes of an element
        part = part.reshape(-1, 2)
    return _bits(part, one.dtype).reshape(one.shape)
