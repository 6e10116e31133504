"""Run a mutant against all tests of its group; a plugin of pytest, installed by `mutation.py`.

mutmut runs a mutant against the tests that reach its function. Code with caches runs many functions
only once in a process, for the first test, and every later test may depend on the result. So mutmut
is told that all tests reach what one of them reaches. The tests that really reached the function
run first, the fastest of them at the head.
"""

from __future__ import annotations

import gc
import json
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

gc.freeze()  # pytest collects garbage at the end of every process; imported modules need no visit

REACHED = Path(__file__).resolve().parent.parent / "reached.json"


def pytest_sessionfinish() -> None:
    """Write down which tests reached which functions, then tell mutmut that all tests did."""
    if os.environ.get("MUTANT_UNDER_TEST") != "stats":
        return
    state = import_module("mutmut.state").state()
    seconds: dict[str, float] = state.duration_by_test
    reached: dict[str, set[str]] = state.tests_by_mangled_function_name
    fastest_first = {
        name: sorted(tests, key=seconds.__getitem__) for name, tests in reached.items()
    }
    _ = REACHED.write_text(json.dumps(fastest_first), encoding="utf-8")
    selected: list[str] = (
        import_module("mutmut.configuration").config().pytest_add_cli_args_test_selection
    )
    for name in reached:
        reached[name] = set(selected)
    share = sum(seconds.values()) / len(selected)
    seconds.clear()
    seconds.update(dict.fromkeys(selected, share))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests first that reached the mutated function."""
    function = os.environ.get("MUTANT_UNDER_TEST", "").rpartition("__mutmut_")[0]
    if not REACHED.exists():
        return
    reached: dict[str, list[str]] = json.loads(REACHED.read_text(encoding="utf-8"))
    ranks = {test: rank for rank, test in enumerate(reached.get(function, ()))}
    items.sort(key=lambda item: ranks.get(item.nodeid, len(ranks)))
