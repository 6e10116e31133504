"""EnvPool: actions for some environments, and batches of the ready ones.

The tests with EnvPool itself run by ``nox -s envpool``: with its assets it is 700 MB.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from gymbridge import ConversionError
from tests.environments.bridges import Value, counterpart, same, vector_bridge
from tests.environments.pools import Pool
from tests.libraries.jax import jax, jnp
from tests.support import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

SPACES: dict[str, spaces.Space[Value]] = {
    "CartPole-v1": spaces.Discrete(2),
    "Pendulum-v1": spaces.Box(-2, 2, (1,)),
}
needs_envpool = pytest.mark.skipif(find_spec("envpool") is None, reason="envpool is not installed")


def stand_in(name: str, num_envs: int, batch_size: int = 0) -> Value:
    return Pool(SPACES[name], num_envs, batch_size=batch_size)


def real(name: str, num_envs: int, batch_size: int = 0) -> Value:
    make = import_module("envpool").make_gymnasium
    return make(name, num_envs=num_envs, batch_size=batch_size, seed=3)


@pytest.fixture(
    params=[
        stand_in,
        pytest.param(real, marks=[needs_envpool, pytest.mark.filterwarnings("ignore")]),
    ],
    ids=["stand-in", "real"],
)
def make(request: pytest.FixtureRequest) -> Callable[..., Value]:
    found: Callable[..., Value] = request.param
    return found


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("name", SPACES)
def test_one_environment_and_many_take_random_actions(
    pair: Pair, make: Callable[..., Value], name: str, num_envs: int
) -> None:
    agent, bare = vector_bridge(pair, make(name, num_envs)), make(name, num_envs)
    counterpart(agent.reset(), bare.reset(), pair.target)
    for _ in range(3):
        actions = agent.sample_action()
        assert pair.target.is_array(actions)
        sent = pair.target.values(actions)
        assert sent.shape == (num_envs, *(SPACES[name].shape or ()))
        assert sent.dtype == SPACES[name].dtype or pair.target.name == "jax"
        counterpart(agent.step(actions), bare.step(sent), pair.target)


def test_random_actions_differ_between_environments_and_follow_the_seed(pair: Pair) -> None:
    agent = vector_bridge(pair, Pool(SPACES["Pendulum-v1"], 5))
    agent.action_space.seed(7)
    first = pair.target.values(agent.sample_action())
    agent.action_space.seed(7)
    np.testing.assert_array_equal(pair.target.values(agent.sample_action()), first)
    assert len(np.unique(first)) == 5


@pytest.mark.parametrize(
    "structured", [spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(0, 1, (2,)))]
)
def test_structured_random_actions_have_a_batch_axis(
    pair: Pair, structured: spaces.Space[Value]
) -> None:
    actions = vector_bridge(pair, Pool(structured, 4)).sample_action()
    assert pair.target.values(actions["a"]).shape == (4,)
    assert pair.target.values(actions["b"]).shape == (4, 2)


@pytest.mark.parametrize("name", SPACES)
def test_ready_environments_are_received_and_sent_new_actions(
    pair: Pair, make: Callable[..., Value], name: str
) -> None:
    agent = vector_bridge(pair, make(name, 4, 2))
    agent.async_reset()
    steps = np.zeros(4, int)
    for _ in range(10):
        obs, rewards, terminations, truncations, infos = agent.recv()
        for array in (obs, rewards, terminations, truncations):
            assert pair.target.is_array(array)
            assert pair.target.values(array).shape[0] == 2
        ids = pair.target.values(infos["env_id"])
        np.testing.assert_array_equal(pair.target.values(infos["elapsed_step"]), steps[ids])
        steps[ids] += 1
        actions = pair.target.values(agent.sample_action())[ids]
        agent.send(pair.target.make(actions), infos["env_id"])
    assert steps.sum() == 20


def test_environment_ids_arrive_as_envpool_needs_them(pair: Pair) -> None:
    pool = Pool(SPACES["CartPole-v1"], 4)
    agent = vector_bridge(pair, pool)
    agent.reset()
    for env_id in (pair.target.make(np.array([2, 0])), [2, 0]):
        obs = agent.reset(env_id)[0]
        assert pair.target.values(obs).tolist() == [[2, 0], [0, 0]]
        pool._batch_size = 2
        actions = pair.target.make(np.array([1, 0]))
        obs = agent.step(actions, env_id)[0]
        assert pair.target.values(obs).tolist() == [[2, 1], [0, 1]]
        action, sent = pool.sent.pop()
        assert action.tolist() == [1, 0]
        same(sent, np.array([2, 0], np.int32))
        pool._batch_size = 4


@pytest.mark.parametrize("env_id", [3, 1.5, [0.5], [True, False], [2**32]])
def test_invalid_environment_ids_raise_a_type_error(pair: Pair, env_id: object) -> None:
    agent = vector_bridge(pair, Pool(SPACES["CartPole-v1"], 2))
    agent.reset()
    with pytest.raises(TypeError, match=r"env_id is a list or an array of environment numbers"):
        agent.reset(env_id)
    with pytest.raises(TypeError, match=r"env_id is a list or an array"):
        agent.send(agent.sample_action(), env_id)


def test_recv_after_a_reset_returns_the_reset_result(pair: Pair) -> None:
    agent, bare = (Pool(SPACES["CartPole-v1"], 2) for _ in range(2))
    wrapped = vector_bridge(pair, agent)
    wrapped.async_reset()
    bare.async_reset()
    counterpart(wrapped.recv(reset=True), bare.recv(reset=True), pair.target)


def test_xla_functions_pass_unchanged(pair: Pair) -> None:
    pool = Pool(SPACES["CartPole-v1"], 2)
    assert vector_bridge(pair, pool).xla() == pool.xla()


@needs_envpool
@pytest.mark.filterwarnings("ignore")
def test_a_jitted_loop_steps_envpool_through_the_wrapper() -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    agent = vector_bridge(pair, real("CartPole-v1", 2))
    agent.reset()
    handle, _, _, step = agent.xla()
    for number in range(1, 4):
        handle, (_, rewards, _, _, infos) = jax.jit(step)(handle, jnp.ones(2, jnp.int32))
        assert pair.target.values(rewards).tolist() == [1, 1]
        assert pair.target.values(infos["elapsed_step"]).tolist() == [number] * 2


@pytest.mark.parametrize("name", ["send", "recv", "async_reset", "xla"])
def test_errors_of_other_vector_environments_name_envpool(pair: Pair, name: str) -> None:
    agent = vector_bridge(pair, gym.make_vec("CartPole-v1", 2, vectorization_mode="sync"))
    arguments = [agent.sample_action()] if name == "send" else []
    words = f"^SyncVectorEnv has no method '{name}'; EnvPool has it$"
    with pytest.raises(AttributeError, match=words):
        getattr(agent, name)(*arguments)


def test_an_error_in_environment_ids_names_them() -> None:
    agent = vector_bridge(Pair("numpy", "torch"), Pool(SPACES["CartPole-v1"], 2))
    agent.reset()
    with pytest.raises(ConversionError, match=r"^env_id\[1\]: the int \d+ does not fit"):
        agent.reset([0, 2**70])
