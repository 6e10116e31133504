"""Fixtures of the tests of the conversion core."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from weakref import WeakSet

import pytest
from gymbridge_runtime.backends import registry
from gymbridge_runtime.core import containers, tree
from gymbridge_runtime.core.leaves import TYPES

from tests.runtime.fake_library import FakeArray, fake_library

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator


@pytest.fixture
def own_backends(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A copy of the backend registry, restored after the test."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    TYPES.clear()
    yield
    TYPES.clear()


@pytest.fixture
def own_containers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A copy of the container registry, without earlier warnings."""
    monkeypatch.setattr(containers, "_registered", dict(containers._registered))
    monkeypatch.setattr(tree, "_warned", WeakSet[type[object]]())
    TYPES.clear()
    yield
    TYPES.clear()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, own_backends: None) -> types.ModuleType:
    """A library that records the memory it is given, and imports it with NumPy."""
    del own_backends
    module = fake_library()
    monkeypatch.setitem(sys.modules, "fake_library", module)
    monkeypatch.setattr(FakeArray, "__module__", "fake_library")
    return module
