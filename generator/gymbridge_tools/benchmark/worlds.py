"""Environments that cost almost nothing, so that wrappers dominate the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from .arrays import fresh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.types import AnyArray, AnySpace, AnyType

ENVIRONMENTS = 16


class Values:
    """No environment: values for a converter.

    Args:
        library: The library of the arrays.
        value: One value, in NumPy arrays.
        most: The most values that are prepared at once.
    """

    def __init__(self, library: str, value: object, most: int = 200) -> None:
        self.most = most
        self._library = library
        self._value = value
        self._once = fresh(library, [value])

    def prepare(self, calls: int) -> Sequence[object]:
        """Return ``calls`` values; only JAX arrays must be new."""
        new = self._library == "jax"
        return fresh(self._library, [self._value] * calls) if new else self._once * calls


class _Replaying:
    """Returns steps that were prepared before.

    Args:
        library: The library of the arrays.
        step: The results of a step, in NumPy arrays.
        held: Return the same arrays in every step, as ``return self.state`` does.
        device: The device of PyTorch's arrays.
    """

    action_space: AnySpace
    most: int

    def __init__(
        self,
        library: str,
        step: tuple[object, ...],
        *,
        held: bool = False,
        device: str | None = None,
    ) -> None:
        self.observation_space = _space_of(step[0])
        self._library = library
        self._device = device
        self._step = step
        self._state = fresh(library, [step], device) if held else []
        self._ready: list[AnyType] = []

    def step(self, _action: object) -> AnyType:
        return self._ready.pop()

    def prepare(self, calls: int) -> list[AnyArray]:
        """Prepare the results of the next ``calls`` steps; return the actions."""
        if self._state:
            self._ready = [(*step,) for step in self._state * calls]
        else:
            self._ready = fresh(self._library, [self._step] * calls, self._device)
        return [np.full(self.action_space.shape or (), 0.5, np.float32)] * calls

    def prepare_odd(self, obs: object) -> None:
        """Prepare the result of the next step with the observation ``obs``."""
        [(_, *rest)] = fresh(self._library, [self._step], self._device)
        self._ready = [(obs, *rest)]


class Replay(_Replaying, gym.Env[Any, Any]):
    """One environment."""

    action_space: AnySpace = spaces.Box(-1, 1, (2,))
    most = 200


class ReplayVector(_Replaying, gym.vector.VectorEnv[Any, Any, Any]):
    """A vector of environments."""

    num_envs = ENVIRONMENTS
    single_action_space: AnySpace = spaces.Box(-1, 1, (2,))
    action_space: AnySpace = spaces.Box(-1, 1, (ENVIRONMENTS, 2))
    most = 100

    def __init__(self, library: str, step: tuple[object, ...], **options: AnyType) -> None:
        super().__init__(library, step, **options)
        self.metadata = {"autoreset_mode": gym.vector.AutoresetMode.NEXT_STEP}
        self.single_observation_space = _space_of(step[0], axis=1)


class ReplayHalves(ReplayVector):
    """A vector of environments with the two halves of a step, as AsyncVectorEnv has them."""

    _sent: object = None

    def step_async(self, actions: object) -> None:
        """Send actions."""
        self._sent = actions

    def step_wait(self, _timeout: float | None = None) -> AnyType:
        """Return the results."""
        return self.step(self._sent)


class ReplayBatched(_Replaying, gym.Env[Any, Any]):
    """An environment whose every result is an array with a row for each of its worlds."""

    num_envs = ENVIRONMENTS
    action_space: AnySpace = ReplayVector.action_space
    most = 100


def _space_of(observation: object, axis: int = 0) -> AnySpace:
    if isinstance(observation, dict):
        return spaces.Dict({key: _space_of(leaf, axis) for key, leaf in observation.items()})
    assert isinstance(observation, np.ndarray)
    return spaces.Box(-np.inf, np.inf, observation.shape[axis:], observation.dtype.type)


class Balanced(gym.Wrapper[Any, Any, Any, Any]):
    """One CartPole with a fixed start, and actions that balance it."""

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
        """Go back to the start; return the actions."""
        self.env.reset(seed=0)
        return self._actions[:steps]


class BalancedVector(gym.vector.VectorWrapper[Any, Any, Any, Any, Any]):
    """A vector of such CartPoles."""

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
        """Go back to the start; return the actions."""
        self.env.reset(seed=0)
        return self._actions[:steps]


def _push(observation: AnyArray) -> bool:
    """Push the cart towards the side that the pole falls to."""
    x, speed, angle, turn = observation
    return bool(0.1 * x + 0.3 * speed + 3 * angle + turn > 0)


World: TypeAlias = Values | Replay | ReplayBatched | ReplayVector | Balanced | BalancedVector
"""The source of a call's arguments."""
