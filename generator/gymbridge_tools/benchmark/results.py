"""Results, for tables and JSON."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NamedTuple

from .guard import missed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cases import Case
    from .measure import Measurement
    from .pairs import Pair

DISTRIBUTIONS = ("gymnasium", "jax", "numpy", "torch")


class Result(NamedTuple):
    """One measured row."""

    name: str
    case: Case
    pair: Pair
    measurement: Measurement
    transfers: dict[str, tuple[int, int]] | None = None
    """The transfers of a step to the device and back, by column."""

    def as_json(self) -> dict[str, object]:
        """Return the row in microseconds and ratios."""
        figures = self.measurement.figures
        return {
            "case": self.name,
            "pair": self.pair.name,
            "microseconds": {name: time * 1e6 for name, time in figures.times.items()},
            "gymbridge_to_by_hand": _ratio(self.measurement, "gymbridge", "by_hand"),
            "gymbridge_to_plain": _ratio(self.measurement, "gymbridge", "plain"),
            "gymnasium_to_gymbridge": _ratio(self.measurement, "gymnasium", "gymbridge"),
            "aim": self.case.aim(self.pair)._asdict(),
            "missed": list(missed(self)),
            "rounds": self.measurement.rounds,
            "transfers": self.transfers,
        }


def _ratio(measurement: Measurement, one: str, other: str) -> dict[str, float] | None:
    ratio, spread = measurement.figures.ratio(one, other), measurement.spread(one, other)
    if ratio is None or spread is None:
        return None
    return {"ratio": ratio, "least": spread[0], "greatest": spread[1]}


def as_json(results: Sequence[Result]) -> dict[str, object]:
    """Return all results, and the versions they were measured with."""
    return {
        "python": platform.python_version(),
        "machine": f"{sys.platform} {platform.machine()}",
        "versions": {name: _version(name) for name in DISTRIBUTIONS},
        "results": [result.as_json() for result in results],
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
