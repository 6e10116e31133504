"""Environments that return given values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym
from typing_extensions import override

if TYPE_CHECKING:
    from tests.support import Array


class Replay(gym.Env["Array", "Array"]):
    """Every observation is ``observation``, every info ``info``; actions are kept.

    Args:
        space: The space of the observations.
        observation: The observation that `reset` and `step` return.
        info: The info that both return with it.
        action_space: The space of the actions.
    """

    def __init__(
        self,
        space: gym.Space[Array],
        observation: Array,
        info: dict[str, Array] | None = None,
        action_space: gym.Space[Array] | None = None,
    ) -> None:
        self.observation_space = space
        self.action_space = action_space or gym.spaces.Discrete(2)
        self.observation = observation
        self.info = info or {}
        self.actions: list[Array] = []

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return self.observation, self.info

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        self.actions.append(action)
        return self.observation, 1.0, False, False, self.info


class ReplayVector(gym.vector.VectorEnv["Array", "Array", "Array"]):
    """Every step returns ``step``: observations, rewards, terminations, truncations and infos."""

    def __init__(self, *step: Array, num_envs: int = 2) -> None:
        self.num_envs = num_envs
        self.single_observation_space = gym.spaces.Discrete(2)
        self.single_action_space = gym.spaces.Discrete(2)
        self.observation_space = gym.spaces.MultiDiscrete([2] * num_envs)
        self.action_space = gym.spaces.MultiDiscrete([2] * num_envs)
        self.values = step

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return self.values[0], {}

    @override
    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Array]]:
        obs, rewards, terminations, truncations = self.values
        return obs, rewards, terminations, truncations, {}
