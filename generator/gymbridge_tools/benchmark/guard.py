"""The guard against regressions: ratios only, with margins that noise does not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Result

__all__ = ["regressions"]

MARGIN = 2


def regressions(result: Result) -> list[str]:
    """Say in what ``result`` is far from what is aimed at, in the best of its groups of rounds."""
    found: list[str] = []
    measurement, (most, least) = result.measurement, result.targets
    to_floor = measurement.spread("gymbridge", "floor")
    if most is not None and to_floor is not None and to_floor[0] > MARGIN * most:
        found.append(
            f"{to_floor[0]:.2f} times the cost of code written by hand, and {most} is aimed at"
        )
    faster = measurement.spread("gymnasium", "gymbridge")
    if least is not None and faster is not None and faster[1] < least / MARGIN:
        found.append(f"{faster[1]:.2f} times as fast as Gymnasium, and {least} is aimed at")
    return [f"{result.title}, {result.pair.title}: {text}" for text in found]
