"""`ArrayConversion` between any two array API libraries, with Gymnasium's names and signatures."""

from __future__ import annotations

import copy
import doctest
import inspect
import math
import pickle
import sys
from collections import OrderedDict
from functools import partial
from importlib import import_module
from itertools import permutations
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.core.describe import describe
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from typing_extensions import override

import gymbridge
import gymbridge.vector
from gymbridge.array_conversion import (
    ArrayConversion,
    array_conversion,
    module_name_to_namespace,
    module_namespace,
)
from tests.environments.worlds import Countdown, Echo, EchoVector, Told
from tests.support import require, run_python

if TYPE_CHECKING:
    from tests.environments.bridges import Value

KNOWN = ["numpy", "torch", "jax.numpy"]
GENERIC = ["array_api_strict", "dask.array", "sparse"]
LIBRARIES = [*KNOWN, *GENERIC]
PAIRS = list(permutations(LIBRARIES, 2))


def _module(name: str) -> Value:
    require(name.partition(".")[0])
    return import_module(name)


def _is(array: object, name: str) -> bool:
    """Tell by its package whether the type of ``array`` belongs to the library."""
    root = name.partition(".")[0]
    return type(array).__module__.partition(".")[0] in {root, f"{root}lib"}


def _values(array: Value) -> Value:
    return np.asarray(array.todense() if hasattr(array, "todense") else array)


def _agree(got: object, wanted: object, name: str) -> None:
    """Fail unless ``got`` is the counterpart of ``wanted`` in the library."""
    if isinstance(wanted, dict):
        assert isinstance(got, dict)
        assert got.keys() == wanted.keys()
        for key in wanted:
            _agree(got[key], wanted[key], name)
    elif isinstance(wanted, tuple):
        assert isinstance(got, tuple)
        for one, other in zip(got, wanted, strict=True):
            _agree(one, other, name)
    elif isinstance(wanted, np.ndarray) and wanted.dtype.kind in "biuf":
        assert _is(got, name), f"{got!r} is no array of {name}"
        values = _values(got)
        assert values.shape == wanted.shape
        assert values.dtype.kind == wanted.dtype.kind
        np.testing.assert_array_equal(values, wanted.astype(values.dtype))
    elif isinstance(wanted, np.ndarray) and wanted.dtype.kind == "O":
        assert isinstance(got, np.ndarray)
        for one, other in zip(got, wanted, strict=True):
            _agree(one, other, name)
    elif isinstance(wanted, (float, int)) and not isinstance(wanted, bool):
        _agree(got, np.asarray(wanted), name)
    else:
        np.testing.assert_equal(got, wanted)


def _from(source: str, env: Value, wrap: Value) -> Value:
    """Return a NumPy environment wrapped as one of ``source``."""
    return env if source == "numpy" else wrap(env, "numpy", source)


# -- all pairs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_library_works_with_every_other(source: str, target: str) -> None:
    env_xp, target_xp = _module(source), _module(target)
    bare = gym.make("CartPole-v1")
    agent = ArrayConversion(
        _from(source, gym.make("CartPole-v1"), ArrayConversion), env_xp, target_xp
    )
    got, wanted = agent.reset(seed=3), bare.reset(seed=3)
    _agree(got[0], wanted[0], target)
    for action in (0, 1):
        step = agent.step(array_conversion(np.array(action), target))
        expected = bare.step(action)
        _agree(step[0], expected[0], target)
        assert step[1:4] == (1.0, False, False)
        assert [type(value) for value in step[1:4]] == [float, bool, bool]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_library_works_with_every_other_in_vectors(source: str, target: str) -> None:
    _module(source), _module(target)

    def countdowns() -> SyncVectorEnv:
        makers = [partial(Countdown, length) for length in (1, 2)]
        return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)

    wrap = gymbridge.vector.ArrayConversion
    bare = countdowns()
    agent = wrap(_from(source, countdowns(), wrap), source, target)
    steps: list[tuple[Value, Value]] = [(agent.reset(seed=[0, 1]), bare.reset(seed=[0, 1]))]
    for _ in range(2):
        actions = np.zeros(2, np.int64)
        steps.append((agent.step(array_conversion(actions, target)), bare.step(actions)))
    for (*got, got_infos), (*wanted, infos) in steps:
        for one, other in zip(got, wanted, strict=True):
            _agree(one, other, target)
        for key in {"left", "_left", "final_obs", "_final_obs", "text", "below"} & infos.keys():
            _agree(got_infos[key], infos[key], target)


