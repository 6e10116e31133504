"""Containers like others, made without writing into those, whose classes may be anybody's."""

from __future__ import annotations

import copy
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from gymbridge_runtime.narrowing import is_mapping, untyped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence

__all__ = ["copied", "filled", "made_anew", "own_copy"]


def filled(
    new: MutableMapping[object, object], keys: Sequence[object], children: Sequence[object]
) -> bool:
    """Put ``children`` into ``new``; tell whether it let that happen."""
    with suppress(Exception):
        for key, child in zip(keys, children, strict=True):
            new[key] = child
        return True
    return False


_BASES: Final = cast(
    "tuple[type[object], ...]",
    (Counter, OrderedDict, defaultdict, dict, list, deque, ChainMap),
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
_slice: Final = cast("Callable[[object, slice], list[object]]", untyped(list, "__getitem__"))
_extend: Final = cast("Callable[[object, list[object]], None]", untyped(list, "extend"))
_iter_deque: Final = cast("Callable[[object], Iterable[object]]", untyped(deque, "__iter__"))
_init_deque: Final = cast("Callable[..., None]", untyped(deque, "__init__"))


_State: TypeAlias = "dict[str, object] | None"


def copied(value: object) -> object:
    """Return a copy of a container of the standard library, or of a class derived from one.

    A class that has a way of its own to be copied knows what belongs to it. Of the others
    `copy.copy` would write through their methods, which may write into what the copy shares; and
    those of the standard library that copy themselves leave attributes behind.
    """
    kind = type(value)
    if kind in _BASES:
        return copy.copy(value)
    base = next(base for base in _BASES if issubclass(kind, base))
    if any(_differs(kind, base, name) for name in ("__copy__", "__reduce__", "__reduce_ex__")):
        return copy.copy(value)
    new = cast("Callable[[type[object]], object]", untyped(base, "__new__"))(kind)
    writes = _differs(kind, base, "__setitem__")
    for name, attribute in _attributes(value).items():
        own = copy.copy(attribute) if writes and type(attribute) in _BASES else attribute
        object.__setattr__(new, name, own)
    _fill_past(new, value, base)
    return new


def _attributes(value: object) -> dict[str, object]:
    """Return the attributes of ``value``, those in slots included."""
    state = cast("_State | tuple[_State, _State]", object.__getstate__(value))
    held, slots = state if isinstance(state, tuple) else (state, None)
    return {**(held or {}), **(slots or {})}


def _differs(kind: type[object], base: type[object], name: str) -> bool:
    return cast("object", getattr(kind, name, None)) is not getattr(base, name, None)


def _fill_past(new: object, value: object, base: type[object]) -> None:
    """Put into ``new`` what ``value`` holds, past the methods of their class."""
    if base is list:
        _extend(new, _slice(value, slice(None)))
    elif base is deque:
        _init_deque(new, _iter_deque(value), untyped(value, "maxlen"))
    elif base is OrderedDict:
        for key in _iter_ordered(value):
            _put_ordered(new, key, _get(value, key))
    elif issubclass(base, dict):
        if base is defaultdict:
            object.__setattr__(new, "default_factory", untyped(value, "default_factory"))
        for key in _iter_dict(value):
            _put(new, key, _get(value, key))


def made_anew(
    value: Mapping[object, object],
    keys: Sequence[object],
    children: Sequence[object],
    holds: Callable[[object, Sequence[object]], bool],
) -> object:
    """Return what the type of ``value`` makes of a dictionary, with its other attributes.

    Args:
        value: What cannot be filled. Without anything new in it, it is itself: spaces are mappings.
        keys: Its keys.
        children: What is to take the place of what it holds.
        holds: Tells whether such a mapping holds the objects given.
    """
    if holds(value, children):
        return value
    make = cast("Callable[[object], object]", type(value))
    new = make(dict(zip(keys, children, strict=True)))
    own = _attributes(new)
    for name, held in _attributes(value).items():
        object.__setattr__(new, name, held)
        if not holds(new, children):  # this one is where they are
            object.__setattr__(new, name, own[name])
    return new


class _Copied(Protocol):
    def copy(self) -> object: ...


def own_copy(value: object) -> MutableMapping[object, object] | None:
    """Return a copy that is filled in place and keeps what else ``value`` has, or None.

    Only what can be filled, and has a way of its own to be copied, is known to copy its storage.
    """
    new, same = None, value
    if isinstance(value, dict):
        if getattr(same, "__dict__", None) is same:  # its keys are its attributes
            new = copy.copy(same)
            object.__setattr__(new, "__dict__", new)
        else:
            new = copied(same)
    elif hasattr(value, "copy") and hasattr(value, "__setitem__"):
        new = cast("_Copied", value).copy()
        if _shares_storage(new, value):
            return None
    if type(new) is not type(same) or new is same:
        return None
    return cast("MutableMapping[object, object]", new)  # what can be copied can be filled


def _shares_storage(new: object, value: object) -> bool:
    """Tell whether what is written into ``new`` would be in ``value`` as well."""
    keys = [*cast("Mapping[object, object]", value).keys()]  # a TensorDict iterates over rows
    attributes = cast("dict[str, object]", getattr(value, "__dict__", {}))
    return any(
        held is getattr(new, name, None) and is_mapping(held) and [*held.keys()] == keys
        for name, held in attributes.items()
    )
