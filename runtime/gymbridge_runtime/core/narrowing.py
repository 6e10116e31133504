"""Type tests that tell type checkers more than ``isinstance`` does.

Tests of values use ``type``, because the ``__class__`` of a value may be false.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from gymnasium import spaces
from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import AnySpace, HostArray
    from typing_extensions import TypeIs

KindT = TypeVar("KindT")


def getattr_untyped(owner: object, name: str) -> object:
    """Return an attribute whose type a library does not declare, or not fully."""
    return cast("object", getattr(owner, name))


def is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    """Tell whether ``value`` is a mapping."""
    return issubclass(type(value), Mapping)


def is_exact_dict(value: object) -> TypeIs[dict[object, object]]:
    """Tell whether ``value`` is a ``dict``, and not of a subclass."""
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


def is_single_number(value: object) -> bool:
    """Tell whether ``value`` is a number of Python or a scalar of NumPy."""
    return isinstance(value, (int, float, complex, np.generic))


def is_host_scalar(kind: type[object]) -> TypeIs[type[np.generic]]:
    """Tell whether instances of ``kind`` are NumPy scalars."""
    return issubclass(kind, np.generic)


def _test_for(kind: type[KindT]) -> Callable[[object], TypeIs[KindT]]:
    def test(value: object) -> TypeIs[KindT]:
        return isinstance(value, kind)

    return test


# isinstance would leave the type parameters of these classes unknown
is_space: Final = _test_for(cast("type[AnySpace]", spaces.Space))
is_discrete: Final = _test_for(cast("type[spaces.Discrete[np.integer]]", spaces.Discrete))
is_multi_discrete: Final = _test_for(
    cast("type[spaces.MultiDiscrete[np.integer]]", spaces.MultiDiscrete)
)
is_box: Final = _test_for(
    cast("type[spaces.Box[np.floating | np.integer]]", cast("object", spaces.Box))
)
is_dict_space: Final = _test_for(cast("type[spaces.Dict[object]]", spaces.Dict))
is_tuple_space: Final = _test_for(cast("type[spaces.Tuple[object]]", spaces.Tuple))
is_one_of: Final = _test_for(cast("type[spaces.OneOf[object]]", spaces.OneOf))
is_sequence_space: Final = _test_for(spaces.Sequence)
is_graph: Final = _test_for(spaces.Graph)
