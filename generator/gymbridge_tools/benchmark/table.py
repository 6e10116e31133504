"""Tables of results that fit the terminal, with one sentence at the end."""

from __future__ import annotations

from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from .growth import CURVES
from .guard import missed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .growth import Point
    from .results import Result
    from .start import Start

Line: TypeAlias = "tuple[str, Sequence[str] | None]"
"""A label and its cells, or the title of a section."""

COUNTED = ("gymbridge", "gymnasium")

TEN = 10  # from 10 on, one decimal is enough

HEADINGS = (
    ("bare", 2),
    ("by hand", 1),
    ("gymbridge", 0),
    ("Gymnasium", 1),
    ("/ hand", 0),
    ("range", 3),
    ("/ plain", 0),
    ("faster", 0),
    ("range", 3),
    ("transfers", 0),
)
"""A narrow terminal lacks the columns with the highest numbers first."""


def table(results: Sequence[Result], width: int, *, marks: bool = False) -> str:
    """Lay out ``results``; ``marks`` shows which of them miss their aim."""
    lines: list[Line] = []
    for title, rows in groupby(results, key=lambda it: it.case.title):
        lines.append((title, None))
        lines += [(f"  {row.pair.title}", _cells(row, marks=marks)) for row in rows]
    text = "µs of a call; of a step, on top of the bare environment"
    if any(row.transfers for row in results):
        text += "; transfers to the device + back, gymbridge / Gymnasium"
    return f"{text}\n\n{_lay_out(HEADINGS, lines, width)}"


def _cells(result: Result, *, marks: bool) -> list[str]:
    figures, misses = result.measurement.figures, missed(result)

    def ratio(one: str, other: str, column: str) -> tuple[str, str]:
        value, spread = figures.ratio(one, other), result.measurement.spread(one, other)
        if value is None or spread is None:
            return "", ""
        mark = (" !" if column in misses else "  ") if marks else ""
        return _number(value) + mark, f"{_number(spread[0])}…{_number(spread[1])}"

    by_hand, gymbridge, gymnasium = (
        _time(figures.overhead(column)) for column in ("by_hand", "gymbridge", "gymnasium")
    )
    return [
        _time(figures.times.get("bare")),
        by_hand,
        gymbridge,
        f"{gymnasium}*" if _faster(result) and result.case.aliases(result.pair) else gymnasium,
        *ratio("gymbridge", "by_hand", "by_hand"),
        ratio("gymbridge", "plain", "plain")[0],
        *ratio("gymnasium", "gymbridge", "gymnasium"),
        _transfers(result),
    ]


def _transfers(result: Result) -> str:
    counts = result.transfers
    return " / ".join("{}+{}".format(*counts[column]) for column in COUNTED) if counts else ""


def _time(seconds: float | None) -> str:
    return "" if seconds is None else _number(seconds * 1e6)


def _number(value: float) -> str:
    return f"{value:.2f}" if value < TEN else f"{value:.1f}"


def _faster(result: Result) -> bool:
    """Tell whether Gymnasium is faster."""
    ratio = result.measurement.figures.ratio("gymnasium", "gymbridge")
    return ratio is not None and ratio < 1


def summary(results: Sequence[Result]) -> str:
    """Summarise ``results`` in one sentence."""
    ratios = [it.measurement.figures.ratio for it in results]
    to_by_hand = [found for ratio in ratios if (found := ratio("gymbridge", "by_hand"))]
    to_gymnasium = [found for ratio in ratios if (found := ratio("gymnasium", "gymbridge"))]
    text = f"gymbridge costs {median(to_by_hand):.2f} times the code by hand"
    if to_gymnasium:
        text += f", and Gymnasium {median(to_gymnasium):.1f} times gymbridge"
    text += f" (medians of {len(results)} rows)"
    faster = [it for it in results if _faster(it)]
    if faster:
        aliased = sum(it.case.aliases(it.pair) for it in faster)
        why = f", and in {aliased} of them (*) it shares memory that may change later"
        text += f"; Gymnasium is faster in {len(faster)}{why if aliased else ''}"
    transfers = [it.transfers for it in results if it.transfers]
    if transfers:
        ours, theirs = (max(sum(it[name]) for it in transfers) for name in COUNTED)
        text += f"; a step makes up to {ours} transfers, {theirs} with Gymnasium"
    return f"{text}."


def growth_table(points: Sequence[Point], width: int) -> str:
    """Lay out the points of all curves."""
    text = ["µs of a call of gymbridge's converter"]
    for name, of_curve in groupby(points, key=lambda it: it.curve):
        curve = CURVES[name]
        times = {(it.pair, it.size): _number(it.microseconds["gymbridge"]) for it in of_curve}
        lines = [
            (f"  {pair.title}", [times[pair, size] for size in curve.sizes])
            for pair in dict.fromkeys(pair for pair, _ in times)
        ]
        sizes = [(_short(size), 0) for size in curve.sizes]
        text.append(f"{curve.title}\n{_lay_out(sizes, lines, width)}")
    text.append("Where a line stays flat, what grows is shared and not copied.")
    return "\n\n".join(text)


def _short(size: int) -> str:
    for number, letter in ((10**6, "M"), (10**3, "k")):
        if size >= number:
            return f"{size // number}{letter}"
    return str(size)


def start_table(seconds: float, starts: Sequence[Start], width: int) -> str:
    """Lay out the start-up costs; ``seconds`` is the time of the import."""
    headings = [(text, 0) for text in ("wrapper, µs", "vector's, µs", "step 1, ms", "slowest, ms")]
    lines = [
        (
            start.pair.title,
            [f"{time * 1e6:.0f}" for time in (start.single, start.vector)]
            + [f"{time * 1e3:.1f}" for time in (start.first, start.slowest)],
        )
        for start in starts
    ]
    text = "\n".join(
        [
            f"`import gymbridge` adds {seconds * 1e3:.1f} ms to `import gymnasium`.",
            "The slowest of the 39 steps after the first is the one in which JAX compiles.",
        ]
    )
    return f"{_lay_out(headings, lines, width)}\n\n{text}"


def _lay_out(headings: Sequence[tuple[str, int]], lines: Sequence[Line], width: int) -> str:
    """Align ``lines``; drop columns that are empty or do not fit."""
    rows = [cells for _, cells in lines if cells is not None]
    widths: dict[int, int] = {}
    for number, (heading, _) in enumerate(headings):
        longest = max(len(cells[number]) for cells in rows)
        if longest:
            widths[number] = max(len(heading), longest) + 2
    label = max(len(label) for label, cells in lines if cells is not None)
    while widths and label + sum(widths.values()) > width:
        del widths[max(widths, key=lambda number: (headings[number][1], number))]

    def text(line: Line) -> str:
        name, cells = line
        if cells is None:
            return f"\n{name}"
        aligned = [cells[number].rjust(size) for number, size in widths.items()]
        return "".join([name.ljust(label), *aligned]).rstrip()

    return "\n".join(map(text, [("", [heading for heading, _ in headings]), *lines]))
