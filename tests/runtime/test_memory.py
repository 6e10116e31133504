"""Nothing is kept: no source, no result, no type, and of shapes only what is bounded."""

from __future__ import annotations

import gc
import sys
import weakref
from dataclasses import make_dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.known import load
from gymnasium import spaces

from gymbridge import JaxToNumpy, JaxToTorch, NumpyToJax, NumpyToTorch
from gymbridge import vector as vectors
from tests.libraries.jax import jax
from tests.libraries.torch import torch
from tests.runtime.replay import Replay, ReplayVector
from tests.support import LIBRARIES, Array, Host, Pair, identical, run_python

if TYPE_CHECKING:
    from collections.abc import Callable

JAX = load("gymbridge_runtime.backends.jax:JAX")
NUMPY = load("gymbridge_runtime.backends.numpy:NUMPY")

STEADY = 2000
"""Conversions of each kind: what one of them leaves behind would show."""


class TestNothingIsKeptAlive:
    @pytest.mark.parametrize("copy", [None, True])
    def test_when_the_result_is_gone(self, pair: Pair, copy: bool | None) -> None:
        for where in ("alone", "in a tree"):
            source = pair.source.make(np.ones(1000, np.float32))
            tree = source if where == "alone" else {"a": [source]}
            result = pair.convert(tree, copy=copy)
            gone = weakref.ref(source)
            del source, tree, result
            gc.collect()
            assert gone() is None, where

    def test_of_the_source_where_the_result_has_memory_of_its_own(self, pair: Pair) -> None:
        source = pair.source.make(np.ones(1000, np.float32))
        result = pair.convert(source, copy=True)
        gone = weakref.ref(source)
        del source
        gc.collect()
        assert gone() is None
        assert pair.target.values(result).sum() == 1000

    def test_when_a_conversion_fails(self) -> None:
        source = np.array([2**40])
        gone = weakref.ref(source)
        with pytest.raises(TypeError, match="cannot hold"):
            Pair("numpy", "jax").convert({"a": [np.ones(2), source]})
        del source
        gc.collect()
        assert gone() is None

    def test_of_types_that_were_met(self) -> None:
        convert = Converter(load("gymbridge_runtime.backends.torch:TORCH"))
        kind = make_dataclass("First", ["position"])
        convert(kind(np.ones(1)))
        gone = weakref.ref(kind)
        del kind
        for i in range(1100):
            convert(make_dataclass(f"Other{i}", ["position"])(np.ones(1)))
        gc.collect()
        assert gone() is None


class TestMemoryIsFlat:
    def test_over_many_conversions(self, pair: Pair) -> None:
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
    def test_over_many_steps(self, bridge: Array) -> None:
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


class TestShapesThatNeverComeAgain:
    def test_cost_no_compilation_and_no_memory(self) -> None:
        code = """
def convert(shapes):
    for n in shapes:
        pair.convert({"a": np.ones(n, "f4"), "b": [np.ones((2, n), "i4"), 1]})
        pair.convert(np.ones((n, 1), "f4"))
convert(range(1, 500))
before = resident()
convert(range(500, 3500))
from gymbridge_runtime.backends.jax_small import SMALL_ARRAYS
print(compiles, (resident() - before) >> 20, SMALL_ARRAYS.sizes[1])
"""
        compiles, megabytes, counted = map(int, run_python(COUNTING + code).split())
        assert compiles == 0
        assert megabytes < 64  # 3,000 compiled shapes take more than 1,000
        assert counted <= 1024

    def test_are_compiled_for_a_bounded_number_of_shapes_that_do(self) -> None:
        code = """
for n in range(1, 200):
    for _ in range(20):
        pair.convert(np.ones(n, "f4"))
print(compiles)
"""
        assert 0 < int(run_python(COUNTING + code)) <= 64

    def test_of_huge_trees_are_compiled_in_parts(self) -> None:
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


def leaves(tree: Array) -> list[Array]:
    return list(tree) if isinstance(tree, (list, tuple)) else [tree]


