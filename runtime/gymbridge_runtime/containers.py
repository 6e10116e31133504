"""What counts as a container, what it holds, and how another of the same kind is built."""

from __future__ import annotations

import copy
import dataclasses
import gc
from abc import ABC, abstractmethod
from collections import ChainMap, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from inspect import getattr_static
from itertools import islice
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeAlias, cast
from weakref import WeakValueDictionary

import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.describe import shown, step_to
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.exchange import Exchange, closes, holds_any, made_anew, put_attribute
from gymbridge_runtime.narrowing import is_host_array, is_tuple, untyped
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
    "is_object_array",
    "items_of",
    "rebuilt",
]

ValueT_contra = TypeVar("ValueT_contra", contravariant=True)

_new_tuple: Final = cast(
    "Callable[[type[object], Sequence[object]], object]", untyped(tuple, "__new__")
)
_iter_tuple: Final = cast("Callable[[object], Iterable[object]]", untyped(tuple, "__iter__"))
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


def _attributes(value: object) -> dict[str, object] | None:
    """Return the attributes of ``value``; None: it has none, or in slots only."""
    return cast("dict[str, object] | None", getattr(value, "__dict__", None))


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
        kind = type(value)
        if kind is dict:
            return dict(zip(keys, children, strict=True))
        if kind in _TAKES_ANYTHING and not _attributes(value):
            same = cast("dict[object, object]", copy.copy(value))
            for key, child in zip(keys, children, strict=True):
                same[key] = child
            return same
        held = [child for _, child in self.items(value)]
        if isinstance(value, (dict, UserDict)):
            around = isinstance(value, UserDict)
            return Exchange(value, held, children, keys, in_attributes=around).of_original()
        return made_anew(value, keys, held, children, self._holds)

    def _holds(self, value: object, children: Sequence[object]) -> bool:
        shown = self.items(cast("Mapping[object, object]", value))
        return _are([child for _, child in shown], children)


class _Proxy(_Container["MappingProxyType[object, object]"]):
    """What lets a mapping be read only: what is behind it is converted, and read only again."""

    @override
    def items(self, value: MappingProxyType[object, object]) -> list[tuple[object, object]]:
        container, behind = _behind(value)
        return container.items(behind)

    @override
    def build(
        self,
        value: MappingProxyType[object, object],
        keys: Sequence[object],
        children: Sequence[object],
    ) -> object:
        container, behind = _behind(value)
        new = container.build(behind, keys, children)
        return MappingProxyType(cast("Mapping[object, object]", new))


def _behind(proxy: MappingProxyType[object, object]) -> tuple[AnyContainer, object]:
    (mapping,) = cast("list[object]", gc.get_referents(proxy))
    return container_of(type(mapping)) or MAPPING, mapping


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
        new = cast("ChainMap[object, object]", Exchange(value, value.maps, children).of_original())
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
        if _attributes(value):
            Exchange(value, [*_iter_tuple(value)], children).give(new, value)
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
        if type(value) is list:
            return list(children)
        held = [child for _, child in self.items(value)]
        return Exchange(value, held, children).of_original()


class _Deque(_Container[deque[object]]):
    """Deques; ``maxlen`` stays."""

    @override
    def items(self, value: deque[object]) -> list[tuple[object, object]]:
        return _counted(enumerate(value), len(value))

    @override
    def build(
        self, value: deque[object], keys: Sequence[object], children: Sequence[object]
    ) -> object:
        if type(value) is deque:
            return deque(children, value.maxlen)
        held = [child for _, child in self.items(value)]
        return Exchange(value, held, children).of_original()


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
    def build(
        self, value: DataclassInstance, keys: Sequence[object], children: Sequence[object]
    ) -> object:
        names = [str(key) for key in keys]
        held = [_held(value, name) for name in names]
        attributes = _attributes(value)
        if attributes is None or not {*names}.issuperset(attributes):  # in slots, or beside fields
            new = Exchange(value, held, children).of_original()
        else:
            new = object.__new__(type(value))
            vars(new).update(attributes)
        for name, child, before in zip(names, children, held, strict=True):
            put_attribute(new, name, child, before)
        return new

    @override
    def step(self, key: object) -> str:
        return f".{key}"


class _Field(NamedTuple):
    """The key of a field, where the items of the container have keys of their own."""

    name: str


