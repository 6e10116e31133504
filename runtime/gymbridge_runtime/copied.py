"""Containers like others with other parts, whose classes may be anybody's.

None of their methods is called where that can be helped, and nothing is written into what the
original can be reached from: a class may write into what it holds, or keep a record of who wrote.
"""

from __future__ import annotations

import copy
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
from contextlib import suppress
from operator import is_
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from gymbridge_runtime.narrowing import untyped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence

    from typing_extensions import TypeIs

__all__ = ["Holds", "Parts", "attributes_of", "like", "made_anew", "refilled"]

Holds: TypeAlias = "Callable[[object, Sequence[object]], bool]"
"""Tells whether a container holds the objects given."""

_State: TypeAlias = "dict[str, object] | None"


def attributes_of(value: object) -> dict[str, object]:
    """Return the attributes of ``value``, those in slots included."""
    state = cast("_State | tuple[_State, _State]", object.__getstate__(value))
    held, slots = state if isinstance(state, tuple) else (state, None)
    return {**(held or {}), **(slots or {})}


class Parts:
    """What takes the place of what a container holds.

    Args:
        held: What it holds.
        children: What takes their place, in the same order.
    """

    def __init__(self, held: Sequence[object], children: Sequence[object]) -> None:
        self._held: Sequence[object] = held  # as long as they live, nothing else has their ids
        self._children: Sequence[object] = children
        self._now: dict[int, object] = {
            id(one): child for one, child in zip(held, children, strict=True)
        }

    def of(self, thing: object) -> object:
        """Return what takes the place of ``thing``: itself, unless the container holds it."""
        return self._now.get(id(thing), thing)

    def row(self, things: Iterable[object]) -> list[object]:
        """Return what takes the place of ``things``; a number may stand for several of them."""
        row = [*things]
        if len(row) == len(self._held) and all(map(is_, row, self._held)):
            return [*self._children]
        return [self.of(one) for one in row]

    def attribute(self, thing: object, *, stored: bool) -> object:
        """Return what takes the place of an attribute.

        Containers become others of their own, in which the parts are exchanged as well.

        Args:
            thing: The attribute of the original.
            stored: Whether it may be where the parts are; else a number that is equal to one of
                them is only that.
        """
        if id(thing) in self._now and not isinstance(thing, _NUMBERS):
            return self._now[id(thing)]
        kind = type(thing)
        if kind in _DICTIONARIES:
            new = copy.copy(cast("dict[object, object]", thing))
            for key, one in zip([*new], self._row_of(new.values(), stored=stored), strict=True):
                new[key] = one
            return new
        if kind is list:
            return self._row_of(cast("list[object]", thing), stored=stored)
        if kind is deque:
            row = cast("deque[object]", thing)
            return deque(self._row_of(row, stored=stored), row.maxlen)
        return copy.copy(thing) if kind in {set, bytearray} else thing

    def _row_of(self, things: Iterable[object], *, stored: bool) -> list[object]:
        if stored:
            return self.row(things)
        return [one if isinstance(one, _NUMBERS) else self.of(one) for one in things]


_NUMBERS: Final = (int, float, complex, str, bytes, type(None))
_DICTIONARIES: Final = frozenset({Counter, OrderedDict, defaultdict, dict})

_BASES: Final = cast(
    "tuple[type[object], ...]",
    (Counter, OrderedDict, defaultdict, dict, list, deque, ChainMap, UserDict),
)
"""The containers of the standard library that can be written into, each after what it is."""

# their own methods, past those of classes that derive from them
_iter_dict: Final = cast("Callable[[object], Iterable[object]]", untyped(dict, "__iter__"))
_get: Final = cast("Callable[[object, object], object]", untyped(dict, "__getitem__"))
_put: Final = cast("Callable[[object, object, object], None]", untyped(dict, "__setitem__"))
_iter_ordered: Final = cast(
    "Callable[[object], Iterable[object]]", untyped(OrderedDict, "__iter__")
)
_put_ordered: Final = cast(
    "Callable[[object, object, object], None]", untyped(OrderedDict, "__setitem__")
)
_iter_list: Final = cast("Callable[[object], Iterable[object]]", untyped(list, "__iter__"))
_init_list: Final = cast("Callable[[object, list[object]], None]", untyped(list, "__init__"))
_iter_deque: Final = cast("Callable[[object], Iterable[object]]", untyped(deque, "__iter__"))
_init_deque: Final = cast("Callable[..., None]", untyped(deque, "__init__"))


