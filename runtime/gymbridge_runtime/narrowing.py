"""Questions about types, where ``isinstance`` and libraries leave something unknown.

Values are asked by ``type``: what they say of their ``__class__`` need not be true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnySpace, HostArray
    from typing_extensions import TypeIs

__all__ = [
    "is_box",
    "is_dict_space",
    "is_discrete",
    "is_host_array",
    "is_host_scalar",
    "is_mapping",
    "is_multi_discrete",
    "is_one_of",
    "is_plain_dict",
    "is_sequence",
    "is_space",
    "is_tuple",
    "is_tuple_space",
    "untyped",
]


def untyped(owner: object, name: str) -> object:
    """Return what a library calls ``name``, where it declares no type, or half of one."""
    return cast("object", getattr(owner, name))


def is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    """Tell whether ``value`` is a mapping."""
    return issubclass(type(value), Mapping)


def is_plain_dict(value: object) -> TypeIs[dict[object, object]]:
    """Tell whether ``value`` is a dictionary, and of no class that derives from it."""
    return type(value) is dict


def is_sequence(value: object) -> TypeIs[tuple[object, ...] | list[object]]:
    """Tell whether ``value`` is a tuple or a list; a str is neither."""
    return issubclass(type(value), (tuple, list))


def is_tuple(value: object) -> TypeIs[tuple[object, ...]]:
    """Tell whether ``value`` is a tuple."""
    return issubclass(type(value), tuple)


def is_host_array(value: object) -> TypeIs[HostArray]:
    """Tell whether ``value`` is a NumPy array."""
    return issubclass(type(value), np.ndarray)


def is_host_scalar(kind: type[object]) -> TypeIs[type[np.generic]]:
    """Tell whether instances of ``kind`` are NumPy scalars."""
    return issubclass(kind, np.generic)


def is_space(value: object) -> TypeIs[AnySpace]:
    """Tell whether ``value`` is a space."""
    return isinstance(value, spaces.Space)


def is_discrete(space: AnySpace) -> TypeIs[spaces.Discrete[np.integer]]:
    """Tell whether ``space`` is of single integers."""
    return isinstance(space, spaces.Discrete)


def is_multi_discrete(space: AnySpace) -> TypeIs[spaces.MultiDiscrete[np.integer]]:
    """Tell whether ``space`` is of arrays of integers."""
    return isinstance(space, spaces.MultiDiscrete)


def is_box(space: AnySpace) -> TypeIs[spaces.Box[np.floating | np.integer]]:
    """Tell whether ``space`` is of arrays of numbers between bounds."""
    return isinstance(space, spaces.Box)


def is_dict_space(space: AnySpace) -> TypeIs[spaces.Dict[object]]:
    """Tell whether ``space`` is a dictionary of spaces."""
    return isinstance(space, spaces.Dict)


def is_tuple_space(space: AnySpace) -> TypeIs[spaces.Tuple[object]]:
    """Tell whether ``space`` is a tuple of spaces."""
    return isinstance(space, spaces.Tuple)


def is_one_of(space: AnySpace) -> TypeIs[spaces.OneOf[object]]:
    """Tell whether ``space`` is a choice between spaces."""
    return isinstance(space, spaces.OneOf)
