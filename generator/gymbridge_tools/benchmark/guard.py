"""The guard against regressions: ratios only, each the best of five, with a margin for noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Result

MARGIN = 2


def missed(result: Result, margin: float = 1) -> dict[str, str]:
    """Describe by column where ``result`` misses its aim by more than the factor ``margin``."""
    found: dict[str, str] = {}
    spread, aim = result.measurement.spread, result.case.aim(result.pair)
    for column, most, what in (
        ("by_hand", aim.by_hand, "the code by hand"),
        ("plain", aim.plain, "the same without the option or the odd values"),
    ):
        costs = spread("gymbridge", column)
        if most is not None and costs is not None and costs[0] > margin * most:
            found[column] = f"{costs[0]:.2f} times the cost of {what}; the aim is {most}"
    faster = spread("gymnasium", "gymbridge")
    if aim.gymnasium is not None and faster is not None and faster[1] < aim.gymnasium / margin:
        found["gymnasium"] = (
            f"{faster[1]:.2f} times as fast as Gymnasium; the aim is {aim.gymnasium}"
        )
    counts = (result.transfers or {}).get("gymbridge")
    if aim.transfers is not None and counts is not None and max(counts) > aim.transfers:
        up, down = counts
        text = f"{up} transfers to the device and {down} back; the aim is {aim.transfers} each"
        found["transfers"] = text
    return found


def regressions(result: Result) -> list[str]:
    """Describe where ``result`` is far from its aim."""
    texts = missed(result, MARGIN).values()
    return [f"{result.case.title}, {result.pair.title}: {text}" for text in texts]
