"""Fixtures of the tests of the conversion core."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from gymbridge_runtime import known

from tests.runtime.fake_library import FakeArray, fake_library

if TYPE_CHECKING:
    import types


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A library that keeps what it is given, and imports it with NumPy."""
    module = fake_library()
    monkeypatch.setitem(sys.modules, "fake_library", module)
    monkeypatch.setattr(FakeArray, "__module__", "fake_library")
    monkeypatch.setattr(known, "_REGISTERED", dict(known._REGISTERED))
    return module
