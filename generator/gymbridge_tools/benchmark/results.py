"""Results, as machines read them."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cases import Targets
    from .measure import Measurement
    from .pairs import Pair

__all__ = ["Result", "as_json"]

DISTRIBUTIONS = ("gymnasium", "jax", "numpy", "torch")


class Result(NamedTuple):
    """One measured row."""

    case: str
    title: str
    pair: Pair
    measurement: Measurement
    targets: Targets

    @property
    def missed(self) -> list[str]:
        """The columns against which gymbridge wants to be better than it is."""
        figures = self.measurement.figures
        floor = figures.ratio("gymbridge", "floor")
        gymnasium = figures.ratio("gymnasium", "gymbridge")
        missed = []
        if self.targets.floor is not None and floor is not None and floor > self.targets.floor:
            missed.append("floor")
        least = self.targets.gymnasium
        if least is not None and gymnasium is not None and gymnasium < least:
            missed.append("gymnasium")
        return missed

    def as_json(self) -> dict[str, object]:
        """Return the row in microseconds and ratios."""
        figures = self.measurement.figures
        return {
            "case": self.case,
            "pair": self.pair.name,
            "microseconds": {name: time * 1e6 for name, time in figures.times.items()},
            "gymbridge_to_floor": _ratio(self.measurement, "gymbridge", "floor"),
            "gymnasium_to_gymbridge": _ratio(self.measurement, "gymnasium", "gymbridge"),
            "targets": self.targets._asdict(),
            "missed": self.missed,
            "rounds": self.measurement.rounds,
        }


def _ratio(measurement: Measurement, one: str, other: str) -> dict[str, float] | None:
    ratio, spread = measurement.figures.ratio(one, other), measurement.spread(one, other)
    if ratio is None or spread is None:
        return None
    return {"ratio": ratio, "least": spread[0], "greatest": spread[1]}


def as_json(results: Sequence[Result]) -> dict[str, object]:
    """Return everything that was measured, and with what."""
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
