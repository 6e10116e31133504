"""Fuzz conversions and specs, guided by coverage: `python scripts/fuzz.py trees --seconds 60`.

It needs atheris (`pip install atheris`), which has wheels for Linux. Arguments after `--` go to
libFuzzer: a folder with a corpus, or `-runs=10000`. An input that fails is written to a file;
`python scripts/fuzz.py trees -- FILE` tries it again.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    # atheris declares no types
    _Instrument = Callable[[list[str]], AbstractContextManager[None]]
    _SetUp = Callable[[list[str], Callable[[bytes], None]], object]

TARGETS = {"trees": "scripts.fuzzing.trees", "specs": "scripts.fuzzing.specs"}
INSTRUMENTED = ["gymbridge", "gymbridge_runtime", "gymbridge_generator"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Fuzz one target; libFuzzer ends the process, with an exit code other than 0 on a failure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60, help="how long; 60 if not said")
    parser.add_argument("libfuzzer", nargs="*", help="what libFuzzer is told")
    options = parser.parse_args(arguments)
    atheris = import_module("atheris")
    instrumenting = cast("_Instrument", vars(atheris)["instrument_imports"])
    set_up = cast("_SetUp", vars(atheris)["Setup"])
    fuzz = cast("Callable[[], None]", vars(atheris)["Fuzz"])
    with instrumenting(INSTRUMENTED):
        target = import_module(TARGETS[options.target])
    time = [f"-max_total_time={options.seconds}", "-timeout=60", "-rss_limit_mb=4096"]
    set_up([sys.argv[0], *time, *options.libfuzzer], target.attack)
    fuzz()


if __name__ == "__main__":
    main()
