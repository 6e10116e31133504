"""Environments that fail as a test says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

Value = Any
"""Any value that an environment returns or an agent passes."""

NUM_ENVS = 2


def fine() -> Value:
    """Return a correct step."""
    return np.arange(3, dtype=np.float32), 1.0, False, False, {"left": np.int64(3)}


def fine_vector() -> Value:
    """Return a correct step of vector environments."""
    flags = np.zeros(NUM_ENVS, np.bool_)
    obs = np.arange(6, dtype=np.float32).reshape(NUM_ENVS, 3)
    return obs, np.ones(NUM_ENVS), flags, flags.copy(), {"left": np.arange(NUM_ENVS)}


class Scripted(gym.Env[Any, Any]):
    """Calls one function of a list in each step, and counts the steps; later steps are correct.

    Args:
        steps: The functions for the steps.
        first: The function for `reset`.
    """

    def __init__(
        self,
        *steps: Callable[[], Value],
        first: Callable[[], Value] = lambda: (np.arange(3, dtype=np.float32), {}),
    ) -> None:
        self.observation_space = spaces.Box(-1, 1, (3,), np.float32)
        self.action_space = spaces.Discrete(4)
        self.render_mode = "rgb_array"
        self.taken = 0
        self._steps = steps
        self._first = first

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Value:
        return self._first()

    @override
    def step(self, action: Value) -> Value:
        number = self.taken
        self.taken += 1
        return self._steps[number]() if number < len(self._steps) else fine()


class ScriptedVector(gym.vector.VectorEnv[Any, Any, Any]):
    """The vector form of `Scripted`."""

    def __init__(
        self,
        *steps: Callable[[], Value],
        first: Callable[[], Value] = lambda: (np.zeros((NUM_ENVS, 3), np.float32), {}),
    ) -> None:
        self.num_envs = NUM_ENVS
        self.single_observation_space = spaces.Box(-1, 1, (3,), np.float32)
        self.single_action_space = spaces.Discrete(4)
        self.observation_space = spaces.Box(-1, 1, (NUM_ENVS, 3), np.float32)
        self.action_space = spaces.MultiDiscrete([4] * NUM_ENVS)
        self.taken = 0
        self._steps = steps
        self._first = first

    @override
    def reset(self, *, seed: Value = None, options: dict[str, Any] | None = None) -> Value:
        return self._first()

    @override
    def step(self, actions: Value) -> Value:
        number = self.taken
        self.taken += 1
        return self._steps[number]() if number < len(self._steps) else fine_vector()
