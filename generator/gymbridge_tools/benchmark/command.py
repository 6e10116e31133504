"""What `gymbridge bench` does."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from gymbridge_tools.cli.command import CommandError

from .cases import CASES
from .growth import CURVES, Point, measured_point
from .guard import regressions
from .measure import Budget, measure
from .pairs import PAIRS, Pair
from .results import Result, as_json
from .start import import_seconds, measured_start
from .table import growth_table, start_table, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gymbridge_tools.cli.bench import Bench

__all__ = ["benchmark"]

QUICK = Budget(seconds=0.3, round_seconds=0.0004, rounds=25)
THOROUGH = Budget(seconds=2, round_seconds=0.0006, rounds=100)
WIDTH = 130  # of tables where there is no terminal

TaskT = TypeVar("TaskT", bound="tuple[object, ...]")
ResultT = TypeVar("ResultT")


class Row(NamedTuple):
    """One row of the table to come."""

    case: str
    pair: Pair

    def measured(self, budget: Budget) -> Result:
        """Measure it."""
        case = CASES[self.case]
        contest = case.contest(self.pair, case.floors[self.pair.name])
        measurement = measure(contest, budget)
        return Result(self.case, case.title, self.pair, measurement, case.targets(self.pair))


def benchmark(options: Bench) -> int:
    """Measure what was asked for and show it; return 1 if `--check` finds a regression."""
    for kind, names, known in (("case", options.case, CASES), ("pair", options.pair, PAIRS)):
        for name in names or ():
            if name not in known:
                raise CommandError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
    if options.plot and find_spec("matplotlib") is None:
        raise CommandError("matplotlib is not installed; run: pip install matplotlib")
    torch.set_num_threads(1)
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    pairs = [PAIRS[name] for name in options.pair or PAIRS]
    if options.start:
        seconds = import_seconds()
        starts = _with_progress(list(enumerate(pairs)), lambda task: measured_start(*task))
        console.print(start_table(seconds, starts))
        _write(options.json, {"import": seconds, "pairs": [start.as_json() for start in starts]})
        return 0
    if options.growth:
        points = _growth(pairs)
        console.print(growth_table(points))
        _write(options.json, [point.as_json() for point in points])
        if options.plot:
            from .plot import plot_growth

            plot_growth(points, options.plot)
        return 0
    budget = QUICK if options.quick else THOROUGH
    if options.seconds is not None:
        budget = budget._replace(seconds=options.seconds)
    rows = [
        Row(case, pair)
        for case in options.case or CASES
        for pair in pairs
        if pair.name in CASES[case].floors
    ]
    results = _with_progress(rows, lambda row: row.measured(budget))
    console.print(table(results))
    _write(options.json, as_json(results))
    if options.plot:
        from .plot import plot

        plot(results, options.plot)
    return _check(results, console) if options.check else 0


def _growth(pairs: Sequence[Pair]) -> list[Point]:
    tasks = [(name, pair, size) for name in CURVES for size in CURVES[name].sizes for pair in pairs]
    return _with_progress(tasks, lambda task: measured_point(*task))


def _check(results: Sequence[Result], console: Console) -> int:
    suspects = [Row(it.case, it.pair) for it in results if regressions(it)]
    again = _with_progress(suspects, lambda row: row.measured(THOROUGH))  # once may be bad luck
    found = [text for result in again for text in regressions(result)]
    for text in found:
        console.print(f"regression: {text}", soft_wrap=True)
    return bool(found)


def _with_progress(tasks: Sequence[TaskT], work: Callable[[TaskT], ResultT]) -> list[ResultT]:
    """Do ``work`` on each of ``tasks``, and show how far it is."""
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
        results: list[ResultT] = []
        for task in tasks:
            progress.update(bar, description=", ".join(map(str, task)))
            results.append(work(task))
            progress.advance(bar)
    return results


def _write(path: Path | None, content: object) -> None:
    if path is not None:
        path.write_text(json.dumps(content, indent=1) + "\n")
