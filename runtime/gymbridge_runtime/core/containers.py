"""Containers: how each kind is flattened, and how a new one is built.

The environment's own containers do not change. If no constructor is known, `copy.copy` makes the
new container: it must be another object and hold the new children. If that fails, the container
stays itself, and a warning names `register_container`.
"""

from __future__ import annotations

import copy
import sys
from collections import ChainMap, deque
from collections.abc import Mapping
from dataclasses import fields
from inspect import getattr_static
from operator import is_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeAlias, cast

import numpy as np
from gymbridge_runtime.backends.registry import notify
from gymbridge_runtime.core.describe import step_to
from gymbridge_runtime.core.narrowing import getattr_untyped
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping, MutableSequence, Sequence

    from _typeshed import DataclassInstance
    from gymbridge_runtime.types import HostArray

ValueT = TypeVar("ValueT")
AuxT = TypeVar("AuxT")

Keys: TypeAlias = "Sequence[object]"
Children: TypeAlias = "Sequence[object]"
Flat: TypeAlias = "tuple[Keys, list[object]]"


class UnconvertedContainerWarning(UserWarning):
    """A container of an unknown class holds arrays, which stay as they are."""


class Container(NamedTuple, Generic[ValueT]):
    """How to flatten one kind of container, and how to build a new one."""

    flatten: Callable[[ValueT], Flat]
    """Returns the keys and the children of a container, in the same order."""
    unflatten: Callable[[ValueT, Keys, Children], object]
    """Returns a new container; returns None or raises if the class does not take the children."""
    step: Callable[[object], str] = step_to
    """Returns the part of a path that leads to the child at a key."""
    is_provable: bool = False
    """Whether the reference counts of the children prove that nobody else holds them."""
    is_registered: bool = False
    """Whether a user gave the rule; then its errors are raised."""


AnyContainer: TypeAlias = Container[Any]  # pyright: ignore[reportExplicitAny] any container


# -- the parts that several kinds share -------------------------------------------------------


def _items(value: Mapping[object, object]) -> Flat:
    return [*value.keys()], [*value.values()]


def _numbered(children: Iterable[object]) -> Flat:
    held = [*children]
    return range(len(held)), held


def _are(held: Iterable[object], children: Children) -> bool:
    """Tell whether ``held`` are the objects ``children``."""
    found = [*held]
    return len(found) == len(children) and all(map(is_, found, children))


# for a type checker, the type of a value takes any arguments
_class_of: Final = cast("Callable[[object], Callable[..., object]]", type)


def _new_dict(_value: object, keys: Keys, children: Children) -> dict[object, object]:
    return dict(zip(keys, children, strict=True))


def _made_of_dict(value: object, keys: Keys, children: Children) -> object:
    return _class_of(value)(_new_dict(value, keys, children))


def _made_of_list(value: object, _keys: Keys, children: Children) -> object:
    return _class_of(value)(children)


def _copied(
    flatten: Callable[[ValueT], Flat],
    fill: Callable[[ValueT, Keys, Children], None],
    step: Callable[[object], str] = step_to,
) -> Container[ValueT]:
    """Return the rule by which ``fill`` puts the new children into a `copy.copy`."""

    def unflatten(value: ValueT, keys: Keys, children: Children) -> object:
        new = copy.copy(value)
        if new is value or type(new) is not type(value):
            return None
        if cast("object", getattr(value, "__dict__", None)) is value:
            object.__setattr__(new, "__dict__", new)  # its keys are its attributes
        _, before = flatten(value)
        try:
            fill(new, keys, children)
        finally:
            held = zip(flatten(value)[1], before, children, strict=False)
            if any(now is child is not old for now, old, child in held):  # they share storage
                fill(value, keys, before)
        return new if _are(flatten(new)[1], children) else None

    return Container(flatten, unflatten, step)


def _set_items(new: MutableMapping[object, object], keys: Keys, children: Children) -> None:
    for key, child in zip(keys, children, strict=True):
        new[key] = child


def _replace(new: MutableSequence[object], _keys: Keys, children: Children) -> None:
    new.clear()
    new.extend(children)


# -- the parts of one kind --------------------------------------------------------------------

_iterate: Final = cast("Callable[[object], Iterable[object]]", getattr_untyped(tuple, "__iter__"))
_new_tuple: Final = cast("Callable[[type, Children], object]", getattr_untyped(tuple, "__new__"))


def _held_by_tuple(value: object) -> Flat:
    return _numbered(_iterate(value))


def _tuple_like(value: object, _keys: Keys, children: Children) -> object:
    try:
        new = _new_tuple(type(value), children)
    except TypeError:  # a class written in C
        new = _class_of(value)(children)
    if hasattr(value, "__dict__"):
        vars(new).update(vars(value))
    return new if _are(_iterate(new), children) else None


def _elements(value: HostArray) -> Flat:
    return [[*index] for index in np.ndindex(value.shape)], [*value.flat]


def _array_like(value: HostArray, keys: Keys, children: Children) -> HostArray:
    new = np.empty_like(value, object)
    for index, child in zip(cast("Sequence[list[int]]", keys), children, strict=True):
        new[tuple(index)] = child
    return new


def _maps(value: ChainMap[object, object]) -> Flat:
    return _numbered(value.maps)


