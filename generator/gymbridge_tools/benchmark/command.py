"""The command `gymbridge bench`."""

from __future__ import annotations

import gc
import json
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from typing_extensions import override

from gymbridge_tools.cli.command import CommandError

from .cases import CASES, Case, cases_on
from .contest import contest_of
from .device import require_device, transfers
from .growth import CURVES, measured_point
from .guard import regressions
from .measure import Budget, measure
from .pairs import PAIRS, Pair
from .results import Result, as_json
from .start import import_seconds, measured_start
from .table import growth_table, start_table, summary, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gymbridge_tools.cli.bench import Bench

QUICK = Budget(seconds=0.1, round_seconds=0.0004, rounds=15)
THOROUGH = Budget(seconds=2, round_seconds=0.0006, rounds=100)

ResultT = TypeVar("ResultT")


class Row(NamedTuple):
    """One row of the table, before it is measured."""

    name: str
    case: Case
    pair: Pair

    @override
    def __str__(self) -> str:
        return f"{self.case.title}, {self.pair.title}"

    def measured(self, budget: Budget, earlier: Mapping[tuple[str, Pair], Result]) -> Result:
        """Measure the row; rows after odd values are compared with ``earlier`` ones."""
        contest = contest_of(self.case, self.pair)
        counts = transfers(contest) if self.case.device else None
        measurement = measure(contest, budget)
        before = earlier.get((self.case.odd, self.pair))
        if before is not None:
            measurement = measurement.compared(before.measurement)
        return Result(self.name, self.case, self.pair, measurement, counts)


def benchmark(options: Bench) -> int:
    """Measure the selected rows and print them; return 1 if `--check` finds a regression."""
    cases = CASES if options.device is None else cases_on(options.device)
    for kind, names, known in (("case", options.case, cases), ("pair", options.pair, PAIRS)):
        for name in names or ():
            if name not in known:
                raise CommandError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    if options.plot and find_spec("matplotlib") is None:
        raise CommandError("matplotlib is not installed; run: pip install matplotlib")
    if options.device is not None:
        require_device(options.device)
    torch.set_num_threads(1)
    gc.freeze()  # keep imported modules out of the garbage collections
    try:
        pairs = [PAIRS[name] for name in options.pair or PAIRS]
        console = Console(highlight=False, markup=False)
        if options.start:
            return _start(options, pairs, console)
        if options.growth:
            return _growth(options, pairs, console)
        return _rows(options, cases, pairs, console)
    finally:
        gc.unfreeze()


def _start(options: Bench, pairs: Sequence[Pair], console: Console) -> int:
    seconds = import_seconds()
    tasks = {it.title: partial(measured_start, number, it) for number, it in enumerate(pairs)}
    starts = list(_with_progress(tasks))
    console.print(start_table(seconds, starts, console.width))
    _write(options.json, {"import": seconds, "pairs": [start.as_json() for start in starts]})
    return 0


def _growth(options: Bench, pairs: Sequence[Pair], console: Console) -> int:
    tasks = {
        f"{curve.title}, {size}, {pair.title}": partial(measured_point, name, pair, size)
        for name, curve in CURVES.items()
        for size in curve.sizes
        for pair in pairs
    }
    points = list(_with_progress(tasks))
    console.print(growth_table(points, console.width))
    _write(options.json, [point.as_json() for point in points])
    if options.plot:
        from .plot import plot_growth

        plot_growth(points, options.plot)
    return 0


def _rows(
    options: Bench, cases: Mapping[str, Case], pairs: Sequence[Pair], console: Console
) -> int:
    asked = set(options.case or cases)
    asked |= {cases[name].odd for name in asked}  # rows after odd values need the row before
    rows = [
        Row(name, case, pair)
        for name, case in cases.items()
        if name in asked
        for pair in pairs
        if pair.name in case.pairs
    ]
    if options.code:
        for row in rows:
            console.print(f"# {row}{row.case.by_hand(row.pair)}", soft_wrap=True)
        return 0
    budget = QUICK if options.quick else THOROUGH
    if options.seconds is not None:
        budget = budget._replace(seconds=options.seconds)
    by_row: dict[tuple[str, Pair], Result] = {}
    tasks = {str(row): partial(row.measured, budget, by_row) for row in rows}
    for result in _with_progress(tasks):
        by_row[result.name, result.pair] = result
    results = list(by_row.values())
    console.print(table(results, console.width, marks=options.check))
    _write(options.json, as_json(results))
    if options.plot:
        from .plot import plot

        plot(results, options.plot)
    found = _check(by_row) if options.check else []
    for text in found:
        console.print(f"regression: {text}", soft_wrap=True)
    console.print(f"\n{summary(results)}")
    return bool(found)


def _check(by_row: Mapping[tuple[str, Pair], Result]) -> list[str]:
    """Measure apparent regressions again; two misses count."""
    suspects = [Row(it.name, it.case, it.pair) for it in by_row.values() if regressions(it)]
    again = {str(row): partial(row.measured, THOROUGH, by_row) for row in suspects}
    return [text for result in _with_progress(again) for text in regressions(result)]


def _with_progress(tasks: Mapping[str, Callable[[], ResultT]]) -> Iterator[ResultT]:
    """Run the ``tasks`` in turn, and show the number of finished ones."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as progress:
        bar = progress.add_task("", total=len(tasks))
        for description, work in tasks.items():
            progress.update(bar, description=description)
            yield work()
            progress.advance(bar)


def _write(path: Path | None, content: object) -> None:
    if path is not None:
        path.write_text(json.dumps(content, indent=1) + "\n")