@pytest.mark.parametrize("target", LIBRARIES)
def test_results_have_the_types_that_gymnasium_promises(target: str) -> None:
    _module(target)
    obs, info = np.zeros(2, np.float32), {"array": np.ones(2), "text": "text"}
    steps = [
        (obs, np.float32(0.5), np.bool_(False), np.array(True), info),
        (obs, np.array([2]), 1, 0, OrderedDict[str, object]()),
    ]
    agent: Value = ArrayConversion(Told(*steps, first=(obs, info)), "numpy", target)
    _agree(agent.reset(), (obs, info), target)
    action = array_conversion(np.array(1), target)
    for numbers, infos in (((0.5, False, True), info), ((2.0, True, False), {})):
        got_obs, *got, got_info = agent.step(action)
        _agree(got_obs, obs, target)
        assert [(type(one), one) for one in got] == [(type(one), one) for one in numbers]
        _agree(got_info, infos, target)
        assert (type(got_info) is OrderedDict) == (not infos), "an empty info keeps its type"


def test_empty_vector_infos_keep_their_type() -> None:
    require("array_api_strict")

    class Ordered(EchoVector):
        @override
        def step(self, actions: Value) -> Value:
            return *super().step(actions)[:4], OrderedDict()

    wrap: Value = gymbridge.vector.ArrayConversion
    envs = wrap(Ordered(spaces.Discrete(2)), "numpy", "array_api_strict")
    envs.reset()
    assert type(envs.step(envs.sample_action())[4]) is OrderedDict


@pytest.mark.parametrize("target", LIBRARIES)
def test_reset_options_become_arrays_of_the_environment(target: str) -> None:
    _module(target)
    box = spaces.Box(-1, 1, (2,))
    wraps: list[tuple[Value, Value]] = [
        (ArrayConversion, Echo(box)),
        (gymbridge.vector.ArrayConversion, EchoVector(box)),
    ]
    for wrap, env in wraps:
        agent = wrap(env, "numpy", target)
        agent.reset(options={"start": array_conversion(np.ones(2), target), "n": 1})
        assert env.options["n"] == 1
        assert type(env.options["start"]) is np.ndarray
        np.testing.assert_array_equal(env.options["start"], np.ones(2))


# -- Gymnasium's layout ---------------------------------------------------------------------------


def test_names_and_signatures_extend_those_of_gymnasium() -> None:
    theirs: Any = import_module("gymnasium.wrappers.array_conversion")
    vectors: Any = import_module("gymnasium.wrappers.vector.array_conversion")
    pairs: list[tuple[Any, Any]] = [
        (ArrayConversion, theirs.ArrayConversion),
        (gymbridge.vector.ArrayConversion, vectors.ArrayConversion),
        (array_conversion, theirs.array_conversion),
        (module_namespace, theirs.module_namespace),
        (module_name_to_namespace, theirs.module_name_to_namespace),
    ]
    for ours, other in pairs:
        wanted = list(inspect.signature(other).parameters.values())
        got = list(inspect.signature(ours).parameters.values())
        assert [(p.name, p.default) for p in got[: len(wanted)]] == [
            (p.name, p.default) for p in wanted
        ]
        assert all(p.kind is p.KEYWORD_ONLY for p in got[len(wanted) :])
    assert gymbridge.ArrayConversion is ArrayConversion


@pytest.mark.parametrize("name", LIBRARIES)
def test_namespaces_are_found_by_module_and_by_name(name: str) -> None:
    module = _module(name)
    theirs: Any = import_module("gymnasium.wrappers.array_conversion")
    assert module_namespace(module) is theirs.module_namespace(module)
    assert module_name_to_namespace(name) is theirs.module_namespace(module)
    assert module_namespace(module_namespace(module)) is module_namespace(module)


