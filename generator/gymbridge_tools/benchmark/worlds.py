"""Environments that cost next to nothing, so that what is around them shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from typing_extensions import override

from .arrays import fresh

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnyArray, AnySpace, AnyType, Info

__all__ = ["ENVIRONMENTS", "Balanced", "BalancedVector", "Replay", "ReplayVector", "World"]

ENVIRONMENTS = 16


class Replay(gym.Env[Any, Any]):
    """Returns steps that were made beforehand.

    Args:
        library: Whose arrays the steps hold.
        step: What a step returns, in NumPy's arrays.
    """

    action_space: AnySpace = spaces.Box(-1, 1, (2,))
    most = 200

    def __init__(self, library: str, step: tuple[object, ...]) -> None:
        self.observation_space = _space_of(step[0])
        self._library = library
        self._step = step
        self._ready: list[AnyType] = []

    @override
    def step(self, action: object) -> tuple[AnyType, float, bool, bool, Info]:
        step: tuple[AnyType, float, bool, bool, Info] = self._ready.pop()
        return step

    def prepare(self, steps: int) -> list[AnyArray]:
        """Make the next ``steps`` steps; return the actions to take."""
        self._ready = fresh(self._library, [self._step] * steps)
        return [np.full((2,), 0.5, np.float32)] * steps


class ReplayVector(gym.vector.VectorEnv[Any, Any, Any]):
    """The same for a vector of environments."""

    num_envs = ENVIRONMENTS
    most = 100
    single_action_space: AnySpace = spaces.Box(-1, 1, (2,))
    action_space: AnySpace = spaces.Box(-1, 1, (ENVIRONMENTS, 2))

    def __init__(self, library: str, step: tuple[object, ...]) -> None:
        self.observation_space = _space_of(step[0])
        self._library = library
        self._step = step
        self._ready: list[AnyType] = []

    @override
    def step(self, actions: object) -> tuple[AnyType, AnyType, AnyType, AnyType, Info]:
        step: tuple[AnyType, AnyType, AnyType, AnyType, Info] = self._ready.pop()
        return step

    def prepare(self, steps: int) -> list[AnyArray]:
        """Make the next ``steps`` steps; return the actions to take."""
        self._ready = fresh(self._library, [self._step] * steps)
        return [np.full((ENVIRONMENTS, 2), 0.5, np.float32)] * steps


def _space_of(observation: object) -> AnySpace:
    if isinstance(observation, dict):
        return spaces.Dict({key: _space_of(below) for key, below in observation.items()})
    assert isinstance(observation, np.ndarray)
    return spaces.Box(-np.inf, np.inf, observation.shape, observation.dtype.type)


class Balanced(gym.Wrapper[Any, Any, Any, Any]):
    """CartPole, from the same start each time, and actions that keep the pole up."""

    most = 250

    def __init__(self) -> None:
        super().__init__(gym.make("CartPole-v1", disable_env_checker=True))
        self._actions: list[np.int64] = []
        observation, _ = self.env.reset(seed=0)
        for _ in range(self.most):
            action = np.int64(_push(observation))
            self._actions.append(action)
            observation, _, over, _, _ = self.env.step(action)
            assert not over

    def prepare(self, steps: int) -> list[np.int64]:
        """Go back to the start; return the actions to take."""
        self.env.reset(seed=0)
        return self._actions[:steps]


class BalancedVector(gym.vector.VectorWrapper[Any, Any, Any, Any, Any]):
    """The same for a vector of CartPoles."""

    most = 250

    def __init__(self, **options: AnyType) -> None:
        super().__init__(gym.make_vec("CartPole-v1", ENVIRONMENTS, **options))
        self._actions: list[AnyArray] = []
        observations, _ = self.env.reset(seed=0)
        for _ in range(self.most):
            actions = np.array([_push(one) for one in observations], np.int64)
            self._actions.append(actions)
            observations, _, over, _, _ = self.env.step(actions)
            assert not over.any()

    def prepare(self, steps: int) -> list[AnyArray]:
        """Go back to the start; return the actions to take."""
        self.env.reset(seed=0)
        return self._actions[:steps]


def _push(observation: AnyArray) -> bool:
    """Push the cart to the side that the pole leans and turns to."""
    x, speed, angle, turn = observation
    return bool(0.1 * x + 0.3 * speed + 3 * angle + turn > 0)


World: TypeAlias = Replay | ReplayVector | Balanced | BalancedVector
"""What the benchmark steps."""
