"""Fixtures of the tests of environments."""

from __future__ import annotations

import pytest

from tests.environments.bridges import AGENTS
from tests.support import PAIRS, Pair


@pytest.fixture(params=AGENTS)
def pair(request: pytest.FixtureRequest) -> Pair:
    """Pairs from NumPy to every other library."""
    found = Pair("numpy", request.param)
    found.require()
    return found


@pytest.fixture(params=PAIRS, ids=repr)
def pair_of_any(request: pytest.FixtureRequest) -> Pair:
    """Every ordered pair of libraries."""
    found: Pair = request.param
    found.require()
    return found
