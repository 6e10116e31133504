"""What is measured against each other: one piece of work, done in several ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym

from .arrays import fresh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import AnyType

    from .pairs import Pair
    from .worlds import World

__all__ = ["COLUMNS", "Contest", "converting", "stepping"]

COLUMNS = ("bare", "floor", "gymbridge", "gymnasium")


class Contest(NamedTuple):
    """Calls that do the same, and what they are given."""

    calls: dict[str, Callable[[AnyType], object]]
    """By column; a column may be absent."""
    prepare: Callable[[str, int], Sequence[object]]
    """Makes new arguments for so many calls of a column."""
    most: int = 1000
    """How many calls can be prepared at once."""


def converting(
    value: object,
    pair: Pair,
    floor: Callable[[AnyType], object] | None,
    *,
    copied: bool = False,
    most: int = 200,
) -> Contest:
    """Convert ``value``, or trees like it, with functions."""
    convert = pair.converter()
    calls: dict[str, Callable[[AnyType], object]] = {}
    if not copied:
        calls |= {"gymbridge": convert, "gymnasium": pair.gymnasiums_converter()}
        if floor is not None:
            calls["floor"] = floor
    else:  # Gymnasium has no say in this
        calls["gymbridge"] = lambda value: convert(value, copy=True)
        if floor is not None:
            calls["floor"] = _called(floor)  # as the option needs a call around the call

    once = fresh(pair.source, [value])

    def prepare(_column: str, calls: int) -> Sequence[object]:
        return fresh(pair.source, [value] * calls) if pair.source == "jax" else once * calls

    return Contest(calls, prepare, most if pair.source == "jax" else 200)


def _called(function: Callable[[AnyType], object]) -> Callable[[AnyType], object]:
    def call(value: AnyType) -> object:
        return function(value)

    return call


def stepping(
    world: World, pair: Pair, floor: Callable[[AnyType, AnyType], object] | None
) -> Contest:
    """Take steps in ``world``, bare and from within wrappers."""
    calls: dict[str, Callable[[AnyType], object]] = {"bare": world.step}
    if floor is not None:
        base = gym.vector.VectorWrapper if isinstance(world, gym.vector.VectorEnv) else gym.Wrapper
        by_hand: AnyType = type("ByHand", (base,), {"step": floor})
        calls["floor"] = by_hand(world).step
    calls["gymbridge"] = pair.wrapper(world).step
    calls["gymnasium"] = pair.gymnasiums_wrapper(world).step

    def prepare(column: str, calls: int) -> Sequence[object]:
        return fresh("numpy" if column == "bare" else pair.target, world.prepare(calls))

    return Contest(calls, prepare, world.most)