def test_a_module_without_arrays_is_an_error_that_names_it() -> None:
    env = gym.make("CartPole-v1")
    for call in (
        lambda: module_namespace(math),
        lambda: ArrayConversion(env, np, "math"),
        lambda: array_conversion(1, math),
    ):
        with pytest.raises(ValueError, match=r"^math is no array API namespace") as caught:
            call()
        assert str(caught.value) == (
            "math is no array API namespace (module 'math' has no attribute 'zeros'); pass a "
            "module such as numpy, torch, jax.numpy or array_api_strict, or its name"
        )


@pytest.mark.parametrize("said", [None, 3, np.ones(2)], ids=repr)
def test_an_object_that_is_no_module_is_refused(said: Value) -> None:
    env = gym.make("CartPole-v1")
    for call in (
        lambda: module_namespace(said),
        lambda: ArrayConversion(env, np, said),
        lambda: ArrayConversion(env, said, np),
        lambda: array_conversion(1, said),
    ):
        with pytest.raises(ValueError, match="is no array API namespace") as caught:
            call()
        assert str(caught.value).startswith(f"{describe(said)} is no array API namespace")


def test_a_library_that_is_not_installed_is_named() -> None:
    with pytest.raises(gymbridge.BackendNotInstalledError) as caught:
        ArrayConversion(gym.make("CartPole-v1"), np, "no_such_library")
    assert str(caught.value) == (
        "no_such_library needs the module 'no_such_library', which is not installed; "
        "run: pip install no_such_library"
    )


def test_examples_run() -> None:
    require("array_api_strict")
    for name in (
        "gymbridge_runtime.wrappers.array_conversion",
        "gymbridge_runtime.wrappers.array_conversion",
    ):
        result = doctest.testmod(import_module(name))
        assert result.attempted > 5
        assert not result.failed


def test_importing_it_imports_no_array_library() -> None:
    code = """\
import sys
import gymbridge.array_conversion, gymbridge.vector.array_conversion
print(sorted({"torch", "jax", "array_api_strict", "dask", "sparse"} & sys.modules.keys()))
"""
    assert run_python(code) == "[]\n"


# -- known libraries ------------------------------------------------------------------------------


def test_libraries_with_a_backend_of_their_own_keep_their_rules() -> None:
    """JAX arrays do not share the environment's memory and cannot be written."""
    require("torch")
    require("jax")
    memory = np.zeros(100_000, np.float32)
    frozen = array_conversion(memory, "jax.numpy")
    memory[:] = 1
    assert not np.asarray(frozen).any()
    tensor = array_conversion(frozen, import_module("torch"))
    tensor += 1
    assert not np.asarray(frozen).any()
    with pytest.raises(gymbridge.ConversionError, match="JAX cannot hold the int64 value"):
        array_conversion(np.array(2**40), "jax.numpy")


def test_numpy_environments_receive_discrete_actions_as_numbers() -> None:
    require("array_api_strict")
    env = Echo(spaces.Discrete(3))
    agent = ArrayConversion(env, np, "array_api_strict")
    agent.step(array_conversion(np.array(2), "array_api_strict"))
    assert type(env.received) is np.int64
    assert env.received == 2


# -- the generic backend --------------------------------------------------------------------------