def _set_maps(new: ChainMap[object, object], _keys: Keys, children: Children) -> None:
    new.maps = cast("list[MutableMapping[object, object]]", [*children])


def _fields(value: DataclassInstance) -> Flat:
    names = [field.name for field in fields(value) if hasattr(value, field.name)]
    return names, [getattr_untyped(value, name) for name in names]


def _set_fields(new: object, keys: Keys, children: Children) -> None:
    for name, child in zip(keys, children, strict=True):
        object.__setattr__(new, str(name), child)  # a frozen class refuses setattr


def _tensordict_like(value: object, keys: Keys, children: Children) -> object:
    """Return a TensorDict, or a dictionary if a TensorDict cannot hold the arrays."""
    tensor = cast("type", getattr_untyped(sys.modules["torch"], "Tensor"))
    new = _new_dict(value, keys, children)
    if not all(isinstance(child, (tensor, type(value))) for child in children):
        return new
    return _class_of(value)(new, batch_size=getattr_untyped(value, "batch_size"))


# -- the kinds --------------------------------------------------------------------------------

OBJECT_ARRAY: Final = Container(_elements, _array_like, step=str, is_provable=True)
"""NumPy arrays of objects; vector environments put final observations into them."""

_EXACT: Final[dict[type[object], AnyContainer]] = {
    dict: Container(_items, _new_dict, is_provable=True),
    list: Container(_numbered, _made_of_list, is_provable=True),
    tuple: Container(_numbered, _made_of_list, is_provable=True),
}

_BY_BASE: Final[tuple[tuple[type[object], AnyContainer], ...]] = (
    (ChainMap, _copied(_maps, _set_maps, lambda key: f".maps[{key}]")),
    (MappingProxyType, Container(_items, _made_of_dict)),
    (tuple, Container(_held_by_tuple, _tuple_like, is_provable=True)),
    (deque, _copied(_numbered, _replace)),
    (list, _copied(_numbered, _replace)),
)
_MAPPING: Final = _copied(_items, _set_items)
_ANY_MAPPING: Final = cast("type[object]", Mapping)
_DATACLASS: Final = _copied(_fields, _set_fields, lambda key: f".{key}")

_BY_NAME: Final[dict[str, AnyContainer]] = {
    "tensordict.base.TensorDictBase": Container(_items, _tensordict_like),
    "flax.core.frozen_dict.FrozenDict": Container(_items, _made_of_dict),
}
"""Classes that are known without importing their libraries."""


# -- the registry -----------------------------------------------------------------------------

_registered: Final[dict[type[object], AnyContainer]] = {}


class _Numbers(list[int], Generic[AuxT]):
    """The keys of a registered container, with the other data for its ``unflatten``."""

    def __init__(self, count: int, aux: AuxT) -> None:
        super().__init__(range(count))
        self.aux: AuxT = aux


def register_container(
    kind: type[ValueT],
    flatten: Callable[[ValueT], tuple[Sequence[object], AuxT]],
    unflatten: Callable[[AuxT, Sequence[object]], ValueT],
) -> None:
    """Make a class and its subclasses containers, so that their arrays are converted.

    Args:
        kind: The class.
        flatten: Returns the children of an instance, and any other data that `unflatten` needs.
        unflatten: Takes this data and the new children; returns a new instance.

    Examples:
        >>> import numpy as np
        >>> from gymbridge import register_container
        >>> from gymbridge.numpy_to_torch import numpy_to_torch
        >>> class Pose:
        ...     def __init__(self, position, name):
        ...         self.position, self.name = position, name
        >>> register_container(
        ...     Pose,
        ...     flatten=lambda pose: ([pose.position], pose.name),
        ...     unflatten=lambda name, children: Pose(*children, name),
        ... )
        >>> numpy_to_torch([Pose(np.zeros(2), "arm")], into=list)[0].position
        tensor([0., 0.], dtype=torch.float64)
    """

    def numbered(value: ValueT) -> Flat:
        children, aux = flatten(value)
        return _Numbers(len(children), aux), [*children]

    def rebuilt(_value: ValueT, keys: Keys, children: Children) -> ValueT:
        return unflatten(cast("_Numbers[AuxT]", keys).aux, children)

    _registered[kind] = Container(numbered, rebuilt, is_registered=True)
    notify()


def container_of(kind: type[object]) -> AnyContainer | None:
    """Return the rule for instances of ``kind``, or None if they are leaves."""
    exact = _registered.get(kind) or _EXACT.get(kind)
    if exact is not None:
        return exact
    for base in kind.__mro__:
        found = _registered.get(base) or _BY_NAME.get(f"{base.__module__}.{base.__qualname__}")
        if found is not None:
            return found
    if hasattr(kind, "__del__"):
        return None  # a second instance would release the same resource twice
    if getattr_static(kind, "_is_tensorclass", False):
        return None  # it looks like a dataclass but keeps its fields in a TensorDict
    for base, container in _BY_BASE:
        if issubclass(kind, base):
            return container
    if issubclass(kind, _ANY_MAPPING) and (dict in kind.__mro__ or hasattr(kind, "__copy__")):
        return _MAPPING
    # a metaclass may claim that its classes have any attribute
    declared = cast("object", getattr_static(kind, "__dataclass_fields__", None))
    return _DATACLASS if isinstance(declared, dict) else None
