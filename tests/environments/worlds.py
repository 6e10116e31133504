"""Environments that record actions or return given results."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.environments.bridges import Value
    from tests.support import Library


class Echo(gym.Env[Any, Any]):
    """Keeps the received action, and returns a sample of its observation space."""

    def __init__(
        self, action_space: spaces.Space[Any], observation_space: spaces.Space[Any] | None = None
    ) -> None:
        self.action_space = action_space
        self.observation_space = (
            spaces.Box(-1, 1, (2,)) if observation_space is None else observation_space
        )
        self.received: Any = None
        self.options: Any = None

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.options = options
        if seed is not None:
            self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    @override
    def step(self, action: Value) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.received = action
        return self.observation_space.sample(), 1.0, False, False, {}


class EchoVector(gym.vector.VectorEnv[Any, Any, Any]):
    """The vector form of `Echo`."""

    def __init__(self, action_space: spaces.Space[Any], num_envs: int = 3) -> None:
        self.num_envs = num_envs
        self.single_action_space = action_space
        self.action_space = gym.vector.utils.batch_space(action_space, num_envs)
        self.single_observation_space = spaces.Box(-1, 1, (2,))
        self.observation_space = gym.vector.utils.batch_space(
            self.single_observation_space, num_envs
        )
        self.received: Any = None
        self.seed: Any = None
        self.options: Any = None

    @override
    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        self.seed, self.options = seed, options
        return self.observation_space.sample(), {}

    @override
    def step(self, actions: Value) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        self.received = actions
        flags = np.zeros(self.num_envs, np.bool_)
        return self.observation_space.sample(), np.ones(self.num_envs), flags, flags.copy(), {}


class Told(gym.Env[Any, Any]):
    """Returns the given results, step by step: (obs, reward, terminated, truncated, info).

    The first observation is None, unless the caller passes ``first``.
    """

    def __init__(
        self,
        *steps: tuple[Any, Any, Any, Any, Any],
        observation_space: spaces.Space[Any] | None = None,
        action_space: spaces.Space[Any] | None = None,
        first: tuple[Any, Any] | None = None,
    ) -> None:
        self.observation_space = (
            spaces.Box(-1, 1, (2,)) if observation_space is None else observation_space
        )
        self.action_space = action_space or spaces.Discrete(4)
        self._first = first or (None, {})
        self._steps = steps
        self._next = 0

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._next = 0
        return self._first

    @override
    def step(self, action: Value) -> tuple[Any, Any, Any, Any, Any]:
        told = self._steps[self._next]
        self._next += 1
        return told


def made(library: Library, tree: Value) -> Value:
    """Return ``tree`` with its NumPy values as arrays of ``library``."""
    if isinstance(tree, dict):
        return {key: made(library, value) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_make"):
        return tree._make(made(library, value) for value in tree)
    if isinstance(tree, (tuple, list)):
        return type(tree)(made(library, value) for value in tree)
    return library.make(tree) if isinstance(tree, (np.ndarray, np.generic)) else tree


class Countdown(gym.Env[Any, Any]):
    """Ends after `length` steps; its infos hold every kind of value found in real ones."""

    def __init__(self, length: int, *, structured: bool = False) -> None:
        self.action_space = spaces.Discrete(2)
        box = spaces.Box(-100, 100, (2,), np.float32)
        self.observation_space: spaces.Space[Any] = (
            spaces.Dict(pose=box, mission=spaces.Text(20), n=spaces.Discrete(100))
            if structured
            else box
        )
        self._structured = structured
        self._length = length
        self._left = length

    def _seen(self) -> Value:
        pose = np.array([self._left, self._length], np.float32)
        if not self._structured:
            return pose
        return {"pose": pose, "mission": f"left{self._left}", "n": np.int64(self._left)}

    def _told(self) -> dict[str, Any]:
        return {
            "left": self._left,
            "time": 1_790_000_000.5 + self._left,
            "odd": bool(self._left % 2),
            "scalar": np.float32(self._left),
            "array": np.full(3, self._left, np.float64),
            "text": f"left {self._left}",
            "numpy text": np.str_("left"),
            "nothing": None,
            "colour": Colour.RED,
            "ragged": [np.zeros(self._left), "x"],
            "words": np.array(["a", "bb"]),
            "below": {"x": np.ones(2, np.int32), "deeper": {"y": "z"}},
            **({"sometimes": np.ones(2, np.float32)} if self._left == 1 else {}),
        }

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._left = self._length if seed is None else self._length + seed % 2
        return self._seen(), self._told()

    @override
    def step(self, action: Value) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._left -= 1
        return self._seen(), float(self._left), self._left <= 0, False, self._told()


class Colour(IntEnum):
    RED = 1
