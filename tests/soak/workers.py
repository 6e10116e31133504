"""Environments and functions for other threads and processes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any

import gymnasium as gym
import numpy as np
from typing_extensions import override

from tests.support import LIBRARIES

Value = Any


class ClosedError(Exception):
    """Raised by a step after `close`."""


class Counting(gym.Env[Any, Any]):
    """Observations and infos hold its number and the number of steps."""

    def __init__(self, name: int = 0) -> None:
        self.observation_space = gym.spaces.Box(0, np.inf, (3,), np.float32)
        self.action_space = gym.spaces.Box(-1, 1, (2,), np.float32)
        self._name = name
        self._count = 0

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Value:
        super().reset(seed=seed)
        self._count = 0
        return self._seen(), {}

    @override
    def step(self, action: Value) -> Value:
        assert type(action) is np.ndarray
        self._count += 1
        info = {
            "changing": np.full((1 + self._count % 5, 2), self._name, np.int32),
            "mixed": [self._count, np.float32(self._name), "text"],
        }
        return self._seen(), float(self._count), self._count % 50 == 0, False, info

    def _seen(self) -> Value:
        return np.array([self._name, self._count, self._name * self._count], np.float32)


class Closable(Counting):
    """Raises in a step after `close`."""

    closed = False

    @override
    def step(self, action: Value) -> Value:
        if self.closed:
            raise ClosedError
        return super().step(action)

    @override
    def close(self) -> None:
        self.closed = True


class Endless(Counting):
    """Writes into the named pipe ``line`` when a step begins, and never returns."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self._line = line

    @override
    def step(self, action: Value) -> Value:
        with Path(self._line).open("w", encoding="utf-8") as told:
            _ = told.write("stepping")
        Event().wait()
        raise AssertionError


def made(target: str, name: int = 0) -> Value:
    """Return a counting environment, wrapped for agents of ``target``."""
    wrapper: Any = getattr(import_module("gymbridge"), f"NumpyTo{target.title()}")
    return wrapper(Counting(name))


def episode(agent: Value, target: str, steps: int) -> list[object]:
    """Take steps; return all results as Python numbers."""
    values = LIBRARIES[target].values
    agent.reset(seed=1)
    action = agent.sample_action()
    found: list[object] = []
    for _ in range(steps):
        obs, reward, terminated, truncated, info = agent.step(action)
        found += [values(obs).tolist(), reward, terminated, truncated]
        found += [values(info["changing"]).tolist(), info["mixed"][2]]
        found += [values(number).tolist() for number in info["mixed"][:2]]
    return found


def report(queue: Value, agent: Value, target: str) -> None:
    """Play an episode in another process, with ``agent`` or with a new wrapper."""
    queue.put(episode(agent or made(target, 3), target, 60))