@pytest.mark.parametrize("name", GENERIC)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0, 2), (3,), (2, 3)], ids=str)
def test_arrays_survive_a_round_trip(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    _module(name)
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    there = array_conversion(array, name)
    assert _is(there, name)
    back = array_conversion(there, np)
    assert type(back) is np.ndarray
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("name", LIBRARIES)
def test_layouts_that_a_library_does_not_take_are_copied(name: str) -> None:
    _module(name)
    frozen = np.arange(6.0).reshape(2, 3)
    frozen.flags.writeable = False
    misaligned = np.frombuffer(b"\0" * 17, np.float64, 2, 1)
    for array in (frozen, frozen[::-1, ::-1], frozen.T, frozen[:, ::2], misaligned):
        got = array_conversion(array, name)
        assert _is(got, name)
        np.testing.assert_array_equal(_values(got), array)


def test_trees_keep_their_structure() -> None:
    require("array_api_strict")
    tree = {"a": [np.ones(2), ("text", None, True)], 1: np.float32(2), "n": 3}
    got = array_conversion(tree, "array_api_strict")
    assert list(got) == ["a", 1, "n"]
    assert got["a"][1] == ("text", None, True)
    assert [_is(leaf, "array_api_strict") for leaf in (got["a"][0], got[1], got["n"])] == [True] * 3
    assert str(got[1].dtype).endswith("float32")
    assert int(got["n"]) == 3


def test_arrays_of_other_libraries_inside_a_tree_are_converted_too() -> None:
    for name in LIBRARIES:
        _module(name)
    tree = {name: array_conversion(np.arange(3.0), name) for name in LIBRARIES}
    for target in LIBRARIES:
        got = array_conversion(tree, target)
        for name in LIBRARIES:
            assert _is(got[name], target), (name, target)
            np.testing.assert_array_equal(_values(got[name]), np.arange(3.0))


@pytest.mark.parametrize("device", [None, "CPU_DEVICE"])
def test_memory_is_shared_where_both_libraries_allow(device: str | None) -> None:
    strict = _module("array_api_strict")
    memory = np.zeros(3)
    shared = array_conversion(memory, strict, device)
    memory[0] = 7
    assert float(shared[0]) == 7
    apart = array_conversion(memory, strict, device, copy=True)
    memory[0] = 8
    assert float(apart[0]) == 7
    assert np.shares_memory(array_conversion(shared, np, copy=False), memory)


def test_unusual_memory_is_never_shared() -> None:
    strict = _module("array_api_strict")
    for memory in (np.zeros(6)[::2], np.zeros(3)[::-1], np.zeros((2, 3)).T):
        assert not np.shares_memory(np.asarray(array_conversion(memory, strict)), memory)
        with pytest.raises(gymbridge.CopyRequiredError, match="does not take memory"):
            array_conversion(memory, strict, copy=False)


@pytest.mark.parametrize("name", ["dask.array", "sparse"])
def test_copy_false_is_refused_by_libraries_that_cannot_share(name: str) -> None:
    _module(name)
    with pytest.raises(gymbridge.CopyRequiredError, match=f"{name} copies whatever it imports"):
        array_conversion(np.zeros(3), name, copy=False)
    with pytest.raises(gymbridge.CopyRequiredError, match="had to be copied to be seen"):
        array_conversion(array_conversion(np.zeros(3), name), np, copy=False)


@pytest.mark.parametrize("name", ["GCXS", "DOK"])
def test_arrays_of_every_type_of_a_library_are_converted(name: str) -> None:
    require("sparse")
    array = array_conversion(np.eye(3), "sparse").asformat(name.lower())
    assert type(array).__name__ == name
    got = array_conversion({"x": array}, np)["x"]
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, np.eye(3))


class Sheet:
    """An array of a generic library that shows its memory."""

    def __init__(self, memory: Value) -> None:
        self.memory = memory

    def __array_namespace__(self, *, api_version: str | None = None) -> object:
        return sys.modules[type(self).__module__]

    def __array__(self, *_: object, **__: object) -> Value:
        return self.memory


class ExportedSheet(Sheet):
    """A `Sheet` that exports over DLPack."""

    def __dlpack__(self, **keywords: Value) -> object:
        return self.memory.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@pytest.fixture(params=[Sheet, ExportedSheet])
