"""Try mutants in forks of one process with collected tests; `mutation.py` installs this plugin.

mutmut starts pytest again for every mutant, which takes longer than the test that notices it. Code
without caches does not need that: this plugin of pytest takes over after the collection. A first
fork finds which tests reach which functions, and their times. Then each mutant gets a fork of its
own, which runs the tests that reach its function, the fastest first, until one fails.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import traceback
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pytest

TREE = Path(__file__).resolve().parent.parent
WANTED = TREE / "wanted.json"
"""The mutants to try, and the number of parallel processes."""
ENDS = TREE / "ends.json"
"""The exit code for each mutant."""
REACHED = TREE / "reached.json"

SECONDS = 60
"""The limit of processor time for one mutant: a signal ends an endless loop."""
PATIENCE = 900
"""The limit in seconds for a mutant that waits."""
FAILED, BROKEN, NOT_REACHED = 1, 3, 33


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try every mutant, in place of running the tests once."""
    if session.testsfailed:
        raise session.Interrupted(f"{session.testsfailed} modules of tests cannot be read")
    jobs, mutants = json.loads(WANTED.read_text(encoding="utf-8"))
    pid = forked(lambda: find_out(session.items))
    if os.waitpid(pid, 0)[1]:
        raise session.Failed("the tests fail without a mutant")
    reached, seconds = json.loads(REACHED.read_text(encoding="utf-8"))
    tests = {item.nodeid: item for item in session.items}
    ends: dict[str, int] = {}
    running: dict[int, str] = {}

    def wait() -> None:
        pid, status = os.wait()
        ends[running.pop(pid)] = os.waitstatus_to_exitcode(status)
        _ = ENDS.write_text(json.dumps(ends), encoding="utf-8")

    for mutant in mutants:
        names = sorted(reached.get(mutant.rpartition("__mutmut_")[0], ()), key=seconds.__getitem__)
        if not names:
            ends[mutant] = NOT_REACHED
            continue
        if len(running) == jobs:
            wait()
        running[start(mutant, [tests[name] for name in names])] = mutant
    while running:
        wait()
    _ = ENDS.write_text(json.dumps(ends), encoding="utf-8")
    return True


def start(mutant: str, tests: Sequence[pytest.Item]) -> int:
    """Start a process that runs ``tests`` with ``mutant``."""

    def attempt() -> int:
        os.environ["MUTANT_UNDER_TEST"] = mutant
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        _ = signal.alarm(PATIENCE)
        return FAILED if any(failed(*pair) for pair in in_turn(tests)) else 0

    return forked(attempt)


def find_out(tests: Sequence[pytest.Item]) -> int:
    """Write down which tests reach which functions, and their times; return 1 if one fails."""
    os.environ["MUTANT_UNDER_TEST"] = "stats"
    _ = import_module(
        "mutmut.configuration"
    ).config()  # tests change the working folder, where there are no settings
    hits: set[str] = import_module("mutmut.state").state()._stats
    reached: dict[str, list[str]] = {}
    seconds: dict[str, float] = {}
    for test, following in in_turn(tests):
        before = perf_counter()
        if failed(test, following):
            print(f"\nfailed: {test.nodeid}")
            return FAILED
        seconds[test.nodeid] = perf_counter() - before
        for function in hits:
            reached.setdefault(function, []).append(test.nodeid)
        hits.clear()
    _ = REACHED.write_text(json.dumps([reached, seconds]), encoding="utf-8")
    return 0


def in_turn(tests: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Return each test with the one after it."""
    return zip(tests, [*tests[1:], None], strict=True)


def failed(test: pytest.Item, following: pytest.Item | None) -> bool:
    """Run ``test``, and tear down fixtures that the following test does not need."""
    protocol = import_module("_pytest.runner").runtestprotocol
    return any(report.failed for report in protocol(test, log=False, nextitem=following))


def forked(work: Callable[[], int]) -> int:
    """Run ``work`` in a fork, whose exit code is the returned number."""
    pid = os.fork()
    return pid or end_with(work)


def end_with(work: Callable[[], int]) -> NoReturn:
    """End this process with the result of ``work``, without any exit handlers."""
    code = BROKEN
    try:
        code = work()
    except BaseException:  # no caller could handle it
        traceback.print_exc()
        raise
    finally:
        os._exit(code)
