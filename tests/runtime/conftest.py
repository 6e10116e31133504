"""Fixtures of the tests of the conversion core."""

from __future__ import annotations

import pytest

from tests.support import require


@pytest.fixture
def nothing_compiled() -> None:
    """Let JAX forget the shapes of other tests: only so many are ever compiled."""
    require("jax")
    from gymbridge_runtime.backends.jax_small import SMALL_ARRAYS

    SMALL_ARRAYS._compiled.clear()
    SMALL_ARRAYS._seen.clear()
