"""Compiled imports of small arrays give the same results as JAX's own import."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymnasium import spaces

from gymbridge import JaxToNumpy, JaxToTorch
from gymbridge import vector as vectors
from tests.libraries.jax import jax
from tests.runtime.replay import Replay, ReplayVector
from tests.support import LIBRARIES, Array, Host, Pair, identical, run_python

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("nothing_compiled")

JAX = load("gymbridge_runtime.backends.jax:JAX")


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


NAMES = (
    *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
    *("float16", "float32", "complex64"),
)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 5), (2000,)])
def test_every_dtype_keeps_every_bit(shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(0)
    size = int(np.prod(shape))
    for turn in range(40):
        values: list[Host] = [
            np.frombuffer(generator.bytes(size * np.dtype(name).itemsize), np.dtype(name)).reshape(
                shape
            )
            if name != "bool"
            else generator.integers(0, 2, shape).astype(bool).reshape(shape)
            for name in NAMES
        ]
        result = Pair("numpy", "jax").convert(values)
        for value, array in zip(values, result, strict=True):
            assert array.dtype == value.dtype
            assert identical(np.array(array), value), (turn, value.dtype)


@pytest.mark.parametrize("count", [7, 8, 9, 24, 64, 65, 100])
def test_any_number_of_arrays_is_imported(count: int) -> None:
    small = [np.full((2, 3), i, np.float32) for i in range(count)]
    mixed: list[Host] = [
        np.full((1 + i % 3,), i, ["float32", "int32", "uint8", "bool"][i % 4]) for i in range(count)
    ]
    for _ in range(20):
        for values in (small, mixed):
            result = Pair("numpy", "jax").convert(values)
            assert len(result) == count
            for value, array in zip(values, result, strict=True):
                assert identical(np.array(array), value)


def test_a_hundred_arrays_are_imported_with_x64_on() -> None:
    with jax.enable_x64(True):
        values = [np.full(1 + i % 2, i / 3) for i in range(100)]
        for _ in range(20):
            result = Pair("numpy", "jax").convert(values)
            for value, array in zip(values, result, strict=True):
                assert identical(np.array(array), value)


@pytest.mark.parametrize("large", [1, 3])
def test_small_arrays_beside_large_ones_use_the_compiled_import(large: int) -> None:
    """Every array arrives in its own place, too."""
    from gymbridge_runtime.backends.jax.imports import IMPORTS

    values: list[Host] = [np.arange(30_000.0, dtype=np.float32) + i for i in range(large)]
    for number in range(3):
        values.insert(number, np.full(2 + number, number, np.int32))
    for _ in range(20):
        result = Pair("numpy", "jax").convert(values)
        for value, array in zip(values, result, strict=True):
            assert identical(np.array(array), value)
    assert IMPORTS.sizes[0] == 1


def test_extreme_values_keep_every_bit() -> None:
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
def test_trees_are_converted_under_every_jax_setting(setting: str) -> None:
    floats = np.array([np.nan, np.inf, -0.0], np.float32)
    trees: list[Array] = [[floats, np.arange(3, dtype=np.int16)], [floats], floats, np.inf]
    trees += [
        [np.ones(2, np.complex64)] * 2,
        [np.ones(2048, np.float32)] * 2,
    ]  # these are not packed
    convert = Pair("numpy", "jax").convert
    usual: list[object] = []
    for _ in range(40):
        usual = [array.sharding for tree in trees for array in leaves(convert(tree))]
    with SETTINGS[setting]():
        jax.clear_caches()  # JAX obeys some settings only when it compiles
        results = [[leaf for tree in trees for leaf in leaves(convert(tree))] for _ in "12"]
    values = [leaf for tree in trees for leaf in leaves(tree)]
    for result in results:
        for value, array, sharding in zip(values, result, usual, strict=True):
            assert isinstance(array, jax.Array)
            assert identical(np.array(array), np.asarray(value, array.dtype))
            assert array.sharding == sharding
            assert not array.committed


def test_no_tracing_prevents_compiled_imports() -> None:
    from gymbridge_runtime.backends.jax.imports import IMPORTS

    floats = np.arange(5, dtype=np.float32)
    trees: list[Array] = [floats, [floats, floats], {"a": floats, "b": floats[:2]}, 0.5]
    before = IMPORTS.sizes[0]
    jax.config.update("jax_no_tracing", True)
    try:
        found = [[Pair("numpy", "jax").convert(tree) for tree in trees] for _ in range(40)]
    finally:
        jax.config.update("jax_no_tracing", False)
    assert IMPORTS.sizes[0] == before
    for results in found:
        for result, tree in zip(results, trees, strict=True):
            for array, value in zip(jax.tree.leaves(result), jax.tree.leaves(tree), strict=True):
                assert identical(np.array(array), np.asarray(value, array.dtype))


@pytest.mark.parametrize("setting", SETTINGS)
def test_vector_steps_are_converted_under_every_jax_setting(setting: str) -> None:
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
def test_vector_steps_follow_x64_when_it_changes(first: bool) -> None:
    env: Array = vectors.NumpyToJax(ReplayVector(*VECTOR_STEP))
    action = env.sample_action()
    for wide in (first, not first, first):
        with jax.enable_x64(wide):
            for _ in range(20):
                obs, rewards, *_ = env.step(action)
                assert obs.dtype == np.float32
                assert rewards.dtype == (np.float64 if wide else np.float32)
                assert rewards.tolist() == VECTOR_STEP[1].tolist()


def test_another_byte_order_works_after_a_compiled_import() -> None:
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


@pytest.mark.parametrize("setting", ["transfer_guard", "disable_jit", "debug_nans", "no_tracing"])
def test_nothing_is_compiled_when_jax_would_refuse_the_first_call(setting: str) -> None:
    # a signature whose first call was refused stays slow
    from gymbridge_runtime.backends.jax.imports import IMPORTS

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
        assert IMPORTS.sizes[0] == 0
    work()
    assert IMPORTS.sizes[0] == 4
    assert all(isinstance(action, jax.Array) for action in env.actions)


def test_imports_are_compiled_where_the_transfer_guard_allows() -> None:
    from gymbridge_runtime.backends.jax.imports import IMPORTS

    floats = np.ones(5, np.float32)
    with jax.transfer_guard("allow"):
        for _ in range(40):
            Pair("numpy", "jax").convert([floats, floats[:2]])
    assert IMPORTS.sizes[0] == 1


def test_arrays_are_converted_when_an_import_would_be_traced_again() -> None:
    tree = {"a": np.ones((5, 2), np.float32), "b": np.ones(9, np.float32)}
    convert = Pair("numpy", "jax").convert
    long_way = Converter(JAX)
    for _ in range(40):
        _ = convert(tree), long_way(tree)
    # JAX compiles a function for each default device
    with jax.no_tracing(), jax.default_device(jax.devices()[0]):
        results: list[Array] = [convert(tree), long_way(tree)]
        for result in results:
            assert identical(np.array(result["a"]), tree["a"])
            assert identical(np.array(result["b"]), tree["b"])


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_actions_are_converted_under_every_jax_setting(setting: str, agent: str) -> None:
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
def test_nan_is_converted_with_jax_debug_nans(tree: list[float]) -> None:
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
def test_nothing_is_printed_with_jax_debug_nans(setting: str) -> None:
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
def test_numbers_of_64_bits_follow_x64_when_it_changes(first: bool) -> None:
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


def test_float_dtype_of_one_converter_does_not_affect_another() -> None:
    value = np.linspace(0, 1, 6, dtype=np.float32)
    plain = Converter(JAX)
    cast = Converter(JAX, float_dtype="float16")
    for _ in range(40):
        for tree in (value, [value, value]):
            assert {array.dtype.name for array in leaves(plain(tree))} == {"float32"}
            assert {array.dtype.name for array in leaves(cast(tree))} == {"float16"}


def test_results_are_copies_from_the_first_call() -> None:
    one, other = np.zeros(8, np.float32), np.zeros(8, np.int32)
    kept = []
    for turn in range(60):
        one[:], other[:] = turn, -turn
        kept.append(Pair("numpy", "jax").convert([one, {"other": other}]))
    for turn, (first, second) in enumerate(kept):
        assert first.tolist() == [turn] * 8
        assert second["other"].tolist() == [-turn] * 8


def test_arrays_are_converted_while_jax_traces() -> None:
    values: list[Host] = [np.full(3, 2, np.float32), np.full(3, 3, np.int8)]

    def traced(x: Array) -> Array:
        floats, integers = Pair("numpy", "jax").convert(values)
        return x + floats.sum() + integers.sum()

    for shape in range(1, 40):
        assert jax.jit(traced)(np.ones(shape)).tolist() == [16] * shape
    for value, array in zip(values, Pair("numpy", "jax").convert(values), strict=True):
        assert identical(np.array(array), value)
