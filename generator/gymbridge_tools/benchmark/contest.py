"""A contest: one piece of work, done in several ways that are compared."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym
import numpy as np
import torch

from .arrays import fresh, odd
from .by_hand import compiled
from .worlds import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import AnyType

    from .cases import Case
    from .pairs import Pair

COLUMNS = ("bare", "by_hand", "gymbridge", "plain", "gymnasium")


class Contest(NamedTuple):
    """Calls that do the same work, and their arguments."""

    calls: dict[str, Callable[[AnyType], object]]
    """By column; a column may be absent."""
    prepare: Callable[[str, int], Sequence[object]]
    """Makes new arguments for a number of calls of a column."""
    most: int = 1000
    """The most calls that can be prepared at once."""


def contest_of(case: Case, pair: Pair) -> Contest:
    """Return the contest of one row."""
    world = case.world(pair)
    by_hand = compiled(case.by_hand(pair))
    if isinstance(world, Values):
        return _converting(case, pair, world, by_hand)
    return _stepping(case, pair, world, by_hand)


def _converting(
    case: Case, pair: Pair, values: Values, by_hand: Callable[[AnyType], object]
) -> Contest:
    convert = pair.converter()
    if case.odd:
        for value in odd(pair.source, np.zeros(8, np.float32)):
            convert(value)
            convert({"value": value})
    calls: dict[str, Callable[[AnyType], object]] = {"by_hand": by_hand, "gymbridge": convert}
    if case.options(pair):
        calls = {"by_hand": by_hand, "gymbridge": lambda value: convert(value, copy=True)}
    if case.gymnasium is not None:
        calls["gymnasium"] = pair.gymnasiums_converter()
    return Contest(calls, lambda _column, calls: values.prepare(calls), values.most)


def _stepping(
    case: Case, pair: Pair, world: AnyType, by_hand: Callable[[AnyType], object]
) -> Contest:
    options = case.options(pair)
    base = gym.vector.VectorWrapper if isinstance(world, gym.vector.VectorEnv) else gym.Wrapper
    wrapper: AnyType = type("ByHand", (base,), {"step": by_hand})
    bridge = pair.wrapper(world, **options)
    calls: dict[str, Callable[[AnyType], object]] = {
        "bare": world.step,
        "by_hand": wrapper(world).step,
        "gymbridge": _in_halves(bridge) if case.halves else bridge.step,
    }
    if case.plain:
        calls["plain"] = pair.wrapper(world).step
    if case.gymnasium is not None:
        calls["gymnasium"] = case.gymnasium(world, pair, options).step

    def prepare(column: str, calls: int) -> Sequence[object]:
        library, actions = "numpy" if column == "bare" else pair.target, world.prepare(calls)
        return fresh(library, actions, case.device)

    if case.odd:
        _feed(bridge, pair, world)
    if case.device is not None:
        calls = {column: _awaited(call, case.device) for column, call in calls.items()}
    return Contest(calls, prepare, world.most)


def _in_halves(bridge: AnyType) -> Callable[[AnyType], object]:
    def step(actions: AnyType) -> object:
        bridge.step_async(actions)
        return bridge.step_wait()

    return step


def _feed(bridge: AnyType, pair: Pair, world: AnyType) -> None:
    """Pass every odd observation and action through ``bridge``."""
    [action] = world.prepare(1)
    for obs in odd(pair.source, np.zeros(world.observation_space.shape, np.float32)):
        world.prepare_odd(obs)
        bridge.step(*fresh(pair.target, [action]))
    for odd_action in odd(pair.target, action):
        world.prepare(1)
        bridge.step(odd_action)


def _awaited(call: Callable[[AnyType], object], device: str) -> Callable[[AnyType], object]:
    """Make ``call`` wait for the device."""
    synchronize: Callable[[], None] | None = None
    with suppress(RuntimeError):  # the device has no module
        synchronize = getattr(torch.get_device_module(device), "synchronize", None)
    if synchronize is None:
        return call

    def awaited(argument: AnyType) -> object:
        result = call(argument)
        synchronize()
        return result

    return awaited
