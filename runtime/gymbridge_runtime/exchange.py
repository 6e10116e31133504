"""Containers like others with other parts, whose classes may be anybody's.

Their methods are not called, and nothing is written into what the original can be reached from: a
class may write into the arrays that it holds, keep a record of who wrote, or share what it holds
with its copies. What the instance of such a class consists of is exchanged instead: the memory of
the standard container that it is, and its attributes.
"""

from __future__ import annotations

import copy
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
from contextlib import suppress
from operator import is_
from types import BuiltinMethodType, MemberDescriptorType, MethodType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np
from gymbridge_runtime.narrowing import untyped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence, Set

__all__ = ["Exchange", "Holds", "closes", "holds_any", "made_anew", "put_attribute"]

Holds: TypeAlias = "Callable[[object, Sequence[object]], bool]"
"""Tells whether a container holds the objects given."""

_State: TypeAlias = "dict[str, object] | None"

_NOTHING: Final = object()

_NUMBERS: Final = (int, float, complex, str, bytes, np.generic, type(None))
"""Of these, one object may stand for many things."""

_BASES: Final = cast(
    "tuple[type[object], ...]",
    (OrderedDict, defaultdict, Counter, dict, list, deque, ChainMap, UserDict),
)
"""The containers of the standard library that can be written into, each after what it is."""

_FOLLOWED: Final = frozenset({*_BASES, tuple, set, bytearray, MethodType, BuiltinMethodType})

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


class Exchange:
    """The exchange of what a container holds, and of what can be reached from it.

    That is followed through attributes that are standard containers. Others of a user's own are
    left alone, unless they hold some of the same things: a tree may know what it hangs on.

    Args:
        value: The container.
        held: What it holds.
        children: What takes their place, in the same order.
        keys: The keys of a mapping.
        in_attributes: Whether it keeps that in attributes, so that one with nothing but the same
            numbers in it is taken for what holds them.
    """

    def __init__(
        self,
        value: object,
        held: Sequence[object],
        children: Sequence[object],
        keys: Sequence[object] = (),
        *,
        in_attributes: bool = False,
    ) -> None:
        self._value: object = value
        self._in_attributes: bool = in_attributes
        self._held: Sequence[object] = held
        self._children: Sequence[object] = children
        pairs = [*zip(held, children, strict=True)]
        self._by_key: dict[object, tuple[object, object]] = dict(zip(keys, pairs, strict=False))
        self._parts: frozenset[int] = frozenset(
            id(one) for one in held if not isinstance(one, _NUMBERS)
        )
        # what is kept here lives as long as its id counts
        self._done: dict[int, tuple[object, object]] = {
            id(pair[0]): pair for pair in pairs if id(pair[0]) in self._parts
        }

    def of_original(self) -> object:
        """Return another container like the original that has the children instead."""
        return self._like(self._value)

    def of_attributes(self, value: object) -> tuple[dict[str, object], dict[str, object]]:
        """Return what takes the place of the attributes of ``value``, and of those in slots."""
        state = cast("_State | tuple[_State, _State]", object.__getstate__(value))
        held, slots = state if isinstance(state, tuple) else (state, None)
        own, in_slots = held or {}, slots or {}
        return (
            {name: self._of(attribute) for name, attribute in own.items()},
            {name: self._of(attribute) for name, attribute in in_slots.items()},
        )

    def give(self, new: object, value: object) -> None:
        """Give ``new``, which takes the place of the original, the attributes of ``value``."""
        _ = self._keep(self._value, new)
        self._give(new, value)

    def _give(self, new: object, value: object) -> None:
        if getattr(value, "__dict__", None) is value:  # its keys are its attributes
            object.__setattr__(new, "__dict__", new)
            return
        held, slots = self.of_attributes(value)
        if held:
            cast("dict[str, object]", object.__getattribute__(new, "__dict__")).update(held)
        for name, attribute in slots.items():
            object.__setattr__(new, name, attribute)

    def _of(self, thing: object) -> object:
        """Return what takes the place of ``thing``."""
        known = self._done.get(id(thing))
        if known is not None:
            return known[1]
        kind = type(thing)
        if kind is tuple:
            row = cast("tuple[object, ...]", thing)
            new = tuple(self._row(row))
            return self._keep(thing, thing if all(map(is_, row, new)) else new)
        if kind in {set, bytearray}:
            return self._keep(thing, copy.copy(thing))
        if kind in _BASES or holds_any(thing, self._parts):
            return self._like(thing)
        if isinstance(thing, (MethodType, BuiltinMethodType)):
            return self._method(thing)
        return thing

    def _keep(self, thing: object, new: object) -> object:
        self._done[id(thing)] = thing, new
        return new

    def _method(self, method: MethodType | BuiltinMethodType) -> object:
        """Return the same method of what takes the place of its owner, if something does."""
        owner: object = method.__self__
        new = self._of(owner) if type(owner) in _BASES or owner is self._value else owner
        if new is owner:
            return method
        if isinstance(method, MethodType):
            return MethodType(method.__func__, new)
        return cast("object", getattr(new, method.__name__))

    def _row(self, things: Iterable[object], *, is_original: bool = False) -> list[object]:
        """Return what takes the place of ``things``; also of numbers, if these are the parts."""
        row = [*things]
        if (len(row) == len(self._held) and all(map(is_, row, self._held))) and (
            is_original or self._in_attributes or not self._parts.isdisjoint(map(id, row))
        ):
            return [*self._children]
        followed = any(_is_followed(kind) for kind in set(map(type, row)))
        if not followed and self._done.keys().isdisjoint(map(id, row)):
            return row  # a long history, for example
        return [self._of(one) for one in row]

    def _like(self, value: object) -> object:
        kind = type(value)
        if closes(kind):
            raise TypeError(f"{kind.__name__} ends with itself what another would have as well")
        base = next((base for base in _BASES if issubclass(kind, base)), object)
        new = source = _copied_by_itself(value, base)
        if new is None:
            make = cast("Callable[[type[object]], object]", untyped(base, "__new__"))
            new, source = make(kind), value
        _ = self._keep(value, new)
        self._give(new, source)
        self._fill(new, source, base, is_original=value is self._value)
        return new

    def _fill(self, new: object, value: object, base: type[object], *, is_original: bool) -> None:
        """Put into ``new`` what takes the place of what ``value`` holds, past their class."""
        if base is list:
            _init_list(new, self._row(_iter_list(value), is_original=is_original))
        elif base is deque:
            row = self._row(_iter_deque(value), is_original=is_original)
            _init_deque(new, row, untyped(value, "maxlen"))
        elif issubclass(base, dict):
            if base is defaultdict:
                factory = self._of(untyped(value, "default_factory"))
                object.__setattr__(new, "default_factory", factory)
            is_ordered = base is OrderedDict
            keys = [*(_iter_ordered if is_ordered else _iter_dict)(value)]
            put = _put_ordered if is_ordered else _put
            row = [_get(value, key) for key in keys]
            shown = self._by_key if is_original else {}
            for key, one, other in zip(keys, row, self._row(row), strict=True):
                held, child = shown.get(key, (one, other))
                put(new, key, child if held is one else other)


