"""Let mutmut see what tests reach in processes that they start; `mutation.py` puts this in place.

mutmut runs a mutant against the tests that were seen to reach its function, and looks only at the
process that pytest is in. This is imported at the start of every other one, as `sitecustomize`,
which writes down what it has reached when it ends; and it is a plugin of pytest, which reads that
after every test.
"""

from __future__ import annotations

import atexit
import os
import resource
from importlib import import_module
from pathlib import Path

TREE = Path(os.environ.setdefault("MUTATED_TREE", str(Path(__file__).resolve().parent.parent)))
"""Where mutmut runs: a process may import this from a copy that a test made."""
REACHED = TREE / "reached"
SECONDS = 60
"""Of the processor, for a process that a test starts: a mutant may go on for ever."""


def reached() -> set[str]:
    """Return what mutmut has seen reached in this process: a set of its own, to be added to."""
    names: set[str] = import_module("mutmut.state").state()._stats
    return names


def watch() -> None:
    """Write down what this process reaches, when it ends."""
    here = Path.cwd()
    os.chdir(TREE)  # where mutmut looks for its settings, and finds none where tests run
    try:
        import_module("mutmut.configuration").config()
    finally:
        os.chdir(here)
    _ = atexit.register(write)


def write() -> None:
    """Write down what this process has reached."""
    REACHED.mkdir(exist_ok=True)
    _ = (REACHED / f"{os.getpid()}").write_text("\n".join(reached()), encoding="utf-8")


def pytest_runtest_teardown() -> None:
    """Add what other processes have reached before mutmut asks what the test has."""
    for path in REACHED.glob("*"):
        reached().update(path.read_text(encoding="utf-8").split())
        path.unlink()


if __name__ == "sitecustomize" and (mutant := os.environ.get("MUTANT_UNDER_TEST")):
    if mutant == "stats":
        watch()
    else:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
