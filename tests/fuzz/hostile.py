"""Values that lie, raise or never end: the core must not trust what they say."""

from __future__ import annotations

from collections import UserList, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided
from typing_extensions import override

Sample = Any
"""A hostile value."""


class Expected(NamedTuple):
    """The expected outcome for a value."""

    make: Callable[[], Sample]
    stays: bool = False
    """Whether the value is returned itself."""
    refused: str = ""
    """The beginning of the error's problem; the rest may quote a library."""
    passes: type[BaseException] | None = None
    """An error that is no `Exception`, which must pass."""
    slow: bool = False
    """Whether the test takes about a second."""


HOST = (1, 0)
NOT_SHOWN = "the array could not be shown in host memory: "
UNFORESEEN = "it could not be converted: "


class HostileError(RuntimeError):
    """The error that hostile values raise."""


def fail(*_: object, **__: object) -> NoReturn:
    raise HostileError("hostile")


# -- values without text --------------------------------------------------------------------------


class Speechless:
    """An object whose `repr` raises."""

    __repr__ = __str__ = __format__ = fail


class SpeechlessError(Exception):
    __str__ = __repr__ = fail


# -- values with a wrong `__class__` --------------------------------------------------------------


def says(kind: object) -> Callable[[], Sample]:
    """Return a type whose instances claim the class ``kind``."""
    return type("Says", (), {"__class__": kind})


class _Agreeable(type):
    """A metaclass that claims every attribute."""

    def __getattr__(cls, name: str) -> bool:
        return True


class Agreeable(metaclass=_Agreeable):
    pass


class Boundless:
    """An object that has every attribute, at any depth."""

    def __getattr__(self, name: str) -> Boundless:
        return self


def from_(module: str) -> object:
    """Return an object whose type claims to come from ``module``."""
    return type("PRNGKeyArray", (), {"__module__": module})()


# -- containers -----------------------------------------------------------------------------------


class Hollow(Mapping[str, Sample]):
    """A mapping that makes up its items."""

    keys_of: Callable[[], Iterator[str]] = staticmethod(lambda: iter("a"))
    length = 1

    @override
    def __getitem__(self, key: str) -> Sample:
        return 1

    @override
    def __iter__(self) -> Iterator[str]:
        return type(self).keys_of()

    @override
    def __len__(self) -> int:
        return type(self).length


class Endless(Hollow):
    keys_of = staticmethod(lambda: map(str, count()))


class EndlesslyTheSame(Hollow):
    keys_of = staticmethod(lambda: repeat("a"))


class Negative(Hollow):
    length = -1


class Bottomless(Hollow):
    """A mapping that holds a new one like itself."""

    @override
    def __getitem__(self, key: str) -> Sample:
        return Bottomless()


class InItself(Hollow):
    @override
    def __getitem__(self, key: str) -> Sample:
        return self


class NoSuchKey(Hollow):
    __getitem__ = fail


class NoValues(dict[str, Sample]):
    values = fail


class EndlessTuple(tuple[Sample, ...]):
    __slots__ = ()

    @override
    def __iter__(self) -> Iterator[Sample]:
        return repeat(1)


class BottomlessList(list[Sample]):
    @override
    def __iter__(self) -> Iterator[Sample]:
        yield BottomlessList([1])


class Rewriting(list[Sample]):
    """A list that changes the items put into it."""

    @override
    def __setitem__(self, index: Sample, value: Sample) -> None:
        super().__setitem__(index, [1, 2, 3])


class Doubling(deque[Sample]):
    @override
    def extend(self, iterable: Sample) -> None:
        for value in iterable:
            super().extend([value, value])


class Uncopied(list[Sample]):
    __reduce_ex__ = __copy__ = fail


class CopiesToItself(dict[str, Sample]):
    def __copy__(self) -> CopiesToItself:
        return self


@dataclass
class Secretive:
    """A dataclass whose fields raise when they are read."""

    a: Sample

    @override
    def __getattribute__(self, name: str) -> Sample:
        return fail() if name == "a" else super().__getattribute__(name)


