"""Trees of values: the walk that gives every leaf to its rule and builds the containers anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias, cast

from gymbridge_runtime.containers import (
    LIST,
    MAPPING,
    OBJECT_ARRAY,
    TUPLE,
    AnyContainer,
    container_of,
    is_object_array,
    items_of,
    rebuilt,
)
from gymbridge_runtime.describe import describe, step_to
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.kinds import Kinds
from gymbridge_runtime.types import HostArray
from typing_extensions import TypeVar

__all__ = ["Bag", "Rule", "Rules", "as_it_is", "rule_of"]

ValueT = TypeVar("ValueT")

Bag: TypeAlias = list[HostArray]
"""What the rules of one walk collect; None where there is nothing to collect."""

Rule: TypeAlias = Callable[[object, int, "Bag | None"], object]
"""From a value, its depth and the bag of the walk to what takes its place."""

_DEEP = 5
"""The depth from which a tree is walked without recursion, and looked at for what it repeats.

A container that is in a tree many times is converted as often above this depth, and once below: a
list that holds another one twice, which holds another one twice, … has no end otherwise.
"""

_DEEPEST = 100_000
"""How far down a tree is walked: a mapping may make up what it holds, and never come to an end."""


def rule_of(rule: Callable[[ValueT, int, Bag | None], object]) -> Rule:
    """Return ``rule``, which is given, or lets through, the values of one type only."""
    return cast("Rule", rule)


def as_it_is(value: object, _depth: int, _bag: Bag | None) -> object:
    """Leave ``value`` alone."""
    return value


class Rules(Kinds[Rule]):
    """The rule of every type, found when the type is first met.

    Args:
        leaf_rule: Returns the rule of a type, or None for a container.
        copies: Whether what cannot be made again is to be copied, and not left as it is.
    """

    def __init__(
        self, leaf_rule: Callable[[type[object]], Rule | None], *, copies: bool = False
    ) -> None:
        super().__init__()
        self._leaf_rule: Callable[[type[object]], Rule | None] = leaf_rule
        self._containers: _Containers = _Containers(leaf_rule)
        self._copies: bool = copies
        self._plain: dict[type[object], Rule] = {
            dict: rule_of(self._dict),
            list: rule_of(self._list),
            tuple: rule_of(self._tuple),
        }

    def __missing__(self, kind: type[object]) -> Rule:
        rule = self._plain.get(kind) or self._leaf_rule(kind)
        if rule is None:
            container = container_of(kind)
            rule = as_it_is if container is None else self.within(container)
        return self.remember(kind, rule)

    def shorten_dicts(self, shortcut: Callable[[Rule], Rule]) -> None:
        """Put ``shortcut`` before the rule of dictionaries."""
        self._plain[dict] = shortcut(self._plain[dict])
        _ = self.pop(dict, None)

    # The plain containers are nearly all there are, so they have rules of their own: one frame a
    # level and no call but the rule of the child.

    def _dict(self, value: dict[object, object], depth: int, bag: Bag | None) -> object:
        if depth >= _DEEP:
            return self.deep(MAPPING, value, bag)
        depth += 1
        new: dict[object, object] = {}
        key: object = None
        try:
            for key, child in value.items():
                rule = self[type(child)]
                new[key] = child if rule is as_it_is else rule(child, depth, bag)
        except ConversionError as error:
            error.below(step_to(key))
            raise
        except RuntimeError as error:  # somebody writes into the dictionary
            raise ConversionError.unforeseen(error, describe(value)) from error
        return new

    def _list(self, value: list[object], depth: int, bag: Bag | None) -> object:
        if depth >= _DEEP:
            return self.deep(LIST, value, bag)
        return self._children(value, depth + 1, bag)

    def _tuple(self, value: tuple[object, ...], depth: int, bag: Bag | None) -> object:
        if depth >= _DEEP:
            return self.deep(TUPLE, value, bag)
        return tuple(self._children(value, depth + 1, bag))

    def _children(self, value: Iterable[object], depth: int, bag: Bag | None) -> list[object]:
        new: list[object] = []
        append = new.append
        try:
            for child in value:
                rule = self[type(child)]
                append(child if rule is as_it_is else rule(child, depth, bag))
        except ConversionError as error:
            error.below(f"[{len(new)}]")
            raise
        return new

    def within(self, container: AnyContainer) -> Rule:
        """Return the rule of containers that are treated like ``container``."""

        def rule(value: object, depth: int, bag: Bag | None) -> object:
            if depth >= _DEEP:
                return self.deep(container, value, bag)
            if not container.takes_anything(type(value)):
                bag = None
            keys: list[object] = []
            children: list[object] = []
            for key, child in items_of(container, value):
                keys.append(key)
                try:
                    children.append(self[type(child)](child, depth + 1, bag))
                except ConversionError as error:
                    error.below(container.step(key))
                    raise
            return rebuilt(container, value, keys, children, copies=self._copies)

        return rule

    def deep(self, container: AnyContainer, value: object, bag: Bag | None) -> object:
        """Convert ``value`` like the rules above, without recursion; a cycle is an error."""
        path = [_Level(container, value, bag)]
        above = {id(value)}
        done: dict[tuple[int, bool], _Done] = {}
        while True:
            level = path[-1]
            if level.next == len(level.items):
                del path[-1]
                above.remove(id(level.value))
                try:
                    result = level.result(copies=self._copies)
                except ConversionError as error:
                    error.below(_way_to(path))
                    raise
                if not path:
                    return result
                done[id(level.value), path[-1].bag is None] = _Done(level.value, result)
                path[-1].children.append(result)
                continue
            child = level.items[level.next][1]
            level.next += 1
            below = self._container_at(child)
            try:
                if below is None:
                    level.children.append(self[type(child)](child, _DEEP, level.bag))
                    continue
                known = done.get((id(child), level.bag is None))
                if known is not None:
                    level.children.append(known.result)
                    continue
                if id(child) in above:
                    raise ConversionError(
                        f"the {type(child).__name__} contains itself", "break the cycle first"
                    )
                if len(path) == _DEEPEST:
                    raise ConversionError(
                        f"the containers are nested more than {_DEEPEST} deep", "flatten them first"
                    )
                path.append(_Level(below, child, level.bag))
            except ConversionError as error:
                error.below(_way_to(path))
                raise
            above.add(id(child))

    def _container_at(self, value: object) -> AnyContainer | None:
        if is_object_array(value):
            return OBJECT_ARRAY
        return self._containers[type(value)]


class _Containers(Kinds["AnyContainer | None"]):
    """How containers of every type are treated; None: they are leaves."""

    def __init__(self, leaf_rule: Callable[[type[object]], Rule | None]) -> None:
        super().__init__()
        self._leaf_rule: Callable[[type[object]], Rule | None] = leaf_rule

    def __missing__(self, kind: type[object]) -> AnyContainer | None:
        is_leaf = self._leaf_rule(kind) is not None
        return self.remember(kind, None if is_leaf else container_of(kind))


class _Done(NamedTuple):
    """A container and its counterpart; it is kept, or another one could come to be in its place."""

    value: object
    result: object


class _Level:
    """A container on the way down, and how far its children are converted."""

    def __init__(self, container: AnyContainer, value: object, bag: Bag | None) -> None:
        self.container: AnyContainer = container
        self.value: object = value
        self.bag: Bag | None = bag if container.takes_anything(type(value)) else None
        self.items: list[tuple[object, object]] = items_of(container, value)
        self.next: int = 0
        self.children: list[object] = []

    def step(self) -> str:
        return self.container.step(self.items[self.next - 1][0])

    def result(self, *, copies: bool) -> object:
        keys = [key for key, _ in self.items]
        return rebuilt(self.container, self.value, keys, self.children, copies=copies)


def _way_to(path: Iterable[_Level]) -> str:
    return "".join([level.step() for level in path])
