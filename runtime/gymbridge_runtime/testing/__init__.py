"""Tests of wrappers: a suite for pytest, and `check_bridge` for one environment.

`check_bridge` needs nothing; the suite needs pytest (``pip install 'gymbridge[testing]'``).
"""

import sys

if sys.modules.get("pytest"):  # a failing assertion of the suite then shows the compared values
    import pytest

    pytest.register_assert_rewrite(
        *("gymbridge_runtime.testing.actions", "gymbridge_runtime.testing.buffers"),
        "gymbridge_runtime.testing.leaves",
        *("gymbridge_runtime.testing.ownership", "gymbridge_runtime.testing.persistence"),
        "gymbridge_runtime.testing.round_trips",
    )

from gymbridge_runtime.testing.check import BridgeMismatchError, check_bridge
from gymbridge_runtime.testing.expectation import Difference
from gymbridge_runtime.testing.pair import Pair
from gymbridge_runtime.testing.side import Library, Side
from gymbridge_runtime.testing.suite import BridgeSuite

__all__ = [
    "BridgeMismatchError",
    "BridgeSuite",
    "Difference",
    "Library",
    "Pair",
    "Side",
    "check_bridge",
]