# -- numbers --------------------------------------------------------------------------------------


class NoInt(int):
    __int__ = __index__ = __le__ = __ge__ = __lt__ = __gt__ = __array__ = fail


class NoFloat(float):
    __float__ = fail


# -- producers of DLPack --------------------------------------------------------------------------


class Producer:
    """An array of three numbers with a given device and export."""

    where: Sample = HOST

    def __init__(self) -> None:
        self.memory = np.arange(3, dtype=np.float32)

    def __dlpack_device__(self) -> Sample:
        return type(self).where

    def __dlpack__(self, **keywords: Sample) -> Sample:
        return self.memory.__dlpack__()


def at(where: Sample) -> Callable[[], Sample]:
    """Return a function that makes a producer with the device ``where``."""
    return type("At", (Producer,), {"where": where})


def exporting(value: Sample) -> Callable[[], Sample]:
    """Return a function that makes a producer that exports ``value``."""
    return type("Exporting", (Producer,), {"__dlpack__": lambda _, **__: value})


def raising(kind: type[BaseException], *words: str) -> Callable[[], Sample]:
    """Return a function that makes a producer whose export raises."""

    def export(_: object, **__: object) -> NoReturn:
        raise kind(*words)

    return type("Raising", (Producer,), {"__dlpack__": export})


def used_twice() -> Sample:
    """Return a producer whose only capsule is used already."""
    capsule = np.ones(3).__dlpack__()
    producer: Sample = exporting(capsule)()
    np.from_dlpack(producer)
    return producer


class Fleeting(Producer):
    """Exports memory that only the capsule keeps alive."""

    @override
    def __dlpack__(self, **keywords: Sample) -> Sample:
        return np.arange(3, dtype=np.float32).__dlpack__()


class DifferentEveryTime(Producer):
    """Reports another device in every call."""

    places = count(1)

    @override
    def __dlpack_device__(self) -> Sample:
        return next(self.places), 0


class Nameless(Producer):
    dtype = device = Speechless()
    shape = (Speechless(),)
    __dlpack__ = fail


class HalfAProducer:
    """Has one of the two methods."""

    def __dlpack__(self) -> NoReturn:
        fail()


# -- objects that only look like arrays -----------------------------------------------------------


class Standard:
    def __array_namespace__(self) -> object:
        return np


class LongSequence(Standard):
    """An endless sequence, which NumPy would try to read."""

    def __len__(self) -> int:
        return 1 << 40

    def __getitem__(self, index: int) -> int:
        return index


class ShowsAList(Standard):
    def __array__(self, dtype: object = None, copy: object = None) -> list[int]:
        return [1]


class ShowsNothing(Standard):
    __array__ = fail


# -- memory ---------------------------------------------------------------------------------------

HUGE = 1 << 40
"""More elements than any machine has memory for; a broadcast view can have them."""


def huge(name: str) -> Sample:
    return np.broadcast_to(np.ones((), name), (HUGE,))


def _of_itself() -> Sample:
    array = np.empty(1, object)
    array[0] = {"a": [array]}
    return array


