"""Tests of episodes: wrappers act like their environment, and restored wrappers like originals."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, cast

import gymnasium as gym
import numpy as np
from gymbridge_runtime.testing.base import PairTests
from gymbridge_runtime.testing.check import agent_action, check_bridge
from gymbridge_runtime.testing.expectation import Expectation
from gymbridge_runtime.testing.forms import form_of
from gymbridge_runtime.testing.making import world
from gymbridge_runtime.testing.worlds import EPISODE
from gymnasium.envs.registration import EnvSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.testing.forms import Wrapped
    from gymbridge_runtime.testing.pair import Pair, Sides

_WAYS: dict[str, Callable[[object], object]] = {
    "pickle": lambda env: cast("object", pickle.loads(pickle.dumps(env))),
    "deepcopy": copy.deepcopy,
}


def _options(sides: Sides) -> tuple[dict[str, object], ...]:
    """Return arguments of a wrapper that change its results."""
    others = [
        name for name in ("float64", "float16") if sides.target.stored(np.dtype(name)) == name
    ]
    return {}, {"copy": True, **({"float_dtype": others[0]} if others else {})}


class EpisodeTests(PairTests):
    """Whole episodes, before and after a wrapper is restored."""

    def test_a_wrapper_returns_the_converted_values_of_its_environment(
        self, pair: Pair, form: str
    ) -> None:
        """Leaf by leaf, over several episodes."""
        sides = self.sides(pair)
        for options in _options(sides):
            agent = pair.wrap(form, _world(sides, form), **options)
            assert check_bridge(agent, steps=3 * EPISODE) > 10 * EPISODE

    def test_a_restored_wrapper_continues_the_episode(self, pair: Pair, form: str) -> None:
        """By pickle and deepcopy, with all arguments."""
        sides = self.sides(pair)
        for name, travel in _WAYS.items():
            for options in _options(sides):
                agent = pair.wrap(form, _world(sides, form), **options)
                _ = agent.reset(seed=1)
                _ = agent.step(_action(agent, sides))
                restored = cast("Wrapped", travel(agent))
                assert restored is not agent
                assert type(restored) is type(agent)
                _alike(restored, agent, sides, name)

    def test_a_spec_restores_the_wrapper(self, pair: Pair, recorded_form: str) -> None:
        """By JSON, too: the arguments of the wrapper are recorded as text."""
        sides = self.sides(pair)
        for options in _options(sides):
            agent = pair.wrap(recorded_form, _world(sides, recorded_form), **options)
            spec = agent.spec
            assert spec is not None
            assert spec.additional_wrappers[-1].name == pair.wrapper
            for again in (spec, EnvSpec.from_json(spec.to_json())):
                restored = cast("Wrapped", cast("object", gym.make(again)))
                assert type(restored) is type(agent)
                _ = agent.reset(seed=2)
                _ = restored.reset(seed=2)
                _alike(restored, agent, sides, "spec")


def _world(sides: Sides, form: str) -> object:
    return world(sides.source.backend.reference, form)


def _action(env: Wrapped, sides: Sides) -> object:
    """Return the same action at every call."""
    form = form_of(env)
    samples = {
        name: np.full(space.shape or (), 0.5, space.dtype)
        for name, space in form.action_spaces(env.unwrapped).items()
    }
    return agent_action(sides.target, form.action(dict(samples)))


def _alike(one: Wrapped, other: Wrapped, sides: Sides, how: str) -> None:
    """Fail unless both return the same results from here on."""
    form = form_of(one)
    expect = Expectation(sides.target, arrays_only=form.keeps_numbers)
    for _ in range(3):
        action = _action(one, sides)
        wrong = list(form.differences(one.step(action), other.step(action), expect, expect))
        assert not wrong, f"after {how}: {'; '.join(map(str, wrong))}"
    assert repr(one) == repr(other)
