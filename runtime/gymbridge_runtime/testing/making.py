"""The test environments of each form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import gymnasium as gym
from gymbridge_runtime.core.narrowing import untyped
from gymbridge_runtime.testing.parallel_worlds import EchoParallel, ParallelWorld
from gymbridge_runtime.testing.worlds import Echo, EchoVector, World, WorldVector

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import AnySpace

__all__ = ["Keeper", "echo", "world"]

_WORLD = "gymbridge-testing/World-v0"
"""What Gymnasium calls it, so that a spec of it can be made again."""


class Keeper(Protocol):
    """An environment that keeps the action that it got."""

    received: object


_ECHOES: dict[str, Callable[[AnySpace], Keeper]] = {
    "single": Echo,
    "vector": EchoVector,
    "parallel": EchoParallel,
}


def _single(library: str) -> object:
    if _WORLD not in gym.registry:
        register = cast("Callable[..., None]", untyped(gym, "register"))
        register(_WORLD, f"{World.__module__}:World", disable_env_checker=True)
    return gym.make(_WORLD, library=library)


_WORLDS: dict[str, Callable[[str], object]] = {
    "single": _single,
    "vector": WorldVector,
    "parallel": ParallelWorld,
}


def world(library: str, form: str) -> object:
    """Return the environment of a form, with arrays of the library whose backend is named."""
    return _WORLDS[form](library)


def echo(action_space: AnySpace, form: str) -> Keeper:
    """Return an environment of a form that keeps its actions."""
    return _ECHOES[form](action_space)