HOSTILE: dict[str, Expected] = {
    "an object without text": Expected(Speechless, stays=True),
    "an object that says it is an array": Expected(says(np.ndarray), stays=True),
    "an object that says it is a dict": Expected(says(dict), stays=True),
    "an object that says it is a tuple": Expected(says(tuple), stays=True),
    "an object that fails to say what it is": Expected(says(property(fail)), stays=True),
    "an object of a type that has every attribute": Expected(Agreeable, stays=True),
    "an object that has every attribute": Expected(Boundless, stays=True),
    **{
        f"an object that says it comes from {module}": Expected(partial(from_, module), stays=True)
        for module in ("torch.fake", "numpy.fake", "mlx.fake", "cupy.fake", "", "..")
    },
    "a key without text": Expected(
        lambda: {Speechless(): NoValues(a=1)}, refused="the NoValues could not be read: hostile"
    ),
    **{
        f"a mapping of an unknown class, {kind.__name__}": Expected(kind, stays=True)
        for kind in (Endless, EndlesslyTheSame, Negative, Bottomless, InItself, NoSuchKey)
    },
    "a dictionary whose values cannot be read": Expected(
        lambda: NoValues(a=1), refused="the NoValues could not be read: hostile"
    ),
    "a tuple without end": Expected(lambda: EndlessTuple([1])),
    "a list without bottom": Expected(
        lambda: BottomlessList([1]), refused="the containers are nested too deeply", slow=True
    ),
    "a list that holds something else": Expected(lambda: Rewriting([1.5])),
    "a deque that doubles what it is given": Expected(lambda: Doubling([1.5]), stays=True),
    "a list that cannot be copied": Expected(lambda: Uncopied([1.5]), stays=True),
    "a dictionary that copies to itself": Expected(lambda: CopiesToItself(a=1.5), stays=True),
    "a dataclass that cannot be read": Expected(
        lambda: Secretive(1), refused="the Secretive could not be read: hostile"
    ),
    "a sequence that is no list": Expected(lambda: UserList([1.5]), stays=True),
    "an array of objects in itself": Expected(_of_itself, refused="the ndarray contains itself"),
    "an int that cannot be compared": Expected(lambda: NoInt(3), refused=UNFORESEEN + "hostile"),
    "a float that is none": Expected(lambda: NoFloat(3), refused=UNFORESEEN + "hostile"),
    **{
        f"a producer at {where!r}": Expected(at(where), refused=NOT_SHOWN)
        for where in (None, (), 1, (1,), (1, 0, 0), ("cpu", 0))
    },
    **{
        f"a producer at {where!r} that exports host memory": Expected(at(where))
        for where in ((2, 0), (1, 99), (-1, 0), (10**30, 0), (0, 0), (True, False), (3, None))
    },
    "a producer that is somewhere else every time": Expected(DifferentEveryTime),
    "a producer that forgets its memory": Expected(Fleeting),
    **{
        f"a producer that exports {value!r}": Expected(exporting(value), refused=NOT_SHOWN)
        for value in (None, 3, "capsule", b"capsule", object, np.ones(2))
    },
    "a producer whose capsule was used": Expected(used_twice, refused=NOT_SHOWN),
    **{
        f"a producer that raises {kind.__name__}": Expected(
            raising(kind, "its own words"), refused=NOT_SHOWN + "its own words"
        )
        for kind in (BufferError, MemoryError, StopIteration, RecursionError, AssertionError)
    },
    **{
        f"a producer that raises {kind.__name__}": Expected(raising(kind), passes=kind)
        for kind in (KeyboardInterrupt, SystemExit, GeneratorExit)
    },
    "a producer that raises what has no text": Expected(
        raising(SpeechlessError), refused=NOT_SHOWN + "<SpeechlessError>"
    ),
    "a producer of which nothing has text": Expected(Nameless, refused=NOT_SHOWN + "hostile"),
    "a producer that fails to say what it is": Expected(
        type("OfNoClass", (Producer,), {"__class__": property(fail)}), refused=NOT_SHOWN
    ),
    "half a producer": Expected(HalfAProducer, refused=NOT_SHOWN + "it has neither"),
    "an array that shows nothing": Expected(Standard, refused=NOT_SHOWN + "it has neither"),
    "an array that is a long sequence": Expected(LongSequence, refused=NOT_SHOWN + "it has"),
    "an array that shows a list": Expected(ShowsAList, refused=NOT_SHOWN),
    "an array that fails to show itself": Expected(ShowsNothing, refused=NOT_SHOWN + "hostile"),
    **{
        f"a huge view of {name}": Expected(partial(huge, name))
        for name in ("float32", "int64", "bool", "float64", "uint64")
    },
    "a huge view that can be written into": Expected(
        lambda: as_strided(np.ones(1, np.float32), (HUGE,), (0,))
    ),
    "an empty array of a huge shape": Expected(lambda: np.empty((0, HUGE), np.float32)),
}
"""Hostile values by name. Without an expectation, a value may be converted or refused."""
