"""Environments that fail, each in the way that a test tells them to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Scripted", "ScriptedVector", "Value", "fine", "fine_vector"]

Value = Any
"""What an environment returns, or an agent gives it, right or wrong."""

NUM_ENVS = 2


def fine() -> Value:
    """Return a step that is as it should be."""
    return np.arange(3, dtype=np.float32), 1.0, False, False, {"left": np.int64(3)}


def fine_vector() -> Value:
    """Return a step of vector environments that is as it should be."""
    flags = np.zeros(NUM_ENVS, np.bool_)
    obs = np.arange(6, dtype=np.float32).reshape(NUM_ENVS, 3)
    return obs, np.ones(NUM_ENVS), flags, flags.copy(), {"left": np.arange(NUM_ENVS)}


class Scripted(gym.Env[Any, Any]):
    """Takes its steps from a list of functions, and counts them; afterwards all goes well.

    Args:
        steps: What is called, one for each step.
        first: What is called by `reset`.
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
    """The same for vector environments."""

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
