"""Actions of all of Gymnasium's spaces, as the environment's own space would have sampled them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Protocol, cast

from gymbridge_runtime.narrowing import is_mapping, is_sequence
from gymbridge_runtime.testing.base import PairTests
from gymbridge_runtime.testing.check import agent_action, rounded
from gymbridge_runtime.testing.expectation import Expectation
from gymbridge_runtime.testing.side import numbers_of
from gymbridge_runtime.testing.spaces_table import SPACES
from gymbridge_runtime.testing.worlds import Echo, EchoVector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gymbridge_runtime.testing.pair import Pair, Sides
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["ActionTests"]


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
    with warnings.catch_warnings():  # of what 0-d boxes of integers sample themselves
        warnings.filterwarnings("ignore", ".*Casting input x to numpy array")
        return space.contains(action)


class _Keeper(Protocol):
    action_space: AnySpace
    received: object


_ECHOES: dict[str, Callable[[AnySpace], _Keeper]] = {"single": Echo, "vector": EchoVector}


class ActionTests(PairTests):
    """What an environment receives fits its action space."""

    def test_actions_arrive_as_the_space_would_have_sampled_them(
        self, pair: Pair, form: str
    ) -> None:
        """Of every kind of space, in the structure, dtype and shape of a sample."""
        sides = self.sides(pair)
        if form not in _ECHOES:
            return
        backend = sides.source.backend
        received = Expectation(sides.source, scalars=backend.host_scalars)
        arrived = 0
        for name, space in SPACES.items():
            env = _ECHOES[form](space)
            agent = pair.wrap(form, env)
            actions: AnySpace = env.action_space
            _ = actions.seed(7)
            for _ in range(3):
                sample = rounded(cast("object", actions.sample()), sides.target)
                if not _exists(sample, sides):
                    continue
                _ = agent.step(agent_action(sides.target, sample))
                wrong = list(received.differences(env.received, sample, f"action of {name}"))
                assert not wrong, "; ".join(map(str, wrong))
                if backend.host_scalars:
                    assert _contains(actions, env.received), name
                arrived += 1
        assert arrived > len(SPACES)

    def test_sampled_actions_are_the_agents_own_arrays(self, pair: Pair, form: str) -> None:
        """`sample_action` gives what `step` takes."""
        sides = self.sides(pair)
        if form not in _ECHOES:
            return
        expect = Expectation(sides.target)
        for name, space in SPACES.items():
            env = _ECHOES[form](space)
            _ = env.action_space.seed(7)
            sample = cast("object", env.action_space.sample())
            if not _exists(sample, sides):
                continue
            agent = pair.wrap(form, env)
            _ = env.action_space.seed(7)
            action = agent.sample_action()
            wrong = list(expect.differences(action, sample, f"a random action of {name}"))
            assert not wrong, "; ".join(map(str, wrong))
            _ = agent.step(action)
