"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from rich.console import Console
from rich.progress import Progress

from .cases import CASES
from .measure import Budget, measure
from .pairs import PAIRS
from .results import Result, as_json
from .table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .pairs import Pair

__all__ = ["main"]

QUICK = Budget(seconds=0.3, round_seconds=0.0004)
THOROUGH = Budget(seconds=2, round_seconds=0.0006)
WIDTH = 130  # of tables where there is no terminal


def main(description: str, arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for and show it."""
    options = _parser(description).parse_args(arguments)
    torch.set_num_threads(1)
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    rows = [
        (case, PAIRS[pair])
        for case in options.case or CASES
        for pair in options.pair or PAIRS
        if pair in CASES[case].floors
    ]
    results = _measured(rows, QUICK if options.quick else THOROUGH)
    console.print(table(results))
    if options.json:
        options.json.write_text(json.dumps(as_json(results), indent=1) + "\n")
    return 0


def _measured(rows: Sequence[tuple[str, Pair]], budget: Budget) -> list[Result]:
    results: list[Result] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(rows))
        for name, pair in rows:
            case = CASES[name]
            progress.update(task, description=f"{case.title}, {pair.title}")
            contest = case.contest(pair, case.floors[pair.name])
            measurement = measure(contest, budget)
            results.append(Result(name, case.title, pair, measurement, case.targets(pair)))
            progress.advance(task)
    return results


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="under a minute, less precise")
    parser.add_argument(
        "--case", action="append", choices=CASES, metavar="CASE", help=f"of {', '.join(CASES)}"
    )
    parser.add_argument(
        "--pair", action="append", choices=PAIRS, metavar="PAIR", help=f"of {', '.join(PAIRS)}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    return parser
