"""An environment that returns what it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym
from typing_extensions import override

if TYPE_CHECKING:
    from tests.support import Array

__all__ = ["Replay"]


class Replay(gym.Env["Array", "Array"]):
    """Every observation is ``observation``, every info ``info``; actions are kept.

    Args:
        space: The space of the observations.
        observation: What `reset` and `step` return.
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
