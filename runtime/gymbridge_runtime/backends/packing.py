"""Packs of small arrays, which travel to a device and back in one transfer.

A transfer costs a GPU about 10 µs, however small it is. So the small arrays of a step travel as the
bytes of one array, and the results are views of it. A view keeps its pack alive, so the size of a
pack is limited. Large arrays travel alone. All transfers block, so nobody has to wait for one.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

ArrayT = TypeVar("ArrayT")
PlaceT = TypeVar("PlaceT")

_LARGE: Final = 64 * 1024
"""An array with more bytes travels alone."""
_FULL: Final = 256 * 1024
"""The most bytes in a pack."""
_ALIGNMENT: Final = 64
"""The bytes to which each array of a pack is aligned on a device."""


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...


SizedT = TypeVar("SizedT", bound=_Sized)


def by_place(places: Sequence[PlaceT]) -> dict[PlaceT, list[int]]:
    """Return the indices of the arrays at each place, given the places of all arrays."""
    found: dict[PlaceT, list[int]] = {}
    for number, place in enumerate(places):
        found.setdefault(place, []).append(number)
    return found


def _packs(arrays: Sequence[_Sized]) -> Iterator[list[int]]:
    """Yield the indices of arrays that travel together."""
    pack: list[int] = []
    filled = 0
    for number, array in enumerate(arrays):
        size = _room(array)
        if size > _LARGE:
            yield [number]
            continue
        if filled + size > _FULL:
            yield pack
            pack = list[int]()
            filled = 0
        pack.append(number)
        filled += size
    if pack:
        yield pack


def _room(array: _Sized) -> int:
    """Return the bytes that ``array`` takes in a pack."""
    return -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT


def upload(
    views: Sequence[HostArray],
    put: Callable[[HostArray], ArrayT],
    take: Callable[[ArrayT, slice, HostArray], ArrayT],
) -> list[ArrayT]:
    """Return copies of ``views`` on a device.

    Args:
        views: Arrays in host memory.
        put: Copies an array to the device.
        take: Views a slice of the bytes on the device as an array like the given host view.
    """
    found: dict[int, ArrayT] = {}
    for numbers in _packs(views):
        *starts, end = accumulate((_room(views[number]) for number in numbers), initial=0)
        if len(numbers) == 1 or not end:  # arrays without elements need no transfer
            found.update({number: put(views[number]) for number in numbers})
            continue
        staging = np.empty(end, np.uint8)
        places = {
            number: slice(start, start + views[number].nbytes)
            for number, start in zip(numbers, starts, strict=True)
        }
        for number, place in places.items():
            staging[place] = np.frombuffer(views[number].tobytes(), np.uint8)
        packed = put(staging)
        found.update({n: take(packed, place, views[n]) for n, place in places.items()})
    return [found[number] for number in range(len(views))]


def download(
    arrays: Sequence[SizedT],
    dtypes: Sequence[AnyDType],
    fetch: Callable[[Sequence[SizedT]], HostArray],
) -> list[HostArray]:
    """Return copies of ``arrays``, which are on one device, in host memory.

    Args:
        arrays: Arrays on the device.
        dtypes: Their dtypes in NumPy.
        fetch: Copies the bytes of some arrays, in order, into one array.
    """
    found: dict[int, HostArray] = {}
    for numbers in _packs(arrays):
        # the widest elements first, so that each array starts at a multiple of its elements
        numbers.sort(key=lambda number: -dtypes[number].itemsize)
        octets = fetch([arrays[number] for number in numbers])
        start = 0
        for number in numbers:
            array, end = arrays[number], start + arrays[number].nbytes
            found[number] = octets[start:end].view(dtypes[number]).reshape(array.shape)
            start = end
    return [found[number] for number in range(len(arrays))]