def sheet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[Sheet]:
    """An array of a library that copies in `asarray` and shares in `from_dlpack`."""
    kind: type[Sheet] = request.param
    module = ModuleType(f"library_of_{kind.__name__.lower()}s")
    module.__dict__.update(
        float64="float64",
        zeros=lambda shape: kind(np.zeros(shape)),
        asarray=lambda values, **_: kind(np.array(values)),
        from_dlpack=kind,
    )
    monkeypatch.setattr(kind, "__module__", module.__name__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return kind


def test_libraries_with_dlpack_import_without_a_copy(sheet: type[Sheet]) -> None:
    memory = np.zeros(3)
    if sheet is ExportedSheet:
        shared = array_conversion(memory, sheet.__module__, copy=False)
        assert type(shared) is sheet
        assert np.shares_memory(shared.memory, memory)
    else:
        with pytest.raises(gymbridge.CopyRequiredError, match="copies whatever it imports"):
            array_conversion(memory, sheet.__module__, copy=False)
    apart = array_conversion(memory, sheet.__module__, copy=True)
    assert type(apart) is sheet
    assert not np.shares_memory(apart.memory, memory)


def test_copy_true_copies_memory_that_is_not_new(
    sheet: type[Sheet],
) -> None:
    source = array_conversion(np.zeros(3), sheet.__module__)
    got = array_conversion(source, np, copy=True)
    got[:] = 7
    assert source.memory.tolist() == [0, 0, 0]


def test_a_missing_dtype_is_an_error() -> None:
    require("array_api_strict")
    with pytest.raises(
        gymbridge.ConversionError, match="array_api_strict has no dtype for float16"
    ):
        array_conversion({"x": np.zeros(2, np.float16)}, "array_api_strict")


def test_actions_of_generic_agents_are_copied() -> None:
    strict = _module("array_api_strict")
    env = Echo(spaces.Box(-1, 1, (2,), np.float64))
    action = strict.zeros(2, dtype=strict.float32)
    ArrayConversion(env, np, strict).step(action)
    env.received[:] = 7
    assert env.received.dtype == np.float64
    assert not np.asarray(action).any()


def test_actions_between_two_generic_libraries_are_copied() -> None:
    strict = _module("array_api_strict")
    env = Echo(Kite())
    action = strict.zeros(2)
    ArrayConversion(env, strict, strict).step(action)
    env.received[0] = 7
    assert float(action[0]) == 0


class Kite(spaces.Space[Any]):
    """A user's own space, whose actions are converted without fitting."""


def test_float_dtype_may_be_a_dtype_of_the_library() -> None:
    strict = _module("array_api_strict")
    env = Echo(spaces.Discrete(2), spaces.Box(-1, 1, (2,), np.float64))
    for wanted in (strict.float32, "float32", np.float32):
        agent = ArrayConversion(env, np, strict, float_dtype=wanted)
        assert agent.reset()[0].dtype == strict.float32


# -- devices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["device1", "array_api_strict.Device('device1')"])
def test_devices_may_be_names_or_objects(text: str) -> None:
    strict = _module("array_api_strict")
    for device in (text, strict.Device("device1")):
        agent: Any = ArrayConversion(gym.make("CartPole-v1"), np, strict, None, device)
        assert agent.reset()[0].device == strict.Device("device1")
        assert agent.device == strict.Device("device1")
        agent.step(agent.sample_action())
        restored: Any = gym.make(EnvSpec.from_json(agent.spec.to_json()))
        assert restored.reset()[0].device == strict.Device("device1")


def test_actions_go_to_the_device_of_the_environment() -> None:
    strict = _module("array_api_strict")
    env = Echo(spaces.Box(-1, 1, (2,)))
    agent = ArrayConversion(env, strict, np, "device2")
    agent.step(np.zeros(2, np.float32))
    assert env.received.device == strict.Device("device2")
    action = strict.zeros(2, dtype=strict.float32, device=strict.Device("device1"))
    ArrayConversion(env, strict, strict, "device2", "device1").step(action)
    assert env.received.device == strict.Device("device2")


def test_vectors_take_the_same_arguments_as_single_environments() -> None:
    strict = _module("array_api_strict")
    env = EchoVector(spaces.Box(-1, 1, (2,)))
    wrap: Value = gymbridge.vector.ArrayConversion
    agent = wrap(env, strict, strict, "device2", "device1", float_dtype="float64")
    obs, _ = agent.reset()
    assert (obs.device, obs.dtype) == (strict.Device("device1"), strict.float64)
    agent.step(agent.sample_action())
    assert env.received.device == strict.Device("device2")
    with pytest.raises(gymbridge.CopyRequiredError, match=r"^obs: "):
        wrap(env, np, strict, copy=False, float_dtype="float64").reset()


def test_own_arrays_of_a_library_go_to_the_named_device() -> None:
    strict = _module("array_api_strict")
    first, here = strict.Device("device1"), strict.arange(3)
    there = array_conversion(here, strict, first)
    again = array_conversion(there, strict, first, copy=True)
    for array in (there, array_conversion(here, strict, first, copy=True), again):
        assert array.device == first
        assert [int(number) for number in array] == [0, 1, 2]
    assert array_conversion(there, strict, first) is there
    assert array_conversion(there, strict) is there
    assert again is not there
    with pytest.raises(gymbridge.CopyRequiredError, match="would have to be copied to"):
        array_conversion(here, strict, first, copy=False)


@pytest.mark.parametrize("target", KNOWN)
def test_arrays_on_a_device_are_copied_to_the_host(target: str) -> None:
    strict = _module("array_api_strict")
    _module(target)
    there = strict.arange(3, dtype=strict.int32, device=strict.Device("device1"))
    got = array_conversion({"x": there}, target)["x"]
    assert _is(got, target)
    np.testing.assert_array_equal(_values(got), [0, 1, 2])


def test_a_missing_device_is_an_error() -> None:
    require("array_api_strict")
    with pytest.raises(ValueError, match="array_api_strict has no device 'gpu'; it has"):
        array_conversion(np.zeros(2), "array_api_strict", "gpu")


# -- persistence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["torch", "jax.numpy", *GENERIC])
def test_specs_hold_module_names_and_restore_the_wrapper(name: str) -> None:
    agent = ArrayConversion(gym.make("CartPole-v1"), np, _module(name), copy=True)
    assert agent.spec is not None
    recorded = agent.spec.additional_wrappers[-1]
    assert recorded.name == "ArrayConversion"
    assert recorded.kwargs == {"env_xp": "numpy", "target_xp": name, "copy": True}
    for spec in (agent.spec, EnvSpec.from_json(agent.spec.to_json())):
        restored: Any = gym.make(spec)
        agent.reset(seed=1)
        restored.reset(seed=1)
        action = array_conversion(np.array(1), name)
        got, wanted = restored.step(action), agent.step(action)
        assert _is(got[0], name)
        np.testing.assert_array_equal(_values(got[0]), _values(wanted[0]))


@pytest.mark.parametrize("name", ["torch", "dask.array"])
def test_array_api_compat_namespaces_stand_for_their_library(name: str) -> None:
    require(name.partition(".")[0])
    agent = ArrayConversion(gym.make("CartPole-v1"), np, _module(f"array_api_compat.{name}"))
    assert _is(agent.reset(seed=0)[0], name)
    assert agent.spec is not None
    assert agent.spec.additional_wrappers[-1].kwargs == {"env_xp": "numpy", "target_xp": name}


@pytest.mark.parametrize("name", ["torch", "jax.numpy", *GENERIC])
def test_pickles_and_copies_restore_the_wrapper_by_name(name: str) -> None:
    single = ArrayConversion(gym.make("CartPole-v1"), np, _module(name))
    vector = gymbridge.vector.ArrayConversion(
        SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 2), np, _module(name)
    )
    agent: Value
    for agent, action in ((single, np.array(1)), (vector, np.array([1, 0]))):
        agent.reset(seed=0)
        converted = array_conversion(action, name)
        agent.step(converted)
        for restored in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)):
            assert restored.device == agent.device
            assert restored.action_space == agent.action_space
            before = copy.deepcopy(agent)
            got, wanted = restored.step(converted), before.step(converted)
            assert _is(got[0], name)
            np.testing.assert_array_equal(_values(got[0]), _values(wanted[0]))


def test_a_pickle_is_restored_in_a_process_that_has_not_imported_its_library() -> None:
    require("array_api_strict")
    code = """\
import subprocess, sys
import gymnasium as gym
import gymbridge
agent = gymbridge.ArrayConversion(gym.make("CartPole-v1"), "numpy", "array_api_strict")
import pickle
restore = "import pickle, sys; print(pickle.load(sys.stdin.buffer).reset(seed=0)[0].dtype)"
subprocess.run([sys.executable, "-c", restore], input=pickle.dumps(agent), check=True)
"""
    assert run_python(code) == "array_api_strict.float32\n"
