"""No leaks: sources, results and types are freed, and the number of shapes is bounded."""

from __future__ import annotations

import gc
import sys
import weakref
from collections import UserList
from dataclasses import make_dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.leaves import TYPES
from gymnasium import spaces

from gymbridge import NumpyToJax, NumpyToTorch, UnconvertedContainerWarning
from tests.libraries.torch import torch
from tests.runtime.replay import Replay
from tests.support import Array, Pair, run_python

if TYPE_CHECKING:
    from collections.abc import Iterator

STEADY = 2000
"""The number of conversions of each kind: enough to show a leak."""


@pytest.fixture(autouse=True)
def quick_collections() -> Iterator[None]:
    """Let `gc.collect` visit only objects of the test: visiting all others takes seconds."""
    gc.freeze()
    yield
    gc.unfreeze()


class TestNothingIsKeptAlive:
    @pytest.mark.parametrize("copy", [None, True])
    def test_the_source_is_freed_with_the_result(self, pair: Pair, copy: bool | None) -> None:
        for where in ("alone", "in a tree"):
            source = pair.source.make(np.ones(1000, np.float32))
            tree = source if where == "alone" else {"a": [source]}
            result = pair.convert(tree, copy=copy)
            gone = weakref.ref(source)
            del source, tree, result
            gc.collect()
            assert gone() is None, where

    def test_a_copy_does_not_keep_its_source_alive(self, pair: Pair) -> None:
        source = pair.source.make(np.ones(1000, np.float32))
        result = pair.convert(source, copy=True)
        gone = weakref.ref(source)
        del source
        gc.collect()
        assert gone() is None
        assert pair.target.values(result).sum() == 1000

    def test_a_failed_conversion_keeps_nothing_alive(self) -> None:
        source = np.array([2**40])
        gone = weakref.ref(source)
        with pytest.raises(TypeError, match="cannot hold"):
            Pair("numpy", "jax").convert({"a": [np.ones(2), source]})
        del source
        gc.collect()
        assert gone() is None

    def test_a_type_with_a_warning_is_freed(self) -> None:
        kind: Array = type("Unknown", (UserList,), {})
        with pytest.warns(UnconvertedContainerWarning):
            Pair("numpy", "torch").convert([kind([np.ones(1)])])
        gone = weakref.ref(kind)
        TYPES.clear()
        del kind
        gc.collect()
        assert gone() is None

    def test_types_are_freed_when_the_cache_is_full(self) -> None:
        convert = Converter(load("gymbridge_runtime.backends.torch:TORCH"))
        kind = make_dataclass("First", ["position"])
        convert(kind(np.ones(1)))
        gone = weakref.ref(kind)
        del kind
        for i in range(1100):
            convert(make_dataclass(f"Other{i}", ["position"])(np.ones(1)))
        gc.collect()
        assert gone() is None


class TestConstantMemory:
    def test_conversions_leave_nothing_behind(self, pair: Pair) -> None:
        array = pair.source.make(np.ones((3, 4), np.float32))
        tree = {"obs": array, "list": [array, 1, 2.0, None, "text"], "deep": {"a": {"b": array}}}

        def convert() -> None:
            for _ in range(STEADY):
                pair.convert(tree)
                pair.convert(array)
                pair.convert(array, copy=True)

        convert()
        gc.collect()
        before = sys.getallocatedblocks()
        convert()
        gc.collect()
        assert sys.getallocatedblocks() - before < STEADY / 10

    @pytest.mark.parametrize("bridge", [NumpyToTorch, NumpyToJax])
    def test_steps_leave_nothing_behind(self, bridge: Array) -> None:
        space = spaces.Box(-1, 1, (4,), np.float32)
        env = bridge(Replay(space, np.ones(4, np.float32), {"a": np.ones(2), "t": 0.5}, space))
        inner = env.unwrapped
        action = env.sample_action()

        def step() -> None:
            for _ in range(STEADY):
                env.step(action)
            inner.actions.clear()

        step()
        gc.collect()
        before = sys.getallocatedblocks()
        step()
        gc.collect()
        assert sys.getallocatedblocks() - before < STEADY / 10


COUNTING = """
import gc, resource
import jax, numpy as np
from tests.support import Pair
compiles = 0
def count(event, duration, **_):
    global compiles
    compiles += event == "/jax/core/compile/backend_compile_duration"
jax.monitoring.register_event_duration_secs_listener(count)
jax.jit(lambda x: x + 1)(np.ones(3))
assert compiles == 1, "JAX says when it compiles"
compiles = 0
def resident():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()
pair = Pair("numpy", "jax")
"""


class TestCompiledShapes:
    def test_shapes_that_are_seen_once_are_not_compiled(self) -> None:
        code = """
def convert(shapes):
    for n in shapes:
        pair.convert({"a": np.ones(n, "f4"), "b": [np.ones((2, n), "i4"), 1]})
        pair.convert(np.ones((n, 1), "f4"))
convert(range(1, 500))
before = resident()
convert(range(500, 3500))
from gymbridge_runtime.backends.jax.imports import IMPORTS
print(compiles, (resident() - before) >> 20, IMPORTS.sizes[1])
"""
        compiles, megabytes, counted = map(int, run_python(COUNTING + code).split())
        assert compiles == 0
        assert megabytes < 64  # 3,000 compiled shapes take more than 1,000
        assert counted <= 1024

    @pytest.mark.slow
    def test_the_number_of_compiled_shapes_is_bounded(self) -> None:
        code = """
for n in range(1, 400):
    for _ in range(20):
        pair.convert(np.ones(n, "f4"))
print(compiles)
"""
        assert 0 < int(run_python(COUNTING + code)) <= 256

    @pytest.mark.slow
    def test_huge_trees_are_compiled_in_parts(self) -> None:
        code = """
tree = {i: np.full(2 + i % 3, i, "f4") for i in range(5000)}
pair.convert(tree)
before = resident()
for _ in range(20):
    result = pair.convert(tree)
assert all(np.asarray(result[i]).tolist() == tree[i].tolist() for i in range(5000))
print(compiles, (resident() - before) >> 20)
"""
        compiles, megabytes = map(int, run_python(COUNTING + code).split())
        assert 0 < compiles <= 64
        assert megabytes < 150  # a call with 5,000 arguments takes 500


def test_gradient_history_is_not_kept_alive() -> None:
    weight = torch.ones(1000, requires_grad=True)
    array = Pair("torch", "numpy").convert(weight * 2)
    gone = weakref.ref(weight)
    del weight
    gc.collect()
    assert gone() is None
    assert array.sum() == 2000
