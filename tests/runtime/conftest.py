"""Fixtures of the tests of the conversion core."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from gymbridge_runtime import known

from tests.runtime.fake_library import FakeArray, fake_library
from tests.support import require

if TYPE_CHECKING:
    import types


@pytest.fixture
def nothing_compiled() -> None:
    """Let JAX forget the shapes and settings of other tests: only so many are ever compiled."""
    require("jax")
    from gymbridge_runtime.backends.jax_small import SMALL_ARRAYS

    SMALL_ARRAYS._one.clear()
    SMALL_ARRAYS._many.clear()
    SMALL_ARRAYS._seen.clear()
    SMALL_ARRAYS._wary = False


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A library that keeps what it is given, and imports it with NumPy."""
    module = fake_library()
    monkeypatch.setitem(sys.modules, "fake_library", module)
    monkeypatch.setattr(FakeArray, "__module__", "fake_library")
    monkeypatch.setattr(known, "_REGISTERED", dict(known._REGISTERED))
    return module
