"""What the tests of real and made-up environments share."""

from __future__ import annotations

import pytest

from tests.support import PAIRS, Pair


@pytest.fixture(params=PAIRS, ids=repr)
def pair_of_any(request: pytest.FixtureRequest) -> Pair:
    """Every ordered pair, where a module has another fixture named `pair`."""
    found: Pair = request.param
    found.require()
    return found