def like(value: object, parts: Parts, *, stored: bool = False) -> object:
    """Return a container of the standard library, or of a class derived from one, anew.

    Args:
        value: The original.
        parts: What takes the place of what it holds.
        stored: Whether its class may hold what it shows in attributes of its own.
    """
    kind = type(value)
    base = next(base for base in _BASES if issubclass(kind, base))
    if kind is base or _copies_itself(kind, base):
        new = source = copy.copy(value)
        if type(new) is not kind or new is value:
            raise TypeError(f"{kind.__name__} copies to something else")
    else:
        new = cast("Callable[[type[object]], object]", untyped(base, "__new__"))(kind)
        source = value
    if getattr(value, "__dict__", None) is value:  # its keys are its attributes
        object.__setattr__(new, "__dict__", new)
    else:
        for name, attribute in attributes_of(source).items():
            object.__setattr__(new, name, parts.attribute(attribute, stored=stored))
    _fill(new, source, base, parts)
    return new


def _copies_itself(kind: type[object], base: type[object]) -> bool:
    """Tell whether ``kind`` has a way of its own to be copied, and knows better."""
    return cast("object", getattr(kind, "__copy__", None)) is not getattr(base, "__copy__", None)


def _fill(new: object, value: object, base: type[object], parts: Parts) -> None:
    """Put into ``new`` what takes the place of the parts of ``value``, past their class."""
    if base is list:
        _init_list(new, parts.row(_iter_list(value)))
    elif base is deque:
        _init_deque(new, parts.row(_iter_deque(value)), untyped(value, "maxlen"))
    elif issubclass(base, dict):
        if base is defaultdict:
            object.__setattr__(new, "default_factory", untyped(value, "default_factory"))
        is_ordered = base is OrderedDict
        keys = [*(_iter_ordered if is_ordered else _iter_dict)(value)]
        put = _put_ordered if is_ordered else _put
        for key, child in zip(keys, parts.row([_get(value, key) for key in keys]), strict=True):
            put(new, key, child)


class _Copied(Protocol):
    def __setitem__(self, key: object, child: object, /) -> None: ...
    def copy(self) -> object: ...


def _is_copied(value: object) -> TypeIs[_Copied]:
    return hasattr(value, "copy") and hasattr(value, "__setitem__")


def refilled(
    value: Mapping[object, object],
    keys: Sequence[object],
    held: Sequence[object],
    children: Sequence[object],
    holds: Holds,
) -> object:
    """Return a copy of any other mapping, emptied and filled by methods of its own, or None.

    Of some, whatever is written into a copy is in the original: that gets back what it had.
    """
    same: object = value
    new = same.copy() if _is_copied(same) else None
    if type(new) is not type(value) or new is value:
        return None
    original = attributes_of(value)
    for name, attribute in attributes_of(new).items():
        if attribute is original.get(name):
            object.__setattr__(new, name, _NOTHING.attribute(attribute, stored=False))
    filled = _filled(new, keys, children)
    if holds(value, held):
        return new if filled else None
    _ = _filled(value, keys, held)
    return None


_NOTHING: Final = Parts((), ())


def _filled(mapping: object, keys: Sequence[object], children: Sequence[object]) -> bool:
    """Put ``children`` into ``mapping`` for what is there; tell whether it let that happen."""
    same = cast("MutableMapping[object, object]", mapping)
    with suppress(Exception):
        for key in keys if hasattr(same, "__delitem__") else ():
            del same[key]  # or what is there might be written into
        for key, child in zip(keys, children, strict=True):
            same[key] = child
        return True
    return False


def made_anew(
    value: Mapping[object, object],
    keys: Sequence[object],
    children: Sequence[object],
    parts: Parts,
    holds: Holds,
) -> object:
    """Return what the type of ``value`` makes of a dictionary, with its other attributes.

    Args:
        value: What cannot be filled. Without anything new in it, it is itself: spaces are mappings.
        keys: Its keys.
        children: What is to take the place of what it holds.
        parts: The same.
        holds: Tells whether such a mapping holds the objects given.
    """
    if holds(value, children):
        return value
    make = cast("Callable[[object], object]", type(value))
    new = make(dict(zip(keys, children, strict=True)))
    own = attributes_of(new)
    for name, attribute in attributes_of(value).items():
        object.__setattr__(new, name, parts.attribute(attribute, stored=False))
        if not holds(new, children):  # this one is where they are
            object.__setattr__(new, name, own[name])
    return new
