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

__all__ = ["LIBRARIES", "Kind", "Run"]

LIBRARIES = ("numpy", "torch", "jax", "mlx")
"""Those that need no GPU."""

ENVIRONMENTS = 2


class Kind(NamedTuple):
    """Which wrapper is stepped."""

    source: str
    target: str
    vector: bool

    @classmethod
    def of(cls, pair: str, *, vector: bool) -> Kind:
        """Return the wrapper of a pair that is named as its converter is."""
        source, _, target = pair.partition("_to_")
        return cls(source, target, vector)

    @property
    def pair(self) -> str:
        """The name of the pair, as the converter has it."""
        return f"{self.source}_to_{self.target}"

    @override
    def __str__(self) -> str:
        return f"{self.pair} {'vector' if self.vector else 'single'}"

    def made(self) -> AnyType:
        """Return a new wrapper: around the environment, or around a wrapper that stands for it."""
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
    """A wrapper that is stepped, and made anew every now and then."""

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
        """Take that many steps; return how many environments took one, all together.

        Raises:
            RuntimeError: An observation is not that of its step.
        """
        agent, action, vector = self._agent, self._action, self.kind.vector
        agent.reset(seed=1)
        wanted = 0
        for _ in range(steps):
            obs, _, terminated, *_ = agent.step(action)
            wanted += 1
            if vector:  # an episode that ended begins anew by itself
                wanted = 0 if _first(obs["count"]) == 0 else wanted
            if _first(obs["count"]) != wanted:
                raise RuntimeError(f"{self.kind}: step {wanted} shows {obs['count']}")
            if not vector and terminated:
                agent.reset()
                wanted = 0
        return steps * (ENVIRONMENTS if vector else 1)

    def close(self) -> None:
        """Close what is open."""
        self._agent.close()


def _first(array: AnyType) -> float:
    return float(np.asarray(array).reshape(-1)[0])
