"""Returned values never change, and fresh arrays are not copied."""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import TransformObservation
from typing_extensions import override

from gymbridge import JaxToNumpy, NumpyToJax, NumpyToTorch, TorchToNumpy
from gymbridge import vector as vectors
from tests.libraries.jax import jnp
from tests.libraries.torch import torch
from tests.runtime.keepers import FORMS, NUMPY_PATTERNS, TORCH_PATTERNS, KeepingParallel
from tests.runtime.replay import Replay
from tests.support import Array, Host, Pair, identical, run_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

PAIRS = [
    *(Pair("numpy", target) for target in ("torch", "jax", "mlx")),
    *(Pair("torch", target) for target in ("numpy", "jax", "mlx")),
]
PATTERNS = {"numpy": NUMPY_PATTERNS, "torch": TORCH_PATTERNS}
BOX = spaces.Box(-np.inf, np.inf, (2, 3))


def cases(*names: str) -> list[Array]:
    """Return all patterns in all forms, for the pairs of these names, or for all pairs."""
    return [
        pytest.param(pair, form, pattern, id=f"{pair}-{form}-{pattern}")
        for pair in PAIRS
        if pair.name in names or not names
        for form in FORMS
        for pattern in PATTERNS[pair.source.name]
    ]


def wrap(pair: Pair, form: str, env: Array, **options: Array) -> Array:
    """Wrap an environment of the pair's source for an agent of its target."""
    pair.require()
    module = import_module("gymbridge" if form == "single" else f"gymbridge.{form}")
    name = f"{pair.source.name.title()}To{pair.target.name.title()}"
    return getattr(module, name)(env, **options)


def leaves(tree: Array) -> Iterator[Array]:
    """Return the leaves of a tree."""
    if isinstance(tree, dict):
        tree = [*tree.values()]
    elif isinstance(tree, np.ndarray) and tree.dtype == object:
        tree = [*tree.flat]
    elif is_dataclass(tree):
        tree = [getattr(tree, one.name) for one in fields(tree)]
    if not isinstance(tree, (list, tuple)):
        yield tree
        return
    for one in tree:
        yield from leaves(one)


def arrays_of(tree: Array) -> list[Array]:
    return [leaf for leaf in leaves(tree) if not isinstance(leaf, (bool, float))]


def steps_of(env: Array, count: int) -> Iterator[tuple[int, list[Array]]]:
    """Reset and step; return the arrays and the number of each step."""
    keeping = env.unwrapped.keeping
    yield 1, arrays_of(env.reset())
    for _ in range(count):
        returned = arrays_of(env.step(env.sample_action()))
        if hasattr(env, "state"):
            returned += arrays_of(env.state())
        yield keeping.number, returned


# -- kept memory is copied --------------------------------------------------------------------


@pytest.mark.parametrize(("pair", "form", "pattern"), cases())
def test_stored_values_never_change(pair: Pair, form: str, pattern: str) -> None:
    env = wrap(pair, form, FORMS[form](PATTERNS[pair.source.name][pattern]))
    stored = [*steps_of(env, 20)]  # enough steps to compile the import
    env.unwrapped.keeping.begin()  # overwrites the last results
    for number, arrays in stored:
        assert arrays
        for array in arrays:
            assert pair.target.is_array(array)
            values = pair.target.values(array)
            assert (values == (number % 2 if values.dtype == bool else number)).all()


@pytest.mark.parametrize(("pair", "form", "pattern"), cases("torch_to_numpy", "numpy_to_torch"))
def test_writing_into_a_result_does_not_change_the_environment(
    pair: Pair, form: str, pattern: str
) -> None:
    env = wrap(pair, form, FORMS[form](PATTERNS[pair.source.name][pattern]))
    for _, arrays in steps_of(env, 3):
        memories = [
            memory for find in env.unwrapped.keeping.memories if (memory := find()) is not None
        ]
        before = [memory.copy() for memory in memories]
        for array in arrays:
            array[...] = 99
        for memory, values in zip(memories, before, strict=True):
            assert identical(memory.copy(), values)


class KeptResult(gym.Wrapper[Array, Array, Array, Array]):
    """Keeps all results of a step, and overwrites them in the next one."""

    result: tuple[Array, ...] = ()

    @override
    def step(self, action: Array) -> Array:
        for array in arrays_of(self.result):
            array[...] = 77
        self.result = self.env.step(action)
        return self.result


class KeptObservation(KeptResult):
    """Keeps only the observation."""

    @override
    def step(self, action: Array) -> Array:
        result = super().step(action)
        self.result = result[:1]
        return result


