"""What counts as a container, what it holds, and how another of the same kind is built."""

from __future__ import annotations

import copy
import dataclasses
from abc import ABC, abstractmethod
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from inspect import getattr_static
from itertools import islice
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeAlias, cast
from weakref import WeakValueDictionary

import numpy as np
from gymbridge_runtime.describe import shown, step_to
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.narrowing import is_tuple, untyped
from gymbridge_runtime.types import HostArray
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping

    from _typeshed import DataclassInstance

__all__ = [
    "LIST",
    "MAPPING",
    "OBJECT_ARRAY",
    "TUPLE",
    "AnyContainer",
    "container_of",
    "items_of",
    "rebuilt",
]

ValueT_contra = TypeVar("ValueT_contra", contravariant=True)

_new_tuple: Final = cast(
    "Callable[[type[object], Sequence[object]], object]", untyped(tuple, "__new__")
)
_iter_tuple: Final = untyped(tuple, "__iter__")
_NOT_SET: Final = object()


class _Container(ABC, Generic[ValueT_contra]):
    """How to take one kind of container apart, and how to put its like together."""

    @abstractmethod
    def items(self, value: ValueT_contra) -> list[tuple[object, object]]:
        """Return the keys and the children of ``value``."""

    @abstractmethod
    def build(
        self, value: ValueT_contra, keys: Sequence[object], children: Sequence[object]
    ) -> object:
        """Return another container like ``value``, or fail in whatever way its type fails."""

    def step(self, key: object) -> str:
        """Return how a path goes from the container to the child at ``key``."""
        return step_to(key)

    def takes_anything(self, kind: type[object]) -> bool:
        """Tell whether instances of ``kind`` hold whatever they are given; some are particular."""
        return kind in _TAKES_ANYTHING


def _counted(items: Iterable[tuple[object, object]], count: int) -> list[tuple[object, object]]:
    """Return ``items``, of which there are to be ``count``: some iterators never end."""
    found = [(key, child) for key, child in islice(items, count + 1)]
    if len(found) > count:
        raise ValueError(f"it says that it holds {count}, and shows more")
    return found


_TAKES_ANYTHING = frozenset({dict, OrderedDict, defaultdict, list, tuple, deque})

AnyContainer: TypeAlias = _Container[Any]  # pyright: ignore[reportExplicitAny] any container
"""A kind of container, whichever it is."""


class _Mapping(_Container[Mapping[object, object]]):
    """Dictionaries of every kind, and what else is a mapping (TensorDict, proxies, …)."""

    @override
    def items(self, value: Mapping[object, object]) -> list[tuple[object, object]]:
        keys = value.keys()  # of a TensorDict, len() is its batch; weak ones have no view of keys
        return _counted(value.items(), len(keys if hasattr(keys, "__len__") else value))

    @override
    def build(
        self, value: Mapping[object, object], keys: Sequence[object], children: Sequence[object]
    ) -> object:
        new = _own_copy(value)
        if new is None or not _fill(new, keys, children):
            return _made_anew(value, keys, children)
        return new


def _fill(
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


def _copied(value: object) -> object:
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
    state = cast("_State | tuple[_State, _State]", object.__getstate__(value))
    held, slots = state if isinstance(state, tuple) else (state, None)
    new = cast("Callable[[type[object]], object]", untyped(base, "__new__"))(kind)
    writes = _differs(kind, base, "__setitem__")
    for name, attribute in {**(held or {}), **(slots or {})}.items():
        own = copy.copy(attribute) if writes and type(attribute) in _BASES else attribute
        object.__setattr__(new, name, own)
    _fill_past(new, value, base)
    return new


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


def _made_anew(
    value: Mapping[object, object], keys: Sequence[object], children: Sequence[object]
) -> object:
    """Return what the type of ``value`` makes of a dictionary, with its plain attributes.

    Without anything new in it, it is itself: spaces are mappings.
    """
    if all(value[key] is child for key, child in zip(keys, children, strict=True)):
        return value
    make = cast("Callable[[object], object]", type(value))
    new = make(dict(zip(keys, children, strict=True)))
    for name, held in cast("dict[str, object]", getattr(value, "__dict__", {})).items():
        if isinstance(held, _PLAIN):  # others may be what holds the children
            object.__setattr__(new, name, held)
    return new


_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), Enum)


