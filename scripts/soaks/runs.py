"""One pair of libraries, stepped on and on in one form."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from gymnasium.vector import SyncVectorEnv
from typing_extensions import override

from .worlds import Shifting

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnyType

LIBRARIES = ("numpy", "torch", "jax", "mlx")
"""The libraries that need no GPU."""

ENVIRONMENTS = 2


class Kind(NamedTuple):
    """A wrapper: its form and pair."""

    source: str
    target: str
    vector: bool

    @classmethod
    def of(cls, pair: str, *, vector: bool) -> Kind:
        """Return the kind for a pair, given by the name of its converter."""
        source, _, target = pair.partition("_to_")
        return cls(source, target, vector)

    @property
    def pair(self) -> str:
        """The name of the pair, as in its converter."""
        return f"{self.source}_to_{self.target}"

    @override
    def __str__(self) -> str:
        return f"{self.pair} {'vector' if self.vector else 'single'}"

    def made(self) -> AnyType:
        """Return a new wrapper around an environment of the source library."""
        env: AnyType = SyncVectorEnv([Shifting] * ENVIRONMENTS) if self.vector else Shifting()
        if self.source != "numpy":
            env = _wrapper("numpy", self.source, vector=self.vector)(env)
        return _wrapper(self.source, self.target, vector=self.vector)(env)


class _Wrap(Protocol):
    def __call__(self, env: AnyType) -> AnyType: ...


def _wrapper(source: str, target: str, *, vector: bool) -> _Wrap:
    package = import_module("gymbridge.vector" if vector else "gymbridge")
    wrap: _Wrap = getattr(package, f"{source.title()}To{target.title()}")
    return wrap


class Run:
    """A wrapper that is stepped, and made again from time to time."""

    def __init__(self, kind: Kind) -> None:
        self.kind: Kind = kind
        self._agent: AnyType = None
        self.renew()

    def renew(self) -> None:
        """Close the wrapper, if there is one, and make another."""
        if self._agent is not None:
            self._agent.close()
        self._agent = self.kind.made()
        self._agent.reset(seed=1)
        self._action: AnyType = self._agent.sample_action()

    def take(self, steps: int) -> int:
        """Take steps; return the total number of steps of all environments.

        Raises:
            RuntimeError: An observation does not belong to its step.
        """
        agent, action, vector = self._agent, self._action, self.kind.vector
        agent.reset(seed=1)
        wanted = 0
        for _ in range(steps):
            obs, _, terminated, *_ = agent.step(action)
            wanted += 1
            if vector:  # autoreset starts the next episode
                wanted = 0 if _first(obs["count"]) == 0 else wanted
            if _first(obs["count"]) != wanted:
                raise RuntimeError(f"{self.kind}: step {wanted} shows {obs['count']}")
            if not vector and terminated:
                agent.reset()
                wanted = 0
        return steps * (ENVIRONMENTS if vector else 1)

    def close(self) -> None:
        """Close the wrapper."""
        self._agent.close()


def _first(array: AnyType) -> float:
    return float(np.asarray(array).reshape(-1)[0])
