"""Stand-ins for environments whose every result is an array: they behave as their sources do.

`DirectLab` and `ManagerLab` are Isaac Lab's two kinds of environments, `Skill` is ManiSkill's
`BaseEnv` and `Plain` is mjlab's. They return buffers that they write into in the next step, and
they write into the actions that they get. Their arrays are of any library.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from typing_extensions import override

if TYPE_CHECKING:
    from tests.environments.bridges import Value
    from tests.support import Host, Library

WORLDS = 4
MOVE = spaces.Box(-1, 1, (2,), np.float32)


def written(library: Library, array: Value, values: Host) -> Value:
    """Write into an array, or return another one where arrays never change."""
    new = library.make(values)
    if library.name == "jax":
        return new
    array[...] = new
    return array


class _Lab:
    """What all of them do, in whatever they return it: step after step, everything counts up."""

    def __init__(self, library: Library, num_envs: int = WORLDS) -> None:
        self.library = library
        self.num_envs = num_envs
        self.max_episode_length = 7
        self.cfg = {"decimation": 2}
        self.single_action_space: spaces.Space[Any] = MOVE
        self.received: Value = None
        self.asked: dict[str, Value] = {}
        self.steps = 0
        self.reward = library.make(np.zeros(num_envs, np.float32))
        self.terminated = library.make(np.zeros(num_envs, np.bool_))
        self.truncated = library.make(np.zeros(num_envs, np.bool_))
        self.episode_length_buf = library.make(np.zeros(num_envs, np.int64))
        if library.name == "torch":
            self.device = "cpu"

    def rows(self, width: int) -> Value:
        """Return new observations."""
        return self.library.make(np.full((self.num_envs, width), self.steps, np.float32))

    def take(self, action: Value) -> None:
        """Keep a copy of an action, and clip the action in place where arrays change."""
        self.received = action
        self.seen = self.library.values(action)
        if self.library.name != "jax":
            written(self.library, action, np.full_like(self.seen, 0))
        self.steps += 1

    def count(self) -> None:
        """Write what there is one of for each world into the buffers."""
        over = np.arange(self.num_envs) == self.steps % 3
        rewards = np.arange(self.num_envs, dtype=np.float32) + self.steps
        self.reward = written(self.library, self.reward, rewards)
        self.terminated = written(self.library, self.terminated, over)
        self.truncated = written(self.library, self.truncated, ~over)


class DirectLab(_Lab, gym.Env[Any, Any]):
    """Isaac Lab's `DirectRLEnv`: groups of observations, flags and extras written in place."""

    is_vector_env = True

    def __init__(self, library: Library, num_envs: int = WORLDS) -> None:
        super().__init__(library, num_envs)
        policy = spaces.Box(0, 10, (3,), np.float32)
        self.single_observation_space = spaces.Dict(policy=policy)
        self.observation_space = batch_space(policy, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.state_space = None
        self.extras: dict[str, Value] = {}

    @override
    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Value, dict[str, Any]]:
        self.asked = {"seed": seed, "options": options}
        self.steps = 0
        return self.groups(), self.extras

    @override
    def step(self, action: Value) -> tuple[Value, Value, Value, Value, dict[str, Any]]:
        self.take(action)
        self.count()
        rewards = self.library.make(np.full(self.num_envs, self.steps, np.float32))
        self.extras["log"] = {
            "mean": self.library.make(np.array(self.steps, np.float32)),
            "rate": self.steps / 2,
            "resets": self.steps,
        }
        if self.steps == 2:
            self.extras["stale"] = self.library.make(np.array(2, np.float32))
        if self.steps == 3:
            self.extras["log"] = {}
        return self.groups(), rewards, self.terminated, self.truncated, self.extras

    def groups(self) -> Value:
        """Return the observations of each group, of which one nests."""
        return {"policy": self.rows(3), "critic": {"near": self.rows(2), "far": self.rows(1)}}


class ManagerLab(DirectLab):
    """Isaac Lab's `ManagerBasedRLEnv`: rewards are written in place, too."""

    @override
    def step(self, action: Value) -> tuple[Value, Value, Value, Value, dict[str, Any]]:
        obs, _, *rest = super().step(action)
        return obs, self.reward, *rest

    def get_observations(self) -> Value:
        """Return the observations as they are now."""
        return self.groups()


class Skill(_Lab, gym.Env[Any, Any]):
    """ManiSkill's `BaseEnv`: the action space of one world is not batched, nothing starts anew."""

    def __init__(self, library: Library, num_envs: int = WORLDS) -> None:
        super().__init__(library, num_envs)
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        batched = batch_space(self.single_action_space, num_envs)
        self.action_space = self.single_action_space if num_envs == 1 else batched
        self.elapsed_steps = library.make(np.zeros(num_envs, np.int32))

    @override
    def reset(
        self, seed: Value = None, options: dict[str, Any] | None = None
    ) -> tuple[Value, dict[str, Any]]:
        self.asked = {"seed": seed, "options": options}
        return self.rows(3), {"reconfigure": False}

    @override
    def step(self, action: Value) -> tuple[Value, Value, Value, Value, dict[str, Any]]:
        self.take(action)
        self.count()
        steps = np.full(self.num_envs, self.steps, np.int32)
        self.elapsed_steps = written(self.library, self.elapsed_steps, steps)
        info = {"elapsed_steps": self.elapsed_steps, "success": self.terminated}
        return self.rows(3), self.reward, self.terminated, self.truncated, info


@dataclass
class ForeignBox:
    """A box of mjlab's."""

    shape: tuple[int, ...] = ()
    dtype: Value = "float32"
    low: Value = -np.inf
    high: Value = np.inf


@dataclass
class ForeignDict:
    """A dictionary of them."""

    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    spaces: dict[str, ForeignBox] = field(default_factory=dict[str, ForeignBox])


class Plain(_Lab):
    """mjlab's environment: a plain class with spaces of its own, and the same arrays each step."""

    is_vector_env = True
    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"]}
    render_mode = None

    def __init__(self, library: Library, num_envs: int = WORLDS) -> None:
        super().__init__(library, num_envs)
        groups = {"actor": ForeignBox((num_envs, 3)), "critic": ForeignBox((num_envs, 2))}
        self.observation_space = ForeignDict((num_envs,), spaces=groups)
        self.action_space = ForeignBox((num_envs, 2), low=(-1.0, -0.5), high=0.5)
        self.is_closed = False

    @property
    def unwrapped(self) -> Plain:
        """The environment itself."""
        return self

    def reset(
        self,
        *,
        seed: int | None = None,
        env_ids: Value = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Value, dict[str, Any]]:
        """Start an episode."""
        self.asked = {"seed": seed, "env_ids": env_ids, "options": options}
        return {"actor": self.rows(3), "critic": self.rows(2)}, {}

    def step(self, action: Value) -> tuple[Value, Value, Value, Value, dict[str, Any]]:
        """Take a step."""
        self.take(action)
        self.count()
        obs = {"actor": self.rows(3), "critic": self.rows(2)}
        return obs, self.reward, self.terminated, self.truncated, {"log": {}}

    def close(self) -> None:
        """Give up what is held."""
        self.is_closed = True
