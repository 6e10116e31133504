"""`gymbridge bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from gymbridge_tools.cli.command import Command

if TYPE_CHECKING:
    import argparse


class Bench(Command):
    """Measure conversions on this machine, next to code by hand and Gymnasium's wrappers."""

    name: ClassVar[str] = "bench"
    text: ClassVar[str] = "measure the cost of conversions here"

    quick: bool
    case: list[str] | None
    pair: list[str] | None
    seconds: float | None
    device: str | None
    code: bool
    growth: bool
    start: bool
    json: Path | None
    plot: Path | None
    check: bool

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        _ = add("--quick", action="store_true", help="under a minute, less precise")
        _ = add("--case", action="append", metavar="CASE", help="array, step, vector, …")
        _ = add("--pair", action="append", metavar="PAIR", help="numpy_to_torch, …")
        _ = add("--seconds", type=float, metavar="SECONDS", help="how long to measure each row")
        _ = add("--device", metavar="NAME", help="a device of PyTorch: measure steps there")
        _ = add("--code", action="store_true", help="print the code by hand instead of measuring")
        _ = add("--growth", action="store_true", help="measure how the cost grows with the value")
        _ = add("--start", action="store_true", help="measure the import and the first steps")
        _ = add("--json", type=Path, metavar="FILE", help="write the figures to FILE")
        _ = add("--plot", type=Path, metavar="FILE", help="draw them, to FILE.svg or FILE.png")
        _ = add(
            "--check",
            action="store_true",
            help="mark missed aims; exit with 1 if two measurements are twice as bad as an aim",
        )

    @override
    def run(self) -> int:
        from gymbridge_tools.benchmark.command import benchmark

        return benchmark(self)