class _Copied(Protocol):
    def copy(self) -> object: ...


def _own_copy(value: object) -> MutableMapping[object, object] | None:
    """Return a copy that is filled in place and keeps what else ``value`` has, or None.

    Only what can be filled, and has a way of its own to be copied, is known to copy its storage.
    """
    new, same = None, value
    if isinstance(value, dict):
        if getattr(same, "__dict__", None) is same:  # its keys are its attributes
            new = copy.copy(same)
            object.__setattr__(new, "__dict__", new)
        else:
            new = _copied(same)
    elif hasattr(value, "copy") and hasattr(value, "__setitem__"):
        new = cast("_Copied", value).copy()
    if type(new) is not type(same) or new is same:
        return None
    return cast("MutableMapping[object, object]", new)  # what can be copied can be filled


class _Chain(_Container["ChainMap[object, object]"]):
    """Mappings that look into others, which are all made anew, with what is hidden in them."""

    @override
    def items(self, value: ChainMap[object, object]) -> list[tuple[object, object]]:
        return _counted(enumerate(value.maps), len(value.maps))

    @override
    def build(
        self,
        value: ChainMap[object, object],
        keys: Sequence[object],
        children: Sequence[object],
    ) -> object:
        new = cast("ChainMap[object, object]", _copied(value))
        new.maps = cast("list[MutableMapping[object, object]]", list(children))
        return new

    @override
    def step(self, key: object) -> str:
        return f".maps[{key}]"


class _Tuple(_Container[tuple[object, ...]]):
    """Tuples, named or not, built past a ``__new__`` of their own; their attributes stay."""

    @override
    def items(self, value: tuple[object, ...]) -> list[tuple[object, object]]:
        return _counted(enumerate(value), len(value))

    @override
    def build(
        self, value: tuple[object, ...], keys: Sequence[object], children: Sequence[object]
    ) -> object:
        kind = type(value)
        if not _is_filled(kind):
            return cast("Callable[..., object]", kind)(children, *_besides(value))
        new = _new_tuple(kind, children)
        if hasattr(value, "__dict__"):
            vars(new).update(vars(value))
        return new

    @override
    def takes_anything(self, kind: type[object]) -> bool:
        return _is_filled(kind) and untyped(kind, "__iter__") is _iter_tuple


def _is_filled(kind: type[object]) -> bool:
    """Tell whether a tuple can be filled past its type; only those written in C fill their own."""
    new: object = kind.__new__
    return new is _new_tuple or isinstance(new, FunctionType)


def _besides(value: tuple[object, ...]) -> Sequence[object]:
    """Return what a tuple written in C is made of besides its items, as the zone of a time."""
    kind = type(value)
    if getattr(kind, "n_fields", 0) == getattr(kind, "n_sequence_fields", 0):
        return ()
    _, (_, *besides) = cast("tuple[object, Sequence[object]]", value.__reduce__())
    return besides


class _List(_Container[list[object]]):
    """Lists and what derives from them."""

    @override
    def items(self, value: list[object]) -> list[tuple[object, object]]:
        return _counted(enumerate(value), len(value))

    @override
    def build(
        self, value: list[object], keys: Sequence[object], children: Sequence[object]
    ) -> object:
        new = cast("list[object]", _copied(value))
        new[:] = children
        return new


class _Deque(_Container[deque[object]]):
    """Deques; ``maxlen`` stays."""

    @override
    def items(self, value: deque[object]) -> list[tuple[object, object]]:
        return _counted(enumerate(value), len(value))

    @override
    def build(
        self, value: deque[object], keys: Sequence[object], children: Sequence[object]
    ) -> object:
        new = cast("deque[object]", _copied(value))
        new.clear()
        new.extend(children)
        return new


def _held(value: object, name: str) -> object:
    return getattr(value, name, _NOT_SET)


