"""Finds who shares the memory of an array, and who can write into it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.subject import Caught, Subject, WrongError, aligned, attribute, called

if TYPE_CHECKING:
    from gymbridge_runtime.types import HostArray

_ROUNDS = 40
_WRITTEN = 7
"""The number that overwrites ones."""


def shared(subject: Subject) -> Answer:
    """Write into imported memory: does the array change?"""
    source = aligned(np.ones(64, np.float32))
    array = subject.make(source)
    source[...] = _WRITTEN
    changed = _written(subject.seen(array)) == source.size
    return Answer(
        changed,
        "an array changes with the memory that it was imported from"
        if changed
        else "an array stays as it was when the memory that it was imported from is overwritten",
    )


def late(subject: Subject) -> Answer:
    """Write into imported memory at once, many times: is it ever read too late?"""
    wrong, tried = 0, 0
    for size in (64, 1 << 15, 1 << 20):
        for offset in (0, 4):
            for _ in range(_ROUNDS):
                source = aligned(np.ones(size, np.float32), offset)
                array = subject.make(source)
                source[...] = _WRITTEN
                tried += 1
                wrong += _written(subject.seen(array)) > 0
    return Answer(wrong > 0, f"{wrong} of {tried} copies had values that were written afterwards")


def read_only(subject: Subject) -> Answer:
    """Import read-only memory, and write into the array."""
    source = aligned(np.ones(8, np.float32))
    source.flags.writeable = False
    array: object = None
    with Caught() as caught:
        array = subject.make(source)
    if caught.error is not None:
        return Answer("refused", f"an import of read-only memory raises {caught.said}")
    with suppress(Exception):
        _ = _overwrite(array)
    if _written(source):
        return Answer("ignored", "an array over read-only memory was written into")
    if not subject.seen(array).flags.writeable:
        return Answer("kept", "what an array over read-only memory exports is read-only")
    return Answer("ignored", "what an array over read-only memory exports can be written into")


def mutable(subject: Subject) -> Answer:
    """Write into an array."""
    array = subject.make(aligned(np.ones(8, np.float32)))
    how = _overwrite(array)
    if not _written(subject.seen(array)):
        raise WrongError(f"{how} changes nothing")
    return Answer(value=True, evidence=f"{how} writes into an array")


def _written(view: HostArray) -> int:
    """Return how many numbers were overwritten."""
    return int(np.count_nonzero(np.equal(view, _WRITTEN)))


def _overwrite(array: object) -> str:
    """Write sevens into ``array``; return the way that worked."""
    with suppress(TypeError, AttributeError):
        _ = called(attribute(type(array), "__setitem__"), array, 0, _WRITTEN)
        return f"array[0] = {_WRITTEN}"
    for name in ("fill_", "fill"):
        if callable(attribute(array, name)):
            _ = called(attribute(array, name), _WRITTEN)
            return f"array.{name}({_WRITTEN})"
    raise WrongError("an array has neither item assignment nor fill")


def views(subject: Subject) -> Answer:
    """View an array from NumPy: is it writable?"""
    view = subject.seen(subject.make(aligned(np.ones(8, np.float32))))
    word = "writable" if view.flags.writeable else "read-only"
    return Answer(word, f"NumPy's view of an array is {word}")


QUESTIONS = {
    "shared": shared,
    "late": late,
    "read_only": read_only,
    "mutable": mutable,
    "views": views,
}
