"""The test environments of each form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

import gymnasium as gym
from gymbridge_runtime.core.narrowing import getattr_untyped
from gymbridge_runtime.testing.batched_worlds import BatchedWorld, EchoBatched
from gymbridge_runtime.testing.parallel_worlds import EchoParallel, ParallelWorld
from gymbridge_runtime.testing.worlds import Echo, EchoVector, World, WorldVector

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import AnySpace

_NAMES: dict[type[gym.Env[object, object]], str] = {
    World: "gymbridge-testing/World-v0",
    BatchedWorld: "gymbridge-testing/BatchedWorld-v0",
}
"""The names of the environments in Gymnasium, so that specs can make them again."""


class Keeper(Protocol):
    """An environment that keeps the received action."""

    received: object


_ECHOES: dict[str, Callable[[AnySpace], Keeper]] = {
    "single": Echo,
    "vector": EchoVector,
    "parallel": EchoParallel,
    "batched": EchoBatched,
}


def _made(world: type[gym.Env[object, object]], library: str) -> object:
    name = _NAMES[world]
    if name not in gym.registry:
        register = cast("Callable[..., None]", getattr_untyped(gym, "register"))
        register(name, f"{world.__module__}:{world.__name__}", disable_env_checker=True)
    return gym.make(name, library=library)


_WORLDS: dict[str, Callable[[str], object]] = {
    "single": partial(_made, World),
    "vector": WorldVector,
    "parallel": ParallelWorld,
    "batched": partial(_made, BatchedWorld),
}


def world(library: str, form: str) -> object:
    """Return the environment of a form, with arrays of the library whose backend is named."""
    return _WORLDS[form](library)


def echo(action_space: AnySpace, form: str) -> Keeper:
    """Return an environment of a form that keeps its actions."""
    return _ECHOES[form](action_space)
