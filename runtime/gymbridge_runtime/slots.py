"""Places in a tree that are filled once all of its arrays were imported at once."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, cast

import numpy as np
from gymbridge_runtime.containers import OBJECT_ARRAY, container_of, is_object_array
from gymbridge_runtime.trees import Bag, Rule, Rules, as_it_is, rule_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.types import HostArray

__all__ = ["Slot", "fill"]


class Slot:
    """Stands for the array at an index of what is imported together."""

    __slots__: tuple[str, ...] = ("index",)

    def __init__(self, index: int) -> None:
        self.index: int = index


def fill(tree: object, arrays: Sequence[object]) -> object:
    """Return ``tree`` with ``arrays`` in the place of its slots."""
    # the walk hands its bag on to the rules below, which only read it
    return _RULES[type(tree)](tree, 0, cast("Bag", arrays))


def _from_slot(slot: Slot, depth: int, arrays: Bag | None) -> object:
    del depth
    return slot if arrays is None else arrays[slot.index]


def _from_array(array: HostArray, depth: int, arrays: Bag | None) -> object:
    return _OBJECTS(array, depth, arrays) if is_object_array(array) else array


def _leaf_rule(kind: type[object]) -> Rule | None:
    if kind is Slot:
        return rule_of(_from_slot)
    if issubclass(kind, np.ndarray):
        return rule_of(_from_array)
    if issubclass(kind, Enum):
        return as_it_is
    container = container_of(kind)
    # what is particular about its children was given arrays, never slots
    return None if container is None or container.takes_anything(kind) else as_it_is


_RULES = Rules(_leaf_rule)
_OBJECTS = _RULES.within(OBJECT_ARRAY)
