"""Every kind of Gymnasium's spaces, for tests of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import AnySpace


_box = cast("Callable[..., AnySpace]", spaces.Box)


def box_of(dtype: type[np.generic] | str, *shape: int) -> AnySpace:
    """Return a box of small numbers."""
    low = 0 if np.dtype(dtype).kind == "u" else -4
    return _box(low, 4, shape, dtype)


SPACES: dict[str, AnySpace] = {
    **{
        f"Box of {np.dtype(dtype)}": box_of(dtype, 2, 3)
        for dtype in (
            *("float16", "float32", "float64"),
            *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        )
    },
    "Box of float32 without bounds": spaces.Box(-np.inf, np.inf, (2,), np.float32),
    "Box of int64 without dimensions": box_of(np.int64),
    "Box of uint8 without dimensions": box_of(np.uint8),
    "Box of float64 without dimensions": box_of(np.float64),
    "Box of float32 without dimensions or bounds": spaces.Box(-np.inf, np.inf, (), np.float32),
    "Box of length one": box_of(np.float32, 1),
    "empty Box": box_of(np.float32, 0, 2),
    "Box with a bound for each element": spaces.Box(
        np.array([-1, 0], np.float64), np.array([1, 5], np.float64), dtype=np.float64
    ),
    "Discrete": spaces.Discrete(5),
    "Discrete with a start": spaces.Discrete(5, start=-2),
    "Discrete of int32": spaces.Discrete(5, dtype=np.int32),
    "Discrete of int8": spaces.Discrete(5, start=100, dtype=np.int8),
    "MultiDiscrete": spaces.MultiDiscrete([2, 5]),
    "MultiDiscrete of two dimensions": spaces.MultiDiscrete(np.array([[2, 3], [4, 5]])),
    "MultiDiscrete of int32 with starts": spaces.MultiDiscrete(
        [2, 5], dtype=np.int32, start=[-1, 3]
    ),
    "MultiBinary": spaces.MultiBinary(4),
    "MultiBinary of two dimensions": spaces.MultiBinary((2, 3)),
    "Text": spaces.Text(8),
    "Dict": spaces.Dict(move=box_of(np.float64, 2), jump=spaces.Discrete(2), say=spaces.Text(3)),
    "Tuple": spaces.Tuple([spaces.Discrete(3), box_of(np.float32, 2), spaces.MultiBinary(2)]),
    "Sequence": spaces.Sequence(spaces.Discrete(3)),
    "Sequence of Box": spaces.Sequence(box_of(np.float64, 2)),
    "Sequence of Text": spaces.Sequence(spaces.Text(3)),
    "stacked Sequence": spaces.Sequence(box_of(np.float64, 2), stack=True),
    "stacked Sequence of Discrete": spaces.Sequence(spaces.Discrete(3), stack=True),
    "stacked Sequence of Text": spaces.Sequence(spaces.Text(3), stack=True),
    "stacked Sequence of Dict": spaces.Sequence(
        spaces.Dict(a=spaces.Discrete(3), b=box_of(np.float64, 2)), stack=True
    ),
    "stacked Sequence of Tuple": spaces.Sequence(
        spaces.Tuple([spaces.MultiBinary(3), spaces.Discrete(2)]), stack=True
    ),
    "stacked Sequence of OneOf": spaces.Sequence(
        spaces.OneOf([spaces.Discrete(3), box_of(np.float64, 2)]), stack=True
    ),
    "stacked Sequence of Sequence": spaces.Sequence(
        spaces.Sequence(spaces.Discrete(3)), stack=True
    ),
    "Graph": spaces.Graph(box_of(np.float32, 3), spaces.Discrete(4)),
    "Graph of numbers": spaces.Graph(spaces.Discrete(4), box_of(np.float64, 2)),
    "Graph without edges": spaces.Graph(box_of(np.float64, 2), None),
    "OneOf": spaces.OneOf([spaces.Discrete(3), box_of(np.float64, 2), spaces.Text(3)]),
    "deep nesting": spaces.Dict(
        plan=spaces.Sequence(
            spaces.Tuple(
                [
                    spaces.OneOf(
                        [
                            spaces.Dict(a=spaces.Discrete(3), b=spaces.MultiBinary((2, 2))),
                            spaces.Sequence(box_of(np.uint8, 2), stack=True),
                            spaces.Graph(box_of(np.float64, 1), None),
                        ]
                    ),
                    spaces.Text(4),
                ]
            )
        ),
        rest=spaces.Tuple([spaces.Dict(c=spaces.Tuple([box_of(np.int16)]))]),
    ),
}
"""Every kind of Gymnasium's spaces, with some special cases."""