SETTINGS: dict[str, Callable[[], Array]] = {
    "disable_jit": jax.disable_jit,
    "transfer_guard": lambda: jax.transfer_guard("disallow"),
    "enable_x64": lambda: jax.enable_x64(True),
    "default_device": lambda: jax.default_device(jax.devices()[0]),
    "numpy_dtype_promotion": lambda: jax.numpy_dtype_promotion("strict"),
    "debug_nans": lambda: jax.debug_nans(True),
    "debug_infs": lambda: jax.debug_infs(True),
    "set_mesh": lambda: jax.set_mesh(jax.make_mesh((1,), ("x",))),
}


VECTOR_STEP: tuple[Host, ...] = (
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.array([0.5, -1.5]),
    np.array([True, False]),
    np.array([False, False]),
)
AGENTS: dict[str, Array] = {"numpy": JaxToNumpy, "torch": JaxToTorch}


@pytest.mark.usefixtures("nothing_compiled")
class TestShapesThatComeAgain:
    """Arrays that travel together, compiled or not, arrive bit for bit."""

    NAMES = (
        *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
        *("float16", "float32", "complex64"),
    )

    @pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5), (2000,)])
    def test_of_every_dtype_at_once(self, shape: tuple[int, ...]) -> None:
        generator = np.random.default_rng(0)
        size = int(np.prod(shape))
        for turn in range(40):
            values: list[Host] = [
                np.frombuffer(
                    generator.bytes(size * np.dtype(name).itemsize), np.dtype(name)
                ).reshape(shape)
                if name != "bool"
                else generator.integers(0, 2, shape).astype(bool).reshape(shape)
                for name in self.NAMES
            ]
            result = Pair("numpy", "jax").convert(values)
            for value, array in zip(values, result, strict=True):
                assert array.dtype == value.dtype
                assert identical(np.array(array), value), (turn, value.dtype)

    @pytest.mark.parametrize("count", [7, 8, 9, 24, 64, 65, 100])
    def test_in_any_number(self, count: int) -> None:
        small = [np.full((2, 3), i, np.float32) for i in range(count)]
        mixed: list[Host] = [
            np.full((1 + i % 3,), i, ["float32", "int32", "uint8", "bool"][i % 4])
            for i in range(count)
        ]
        for _ in range(20):
            for values in (small, mixed):
                result = Pair("numpy", "jax").convert(values)
                assert len(result) == count
                for value, array in zip(values, result, strict=True):
                    assert identical(np.array(array), value)

    def test_in_large_numbers_with_x64(self) -> None:
        with jax.enable_x64(True):
            values = [np.full(1 + i % 2, i / 3) for i in range(100)]
            for _ in range(20):
                result = Pair("numpy", "jax").convert(values)
                for value, array in zip(values, result, strict=True):
                    assert identical(np.array(array), value)

    @pytest.mark.parametrize("large", [1, 3])
    def test_beside_large_ones(self, large: int) -> None:
        """What is small is compiled as if it were alone, and all of it is where it was."""
        from gymbridge_runtime.backends.jax_small import SMALL_ARRAYS

        values: list[Host] = [np.arange(30_000.0, dtype=np.float32) + i for i in range(large)]
        for number in range(3):
            values.insert(number, np.full(2 + number, number, np.int32))
        for _ in range(20):
            result = Pair("numpy", "jax").convert(values)
            for value, array in zip(values, result, strict=True):
                assert identical(np.array(array), value)
        assert SMALL_ARRAYS.sizes[0] == 1

    def test_of_extreme_values(self) -> None:
        floats = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e-45, -1e-45, 1e-38, 3.4e38, 0.1]
        for turn in range(40):
            values: dict[str, Host] = {
                "float32": np.array(floats, np.float32),
                "more": np.array(floats[::-1], np.float32),
                "int16": np.array([-(2**15), 2**15 - 1] * 5, np.int16),
                "uint16": np.array([0, 2**16 - 1] * 5, np.uint16),
                "int8": np.array([-128, 127] * 5, np.int8),
                "int32": np.array([-(2**31), 2**31 - 1] * 5, np.int32),
                "bool": np.array([True, False] * 5),
            }
            result = Pair("numpy", "jax").convert(values)
            for name, value in values.items():
                assert identical(np.array(result[name]), value), (turn, name)

    @pytest.mark.parametrize("setting", SETTINGS)
    def test_under_every_setting_of_jax(self, setting: str) -> None:
        floats = np.array([np.nan, np.inf, -0.0], np.float32)
        trees: list[Array] = [[floats, np.arange(3, dtype=np.int16)], [floats], floats, np.inf]
        trees += [[np.ones(2, np.complex64)] * 2, [np.ones(2048, np.float32)] * 2]  # not packed
        convert = Pair("numpy", "jax").convert
        usual: list[object] = []
        for _ in range(40):
            usual = [array.sharding for tree in trees for array in leaves(convert(tree))]
        with SETTINGS[setting]():
            jax.clear_caches()  # some are obeyed where JAX compiles, not where it has
            results = [[leaf for tree in trees for leaf in leaves(convert(tree))] for _ in "12"]
        values = [leaf for tree in trees for leaf in leaves(tree)]
        for result in results:
            for value, array, sharding in zip(values, result, usual, strict=True):
                assert isinstance(array, jax.Array)
                assert identical(np.array(array), np.asarray(value, array.dtype))
                assert array.sharding == sharding
                assert not array.committed

    def test_are_not_compiled_where_jax_is_told_to_compile_nothing_more(self) -> None:
        from gymbridge_runtime.backends.jax_small import SMALL_ARRAYS

        floats = np.arange(5, dtype=np.float32)
        trees: list[Array] = [floats, [floats, floats], {"a": floats, "b": floats[:2]}, 0.5]
        before = SMALL_ARRAYS.sizes[0]
        jax.config.update("jax_no_tracing", True)
        try:
            found = [[Pair("numpy", "jax").convert(tree) for tree in trees] for _ in range(40)]
        finally:
            jax.config.update("jax_no_tracing", False)
        assert SMALL_ARRAYS.sizes[0] == before
        for results in found:
            for result, tree in zip(results, trees, strict=True):
                for array, value in zip(
                    jax.tree.leaves(result), jax.tree.leaves(tree), strict=True
                ):
                    assert identical(np.array(array), np.asarray(value, array.dtype))

    @pytest.mark.parametrize("setting", SETTINGS)
    def test_in_steps_of_vectors_under_every_setting_of_jax(self, setting: str) -> None:
        env: Array = vectors.NumpyToJax(ReplayVector(*VECTOR_STEP))
        action = env.sample_action()
        for _ in range(40):
            env.step(action)
        usual: tuple[Array, ...] = env.step(action)[:4]
        with SETTINGS[setting]():
            jax.clear_caches()
            results: list[Array] = [env.step(action)[:4] for _ in "12"]
        for result in (*results, env.step(action)[:4]):
            for value, array, before in zip(VECTOR_STEP, result, usual, strict=True):
                assert isinstance(array, jax.Array)
                assert identical(np.array(array), np.asarray(value, array.dtype))
                assert array.sharding == before.sharding

    @pytest.mark.parametrize("first", [False, True])
    def test_in_steps_of_vectors_whether_jax_has_64_bits_or_not(self, first: bool) -> None:
        env: Array = vectors.NumpyToJax(ReplayVector(*VECTOR_STEP))
        action = env.sample_action()
        for wide in (first, not first, first):
            with jax.enable_x64(wide):
                for _ in range(20):
                    obs, rewards, *_ = env.step(action)
                    assert obs.dtype == np.float32
                    assert rewards.dtype == (np.float64 if wide else np.float32)
                    assert rewards.tolist() == VECTOR_STEP[1].tolist()

    def test_of_another_byte_order_after_many_of_the_usual_one(self) -> None:
        bare = ReplayVector(*VECTOR_STEP)
        env: Array = vectors.NumpyToJax(bare)
        action = env.sample_action()
        convert: Callable[[Array], Array] = Pair("numpy", "jax").convert
        swapped = tuple([value.astype(value.dtype.newbyteorder(">")) for value in VECTOR_STEP])
        for values in (VECTOR_STEP, swapped, VECTOR_STEP, swapped):
            bare.values = values
            for _ in range(20):
                for results in (env.step(action)[:4], convert(values)):
                    for value, result in zip(VECTOR_STEP, results, strict=True):
                        assert identical(np.array(result), np.asarray(value, result.dtype))

    @pytest.mark.parametrize(
        "setting", ["transfer_guard", "disable_jit", "debug_nans", "no_tracing"]
    )
    def test_are_compiled_only_where_jax_would_not_refuse_them(self, setting: str) -> None:
        # a signature of which the first call was refused is a slow one for ever
        from gymbridge_runtime.backends.jax_small import SMALL_ARRAYS

        floats = np.full(5, np.nan, np.float32)
        env = Replay(spaces.Discrete(2), jax.numpy.zeros(1), action_space=spaces.Box(-1, 1, (7,)))
        no_tracing: Array = jax.no_tracing
        settings: dict[str, Callable[[], Array]] = {**SETTINGS, "no_tracing": no_tracing}
        bridge: Array = None

        def work() -> None:
            for _ in range(40):
                for tree in (floats, [floats, floats], {"a": floats, "b": floats[:2]}):
                    Pair("numpy", "jax").convert(tree)
                bridge.step(np.zeros(7, np.float32))

        with settings[setting]():
            bridge = JaxToNumpy(env)
            work()
            assert SMALL_ARRAYS.sizes[0] == 0
        work()
        assert SMALL_ARRAYS.sizes[0] == 4
        assert all(isinstance(action, jax.Array) for action in env.actions)

    def test_are_compiled_where_jax_is_told_to_allow_what_it_allows(self) -> None:
        from gymbridge_runtime.backends.jax_small import SMALL_ARRAYS

        floats = np.ones(5, np.float32)
        with jax.transfer_guard("allow"):
            for _ in range(40):
                Pair("numpy", "jax").convert([floats, floats[:2]])
        assert SMALL_ARRAYS.sizes[0] == 1

    def test_go_another_way_where_what_is_compiled_would_have_to_be_compiled_again(self) -> None:
        tree = {"a": np.ones((5, 2), np.float32), "b": np.ones(9, np.float32)}
        convert = Pair("numpy", "jax").convert
        long_way = Converter(JAX)
        for _ in range(40):
            _ = convert(tree), long_way(tree)
        # another default device is another function to JAX
        with jax.no_tracing(), jax.default_device(jax.devices()[0]):
            results: list[Array] = [convert(tree), long_way(tree)]
            for result in results:
                assert identical(np.array(result["a"]), tree["a"])
                assert identical(np.array(result["b"]), tree["b"])

    @pytest.mark.parametrize("agent", AGENTS)
    @pytest.mark.parametrize("setting", SETTINGS)
    def test_in_actions_under_every_setting_of_jax(self, setting: str, agent: str) -> None:
        env = Replay(
            spaces.Box(-1, 1, (1,)),
            jax.numpy.zeros(1),
            action_space=spaces.Box(-np.inf, np.inf, (3,)),
        )
        bridge = AGENTS[agent](env)
        floats = np.array([np.nan, np.inf, -0.0], np.float32)

        def act(times: int) -> None:
            for _ in range(times):
                action = LIBRARIES[agent].make(floats.copy())
                bridge.step(action)
                action[:] = 7

        act(40)
        usual = env.actions[-1].sharding
        with SETTINGS[setting]():
            jax.clear_caches()
            act(2)
        act(2)
        for action in env.actions:
            assert isinstance(action, jax.Array)
            assert identical(np.array(action), floats)
            assert action.sharding == usual
            assert not action.committed

    @pytest.mark.parametrize("tree", [[np.nan, 1], [np.inf, -np.inf], [1, 2]], ids=str)
    def test_where_jax_looks_for_what_is_no_number(self, tree: list[float]) -> None:
        value = np.array(tree, np.float32)
        convert = Pair("numpy", "jax").convert
        for values in (value, [value, value]):
            for _ in range(40):
                convert(values)
            for setting in (jax.debug_nans(True), jax.debug_infs(True)):
                with setting:
                    results = [convert(values), convert(values)]
                for array in jax.tree.leaves(results):
                    assert isinstance(array, jax.Array)
                    assert identical(np.array(array), value)

    @pytest.mark.parametrize(
        "setting", ["JAX_DEBUG_NANS=1", "JAX_DEBUG_INFS=1", "JAX_TRANSFER_GUARD=log"]
    )
    def test_without_a_word_from_jax_where_it_was_told_to_look(self, setting: str) -> None:
        name, _, value = setting.partition("=")
        code = """
import os
os.dup2(1, 2)  # what XLA logs, too
import jax, numpy as np
from gymbridge.converters.numpy_to_jax import numpy_to_jax
for size in range(1, 4):
    for _ in range(20):
        array = numpy_to_jax(np.full(size, np.nan, np.float32))
    assert isinstance(array, jax.Array) and np.isnan(np.asarray(array)).all()
print("done")
"""
        assert run_python(code, **{name: value}) == "done\n"

    @pytest.mark.parametrize("first", [False, True])
    def test_of_64_bits_whether_jax_has_them_or_not(self, first: bool) -> None:
        values: list[Host] = [
            np.array([1e300, -1e300, 0.1, np.nan, -0.0, 1e-50]),
            np.array([-(2**31), 2**31 - 1]),
            np.array([True, False, True]),
            np.arange(5, dtype=np.uint8),
            np.float64(0.1) * np.ones((2, 3)),
        ]
        trees: list[Array] = [values, values[0], values[1], tuple(values[:4])]
        for wide, tree in product((first, not first, first), trees):
            with jax.enable_x64(wide):
                for _ in range(20):
                    result = Pair("numpy", "jax").convert(tree)
                    for value, array in zip(leaves(tree), leaves(result), strict=True):
                        narrow = {"float64": "float32", "int64": "int32"}
                        name = value.dtype.name
                        dtype = name if wide else narrow.get(name, name)
                        with np.errstate(over="ignore"):
                            assert identical(np.array(array), value.astype(dtype)), (wide, name)

    def test_without_a_float_dtype_where_one_is_asked_for(self) -> None:
        value = np.linspace(0, 1, 6, dtype=np.float32)
        plain = Converter(JAX).behind_shortcut(NUMPY)
        cast = Converter(JAX, float_dtype="float16").behind_shortcut(NUMPY)
        for _ in range(40):
            for tree in (value, [value, value]):
                assert {array.dtype.name for array in leaves(plain(tree))} == {"float32"}
                assert {array.dtype.name for array in leaves(cast(tree))} == {"float16"}

    def test_are_copies_from_the_first_time_on(self) -> None:
        one, other = np.zeros(8, np.float32), np.zeros(8, np.int32)
        kept = []
        for turn in range(60):
            one[:], other[:] = turn, -turn
            kept.append(Pair("numpy", "jax").convert([one, {"other": other}]))
        for turn, (first, second) in enumerate(kept):
            assert first.tolist() == [turn] * 8
            assert second["other"].tolist() == [-turn] * 8

    def test_while_jax_is_tracing(self) -> None:
        values: list[Host] = [np.full(3, 2, np.float32), np.full(3, 3, np.int8)]

        def traced(x: Array) -> Array:
            floats, integers = Pair("numpy", "jax").convert(values)
            return x + floats.sum() + integers.sum()

        for shape in range(1, 40):
            assert jax.jit(traced)(np.ones(shape)).tolist() == [16] * shape
        for value, array in zip(values, Pair("numpy", "jax").convert(values), strict=True):
            assert identical(np.array(array), value)


def test_a_tensor_is_not_kept_by_the_history_it_had() -> None:
    weight = torch.ones(1000, requires_grad=True)
    array = Pair("torch", "numpy").convert(weight * 2)
    gone = weakref.ref(weight)
    del weight
    gc.collect()
    assert gone() is None
    assert array.sum() == 2000
