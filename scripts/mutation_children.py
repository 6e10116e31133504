"""Let mutmut see functions reached in processes that tests start; `mutation.py` installs this.

mutmut runs a mutant against the tests that reach its function, but sees only functions reached in
the process of pytest. Every other process imports this module as `sitecustomize`, and writes down
the reached functions when it ends. The module is also a plugin of pytest, which reads them after
every test.
"""

from __future__ import annotations

import atexit
import os
import resource
from importlib import import_module
from pathlib import Path

TREE = Path(os.environ.setdefault("MUTATED_TREE", str(Path(__file__).resolve().parent.parent)))
"""The folder where mutmut runs: a process may import this from a test's copy."""
REACHED = TREE / "reached"
SECONDS = 60
"""The limit of processor time for a process that a test starts: a mutant may never end."""


def reached() -> set[str]:
    """Return mutmut's own set of functions reached in this process."""
    names: set[str] = import_module("mutmut.state").state()._stats
    return names


def watch() -> None:
    """Write down the reached functions when this process ends."""
    here = Path.cwd()
    os.chdir(TREE)  # mutmut looks for its settings here, not where tests run
    try:
        import_module("mutmut.configuration").config()
    finally:
        os.chdir(here)
    _ = atexit.register(write)


def write() -> None:
    """Write down the functions that this process has reached."""
    REACHED.mkdir(exist_ok=True)
    _ = (REACHED / f"{os.getpid()}").write_text("\n".join(reached()), encoding="utf-8")


def pytest_runtest_teardown() -> None:
    """Add the functions reached in other processes before mutmut reads the set."""
    for path in REACHED.glob("*"):
        reached().update(path.read_text(encoding="utf-8").split())
        path.unlink()


if __name__ == "sitecustomize" and (mutant := os.environ.get("MUTANT_UNDER_TEST")):
    if mutant == "stats":
        watch()
    else:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
