"""Questions about types, where ``isinstance`` would leave unknown type arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = ["is_mapping", "is_sequence"]


def is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    """Tell whether ``value`` is a mapping."""
    return isinstance(value, Mapping)


def is_sequence(value: object) -> TypeIs[tuple[object, ...] | list[object]]:
    """Tell whether ``value`` is a tuple or a list; a str is neither."""
    return isinstance(value, (tuple, list))
