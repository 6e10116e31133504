"""The environments of `worlds` with arrays for all results."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import gymnasium as gym
import numpy as np
from gymbridge_runtime.testing.worlds import EPISODE, MOVE, NUMPY, POSE, Arrays, copied, moved
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnySpace, HostArray, Info

_COUNT = 2


class BatchedWorld(gym.Env[object, object]):
    """Two worlds that reset by themselves; their log holds arrays and numbers.

    Args:
        library: The reference of the library's backend, ``"package.module:NAME"``.
    """

    num_envs: int = _COUNT

    def __init__(self, library: str = NUMPY) -> None:
        self.single_action_space: AnySpace = copied(MOVE)
        self.action_space: AnySpace = batch_space(MOVE, _COUNT)
        self.observation_space: AnySpace = batch_space(POSE, _COUNT)
        self._arrays: Arrays = Arrays(library)
        self._poses: HostArray = np.zeros((_COUNT, 2), np.float32)
        self._left: HostArray = np.full(_COUNT, EPISODE, np.int32)
        self._steps: int = 0

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        _ = super().reset(seed=seed)
        self._poses = self.np_random.uniform(-1, 1, (_COUNT, 2)).astype(np.float32)
        self._left = np.array([EPISODE, EPISODE - 2], np.int32)
        self._steps = 0
        return self._seen(), {}

    @override
    def step(self, action: object) -> tuple[object, float, bool, bool, Info]:
        self._poses = moved(self._poses, action)
        self._left = cast("HostArray", np.subtract(self._left, 1, dtype=np.int32))
        over: HostArray = np.equal(self._left, 0)
        of = self._arrays.of
        self._steps += 1
        first = of(self._poses[0, :1].reshape(()))
        info: Info = {"log": {"first": first, "steps": self._steps, "half": 0.5}}
        if np.any(over):
            info |= {"final_observation": self._seen(), "_final_observation": of(over)}
            self._left = np.where(over, np.int32(EPISODE), self._left)
        # Gymnasium declares numbers, and its TimeLimit returns one flag for all worlds
        rewards, over_now = of(self._poses[:, 0].copy()), of(over)
        return self._seen(), cast("float", rewards), cast("bool", over_now), False, info

    def _seen(self) -> object:
        return self._arrays.of({"pose": self._poses, "left": self._left.reshape(_COUNT, 1)})


class EchoBatched:
    """Keeps the received action, and does not inherit from Gymnasium's classes."""

    num_envs: int = 3

    def __init__(self, action_space: AnySpace) -> None:
        self.action_space: AnySpace = batch_space(action_space, self.num_envs)
        self.observation_space: AnySpace = spaces.Box(-1, 1, (self.num_envs, 2))
        self.received: object = None

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        """Start an episode."""
        del seed, options
        return np.zeros((self.num_envs, 2), np.float32), {}

    def step(self, action: object) -> tuple[object, object, object, object, Info]:
        """Keep the action."""
        self.received = action
        flags = np.zeros(self.num_envs, np.bool_)
        return np.zeros((self.num_envs, 2), np.float32), np.ones(self.num_envs), flags, flags, {}
