"""The command line of the soak."""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from itertools import permutations
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .gauges import Gauges, growth, read
from .runs import LIBRARIES, Kind, Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STEPS = 74
"""Steps of a wrapper in a row: two episodes."""

RENEWED = 8
"""Rounds after which every wrapper is closed and made again."""

LEAST_LOOKS = 9
ROWS = 12

PAIRS = [f"{source}_to_{target}" for source, target in permutations(LIBRARIES, 2)]


def main(description: str, arguments: Sequence[str] | None = None) -> int:
    """Step all wrappers for the given time; return 1 if something has grown."""
    options = _parser(description).parse_args(arguments)
    console = Console() if sys.stdout.isatty() else Console(width=100)
    kinds = [
        Kind.of(pair, vector=vector) for pair in options.pair or PAIRS for vector in (False, True)
    ]
    tracemalloc.start()
    looks = list(_with_progress(kinds, options.minutes * 60))
    console.print(_table(looks))
    return _verdict(looks, console)


def _soaked(kinds: Sequence[Kind], seconds: float) -> Iterator[tuple[float, Gauges]]:
    """Step in rounds; yield the progress and the gauges after each round."""
    runs = [Run(kind) for kind in kinds]
    steps, rounds, start = 0, 0, time.monotonic()
    while (elapsed := time.monotonic() - start) < seconds or rounds < LEAST_LOOKS:
        for run in runs:
            if rounds % RENEWED == RENEWED - 1:
                run.renew()
            steps += run.take(STEPS)
        rounds += 1
        yield elapsed, read(steps)
    for run in runs:
        run.close()


def _with_progress(kinds: Sequence[Kind], seconds: float) -> Iterator[Gauges]:
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True)
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as progress:
        bar = progress.add_task("", total=seconds)
        for elapsed, look in _soaked(kinds, seconds):
            progress.update(
                bar,
                completed=elapsed,
                description=f"{look.steps:,} steps, {look.resident:.0f} MiB, {look.files} files",
            )
            yield look


def _table(looks: Sequence[Gauges]) -> Table:
    table = Table(*Gauges._fields, title="What there was, over time")
    every = max(1, len(looks) // ROWS)
    for look in [*looks[:-1:every], looks[-1]]:
        numbers = [f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" for value in look]
        table.add_row(*numbers)
    return table


def _verdict(looks: Sequence[Gauges], console: Console) -> int:
    grown = {limit: by for limit, by in growth(looks).items() if by > limit.most}
    for limit, by in grown.items():
        console.print(
            f"{limit.name}: {by:,.2f}{limit.unit}, and {limit.most:g}{limit.unit} is the limit",
            style="red",
        )
    if not grown:
        console.print(f"{looks[-1].steps:,} steps, and nothing has grown")
    return 1 if grown else 0


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--minutes", type=float, default=60, metavar="M", help="how long; 60 if not said")
    add("--pair", action="append", choices=PAIRS, metavar="PAIR", help=f"of {', '.join(PAIRS)}")
    return parser
