"""Fixtures of all tests: the libraries, and the pairs of them."""

from __future__ import annotations

import pytest

from tests.support import LIBRARIES, PAIRS, Library, Pair, require


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