@pytest.mark.parametrize("wrapper", [KeptResult, KeptObservation])
@pytest.mark.parametrize("target", ["torch", "jax", "mlx"])
def test_a_wrapper_that_keeps_observations_does_not_change_stored_values(
    target: str, wrapper: type[KeptResult]
) -> None:
    pair = Pair("numpy", target)
    env = wrap(pair, "single", wrapper(gym.make("CartPole-v1")))
    env.reset(seed=0)
    stored = [(env.step(env.sample_action())[0], env.unwrapped.state) for _ in range(5)]
    for obs, state in stored:
        assert pair.target.values(obs).tolist() == np.asarray(state, np.float32).tolist()


class KeptInfo(Replay):
    """Returns the same info in every step, and changes it."""

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        self.info[f"step {len(self.actions)}"] = np.full(2, len(self.actions))
        return super().step(action)


@pytest.mark.parametrize("wrapper", [NumpyToTorch, NumpyToJax])
def test_an_info_that_the_environment_extends_does_not_change(wrapper: Array) -> None:
    inner = KeptInfo(BOX, np.zeros((2, 3), np.float32))
    inner.info = {}
    env = wrapper(inner)
    _, first = env.reset()
    stored = [env.step(env.sample_action())[4] for _ in range(4)]
    assert first == {}
    assert [[*info] for info in stored] == [
        [f"step {number}" for number in range(count + 1)] for count in range(4)
    ]


def test_an_empty_info_that_the_environment_keeps_stays_empty() -> None:
    inner = Replay(BOX, np.zeros((2, 3), np.float32))
    env = NumpyToTorch(inner)
    for _, info in (env.reset(), env.step(torch.tensor(1))[::4]):
        inner.info["later"] = 1
        assert info == {}
        inner.info.clear()


def test_an_array_of_text_that_the_environment_keeps_does_not_change() -> None:
    text = np.array(["before"])
    env = NumpyToTorch(Replay(spaces.Discrete(2), 0, {"text": text}))
    _, info = env.reset()
    text[0] = "after"
    assert info["text"].tolist() == ["before"]


@pytest.mark.parametrize("target", ["torch", "jax", "mlx"])
def test_buffers_of_gymnasium_vectors_do_not_change_stored_values(target: str) -> None:
    pair = Pair("numpy", target)
    inner = SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 2, copy=False)
    env = wrap(pair, "vector", inner)
    twin = SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 2)
    stored = [(env.reset(seed=0)[0], twin.reset(seed=0)[0])]
    for _ in range(5):
        actions = twin.action_space.sample()
        result = env.step(pair.target.make(actions))
        stored += zip(result[:4], twin.step(actions)[:4], strict=True)
    for one, other in stored:
        values = pair.target.values(one)
        assert identical(values, other.astype(values.dtype))
    env.close()
    twin.close()


def test_tensors_saved_by_autograd_do_not_change() -> None:
    for pattern in ("state updated in place", "memory of a tensor", "kept through a closure"):
        env = wrap(Pair("numpy", "torch"), "single", FORMS["single"](NUMPY_PATTERNS[pattern]))
        weight = torch.ones(2, 3, requires_grad=True)
        losses = []
        for _ in range(3):
            obs, *_ = env.step(env.sample_action())
            losses.append((weight * obs).pow(2).sum())  # autograd saves the observation
        env.unwrapped.keeping.begin()
        sum(losses).backward()
        assert weight.grad is not None
        assert weight.grad.tolist() == [[2.0 * (1 + 4 + 9)] * 3] * 2


# -- fresh memory is shared -------------------------------------------------------------------


class Point(NamedTuple):
    position: Array


def object_array(array: Host) -> Array:
    objects = np.empty(1, object)
    objects[0] = array
    return objects


FRESH: dict[str, Callable[[Host], Array]] = {
    "alone": lambda array: array,
    "dict": lambda array: {"a": array},
    "dict in a dict": lambda array: {"a": {"b": array}},
    "list": lambda array: [array],
    "tuple": lambda array: (array,),
    "named tuple": Point,
    "object array": object_array,
    "list in a dict": lambda array: {"a": [array]},
    "view of a fresh base": lambda array: array[1:],
    "reshaped": lambda array: array.reshape(-1),
    "dict of a view": lambda array: {"a": array[1:]},
}


