"""Plots of results, for light and dark pages."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

from .growth import CURVES
from .pairs import PAIRS
from .pictures import INK, STYLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from .growth import Point
    from .results import Result

COLOURS = {"by_hand": "#9e9e9e", "gymbridge": "#1e88e5", "gymnasium": "#f4811f"}
LABELS = {"by_hand": "by hand", "gymbridge": "gymbridge", "gymnasium": "Gymnasium"}
PAIR_COLOURS = ("#1e88e5", "#f4811f", "#43a047", "#d81b60", "#8e6bd6", "#a1887f")
BAR = 0.27
GROWTH_NOTE = (
    "full lines: gymbridge; dotted lines: Gymnasium, which shares the memory of JAX's arrays\n"
    "even where they can be seen to change"
)


def plot(results: Sequence[Result], path: Path) -> None:
    """Draw the costs: a panel for each case, three bars for each pair."""
    cases = [(title, list(rows)) for title, rows in groupby(results, lambda it: it.case.title)]
    across = min(2, len(cases))
    down = -(-len(cases) // across)
    with rc_context(STYLE):
        figure = Figure(figsize=(5.2 * across, 0.5 + 2.9 * down), layout="constrained")
        panels = figure.subplots(down, across, squeeze=False)
        for panel in panels.flat:
            panel.set_axis_off()
        for panel, (title, rows) in zip(panels.flat, cases, strict=False):
            _bars(panel, title, rows)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
        figure.supxlabel("µs a call, on top of the bare step; shorter is better", fontsize=10)
        figure.savefig(path, transparent=True, dpi=160)


def _bars(panel: Axes, title: str, rows: Sequence[Result]) -> None:
    panel.set_axis_on()
    panel.set_title(title, loc="left", fontsize=11)
    for offset, (column, colour) in enumerate(COLOURS.items()):
        widths = [(row.measurement.figures.overhead(column) or 0) * 1e6 for row in rows]
        places = [row + (offset - 1) * BAR for row in range(len(rows))]
        bars = panel.barh(places, widths, BAR * 0.9, color=colour, label=LABELS[column])
        texts = [f"{width:.1f}" if width else "" for width in widths]
        panel.bar_label(bars, texts, padding=3, fontsize=7, color=INK)
    panel.set_yticks(range(len(rows)), [row.pair.title for row in rows])
    panel.tick_params("y", length=0)
    panel.invert_yaxis()
    panel.margins(x=0.12)


def plot_growth(points: Sequence[Point], path: Path) -> None:
    """Draw the growth of the cost: full lines for gymbridge, dotted ones for Gymnasium."""
    colours = dict(zip(PAIRS, PAIR_COLOURS, strict=True))
    with rc_context(STYLE):
        figure = Figure(figsize=(10.4, 7.2), layout="constrained")
        for panel, (name, curve) in zip(figure.subplots(2, 2).flat, CURVES.items(), strict=True):
            panel.set_title(curve.title, loc="left", fontsize=11)
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_ylabel("µs")
            panel.grid(alpha=0.25)
            for pair in PAIRS.values():
                of_pair = [it for it in points if it.curve == name and it.pair == pair]
                sizes = [it.size for it in of_pair]
                for column, line in (("gymbridge", "-"), ("gymnasium", ":")):
                    times = [it.microseconds[column] for it in of_pair]
                    label = pair.title if column == "gymbridge" else None
                    panel.plot(sizes, times, line, color=colours[pair.name], label=label)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
        figure.supxlabel(GROWTH_NOTE, fontsize=10)
        figure.savefig(path, transparent=True, dpi=160)