class _DataclassToo(_Container["DataclassInstance"]):
    """Containers that are dataclasses as well, whose fields may be their items by another name.

    Args:
        container: How the items are treated.
    """

    def __init__(self, container: AnyContainer) -> None:
        self._container: AnyContainer = container

    @override
    def items(self, value: DataclassInstance) -> list[tuple[object, object]]:
        items = self._container.items(value)
        known = {id(child) for _, child in items}
        fields = [(_Field(str(name)), held) for name, held in _DATACLASS.items(value)]
        return items + [
            (name, held)
            for name, held in fields
            if id(held) not in known and not holds_any(held, known)
        ]

    @override
    def build(
        self, value: DataclassInstance, keys: Sequence[object], children: Sequence[object]
    ) -> object:
        count = len([key for key in keys if type(key) is not _Field])
        new = self._container.build(value, keys[:count], children[:count])
        items = self.items(value)
        now = {id(held): child for (_, held), child in zip(items, children, strict=True)}
        for name, held in _DATACLASS.items(value):
            if id(held) in now:
                put_attribute(new, str(name), now[id(held)], held)
        return new

    @override
    def step(self, key: object) -> str:
        return f".{key.name}" if type(key) is _Field else self._container.step(key)


def is_object_array(value: object) -> bool:
    """Tell whether ``value`` is an array of Python objects; one with a mask would lose that."""
    return is_host_array(value) and value.dtype.kind == "O" and not NUMPY.is_opaque(type(value))


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
    (MappingProxyType, _Proxy()),
    (Mapping, MAPPING),
    (tuple, TUPLE),
    (list, LIST),
    (deque, _Deque()),
)
_DATACLASS = _Dataclass()


_BOTH: Final[dict[AnyContainer, AnyContainer]] = {
    container: _DataclassToo(container) for _, container in _BY_BASE
}


def container_of(kind: type[object]) -> AnyContainer | None:
    """Return how to treat instances of ``kind``, or None: what is iterable need not be one."""
    if issubclass(kind, WeakValueDictionary):
        return None  # it holds nothing: what was converted for it would be gone
    # a metaclass may say that its classes have any attribute, and is_dataclass believes it
    fields = cast("object", getattr_static(kind, "__dataclass_fields__", None))
    has_fields = isinstance(fields, dict)
    for base, container in _BY_BASE:
        if issubclass(kind, base):
            return _BOTH[container] if has_fields else container
    return _DATACLASS if has_fields else None


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
    container: AnyContainer,
    value: object,
    keys: Sequence[object],
    children: Sequence[object],
    *,
    copies: bool = False,
) -> object:
    """Return a container like ``value`` that holds ``children``.

    A type may refuse them, or make something else of them: such a container is left as it is.

    Args:
        container: What ``value`` is treated as.
        value: What is to be made again.
        keys: Its keys.
        children: What takes the place of what is there.
        copies: Whether nothing in the result may be shared, not even where it is left as it is.

    Raises:
        ConversionError: It can neither be made again nor copied.
    """
    with suppress(Exception):
        new = value if closes(type(value)) else container.build(value, keys, children)
        held = [child for _, child in container.items(new)]
        if _are(held, children) and type(new) is type(value):
            return new
    may_stay = not copies or _never_changes(value)
    if may_stay or _are([child for _, child in items_of(container, value)], children):
        return value
    try:
        return copy.deepcopy(value)
    except Exception as error:
        raise ConversionError(
            f"the {type(value).__name__} can neither be made again nor copied: {shown(error)}",
            "see the cause above, or convert what it holds one by one",
        ) from error


def _never_changes(value: object) -> bool:
    """Tell whether ``value`` is a tuple of numbers and text, and nothing more."""
    if not is_tuple(value) or type(value).__dictoffset__:
        return False
    return all(type(child) in _ATOMS for child in _iter_tuple(value))


_ATOMS: Final = frozenset({int, float, complex, bool, str, bytes, type(None)})


_LOOKS: Final = 2
"""How many levels deep containers that are made anew are compared. What is below was compared when
it was made, and a class that shows all of it anew at every look would take longer and longer."""


def _are(held: Sequence[object], given: Sequence[object], looks: int = _LOOKS) -> bool:
    """Tell whether ``held`` are the objects ``given``; some mappings show those in them anew.

    Args:
        held: What a container shows.
        given: What it was given.
        looks: Into how many levels of containers to look.
    """
    return len(held) == len(given) and all(
        one is other or _shows(one, other, looks) for one, other in zip(held, given, strict=True)
    )


def _shows(one: object, other: object, looks: int) -> bool:
    container = container_of(type(one)) if type(one) is type(other) else None
    if container is None or container not in {MAPPING, LIST, TUPLE}:
        return False
    if not looks:
        return True
    held, given = ([child for _, child in items_of(container, both)] for both in (one, other))
    return _are(held, given, looks - 1)