class Fresh(gym.Env["Array", "Array"]):
    """Makes a new array in every step, and records only its address."""

    observation_space = BOX
    action_space = spaces.Discrete(2)

    def __init__(self, show: Callable[[Host], Array]) -> None:
        self.show = show
        self.addresses: list[int] = []

    def new(self) -> Array:
        shown = self.show(np.full((2, 3), len(self.addresses), np.float32))
        (array,) = leaves(shown)
        self.addresses.append(array.ctypes.data)
        return shown

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        self.addresses.clear()
        return self.new(), {"x": self.new()}

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        self.addresses.clear()
        return self.new(), 0.0, False, False, {"x": self.new()}


def made(show: Array) -> Array:
    """Return the environment in the wrappers of `gymnasium.make`."""
    spec = EnvSpec("Fresh-v0", entry_point=partial(Fresh, show), max_episode_steps=50)
    return gym.make(spec, disable_env_checker=True)


def addresses(tree: Array) -> list[int]:
    return [array.data_ptr() for array in arrays_of(tree)]


@pytest.mark.parametrize("make", [Fresh, made], ids=["bare", "gymnasium.make"])
@pytest.mark.parametrize("name", FRESH)
def test_a_fresh_array_is_shared(name: str, make: Callable[[Array], Array]) -> None:
    env: Array = NumpyToTorch(make(FRESH[name]))
    for act in (env.reset, *[partial(env.step, torch.tensor(1))] * 3):
        result = act()
        assert addresses(result) == env.unwrapped.addresses
        (obs,) = arrays_of(result[0])
        assert (obs == 0).all()
        obs.fill_(5)  # nobody else can reach the array


@pytest.mark.parametrize("name", FRESH)
def test_copy_true_shares_nothing(name: str) -> None:
    env: Array = NumpyToTorch(Fresh(FRESH[name]), copy=True)
    for act in (env.reset, partial(env.step, torch.tensor(1))):
        result = act()
        assert not {*addresses(result)} & {*env.unwrapped.addresses}


@pytest.mark.parametrize("pattern", ["state updated in place", "view of a buffer", "the same dict"])
def test_copy_false_shares_what_the_environment_keeps(pattern: str) -> None:
    inner = FORMS["single"](NUMPY_PATTERNS[pattern])
    env = wrap(Pair("numpy", "torch"), "single", inner, copy=False)
    for act in (env.reset, partial(env.step, torch.tensor(1))):
        (obs,) = arrays_of(act()[0])
        inner.keeping.begin()
        assert (obs == 77).all()


@pytest.mark.parametrize("form", ["array", "in a dict"])
@pytest.mark.parametrize("pair", [Pair("numpy", "torch"), Pair("numpy", "jax")], ids=repr)
def test_what_an_opaque_array_refers_to_is_copied(pair: Pair, form: str) -> None:
    class Opaque(gym.Env[Array, Array]):
        observation_space = action_space = spaces.Discrete(2)
        mask = np.zeros(3, bool)
        held = np.zeros(3)

        @override
        def reset(self, **_given: object) -> Array:
            fields = np.empty(1, [("x", "O")])
            fields["x"][0] = self.held
            masked = np.ma.MaskedArray(np.ones(3), mask=self.mask)
            info = {"masked": masked, "fields": fields}
            return 0, info if form == "array" else {"inner": info}

    pair.require()
    inner = Opaque()
    info = wrap(pair, "single", inner).reset()[1]
    inner.mask[:] = inner.held[:] = True
    stored = info if form == "array" else info["inner"]
    assert not stored["masked"].mask.any()
    assert not stored["fields"]["x"][0].any()


class Recording(gym.vector.VectorWrapper[Array, Array, Array, Array, Array]):
    """Records only the addresses of the arrays of a step."""

    addresses: list[int]

    @override
    def step(self, actions: Array) -> Array:
        result = self.env.step(actions)
        self.addresses = [array.ctypes.data for array in result[:4]]
        return result


def test_the_fresh_arrays_of_a_vector_step_are_shared() -> None:
    inner = Recording(SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 2))
    env = vectors.NumpyToTorch(inner)
    env.reset(seed=0)
    for _ in range(3):
        results = env.step(torch.ones(2, dtype=torch.int64))[:4]
        found = [array.data_ptr() for array in results]
        # Gymnasium returns its own terminations and truncations, and copies of the rest
        assert found[:2] == inner.addresses[:2]


def test_the_fresh_observations_of_agents_are_shared() -> None:
    addresses: dict[str, int] = {}

    class FreshAgents(KeepingParallel):
        @override
        def step(self, actions: dict[str, Array]) -> tuple[Array, ...]:
            obs = {agent: np.zeros(3) for agent in self.agents}
            addresses.update({agent: array.ctypes.data for agent, array in obs.items()})
            return obs, *super().step(actions)[1:]

    env = wrap(Pair("numpy", "torch"), "parallel", FreshAgents(NUMPY_PATTERNS["view of a buffer"]))
    env.reset()
    obs, *_ = env.step(env.sample_action())
    assert {agent: array.data_ptr() for agent, array in obs.items()} == addresses


