"""Results, as people read them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from .growth import CURVES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .growth import Point
    from .measure import Measurement
    from .results import Result
    from .start import Start

__all__ = ["growth_table", "start_table", "table"]

TEN = 10  # from here on, one decimal is enough


def table(results: Sequence[Result]) -> Table:
    """Lay out ``results``; what misses a target is marked."""
    grid = Table(
        title="Cost of a call in µs; of steps, what it adds to the bare step",
        caption="Beside each ratio: the least and the greatest of five. !: misses its aim",
        box=box.SIMPLE_HEAD,
    )
    grid.add_column("")
    for heading in ("bare", "by hand", "gymbridge", "Gymnasium", "to by hand", "", "faster", ""):
        grid.add_column(heading, justify="right", no_wrap=True)
    for title, rows in groupby(results, key=lambda result: result.title):
        grid.add_row(f"[bold]{title}")
        for result in rows:
            grid.add_row(f"  {result.pair.title}", *_cells(result))
    return grid


def _cells(result: Result) -> list[str]:
    measurement = result.measurement
    figures = measurement.figures
    return [
        _time(figures.times.get("bare")),
        *[_time(figures.overhead(column)) for column in ("floor", "gymbridge", "gymnasium")],
        *_ratio(measurement, "gymbridge", "floor", missed="floor" in result.missed),
        *_ratio(measurement, "gymnasium", "gymbridge", missed="gymnasium" in result.missed),
    ]


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    microseconds = seconds * 1e6
    return f"{microseconds:.2f}" if microseconds < TEN else f"{microseconds:.1f}"


def _ratio(measurement: Measurement, one: str, other: str, *, missed: bool) -> tuple[str, str]:
    ratio, spread = measurement.figures.ratio(one, other), measurement.spread(one, other)
    if ratio is None or spread is None:
        return "", ""
    text = f"{ratio:.2f}" if ratio < TEN else f"{ratio:.1f}"
    mark = f"[red]{text} ![/]" if missed else f"[green]{text}[/]  "
    return mark, f"[dim]{spread[0]:.2f}…{spread[1]:.2f}"


def growth_table(points: Sequence[Point]) -> Table:
    """Lay out the points of all curves, pairs side by side."""
    pairs = list(dict.fromkeys(point.pair for point in points))
    grid = Table(title="µs of a call to gymbridge's converter", box=box.SIMPLE_HEAD)
    grid.add_column("", justify="right")
    for pair in pairs:
        grid.add_column(pair.title, justify="right", no_wrap=True)
    for name, of_curve in groupby(points, key=lambda it: it.curve):
        grid.add_row(f"[bold]{CURVES[name].title}")
        for size, of_size in groupby(of_curve, key=lambda it: it.size):
            times = [_time(it.microseconds["gymbridge"] / 1e6) for it in of_size]
            grid.add_row(f"{size:,}", *times)
    return grid


def start_table(seconds: float, starts: Sequence[Start]) -> Table:
    """Lay out what it costs to begin; ``seconds`` are those of the import."""
    grid = Table(
        title=f"`import gymbridge` adds {seconds * 1e3:.1f} ms to `import gymnasium`",
        caption="The slowest of 40 steps is that in which JAX compiles, if it does",
        box=box.SIMPLE_HEAD,
    )
    grid.add_column("")
    for heading in ("a wrapper, µs", "of a vector, µs", "first step, ms", "slowest after, ms"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for start in starts:
        grid.add_row(
            start.pair.title,
            *[f"{time * 1e6:.0f}" for time in (start.single, start.vector)],
            *[f"{time * 1e3:.1f}" for time in (start.first, start.slowest)],
        )
    return grid
