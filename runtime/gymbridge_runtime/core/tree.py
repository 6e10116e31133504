"""Trees of values: flattened into leaves, and built again from the results."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from inspect import currentframe
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias, cast
from weakref import WeakSet

from gymbridge_runtime.core.containers import (
    OBJECT_ARRAY,
    AnyContainer,
    UnconvertedContainerWarning,
)
from gymbridge_runtime.core.describe import shown
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.leaves import (
    NUMBERS,
    TYPES,
    LeafType,
    kind_of_numbers,
    treatment_of,
)
from gymbridge_runtime.core.ownership import ALONE_AS_CHILD, getrefcount, is_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gymbridge_runtime.types import HostArray

Leaf: TypeAlias = tuple[object, LeafType, bool]
"""A leaf, the treatment of its type, and whether nobody else refers to it."""

Leaves: TypeAlias = list[Leaf]


@dataclass(slots=True, eq=False)
class Node:
    """A container in a tree, with its rule, its keys and its children."""

    container: AnyContainer
    value: object
    keys: Sequence[object]
    children: list[Node | None]
    """None for a leaf."""
    end: int = 0
    """How many leaves of the tree are in this container or before it."""

    def held(self) -> list[object]:
        """Return what the container holds."""
        return self.container.flatten(self.value)[1]


def flatten(value: object, leaves: Leaves, *, is_free: bool) -> Node | None:
    """Append the leaves of ``value`` to ``leaves``; return its structure, None for a leaf.

    Nobody else refers to ``value`` if it ``is_free``.

    Raises:
        ConversionError: A container cannot be read.
        RecursionError: The tree is too deep; `too_deep` tells whether a container contains itself.
    """
    kind = TYPES[type(value)]
    if type(kind) is LeafType:
        if kind.role == "host" and kind_of_numbers(value) not in NUMBERS:
            kind = treatment_of(value, kind)
        if type(kind) is LeafType:
            leaves.append((value, kind, is_free))
            return None
    container = cast("AnyContainer", kind)
    try:
        keys, children = container.flatten(value)
    except RecursionError:
        raise
    except REFUSED as error:
        raise ConversionError(
            f"the {type(value).__name__} could not be read: {shown(error)}",
            "correct it, or take it out of the tree",
        ) from error
    node = Node(container, value, keys, [])
    is_free = is_free and container.is_provable
    if is_free and container is OBJECT_ARRAY:
        is_free = is_alone(cast("HostArray", value))  # another array may hold the same objects
    nodes = node.children
    try:
        for child in children:
            is_child_free = is_free and getrefcount(child) == ALONE_AS_CHILD
            kind = TYPES[type(child)]
            if type(kind) is LeafType and kind.role != "host":  # most children, without a call
                leaves.append((child, kind, is_child_free))
                nodes.append(None)
            else:
                nodes.append(flatten(child, leaves, is_free=is_child_free))
    except ConversionError as error:
        error.below(container.step(keys[len(nodes)]))
        raise
    node.end = len(leaves)
    return node


def unflatten(node: Node | None, results: Iterator[object]) -> object:
    """Return the tree of ``node`` with ``results`` in the places of its leaves.

    Raises:
        ConversionError: The function of a registered container raised an error.
    """
    if node is None:
        return next(results)
    # no comprehension: it takes a level of Python's stack
    children: list[object] = [None] * len(node.children)
    for place, below in enumerate(node.children):
        try:
            children[place] = next(results) if below is None else unflatten(below, results)
        except ConversionError as error:
            error.below(node.container.step(node.keys[place]))
            raise
    value = node.value
    try:
        new = node.container.unflatten(value, node.keys, children)
    except RecursionError:
        raise
    except REFUSED as error:
        if node.container.is_registered:
            raise ConversionError(
                f"no other {type(value).__name__} could be built: {shown(error)}",
                "correct the function that you registered",
            ) from error
        new = None
    if new is None:
        warn_if_unconverted(value, node.held)
        return value
    return new


_warned: Final = WeakSet[type[object]]()

_MOST_LOOKED_AT: Final = 16
"""The most items that are searched for arrays, because a sequence may be endless."""


def warn_if_unconverted(value: object, held: Callable[[], Iterable[object]]) -> None:
    """Warn once for each type that ``value`` stays as it is, if it holds arrays."""
    kind = type(value)
    try:
        if kind in _warned or not any(map(_is_array, islice(held(), _MOST_LOOKED_AT))):
            return
    except REFUSED:  # a container that cannot be read gets no warning
        return
    name = f"{kind.__module__}.{kind.__qualname__}"
    warn_once(
        kind,
        f"{name} holds arrays that are not converted, because gymbridge does not know how to build "
        + f"another one; register it with gymbridge.register_container({kind.__qualname__}, ...)",
        UnconvertedContainerWarning,
    )


def warn_once(kind: type[object], text: str, category: type[Warning]) -> None:
    """Warn once for each type of value that stays as it is."""
    if kind not in _warned:
        warnings.warn(text, category, stacklevel=_level_of_caller())
        _warned.add(kind)


def _level_of_caller() -> int:
    """Return the stack level of the code that called gymbridge, as `warnings.warn` counts it."""
    frame, level = currentframe(), 0
    while frame and str(frame.f_globals.get("__name__")).startswith(("gymbridge", "gymnasium")):
        frame, level = frame.f_back, level + 1
    return level


def _is_array(value: object) -> bool:
    kind = TYPES[type(value)]
    return type(kind) is LeafType and kind.role in {"host", "array", "foreign"}


def path_to(node: Node | None, place: int) -> str:
    """Return the path of the leaf with the number ``place``."""
    path, start = "", 0
    while node is not None:
        parent, node = node, None
        for key, child in zip(parent.keys, parent.children, strict=True):
            end = start + 1 if child is None else child.end
            if place < end:
                path += parent.container.step(key)
                node = child
                break
            start = end
    return path


def too_deep(value: object, root: str) -> ConversionError:
    """Return the error for a tree that contains itself or is nested too deeply."""
    deep = "the containers are nested too deeply", "flatten them first"
    above: list[object] = []
    ways: list[tuple[str, Iterator[tuple[str, object]]]] = [("", iter([("", value)]))]
    while ways:
        step, child = next(ways[-1][1], (None, None))
        if step is None:
            del ways[-1], above[-1:]
            continue
        kind = TYPES[type(child)]
        if type(kind) is LeafType and kind.role == "host":
            kind = treatment_of(child, kind)
        if type(kind) is LeafType:
            continue
        container = cast("AnyContainer", kind)
        is_cycle = any(child is one for one in above)
        if is_cycle or len(above) > _DEEPEST:
            cycle = f"the {type(child).__name__} contains itself", "break the cycle first"
            path = "".join([root, *(way for way, _ in ways), step])
            return ConversionError(*(cycle if is_cycle else deep), path=path)
        try:
            keys, children = container.flatten(child)
        except REFUSED:  # it recurses without end
            continue
        above.append(child)
        ways.append((step, zip(map(container.step, keys), children, strict=True)))
    return ConversionError(*deep, path=root)


_DEEPEST: Final = 2_000
"""The depth of the search for a cycle, because a mapping may make children without end."""
