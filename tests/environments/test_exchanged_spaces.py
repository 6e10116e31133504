"""Spaces that are exchanged while an environment lives: the next reset reads them again."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymnasium import spaces
from typing_extensions import override

from gymbridge import ConversionError
from tests.environments.bridges import Value, bridge, same, vector_bridge
from tests.environments.worlds import Echo, EchoVector
from tests.support import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE = 34_359_738_375


class Counting(Echo):
    """Observes as large an integer as its space allows."""

    def __init__(self, high: int) -> None:
        super().__init__(spaces.Discrete(3), spaces.Box(0, high, (1,), np.int64))

    @override
    def reset(self, *, seed: Value = None, options: Value = None) -> Value:
        return self._seen(), {}

    @override
    def step(self, action: Value) -> Value:
        self.received = action
        return self._seen(), 0.0, False, False, {}

    def _seen(self) -> Value:
        box: Value = self.observation_space
        return box.high.copy()


def pickled(agent: Value) -> Value:
    return pickle.loads(pickle.dumps(agent))


def exchange(agent: Value) -> None:
    agent.env.observation_space = Counting(LARGE).observation_space
    agent.env.action_space = spaces.Box(-1, 1, (2,))


def declare(agent: Value) -> None:
    agent.observation_space = Counting(LARGE).observation_space
    agent.action_space = spaces.Box(-1, 1, (2,))
    agent.env.observation_space = agent.observation_space


def swap(agent: Value) -> None:
    agent.env = Counting(LARGE)
    agent.env.action_space = spaces.Box(-1, 1, (2,))


@pytest.mark.parametrize("change", [exchange, declare, swap])
def test_integers_beyond_the_former_bounds_do_not_wrap(change: Callable[..., None]) -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    env = Counting(7)
    agent = bridge(pair, env)
    assert pair.target.values(agent.reset()[0]).tolist() == [7]
    change(agent)
    with pytest.raises(ConversionError, match=f"JAX cannot hold the int64 value {LARGE}"):
        agent.reset()


@pytest.mark.parametrize("change", [exchange, declare, swap])
def test_actions_are_fitted_to_the_new_space(change: Callable[..., None], pair: Pair) -> None:
    env = Counting(7)
    agent = bridge(pair, env)
    agent.reset()
    agent.step(pair.target.make(np.array(2, np.int32)))
    same(env.received, np.int64(2))
    change(agent)
    agent.env.observation_space = spaces.Box(0, 7, (1,), np.int64)
    agent.reset()
    agent.step(pair.target.make(np.ones((2, 1), np.float16)))
    same(agent.env.received, np.ones(2, np.float32))
    assert pair.target.values(agent.sample_action()).shape == (2,)


def test_spaces_set_on_the_wrapper_are_used(pair: Pair) -> None:
    env = Echo(spaces.Box(-1, 1, (2,)))
    agent = bridge(pair, env)
    agent.action_space = spaces.Box(-1, 1, (2,), np.float16)
    agent.reset()
    agent.step(agent.sample_action())
    assert env.received.dtype == np.float16


def test_vector_environments_are_read_again(pair: Pair) -> None:
    envs = EchoVector(spaces.Discrete(3))
    agent = vector_bridge(pair, envs)
    agent.reset()
    envs.single_action_space = spaces.Box(-1, 1, (1,))
    envs.action_space = spaces.Box(-1, 1, (3, 1))
    agent.reset()
    agent.step(pair.target.make(np.ones(3, np.float16)))
    same(envs.received, np.ones((3, 1), np.float32))
    envs.action_space = envs.single_action_space  # as EnvPool declares it
    agent.reset()
    agent.step(agent.sample_action())
    assert envs.received.shape == (3, 1)


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("change", [exchange, declare, swap])
def test_copies_in_an_episode_know_the_new_space(
    change: Callable[..., None], travel: Callable[[Value], Value], pair: Pair
) -> None:
    agent = bridge(pair, Counting(7))
    change(agent)
    agent.env.observation_space = spaces.Box(0, 7, (1,), np.int64)
    agent.reset()
    again = travel(agent)
    again.step(pair.target.make(np.full((2, 1), 0.5)))
    same(again.unwrapped.received, np.full(2, 0.5, np.float32))
