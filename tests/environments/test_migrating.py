"""Every row of the table in docs/guides/migrating.md, for both columns."""

from __future__ import annotations

import copy
import pickle
from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.libraries.jax import jnp
from tests.libraries.torch import torch
from tests.support import Array, run_python

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

GYMNASIUM, OURS = "gymnasium.wrappers", "gymbridge"

# each function gets a module of wrappers, and returns True if the result is right


class Sends(gym.Env[Any, Any]):
    """An environment with a given info and reward."""

    observation_space = gym.spaces.Box(-1, 1, (2,))
    action_space = gym.spaces.Box(-1, 1, (2,))

    def __init__(self, info: dict[Any, Any], reward: object = 0.0) -> None:
        self.info = info
        self.reward = reward

    def reset(self, **_given: object) -> tuple[Any, Any]:
        return np.zeros(2, np.float32), self.info

    def step(self, action: Array) -> tuple[Any, Any, bool, bool, Any]:
        action[0] = 0.5  # as some environments do
        return np.zeros(2, np.float32), self.reward, False, False, {}


def told(module: ModuleType, value: object, key: object = "value") -> Array:
    return module.NumpyToTorch(Sends({key: value})).reset()[1][key]


def frozen_lake(module: ModuleType) -> bool:
    env = module.NumpyToTorch(gym.make("FrozenLake-v1"))
    env.reset(seed=0)
    return bool(env.step(torch.tensor(2))[0].ndim == 0)


def action_that_requires_grad(module: ModuleType) -> bool:
    env = module.NumpyToTorch(gym.make("Pendulum-v1"))
    env.reset(seed=0)
    env.step(torch.tensor([0.5], requires_grad=True))
    return True


def action_from_jax_that_is_written_into(module: ModuleType) -> bool:
    namespace = module.ArrayConversion(Sends({}), np, jnp)
    namespace.step(jnp.zeros(2))
    return True


def end_of_an_episode(module: ModuleType) -> bool:
    made = gym.make_vec(
        "CartPole-v1",
        2,
        "sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
    )
    envs = import_module(f"{module.__name__}.vector").NumpyToTorch(made)
    envs.reset(seed=0)
    infos: dict[str, Any] = {}
    while "final_obs" not in infos:
        infos = envs.step(torch.ones(2, dtype=torch.long))[4]
    return any(isinstance(each, torch.Tensor) for each in infos["final_obs"])


def text(module: ModuleType) -> bool:
    return bool(told(module, "ok") == "ok")


def truth(module: ModuleType) -> bool:
    return told(module, True) is True


def objects(module: ModuleType) -> bool:
    return all(told(module, value) == value for value in ({1}, Ellipsis))


def keys(module: ModuleType) -> bool:
    return bool(told(module, 1, key=3) == 1)


def reward_of_many(module: ModuleType) -> bool:
    env = module.NumpyToTorch(Sends({}, np.ones(2)))
    return bool(env.step(torch.zeros(2))[1].shape == (2,))


def large_number(module: ModuleType) -> bool:
    env = module.ArrayConversion(Sends({"id": np.array(2**40)}), np, jnp)
    try:
        return int(env.reset()[1]["id"]) == 2**40
    except TypeError as error:
        return "cannot hold the int64 value" in str(error)


def time_stamp(module: ModuleType) -> bool:
    return float(told(module, 1_700_000_000.25)) == 1_700_000_000.25


def pickled(module: ModuleType) -> bool:
    env = pickle.loads(pickle.dumps(module.NumpyToTorch(gym.make("CartPole-v1"))))
    return bool(env.action_space == gym.spaces.Discrete(2))


def copied(module: ModuleType) -> bool:
    env = copy.deepcopy(module.NumpyToTorch(gym.make("CartPole-v1")))
    return bool(env.action_space == gym.spaces.Discrete(2))


def stored_observation(module: ModuleType) -> bool:
    class Walk(Sends):
        state = np.zeros(2, np.float32)

        def step(self, action: Array) -> tuple[Any, Any, bool, bool, Any]:
            self.state += 1
            return self.state, *super().step(action)[1:]

    env = module.NumpyToTorch(Walk({}))
    stored = env.step(torch.zeros(2))[0]
    before = stored.tolist()
    env.step(torch.zeros(2))
    return bool(stored.tolist() == before)


def written_through(module: ModuleType) -> bool:
    class Constant(Sends):
        def reset(self, **_given: object) -> tuple[Any, Any]:
            self.kept = jnp.zeros(2) + 1
            return self.kept, {}

    env = Constant({})
    obs, _ = module.JaxToTorch(env).reset()
    obs[:] = 7
    return env.kept.tolist() == [1, 1]


GAPS: list[Callable[[Any], bool]] = [
    frozen_lake,
    action_that_requires_grad,
    action_from_jax_that_is_written_into,
    end_of_an_episode,
    text,
    truth,
    objects,
    keys,
    reward_of_many,
    large_number,
    time_stamp,
    pickled,
    copied,
    stored_observation,
    written_through,
]


@pytest.mark.parametrize("is_right", GAPS)
def test_gymbridge_gives_the_right_result(is_right: Callable[[Any], bool]) -> None:
    assert is_right(import_module(OURS))


@pytest.mark.parametrize("is_right", GAPS)
@pytest.mark.filterwarnings("ignore")
def test_gymnasium_does_not_give_the_right_result(is_right: Callable[[Any], bool]) -> None:
    try:
        right = is_right(import_module(GYMNASIUM))
    except (AttributeError, BufferError, TypeError, ValueError):
        right = False
    assert not right, "the guide says that this goes wrong"


FRAME = """
import gymnasium as gym, numpy as np
from {module} import NumpyToTorch

class Frame(gym.Env):
    observation_space = gym.spaces.Box(0, 255, (4, 4, 3), np.uint8)
    action_space = gym.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return np.arange(48, dtype=np.uint8).reshape(4, 4, 3)[..., ::-1], {{}}

print("arrived", NumpyToTorch(Frame()).reset()[0][0, 0].tolist())
"""


def test_gymnasium_aborts_at_a_negative_stride_and_gymbridge_does_not() -> None:
    assert run_python(FRAME.format(module=OURS)) == "arrived [2, 1, 0]\n"
    with pytest.raises(AssertionError, match="exit code -6"):
        run_python(FRAME.format(module=GYMNASIUM))