def closes(kind: type[object]) -> bool:
    """Tell whether an object ends something when it is gone, which its like would have as well."""
    return hasattr(kind, "__del__")


def holds_any(thing: object, known: Set[int]) -> bool:
    """Tell whether a dictionary or list holds an object of which the id is ``known``."""
    kind = type(thing)
    if issubclass(kind, dict):
        return any(id(_get(thing, key)) in known for key in _iter_dict(thing))
    return issubclass(kind, list) and any(id(one) in known for one in _iter_list(thing))


def _is_followed(kind: type[object]) -> bool:
    return kind in _FOLLOWED or issubclass(kind, (dict, list))


def _copied_by_itself(value: object, base: type[object]) -> object | None:
    """Return what the class of ``value`` says is its copy, if it says something of its own."""
    kind = type(value)
    own = cast("object", getattr(kind, "__copy__", None))
    if base is object or own is getattr(base, "__copy__", None):
        return None
    with suppress(Exception):
        new = copy.copy(value)
        if new is not value and type(new) is kind and _hold_the_same(new, value, base):
            return new
    return None


def _hold_the_same(one: object, other: object, base: type[object]) -> bool:
    """Tell whether two containers hold the same objects: a copy may hold copies, or nothing."""
    held, given = _contents(one, base), _contents(other, base)
    return len(held) == len(given) and all(map(is_, held, given))


def _contents(value: object, base: type[object]) -> Sequence[object]:
    if base is list:
        return [*_iter_list(value)]
    if base is deque:
        return [*_iter_deque(value)]
    if base is ChainMap:
        return cast("Sequence[object]", untyped(value, "maps"))
    if base is UserDict:
        return _contents(untyped(value, "data"), dict)
    keys = [*(_iter_ordered if base is OrderedDict else _iter_dict)(value)]
    return [*keys, *[_get(value, key) for key in keys]]


def put_attribute(instance: object, name: str, attribute: object, before: object) -> None:
    """Set an attribute past what its class does about it.

    Args:
        instance: What has the attribute.
        name: Its name.
        attribute: What it becomes.
        before: What is shown by the name.

    Raises:
        TypeError: The class makes up what is shown, and may write anywhere.
    """
    own = cast("dict[str, object]", getattr(instance, "__dict__", {}))
    if name in own and (own[name] is before or own[name] is attribute):
        own[name] = attribute
        return
    kind = type(instance)
    declared = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), _NOTHING)
    if declared is not before and not isinstance(declared, MemberDescriptorType):
        raise TypeError(f"{name} is not what an instance of {kind.__name__} has of its own")
    object.__setattr__(instance, name, attribute)


def made_anew(
    value: Mapping[object, object],
    keys: Sequence[object],
    held: Sequence[object],
    children: Sequence[object],
    holds: Holds,
) -> object:
    """Return another mapping like ``value``, which is no dictionary.

    Args:
        value: The original. Without anything new in it, it is itself: spaces are mappings.
        keys: Its keys.
        held: What it holds.
        children: What takes their place, in the same order.
        holds: Tells whether such a mapping holds the objects given.
    """
    if all(map(is_, held, children)):
        return value
    with suppress(Exception):
        new = Exchange(value, held, children, in_attributes=True).of_original()
        if holds(new, children):
            _put_again(new, keys, children)
            if holds(new, children):
                return new
    make = cast("Callable[[object], object]", type(value))
    new = make(dict(zip(keys, children, strict=True)))
    if not holds(new, children):
        raise TypeError(f"{type(value).__name__} makes something else of what it is given")
    own = cast("dict[str, object]", getattr(new, "__dict__", {}))
    anew = Exchange(value, held, children, in_attributes=True)
    attributes, _ = anew.of_attributes(value)
    for name, attribute in attributes.items():
        before = {name: own[name]} if name in own else {}
        own[name] = attribute
        if not holds(new, children):  # this one is where they are
            del own[name]
            own.update(before)
    return new


def _put_again(new: object, keys: Sequence[object], children: Sequence[object]) -> None:
    """Let the class of ``new`` refuse what it holds: some hold the arrays of one library only."""
    if hasattr(new, "__setitem__"):
        for key, child in zip(keys, children, strict=True):
            cast("MutableMapping[object, object]", new)[key] = child
