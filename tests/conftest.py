"""Fixtures of all tests: the libraries, and the pairs of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import HealthCheck, settings

from tests.devices.gpus import STAND_INS
from tests.support import LIBRARIES, PAIRS, Library, Pair, require, require_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coverage import Coverage

sys.path[:0] = map(str, STAND_INS)

# `pytest --hypothesis-profile thorough` looks for new cases and prints how to repeat them;
# by default the same few are tried every time, and in CI the same thirty. Machines may be slow.
settings.register_profile(
    "few",
    max_examples=10,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thirty", settings.get_profile("few"), max_examples=30)
settings.register_profile(
    "thorough",
    settings.get_profile("few"),
    max_examples=2000,
    derandomize=False,
    print_blob=True,
)
settings.load_profile("few")


HERE = Path(__file__).parent


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run single files in one process, because workers take seconds to start."""
    paths: list[str] = config.option.file_or_dir
    return 0 if paths and all(".py" in path for path in paths) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of simulated devices as slow: their processes take seconds, and compile C++."""
    for item in items:
        if isinstance(item, pytest.Function) and "process" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


MEASURED = {"catalogue", "conformance", "environments", "faults", "generated", "runtime"}
"""The folders whose tests cover the runtime; `pytest --cov` measures only these.

Lines that other tests happen to run say little, and measuring makes tests half as slow again.
"""


def _watching() -> Coverage | None:
    module = sys.modules.get("coverage")  # not imported: not measuring
    return None if module is None else cast("type[Coverage]", module.Coverage).current()


@pytest.fixture(autouse=True)
def versions_that_tests_need(request: pytest.FixtureRequest) -> None:
    """Skip a test marked ``needs("gymnasium>=1.4")`` where Gymnasium is older."""
    for marker in request.node.iter_markers("needs"):
        for text in marker.args:
            require_version(text)


@pytest.fixture(autouse=True)
def nothing_measured_elsewhere(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Measure no coverage in other folders, and in processes that their tests start."""
    measuring: list[Coverage] = []
    if request.path.relative_to(HERE).parts[0] not in MEASURED:
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        while (watching := _watching()) is not None:
            watching.stop()
            measuring.append(watching)
    yield
    while measuring:
        measuring.pop().start()


@pytest.fixture(autouse=True, scope="session")
def no_options_for_the_tests_that_tests_run() -> Iterator[None]:
    """Hide `PYTEST_ADDOPTS` from the pytest processes that tests start."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("PYTEST_ADDOPTS", raising=False)
        yield


@pytest.fixture
def nothing_compiled() -> None:
    """Clear the compiled imports of other tests, because their number is bounded."""
    require("jax")
    from gymbridge_runtime.backends.jax.imports import IMPORTS

    IMPORTS._one.clear()
    IMPORTS._many.clear()
    IMPORTS._seen.clear()


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    """Every array library, one after the other."""
    name: str = request.param
    require(name)
    return LIBRARIES[name]


@pytest.fixture(params=PAIRS, ids=repr)
def pair(request: pytest.FixtureRequest) -> Pair:
    """Every ordered pair of libraries, one after the other."""
    found: Pair = request.param
    found.require()
    return found
