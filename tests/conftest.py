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

# `pytest --hypothesis-profile thorough` looks for new cases, and says how to see them again;
# otherwise the same few are tried every time. Machines may be slow.
settings.register_profile(
    "few",
    max_examples=30,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough",
    settings.get_profile("few"),
    max_examples=2000,
    derandomize=False,
    print_blob=True,
)
settings.load_profile("few")


HERE = Path(__file__).parent
MEASURED = {"catalogue", "conformance", "environments", "faults", "generated", "runtime"}
"""The folders whose tests are to run every line of the runtime, as `pytest --cov` shows.

What others happen to run says little about it, and to be watched takes them half as long again.
"""


def _watching() -> Coverage | None:
    module = sys.modules.get("coverage")  # nobody watches unless somebody has imported it
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
    """Let nobody watch what another test runs, here or in processes that it starts."""
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
    """Keep what pytest is told by the environment to itself: how many processes, for example."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("PYTEST_ADDOPTS", raising=False)
        yield


@pytest.fixture
def nothing_compiled() -> None:
    """Let JAX forget the shapes and settings of other tests: only so many are ever compiled."""
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