def test_an_agent_may_write_into_a_fresh_array() -> None:
    env = NumpyToTorch(gym.make("CartPole-v1"))
    env.reset(seed=0)
    first, *_ = env.step(torch.tensor(1))
    first.fill_(3)
    env.step(torch.tensor(1))
    assert first.tolist() == [3, 3, 3, 3]


def test_jax_observations_are_read_only_views_for_numpy() -> None:
    array = jnp.arange(3.0)
    env = JaxToNumpy(Replay(spaces.Box(-1, 1, (3,)), array, {"x": array}))
    for obs, info in (env.reset(), env.step(env.sample_action())[::4]):
        for view in (obs, info["x"]):
            assert view.ctypes.data == array.unsafe_buffer_pointer()
            assert not view.flags.writeable


def test_arrays_of_the_agents_own_library_are_copied_unless_they_never_change() -> None:
    tensor, array = torch.zeros(3), jnp.zeros(3)
    space = spaces.Box(-1, 1, (3,))
    obs, info = NumpyToTorch(Replay(space, tensor, {"x": tensor})).reset()
    assert tensor.data_ptr() not in {obs.data_ptr(), info["x"].data_ptr()}
    found, told = NumpyToJax(Replay(space, array, {"x": array})).reset()
    assert found is told["x"] is array


def test_fresh_numpy_arrays_of_a_pytorch_environment_are_returned_themselves() -> None:
    env: Array = TorchToNumpy[Array, Array](Fresh(lambda array: array))
    for act in (env.reset, partial(env.step, np.int64(1))):
        obs, *_, info = act()
        assert [obs.ctypes.data, info["x"].ctypes.data] == env.unwrapped.addresses
    kept = np.zeros(3)
    obs, _ = TorchToNumpy(Replay(spaces.Box(-1, 1, (3,)), kept)).reset()
    assert obs.ctypes.data != kept.ctypes.data


class Remembering(gym.Wrapper[Array, Array, Array, Array]):
    """Records only the address of an observation."""

    address = 0

    @override
    def step(self, action: Array) -> Array:
        result = self.env.step(action)
        self.address = result[0].ctypes.data
        return result


def test_fresh_results_of_gymnasium_wrappers_are_shared() -> None:
    inner = Remembering(TransformObservation(gym.make("CartPole-v1"), lambda obs: obs * 2, None))
    env = NumpyToTorch(inner)
    env.reset(seed=0)
    obs, *_ = env.step(torch.tensor(1))
    assert obs.data_ptr() == inner.address


# -- the proof --------------------------------------------------------------------------------


# unknown interpreters return 0
@pytest.mark.parametrize(
    "count",
    [
        "lambda _: 0",
        pytest.param("lambda _: 1", marks=pytest.mark.slow),
        pytest.param("lambda _: 100", marks=pytest.mark.slow),
        "lambda value: real(value) + 3",
    ],
)
def test_without_a_proof_everything_is_copied(count: str) -> None:
    code = f"""
        import sys
        real = sys.getrefcount
        sys.getrefcount = {count}
        import torch
        from gymbridge import NumpyToTorch
        from gymbridge_runtime.core.ownership import IS_PROVABLE
        from tests.runtime.test_ownership import FRESH, Fresh, addresses
        for show in FRESH.values():
            env = NumpyToTorch(Fresh(show))
            for act in (env.reset, lambda: env.step(torch.tensor(1))):
                print(addresses(act()) == env.unwrapped.addresses, end=" ")
        print(IS_PROVABLE)
    """
    *shared, is_provable = run_python(code).split()
    assert {*shared} == {is_provable}
    assert is_provable == str("real" in count)


@pytest.mark.parametrize("watch", [sys.setprofile, sys.settrace])
def test_values_hold_under_a_profiler_that_keeps_frames(watch: Callable[[Array], None]) -> None:
    frames: list[FrameType] = []

    def keep(frame: FrameType, *_: object) -> Array:
        frames.append(frame)
        return keep

    env = NumpyToTorch[Array, Array](Fresh(lambda array: array))
    env.reset()
    watch(keep)
    try:
        obs, *_ = env.step(torch.tensor(1))
    finally:
        watch(None)
    held = [one for frame in frames for one in frame.f_locals.values()]
    for array in held:
        if isinstance(array, np.ndarray):
            array[...] = 77
    frames.clear()
    assert (obs == 0).all()
