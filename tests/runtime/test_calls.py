"""The number of gymbridge's Python calls in a step: a cost that is the same on every machine.

An odd value takes the general path. The next value on the fast path must take as few calls as
before.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.backends.jax.imports import IMPORTS
from gymbridge_runtime.core.memory import aligned_copy
from gymnasium import spaces
from typing_extensions import override

from gymbridge import NumpyToJax, NumpyToTorch, TorchToNumpy, vector
from gymbridge.numpy_to_jax import numpy_to_jax
from gymbridge.numpy_to_torch import numpy_to_torch
from tests.libraries.jax import jnp
from tests.libraries.torch import torch
from tests.support import Array

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

CONVERTIBLE = 2
"""Calls of a step on the fast path: the step, and the proof that nobody else holds its result."""
USUAL_VECTOR = 7
"""The step, its two conversion methods, and the proof for each of four arrays."""
ODD = 20
FIRST_BATCH = 35


class World(gym.Env["Array", "Array"]):
    """Returns the given values."""

    observation_space = spaces.Box(-np.inf, np.inf, (3,))
    action_space = spaces.Box(-1, 1, (2,))
    make: Callable[[], Array] = staticmethod(lambda: np.ones(3, np.float32))
    reward: Array = 1.0
    flag: Array = False

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return self.make(), {}

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        return self.make(), self.reward, self.flag, self.flag, {}


class Worlds(gym.vector.VectorEnv["Array", "Array", "Array"]):
    """Steps in two halves."""

    num_envs = 3
    single_observation_space = single_action_space = spaces.Box(-1, 1, (2,))
    observation_space = action_space = spaces.Box(-1, 1, (3, 2))

    def __init__(self) -> None:
        self.metadata = {"autoreset_mode": gym.vector.AutoresetMode.NEXT_STEP}

    @override
    def reset(self, **_arguments: Array) -> tuple[Array, dict[str, Array]]:
        return np.ones((3, 2), np.float32), {}

    @override
    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Array]]:
        return self.step_wait()

    def step_async(self, actions: Array) -> None:
        pass

    def step_wait(
        self, _timeout: float | None = None
    ) -> tuple[Array, Array, Array, Array, dict[str, Array]]:
        return np.ones((3, 2), np.float32), np.ones(3), np.zeros(3, "?"), np.zeros(3, "?"), {}


def calls(act: Callable[[], object]) -> list[str]:
    """Return the names of the functions of gymbridge that ``act`` calls."""
    names: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and "gymbridge" in str(frame.f_globals.get("__name__")):
            names.append(frame.f_code.co_name)

    profile(act, note)
    return names


def calls_of_c(act: Callable[[], object]) -> list[str]:
    """Return the names of the C functions that ``act`` calls."""
    names: list[str] = []

    def note(_frame: FrameType, event: str, argument: Array) -> None:
        if event == "c_call":
            names.append(argument.__name__)

    profile(act, note)
    return names


def profile(act: Callable[[], object], note: Callable[[FrameType, str, Array], None]) -> None:
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)


def wrapped(**options: Array) -> tuple[NumpyToTorch[Array], Callable[[], object]]:
    """Return a wrapper after its reset, and a function that takes a step."""
    env = NumpyToTorch[Array](World(), **options)
    env.reset()
    action = torch.zeros(2)
    return env, lambda: env.step(action)


@pytest.mark.parametrize(
    "options", [{}, {"device": "cpu"}, {"copy": True}, {"float_dtype": torch.float32}]
)
def test_a_step_on_the_fast_path(options: dict[str, Array]) -> None:
    _, step = wrapped(**options)
    first = calls(step)
    assert len(first) <= CONVERTIBLE, first
    assert calls(step) == first


def test_an_odd_observation_does_not_slow_later_steps() -> None:
    env, step = wrapped()
    usual = calls(step)
    world = env.unwrapped
    assert isinstance(world, World)
    world.make = lambda: np.ones(3, np.float32)[::-1]
    odd = calls(step)
    assert len(odd) <= ODD, odd
    del world.make
    assert calls(step) == usual


def test_tensors_as_reward_and_flags_need_few_calls() -> None:
    world = World()
    world.make = lambda: torch.ones(3)
    world.reward, world.flag = torch.tensor(1.0), torch.tensor(False)
    env = TorchToNumpy[Array](world)
    env.reset()
    action = np.zeros(2, np.float32)
    found = calls(lambda: env.step(action))
    assert len(found) <= CONVERTIBLE, found


def test_converting_one_array() -> None:
    array = np.ones(3)
    usual = calls(lambda: numpy_to_torch(array))
    assert usual == ["numpy_to_torch"]
    numpy_to_torch(array[::-1])  # the first call makes the converter
    odd = calls(lambda: numpy_to_torch(array[::-1]))
    assert len(odd) <= ODD, odd
    assert calls(lambda: numpy_to_torch(array)) == usual


def test_a_vector_step_and_its_halves_take_the_fast_path() -> None:
    envs = vector.NumpyToTorch[Array, Array](Worlds())
    envs.reset()
    actions = torch.zeros(3, 2)
    step = calls(lambda: envs.step(actions))
    assert len(step) <= USUAL_VECTOR, step
    halves = [*calls(lambda: envs.step_async(actions)), *calls(envs.step_wait)]
    for conversion in ("_convert_actions", "_convert_results", "own"):
        assert halves.count(conversion) == step.count(conversion) > 0, halves
    searches = [name for name in halves if name in {"_method", "getattr_untyped"}]
    assert len(halves) == len(step) + 1 + len(searches), halves


def test_the_fast_path_into_jax_does_not_copy_large_arrays() -> None:
    """They have no compiled import, and the fast path must not copy them to find that out."""
    world = World()
    image = np.zeros((200, 200, 3), np.uint8)
    world.make = lambda: image
    env = NumpyToJax[Array](world)
    env.reset()
    action = jnp.zeros(2)
    assert "copy" not in calls_of_c(lambda: numpy_to_jax(image))
    assert calls_of_c(lambda: env.step(action)).count("copy") == 1  # of the action


@pytest.mark.parametrize("device", ["cpu", torch.device("cpu")], ids=repr)
def test_converting_to_the_default_device_by_its_name(device: Array) -> None:
    array = np.ones(3)
    numpy_to_torch(array, device)
    assert calls(lambda: numpy_to_torch(array, device)) == ["numpy_to_torch"]
    assert calls(lambda: numpy_to_torch({"a": array}, device)) == [
        "numpy_to_torch",
        "behaved_items",
        "items_of_type",
        "is_exact_dict",
    ]


@pytest.mark.parametrize("form", ["a dictionary", "a vector"])
def test_large_fresh_observations_go_into_jax_without_a_copy(form: str) -> None:
    addresses: list[int] = []

    def made() -> Array:
        obs = aligned_copy(np.zeros((3, 50_000), np.float32), np.dtype(np.float32), 64)
        addresses.append(obs.ctypes.data)
        return {"image": obs, "other": np.zeros(3)} if form == "a dictionary" else obs

    class Large(Worlds):
        @override
        def step_wait(self, _timeout: float | None = None) -> Array:
            _, *rest = super().step_wait()
            return made(), *rest

    world = World()
    world.make = made
    env = NumpyToJax[Array](world) if form == "a dictionary" else vector.NumpyToJax(Large())
    env.reset()
    action = jnp.zeros(2 if form == "a dictionary" else (3, 2))
    for _ in range(3):
        obs = env.step(action)[0]
        image = obs["image"] if form == "a dictionary" else obs
        assert image.unsafe_buffer_pointer() == addresses[-1]


def test_the_first_vector_step_into_jax() -> None:
    IMPORTS._many.clear()
    IMPORTS._seen.clear()
    envs = vector.NumpyToJax(gym.make_vec("CartPole-v1", 3, vectorization_mode="sync"))
    envs.reset(seed=0)
    actions = jnp.zeros(3, jnp.int32)
    found = calls(lambda: envs.step(actions))
    assert len(found) <= FIRST_BATCH, found
