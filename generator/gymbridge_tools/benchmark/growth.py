"""Measures how the cost of a conversion grows with the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .cases import ARRAY, results
from .contest import Contest
from .measure import Budget, measure
from .worlds import Values

if TYPE_CHECKING:
    from collections.abc import Callable

    from .pairs import Pair

BUDGET: Final = Budget(seconds=0.1, round_seconds=0.0004, rounds=5)
MEMORY = 2**26  # the most bytes for the arguments of a round


class Curve(NamedTuple):
    """A quantity that grows: leaves, depth, environments or bytes."""

    title: str
    sizes: tuple[int, ...]
    value: Callable[[Pair, int], object]
    """Returns the value of a size, in NumPy arrays."""


class Point(NamedTuple):
    """One measurement of a curve."""

    curve: str
    pair: Pair
    size: int
    microseconds: dict[str, float]

    def as_json(self) -> dict[str, object]:
        """Return the point for JSON."""
        return {
            "curve": self.curve,
            "pair": self.pair.name,
            "size": self.size,
            "microseconds": self.microseconds,
        }


def measured_point(name: str, pair: Pair, size: int) -> Point:
    """Measure one point of the curve ``name``."""
    value = CURVES[name].value(pair, size)
    most = max(1, min(200, MEMORY // _bytes_in(value)))
    values = Values(pair.source, value, most)
    calls = {"gymbridge": pair.converter(), "gymnasium": pair.gymnasiums_converter()}
    contest = Contest(calls, lambda _column, calls: values.prepare(calls), most)
    times = measure(contest, BUDGET).figures.times
    return Point(name, pair, size, {column: time * 1e6 for column, time in times.items()})


def _leaves(_pair: Pair, size: int) -> object:
    return {f"leaf_{number}": ARRAY for number in range(size)}


def _nested(_pair: Pair, size: int) -> object:
    value: object = ARRAY
    for _ in range(size):
        value = {"below": value}
    return value


def _environments(pair: Pair, size: int) -> object:
    return results(pair, np.ones((size, 8), np.float32))


def _bytes(_pair: Pair, size: int) -> object:
    return np.zeros(size, np.uint8)


def _bytes_in(value: object) -> int:
    if isinstance(value, dict):
        return sum(map(_bytes_in, value.values()))
    if isinstance(value, tuple):
        return sum(map(_bytes_in, value))
    return value.nbytes if isinstance(value, np.ndarray) else 0


CURVES: Final = {
    "leaves": Curve("arrays in a dict", (1, 3, 10, 30, 100, 300, 1000), _leaves),
    "depth": Curve("dicts around an array", (1, 3, 10, 30, 100, 300), _nested),
    "environments": Curve(
        "environments in a vector step", (1, 10, 100, 1000, 10_000, 100_000), _environments
    ),
    "bytes": Curve("bytes in an array", tuple(10**power for power in range(1, 8)), _bytes),
}
"""All of them, by name."""
