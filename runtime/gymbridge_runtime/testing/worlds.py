"""Test environments that behave the same in every array library."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, cast

import gymnasium as gym
import numpy as np
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.testing.side import numbers_of
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnySpace, HostArray, Info

EPISODE = 5
"""The number of steps in an episode of a world."""

NUMPY = "gymbridge_runtime.backends.numpy:NUMPY"

MOVE: AnySpace = spaces.Box(-1, 1, (2,), np.float32)
POSE: AnySpace = spaces.Dict(
    pose=spaces.Box(-100, 100, (2,), np.float32), left=spaces.Box(0, EPISODE, (1,), np.int32)
)


def moved(pose: HostArray, action: object) -> HostArray:
    """Return ``pose`` after an action of any library; other values leave it unchanged."""
    numbers = numbers_of(action)
    return pose if numbers is None else cast("HostArray", np.add(pose, numbers, dtype=np.float32))


class Arrays:
    """Makes the arrays of a library, and restores itself by the library's name."""

    def __init__(self, library: str) -> None:
        self._library: str = library
        self.of: Converter = Converter(load(library), copy=True)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return Arrays, (self._library,)


class World(gym.Env[object, object]):
    """Moves by its actions, and returns infos of every kind; its arrays are of one library.

    Args:
        library: The reference of the library's backend, ``"package.module:NAME"``.
    """

    def __init__(self, library: str = NUMPY) -> None:
        self.action_space: AnySpace = copied(MOVE)
        self.observation_space: AnySpace = copied(POSE)
        self._arrays: Arrays = Arrays(library)
        self._pose: HostArray = np.zeros(2, np.float32)
        self._left: int = EPISODE

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        _ = super().reset(seed=seed)
        self._pose = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        self._left = EPISODE
        return self._seen(), self._told()

    @override
    def step(self, action: object) -> tuple[object, float, bool, bool, Info]:
        self._pose = moved(self._pose, action)
        self._left -= 1
        return self._seen(), float(self._left), self._left == 0, False, self._told()

    def _seen(self) -> object:
        return self._arrays.of({"pose": self._pose, "left": np.array([self._left], np.int32)})

    def _told(self) -> Info:
        return {
            "array": self._arrays.of(np.full((2, 3), self._left, np.float32)),
            "below": [{"mask": self._arrays.of(np.array([True, False]))}, "text"],
            "left": self._left,
            "mean": 0.5 * self._left,
            "nothing": None,
            "odd": bool(self._left % 2),
            "text": f"{self._left} left",
        }


class WorldVector(gym.vector.VectorEnv[object, object, object]):
    """Two worlds, with final observations in an object array, like Gymnasium's."""

    def __init__(self, library: str = NUMPY) -> None:
        self.num_envs: int = 2
        self.single_action_space: AnySpace = copied(MOVE)
        self.single_observation_space: AnySpace = copied(POSE)
        self.action_space: AnySpace = batch_space(MOVE, 2)
        self.observation_space: AnySpace = batch_space(POSE, 2)
        self.metadata: Info = {"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP}
        self._arrays: Arrays = Arrays(library)
        self._poses: HostArray = np.zeros((2, 2), np.float32)
        self._left: HostArray = np.full(2, EPISODE, np.int32)

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        _ = super().reset(seed=seed)
        self._poses = self.np_random.uniform(-1, 1, (2, 2)).astype(np.float32)
        self._left = np.array([EPISODE, EPISODE - 2], np.int32)
        return self._seen(), {}

    @override
    def step(self, actions: object) -> tuple[object, object, object, object, Info]:
        self._poses = moved(self._poses, actions)
        self._left = cast("HostArray", np.subtract(self._left, 1, dtype=np.int32))
        over: HostArray = np.equal(self._left, 0)
        info: Info = {
            "left": self._arrays.of(self._left),
            "_left": self._arrays.of(np.ones(2, np.bool_)),
        }
        if np.any(over):
            final = np.empty(2, object)
            for place in np.flatnonzero(over):
                final[place] = self._arrays.of(
                    {"pose": self._poses[place], "left": self._left[place : place + 1]}
                )
            info |= {"final_obs": final, "_final_obs": self._arrays.of(over)}
            self._left = np.where(over, np.int32(EPISODE), self._left)
        of = self._arrays.of
        rewards = of(self._poses[:, 0].copy())
        return self._seen(), rewards, of(over), of(np.zeros(2, np.bool_)), info

    def _seen(self) -> object:
        return self._arrays.of({"pose": self._poses, "left": self._left.reshape(2, 1)})


class Echo(gym.Env[object, object]):
    """Keeps the received action."""

    def __init__(self, action_space: AnySpace) -> None:
        self.action_space: AnySpace = action_space
        self.observation_space: AnySpace = spaces.Box(-1, 1, (2,))
        self.received: object = None

    @override
    def step(self, action: object) -> tuple[object, float, bool, bool, Info]:
        self.received = action
        return np.zeros(2, np.float32), 1.0, False, False, {}


class EchoVector(gym.vector.VectorEnv[object, object, object]):
    """The vector form of `Echo`."""

    def __init__(self, action_space: AnySpace) -> None:
        self.num_envs: int = 3
        self.single_action_space: AnySpace = action_space
        self.action_space: AnySpace = batch_space(action_space, 3)
        self.single_observation_space: AnySpace = spaces.Box(-1, 1, (2,))
        self.observation_space: AnySpace = batch_space(self.single_observation_space, 3)
        self.received: object = None

    @override
    def step(self, actions: object) -> tuple[object, object, object, object, Info]:
        self.received = actions
        flags = np.zeros(3, np.bool_)
        return np.zeros((3, 2), np.float32), np.ones(3), flags, flags.copy(), {}


def copied(space: AnySpace) -> AnySpace:
    """Return a copy of a space with its own random state."""
    return copy.deepcopy(space)