class _Dataclass(_Container["DataclassInstance"]):
    """Instances of dataclasses, frozen ones included; neither constructor nor hooks run."""

    @override
    def items(self, value: DataclassInstance) -> list[tuple[object, object]]:
        names = [field.name for field in dataclasses.fields(value)]
        held = [(name, _held(value, name)) for name in names]
        return [(name, child) for name, child in held if child is not _NOT_SET]

    @override
    def build(self, value: object, keys: Sequence[object], children: Sequence[object]) -> object:
        new = copy.copy(value)
        if new is value:
            raise TypeError(f"{type(value).__name__} copies to itself")
        for name, child in zip(keys, children, strict=True):
            object.__setattr__(new, str(name), child)
        return new

    @override
    def step(self, key: object) -> str:
        return f".{key}"


class _ObjectArray(_Container[HostArray]):
    """NumPy arrays of Python objects: vector environments put final observations into them."""

    @override
    def items(self, value: HostArray) -> list[tuple[object, object]]:
        return [(index, value[index]) for index in np.ndindex(value.shape)]

    @override
    def build(self, value: HostArray, keys: Sequence[object], children: Sequence[object]) -> object:
        new = np.empty_like(value, object)
        for index, child in zip(np.ndindex(value.shape), children, strict=True):
            new[index] = child
        return new

    @override
    def step(self, key: object) -> str:
        return str(list(key)) if is_tuple(key) else step_to(key)

    @override
    def takes_anything(self, kind: type[object]) -> bool:
        return kind is np.ndarray


OBJECT_ARRAY = _ObjectArray()
"""Told apart by its dtype, not by its type as the others are."""

MAPPING = _Mapping()
TUPLE = _Tuple()
LIST = _List()

_BY_BASE: tuple[tuple[type[object], AnyContainer], ...] = (
    (ChainMap, _Chain()),
    (Mapping, MAPPING),
    (tuple, TUPLE),
    (list, LIST),
    (deque, _Deque()),
)
_DATACLASS = _Dataclass()


def container_of(kind: type[object]) -> AnyContainer | None:
    """Return how to treat instances of ``kind``, or None: what is iterable need not be one."""
    if issubclass(kind, WeakValueDictionary):
        return None  # it holds nothing: what was converted for it would be gone
    for base, container in _BY_BASE:
        if issubclass(kind, base):
            return container
    # a metaclass may say that its classes have any attribute, and is_dataclass believes it
    fields = cast("object", getattr_static(kind, "__dataclass_fields__", None))
    return _DATACLASS if isinstance(fields, dict) else None


def items_of(container: AnyContainer, value: object) -> list[tuple[object, object]]:
    """Return the keys and the children of ``value``, or tell why it has none to show.

    Raises:
        ConversionError: What ``value`` does when it is read; the error of its own is the cause.
    """
    try:
        return container.items(value)
    except Exception as error:
        raise ConversionError(
            f"the {type(value).__name__} could not be read: {shown(error)}",
            "mend it, or take it out of what is converted",
        ) from error


def rebuilt(
    container: AnyContainer, value: object, keys: Sequence[object], children: Sequence[object]
) -> object:
    """Return a container like ``value`` that holds ``children``.

    A type may refuse them, or make something else of them: such a container is left as it is.
    """
    with suppress(Exception):
        new = container.build(value, keys, children)
        held = [child for _, child in container.items(new)]
        if _are(held, children) and type(new) is type(value):
            return new
    return value


def _are(held: Sequence[object], given: Sequence[object]) -> bool:
    """Tell whether ``held`` are the objects ``given``; some mappings show those in them anew."""
    return len(held) == len(given) and all(
        one is other or _shows(one, other) for one, other in zip(held, given, strict=True)
    )


def _shows(one: object, other: object) -> bool:
    kind = type(one)
    if kind is dict or kind is not type(other) or container_of(kind) is not MAPPING:
        return False
    held, given = ([child for _, child in items_of(MAPPING, mapping)] for mapping in (one, other))
    return _are(held, given)
