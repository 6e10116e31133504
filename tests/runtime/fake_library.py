"""A fake library that only its description defines; it records the memory it gets."""

from __future__ import annotations

import types
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.backends.dlpack import DlpackBackend
from gymbridge_runtime.core.converter import Converter

if TYPE_CHECKING:
    from tests.support import Array, Host


class FakeArray:
    """An array of the fake library."""

    def __init__(self, memory: Host) -> None:
        self.memory = memory

    def __dlpack__(self, **keywords: Array) -> object:
        return self.memory.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def fake_library() -> types.ModuleType:
    """Return a library that imports with NumPy and records the memory it gets."""
    module = types.ModuleType("fake_library")
    module.__spec__ = ModuleSpec("fake_library", None)
    given: list[object] = []

    def from_dlpack(producer: Array) -> FakeArray:
        given.append(producer)
        return FakeArray(producer if isinstance(producer, np.ndarray) else np.empty(0))

    module.__dict__.update(Array=FakeArray, from_dlpack=from_dlpack, given=given, not_a_type=3)
    module.__dict__["deep"] = types.SimpleNamespace(take=from_dlpack)
    return module


def described(**facts: Array) -> DlpackBackend:
    return DlpackBackend(
        **{
            "name": "fake",
            "title": "Fake",
            "reference": "fake_library:FAKE",
            "module": "fake_library",
            "array": "fake_library.Array",
            **facts,
        }
    )


def memory_given(backend: DlpackBackend, value: object, **options: Array) -> Host:
    """Convert, and return the memory that the library got."""
    result = Converter(backend, **options)(value)
    assert isinstance(result, FakeArray)
    return result.memory
