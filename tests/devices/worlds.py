"""Environments that reuse their arrays, which are NumPy's or on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from typing_extensions import override

from tests.libraries.torch import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Value: TypeAlias = Any
"""A tree of arrays of NumPy, PyTorch or CuPy."""
Step: TypeAlias = tuple[Value, Value, Value, Value, dict[str, Any]]

_DTYPES = ("float32", "float64", "int64", "uint8", "bool", "float32", "int32", "int16")
ARRAY = np.arange(4, dtype=np.float32)
DICT = {
    f"leaf {number}": np.arange(number, number + 3).astype(dtype)
    for number, dtype in enumerate(_DTYPES)
}
INFO = {"one": np.ones(2, np.float32), "other": np.arange(3), "text": "kept"}

MOVE = spaces.Box(-1, 1, (2,))
MOVES = spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(-1, 1, (2,)), c=spaces.MultiBinary(4))


def leaves(tree: Value) -> Iterator[Value]:
    """Return the arrays of numbers in a tree of dictionaries and tuples."""
    if isinstance(tree, (dict, tuple)):
        for child in tree.values() if isinstance(tree, dict) else tree:
            yield from leaves(child)
    elif isinstance(tree, torch.Tensor) or getattr(tree, "dtype", np.dtype("O")).kind in "biufc":
        yield tree


def sampled(agent: Value) -> Value:
    """Return a random action, or one for each agent of a parallel environment."""
    space = agent.action_space
    if isinstance(space, spaces.Space):
        return space.sample()
    return {name: space(name).sample() for name in agent.agents}


def mapped(convert: Callable[[Value], Value], tree: Value) -> Value:
    """Return a tree with ``convert`` applied to its arrays and NumPy scalars."""
    if isinstance(tree, dict):
        return {key: mapped(convert, child) for key, child in tree.items()}
    if isinstance(tree, tuple):
        return tuple(mapped(convert, child) for child in tree)
    return convert(tree) if hasattr(tree, "dtype") else tree


def actual(tree: Value) -> Value:
    """Return a tree with its arrays copied to NumPy."""

    def copied(array: Value) -> Value:
        if isinstance(array, torch.Tensor):
            return np.array(array.cpu().numpy())
        return array.get() if hasattr(array, "get") else np.array(array)  # CuPy's arrays

    return mapped(copied, tree)


class _Kept:
    """The results of a world, always in the same arrays."""

    def __init__(self, tree: Value, device: str | None, num_envs: int | None = None) -> None:
        def make(array: Value) -> Value:
            own = np.array(array) if num_envs is None else np.stack([array] * num_envs)
            return own if device is None else torch.from_numpy(own).to(device)

        self._tree: Value = mapped(make, tree)

    def next(self) -> Value:
        """Write the values of the next step into the arrays, and return them."""
        for array in leaves(self._tree):
            if str(array.dtype).endswith("bool"):
                array[...] ^= True
            else:
                array[...] += 1
        return self._tree

    def overwrite(self) -> Value:
        """Overwrite the last values, and return copies of them."""
        before = actual(self._tree)
        for array in leaves(self._tree):
            array[...] *= False
        return before


NUMBERS = np.zeros((), np.float32), np.zeros((), np.bool_), np.zeros((), np.bool_)
"""The initial reward and flags."""


class World(gym.Env[Value, Value]):
    """A single environment, with arrays for reward and flags.

    Args:
        obs: The initial values of observations, as NumPy arrays.
        info: The initial values of infos.
        action_space: The space of actions; `received` is the last action.
        device: The device of its tensors; by default it returns NumPy arrays.
    """

    def __init__(
        self,
        obs: Value,
        info: dict[str, Any] | None = None,
        action_space: spaces.Space[Any] = MOVE,
        device: str | None = None,
    ) -> None:
        self.observation_space = _space(obs)
        self.action_space = action_space
        self._kept = _Kept((obs, *NUMBERS, info or {}), device)
        self.received: Value = None

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Value, dict[str, Any]]:
        super().reset(seed=seed)
        obs, *_, info = self._kept.next()
        return obs, info

    @override
    def step(self, action: Value) -> Step:
        self.received = action
        step: Step = self._kept.next()
        return step

    def overwrite(self) -> Step:
        """Overwrite the arrays of the last step; return NumPy copies from before."""
        obs, reward, terminated, truncated, info = self._kept.overwrite()
        return obs, float(reward), bool(terminated), bool(truncated), info


class WorldParallel:
    """The parallel form of `World`, with two agents."""

    metadata: ClassVar[dict[str, Any]] = {}
    render_mode = None

    def __init__(
        self,
        obs: Value,
        info: dict[str, Any] | None = None,
        action_space: spaces.Space[Any] = MOVE,
        device: str | None = None,
    ) -> None:
        self.agents = self.possible_agents = ["left", "right"]
        self._obs_space, self._action_space = _space(obs), action_space
        results = obs, *NUMBERS, info or {}
        self._kept = _Kept(tuple(dict.fromkeys(self.agents, one) for one in results), device)
        self.received: Value = None

    def observation_space(self, _agent: str) -> spaces.Space[Any]:
        return self._obs_space

    def action_space(self, _agent: str) -> spaces.Space[Any]:
        return self._action_space

    def reset(self, **_arguments: object) -> tuple[Value, Value]:
        obs, *_, infos = self._kept.next()
        return obs, infos

    def step(self, actions: Value) -> Step:
        self.received = actions
        step: Step = self._kept.next()
        return step

    def overwrite(self) -> Step:
        """Overwrite the arrays of the last step; return NumPy copies from before."""
        step: Step = self._kept.overwrite()
        for results, number in zip(step[1:4], (float, bool, bool), strict=True):
            results.update({agent: number(one) for agent, one in results.items()})
        return step


class WorldVector(gym.vector.VectorEnv[Value, Value, Value]):
    """The vector form of `World`, with arrays for rewards and flags."""

    def __init__(
        self,
        obs: Value,
        info: dict[str, Any] | None = None,
        action_space: spaces.Space[Any] = MOVE,
        device: str | None = None,
    ) -> None:
        self.num_envs = 3
        self.single_observation_space = _space(obs)
        self.single_action_space = action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(action_space, self.num_envs)
        self._kept = _Kept((obs, *NUMBERS, info or {}), device, self.num_envs)
        self.received: Value = None

    @override
    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Value, dict[str, Any]]:
        obs, *_, info = self._kept.next()
        return obs, info

    @override
    def step(self, actions: Value) -> Step:
        self.received = actions
        step: Step = self._kept.next()
        return step

    def overwrite(self) -> Step:
        """Overwrite the arrays of the last step; return NumPy copies from before."""
        step: Step = self._kept.overwrite()
        return step


class WorldBatched(gym.Env[Value, Value]):
    """The batched form of `World`, which names its device."""

    def __init__(
        self,
        obs: Value,
        info: dict[str, Any] | None = None,
        action_space: spaces.Space[Any] = MOVE,
        device: str | None = None,
    ) -> None:
        self._worlds = WorldVector(obs, info, action_space, device)
        self.num_envs = self._worlds.num_envs
        self.observation_space = self._worlds.observation_space
        self.action_space = self._worlds.action_space
        self.device = device

    @property
    def received(self) -> Value:
        """The last action."""
        return self._worlds.received

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Value, dict[str, Any]]:
        return self._worlds.reset(seed=seed, options=options)

    @override
    def step(self, action: Value) -> Step:
        return self._worlds.step(action)

    def overwrite(self) -> Step:
        """Overwrite the arrays of the last step; return NumPy copies from before."""
        return self._worlds.overwrite()


def _space(obs: Value) -> spaces.Space[Any]:
    if isinstance(obs, dict):
        return spaces.Dict({key: _space(child) for key, child in obs.items()})
    return spaces.Box(0, 1 if obs.dtype == bool else 100, obs.shape, obs.dtype.type)
