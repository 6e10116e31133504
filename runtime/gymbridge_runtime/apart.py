"""Vector observations of which some parts are no batch, where batches are laid over many devices.

Of graphs, sequences, choices and spaces of a user's own a vector environment makes no one array:
there is a tuple with one for each environment, and the first axes of the arrays in it are not to be
divided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gymbridge_runtime.containers import container_of, items_of, rebuilt
from gymbridge_runtime.describe import step_to
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.narrowing import is_dict_space, is_tuple_space
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gymbridge_runtime.backend import Convert
    from gymbridge_runtime.types import AnySpace

__all__ = ["MakeWay", "is_apart", "part_by_part"]

MakeWay: TypeAlias = "Callable[[str, bool], Convert]"
"""From the path of a part, and whether it is a batch, to the conversion of that part."""

_BATCHED = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
"""Spaces of which Gymnasium makes one array for all environments."""


def part_by_part(space: AnySpace, way_of: MakeWay, root: str, *, copies: bool) -> Convert | None:
    """Return the conversion of observations; None: all that is observed is batches.

    Args:
        space: What one environment observes.
        way_of: Makes the conversions of the parts.
        root: How error messages call the observations.
        copies: Whether everything is copied.
    """
    return _part(space, way_of, root, copies=copies) if _has_apart(space) else None


def _children(space: AnySpace) -> Iterable[tuple[object, AnySpace]]:
    if is_dict_space(space):
        return space.spaces.items()
    return enumerate(space.spaces) if is_tuple_space(space) else ()


def is_apart(space: AnySpace) -> bool:
    """Tell whether a vector environment has one sample of ``space`` for each environment.

    It does of all spaces of a user's own; of a plain `Space` nothing is known.
    """
    known = (*_BATCHED, spaces.Dict, spaces.Tuple)
    return type(space) is not spaces.Space and not isinstance(space, known)


def _has_apart(space: AnySpace) -> bool:
    return is_apart(space) or any(_has_apart(child) for _, child in _children(space))


def _part(space: AnySpace, way_of: MakeWay, path: str, *, copies: bool) -> Convert:
    if is_apart(space) or not _has_apart(space):
        return way_of(path, not is_apart(space))
    parts = {
        key: _part(child, way_of, path + step_to(key), copies=copies)
        for key, child in _children(space)
    }
    undeclared = way_of(path, False)

    def convert(value: object) -> object:
        container = container_of(type(value))
        if container is None:
            return undeclared(value)
        try:
            items = items_of(container, value)
        except ConversionError as error:
            error.below(path)
            raise
        keys = [key for key, _ in items]
        if {*keys} != parts.keys():
            return undeclared(value)
        children = [parts[key](child) for key, child in items]
        try:
            return rebuilt(container, value, keys, children, copies=copies)
        except ConversionError as error:
            error.below(path)
            raise

    return convert
