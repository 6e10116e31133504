"""Tests of actions: environments receive them as if their own space had sampled them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, cast

from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.core.narrowing import is_mapping, is_sequence
from gymbridge_runtime.testing.base import PairTests
from gymbridge_runtime.testing.check import agent_action, rounded
from gymbridge_runtime.testing.expectation import Expectation
from gymbridge_runtime.testing.forms import BY_NAME
from gymbridge_runtime.testing.making import echo
from gymbridge_runtime.testing.side import numbers_of
from gymbridge_runtime.testing.spaces_table import SPACES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_runtime.testing.forms import Form
    from gymbridge_runtime.testing.pair import Pair, Sides
    from gymbridge_runtime.types import AnySpace, HostArray


def _leaves(sample: object) -> Iterator[HostArray]:
    """Return the arrays and numbers of a sample."""
    if is_mapping(sample):
        for value in sample.values():
            yield from _leaves(value)
    elif is_sequence(sample):
        for value in sample:
            yield from _leaves(value)
    elif (numbers := numbers_of(sample)) is not None:
        yield numbers


def _exists(sample: object, sides: Sides) -> bool:
    """Tell whether the agent can make the action, and the environment receive it."""
    for values in _leaves(sample):
        if sides.target.refuses(values) or not sides.source.keeps(values):
            return False
    return True


def _contains(space: AnySpace, action: object) -> bool:
    with warnings.catch_warnings():  # samples of 0-d integer boxes cause a warning
        warnings.filterwarnings("ignore", ".*Casting input x to numpy array")
        return space.contains(action)


def _sampled(spaces: dict[str, AnySpace], form: Form, seed: int) -> object:
    """Return an action made of one sample for each agent."""
    samples: dict[str, object] = {}
    for agent, space in spaces.items():
        _ = space.seed(seed)
        samples[agent] = cast("object", space.sample())
    return form.action(samples)


class ActionTests(PairTests):
    """Environments receive actions that fit their action space."""

    def test_actions_arrive_as_the_space_samples_them(self, pair: Pair, form: str) -> None:
        """Actions of every space have the structure, dtype and shape of a sample."""
        sides = self.sides(pair)
        kind = BY_NAME[form]
        received = Expectation(sides.source, scalars=sides.source.backend is NUMPY)
        arrived = 0
        for name, space in SPACES.items():
            env = echo(space, form)
            agent = pair.wrap(form, env)
            spaces = kind.action_spaces(env)
            for seed in range(3):
                sample = rounded(_sampled(spaces, kind, seed), sides.target)
                if not _exists(sample, sides):
                    continue
                _ = agent.step(agent_action(sides.target, sample))
                wrong = list(received.differences(env.received, sample, f"action of {name}"))
                assert not wrong, "; ".join(map(str, wrong))
                if sides.source.backend is NUMPY:
                    for of, one in kind.actions(env.received).items():
                        assert _contains(spaces[of], one), name
                arrived += 1
        assert arrived > len(SPACES)

    def test_sample_action_returns_the_agents_arrays(self, pair: Pair, form: str) -> None:
        """`step` accepts the result of `sample_action`."""
        sides = self.sides(pair)
        kind = BY_NAME[form]
        expect = Expectation(sides.target)
        for name, space in SPACES.items():
            env = echo(space, form)
            spaces = kind.action_spaces(env)
            sample = _sampled(spaces, kind, 7)
            if not _exists(sample, sides):
                continue
            for each in spaces.values():
                _ = each.seed(7)
            agent = pair.wrap(form, env)
            action = agent.sample_action()
            wrong = list(expect.differences(action, sample, f"a random action of {name}"))
            assert not wrong, "; ".join(map(str, wrong))
            _ = agent.step(action)
