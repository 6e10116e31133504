"""Finds the layouts that the importer takes, refuses, misreads or crashes with."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gymbridge_tools.probe.capsules import WithOffset
from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.subject import Caught, Subject, WrongError, aligned, attribute, called

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import HostArray

_CUBE: HostArray = aligned(np.arange(24, dtype=np.float32).reshape(2, 3, 4))

LAYOUTS: dict[str, Callable[[], HostArray]] = {
    "permuted": lambda: _CUBE.transpose(2, 0, 1),
    "gaps": lambda: _CUBE[:, ::2, 1:3],
    "repeated": lambda: as_strided(_CUBE, (3, 4, 2), (0, 4, 4)),
    "negative": lambda: _CUBE[::-1, :, ::-1],
}
OFFSETS = (32, 16, 8, 4)
"""The tested distances from a multiple of 64, for numbers of four bytes."""
MOST_DIMENSIONS = 33


def layout(subject: Subject) -> Answer:
    """Import memory in a layout."""
    view = LAYOUTS[subject.about]()
    ordinary = subject.make(aligned(np.ones(3, np.float32)))
    uses = [use for use in (_doubles, _reads) if use(subject, ordinary)]
    for part in (view, view[..., 0], view[0]):
        array = subject.checked(part)
        # a library may pass a layout on and still compute wrongly
        for use in uses:
            if not use(subject, array):
                raise WrongError("it arrives, and cannot be used")
    return Answer(value=True, evidence=f"memory that is {subject.about} arrives")


def _doubles(subject: Subject, array: object) -> bool:
    """Tell whether the library adds an array to itself, with the right result."""
    with suppress(Exception):
        result = called(attribute(type(array), "__add__"), array, array)
        return np.array_equal(subject.seen(result), np.multiply(subject.seen(array), 2))
    return False


def _reads(subject: Subject, array: object) -> bool:
    """Tell whether the library's own export to NumPy has the same values."""
    with suppress(Exception):
        values: HostArray = np.array(called(attribute(array, "__array__")))
        return np.array_equal(values, subject.seen(array))
    return False


def offset(subject: Subject) -> Answer:
    """Import memory that is not aligned, and compute with it."""
    view = aligned(np.ones((64, 64), np.float32), int(subject.about))
    array = subject.checked(view)
    for name in ("matmul", "add", "sum", "reduce_sum"):
        function = attribute(subject.module, name)
        arguments = (array,) if "sum" in name else (array, array)
        with suppress(Exception):
            result = called(function, *arguments)
            _ = subject.seen(result)
    _ = _doubles(subject, array)
    return Answer(value=True, evidence="memory that is not aligned is computed with")


def zero_d(subject: Subject) -> Answer:
    """Import an array without dimensions."""
    _ = subject.checked(aligned(np.float32(3)))
    return Answer(value=True, evidence="an array without dimensions arrives")


def dimensions(subject: Subject) -> Answer:
    """Import an array of a number of dimensions, or of more and more until it fails."""
    if subject.about:
        return _of_dimensions(subject, int(subject.about))
    for count in range(2, MOST_DIMENSIONS):
        with Caught() as caught:
            _ = _of_dimensions(subject, count)
        if caught.error is not None:
            return Answer(count - 1, f"{count}: {caught.said}")
    return Answer(MOST_DIMENSIONS, "as many dimensions arrive as were tried")


def _of_dimensions(subject: Subject, count: int) -> Answer:
    _ = subject.checked(aligned(np.ones((1,) * count, np.float32)))
    return Answer(value=True, evidence=f"{count} dimensions arrive")


def byte_offset(subject: Subject) -> Answer:
    """Import memory with an offset."""
    values = aligned(np.arange(16, dtype=np.float32))
    there = subject.seen(subject.take(WithOffset(values[8:], 32)))
    if not np.array_equal(there, values[8:]):
        raise WrongError("the offset of memory is ignored")
    return Answer(value=True, evidence="the offset of memory is heeded")


QUESTIONS = {
    "layout": layout,
    "offset": offset,
    "zero_d": zero_d,
    "dimensions": dimensions,
    "byte_offset": byte_offset,
}
