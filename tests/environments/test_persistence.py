"""Restored wrappers do what the originals do: pickles, copies, specs and JSON."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import SyncVectorEnv

import gymbridge
from tests.environments.bridges import AGENTS, Value, bridge, same, vector_bridge
from tests.environments.worlds import Echo, EchoVector
from tests.support import LIBRARIES, Pair, require

if TYPE_CHECKING:
    from collections.abc import Callable

WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "oldest pickle": lambda env: pickle.loads(pickle.dumps(env, 2)),
    "cloudpickle": lambda env: pickle.loads(import_module("cloudpickle").dumps(env)),
    "deepcopy": copy.deepcopy,
}
"""The ways to restore an environment."""

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "everything": {"copy": True, "float_dtype": "float16"},
}


@pytest.fixture(params=WAYS)
def travel(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Each way to restore an environment."""
    return WAYS[request.param]


@pytest.fixture(params=OPTIONS)
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments of a wrapper."""
    return OPTIONS[request.param]


def _inside(pair: Pair, env: Value, wrap: Callable[..., Any]) -> Value:
    """Return the NumPy environment ``env`` as an environment of ``pair.source``."""
    return env if pair.source.name == "numpy" else wrap(Pair("numpy", pair.source.name), env)


def _cartpole(pair: Pair, **options: Value) -> Value:
    return bridge(pair, _inside(pair, gym.make("CartPole-v1"), bridge), **options)


def _cartpoles(pair: Pair, **options: Value) -> Value:
    envs = SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 2)
    return vector_bridge(pair, _inside(pair, envs, vector_bridge), **options)


def _alike(one: Value, other: Value, pair: Pair, action: Value, steps: int = 4) -> None:
    """Fail unless both return the same results for the same actions, and have the same text."""
    for _ in range(steps):
        same(one.step(pair.target.make(action)), other.step(pair.target.make(action)))
    for name in ("action_space", "observation_space", "metadata", "device", "render_mode"):
        assert getattr(one, name) == getattr(other, name), name
    assert type(one) is type(other)
    assert repr(one) == repr(other)


def test_a_restored_wrapper_continues_the_episode(
    pair_of_any: Pair, travel: Callable[[Any], Any], options: dict[str, Any]
) -> None:
    pair = pair_of_any
    agent = _cartpole(pair, **options)
    agent.reset(seed=1)
    agent.step(pair.target.make(np.array(1, np.int32)))
    restored = travel(agent)
    assert restored is not agent
    assert restored.unwrapped is not agent.unwrapped
    _alike(restored, agent, pair, np.array(0, np.int32))
    assert restored.spec == agent.spec
    same(restored.reset(seed=2), agent.reset(seed=2))


def test_restored_vector_wrappers_continue_the_episodes(
    pair_of_any: Pair, travel: Callable[[Any], Any], options: dict[str, Any]
) -> None:
    pair = pair_of_any
    agent = _cartpoles(pair, **options)
    agent.reset(seed=1)
    agent.step(pair.target.make(np.array([1, 0], np.int32)))
    restored = travel(agent)
    assert restored.unwrapped is not agent.unwrapped
    _alike(restored, agent, pair, np.array([0, 1], np.int32))
    for name in ("num_envs", "single_action_space", "single_observation_space", "closed"):
        assert getattr(restored, name) == getattr(agent, name), name
    same(restored.reset(seed=[2, 3]), agent.reset(seed=[2, 3]))


@pytest.mark.parametrize("wrap", [bridge, vector_bridge])
@pytest.mark.parametrize("before", [0, 1], ids=["new", "used"])
def test_a_restored_wrapper_gives_actions_the_dtype_of_the_space(
    wrap: Callable[..., Any], before: int, travel: Callable[[Any], Any]
) -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    space = spaces.MultiDiscrete([4, 5], np.int8)
    env: Any = EchoVector(space) if wrap is vector_bridge else Echo(space)
    agent = wrap(pair, env)
    action = np.ones(agent.action_space.shape, np.int64)
    for _ in range(before):
        agent.step(pair.target.make(action))
    restored = travel(agent)
    for _ in range(2):
        restored.step(pair.target.make(action))
        same(restored.unwrapped.received, action.astype(np.int8))


def test_a_restored_wrapper_keeps_its_devices(travel: Callable[[Any], Any]) -> None:
    require("torch")
    require("jax")
    import jax
    import torch

    agent = travel(gymbridge.NumpyToTorch(gym.make("CartPole-v1"), torch.device("cpu")))
    assert agent.device == torch.device("cpu")
    inner = gymbridge.NumpyToJax(gym.make("CartPole-v1"), jax.devices()[0])
    assert travel(inner).device == jax.devices()[0]
    both = travel(gymbridge.JaxToTorch(inner, "cpu", env_device="cpu:0"))
    both.reset(seed=0)
    assert both.step(torch.tensor(1))[0].device == torch.device("cpu")


@pytest.mark.parametrize("copies", [np.True_, np.False_, 1, 0], ids=repr)
def test_the_copy_argument_is_recorded_as_json(copies: Value) -> None:
    require("torch")
    agent = gymbridge.NumpyToTorch(gym.make("CartPole-v1"), copy=copies)
    assert agent.spec is not None
    wrapper = _from_json(agent.spec).additional_wrappers[-1]
    assert wrapper.kwargs is not None
    assert wrapper.kwargs["copy"] is bool(copies)


def test_a_restored_wrapper_keeps_its_copy_argument(travel: Callable[[Any], Any]) -> None:
    require("jax")
    agent = travel(_cartpole(Pair("numpy", "jax"), copy=False))
    with pytest.raises(gymbridge.CopyRequiredError, match=r"^obs: JAX arrays never change"):
        agent.reset()


def test_a_restored_vector_wrapper_still_copies_reused_buffers(
    travel: Callable[[Any], Any],
) -> None:
    require("torch")
    pair = Pair("numpy", "torch")
    envs = SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 2, copy=False)
    agent = travel(vector_bridge(pair, envs))
    first = agent.reset(seed=0)[0]
    before = first.clone()
    agent.step(pair.target.make(np.array([1, 0])))
    same(first, before)


def test_a_copy_is_independent_of_the_original() -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    agent = _cartpole(pair)
    agent.reset(seed=1)
    other = copy.deepcopy(agent)
    before = other.unwrapped.state.copy() if hasattr(other.unwrapped.state, "copy") else None
    agent.step(pair.target.make(np.array(1)))
    np.testing.assert_array_equal(other.unwrapped.state, before)
    assert not np.array_equal(agent.unwrapped.state, other.unwrapped.state)


def test_a_wrapper_can_be_pickled_before_and_after_its_first_action() -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    fresh = pickle.loads(pickle.dumps(_cartpole(pair)))
    fresh.reset(seed=0)
    fresh.step(fresh.sample_action())
    used = pickle.loads(pickle.dumps(fresh))
    _alike(used, fresh, pair, np.array(1))


def test_pickles_refer_to_array_libraries_by_name(pair_of_any: Pair) -> None:
    data = pickle.dumps(_cartpole(pair_of_any, copy=True))
    assert len(data) < 20_000


# -- specs ----------------------------------------------------------------------------------------


def _from_json(spec: EnvSpec) -> EnvSpec:
    return EnvSpec.from_json(spec.to_json())


@pytest.mark.parametrize(
    "through", [lambda spec: spec, _from_json, copy.deepcopy], ids=["spec", "json", "deepcopy"]
)
def test_gym_make_restores_the_wrapper_from_its_spec(
    pair_of_any: Pair, through: Callable[[EnvSpec], EnvSpec], options: dict[str, Any]
) -> None:
    pair = pair_of_any
    agent = _cartpole(pair, **options)
    restored = gym.make(through(agent.spec))
    agent.reset(seed=3)
    restored.reset(seed=3)
    _alike(restored, agent, pair, np.array(1, np.int32))
    assert restored.spec == agent.spec


def test_a_spec_records_the_arguments_as_text() -> None:
    require("torch")
    import torch

    agent = gymbridge.NumpyToTorch(
        gym.make("CartPole-v1"), torch.device("cpu"), copy=True, float_dtype=torch.bfloat16
    )
    assert agent.spec is not None
    recorded = agent.spec.additional_wrappers[-1]
    assert recorded.name == "NumpyToTorch"
    assert recorded.entry_point == "gymbridge.numpy_to_torch:NumpyToTorch"
    assert recorded.kwargs == {"device": "cpu", "copy": True, "float_dtype": "bfloat16"}
    restored: Any = gym.make(_from_json(agent.spec))
    assert restored.device == torch.device("cpu")

    inside: Any = gymbridge.NumpyToTorch(gym.make("CartPole-v1"))
    outer = gymbridge.TorchToNumpy(inside, env_device=torch.device("cpu", 0))
    assert outer.spec is not None
    assert outer.spec.additional_wrappers[-1].kwargs == {"env_device": "cpu"}
    assert restored.reset()[0].dtype == torch.bfloat16


def test_a_jax_device_is_recorded_as_text() -> None:
    require("jax")
    import jax

    agent = gymbridge.NumpyToJax(gym.make("CartPole-v1"), jax.devices()[0])
    assert agent.spec is not None
    assert agent.spec.additional_wrappers[-1].kwargs == {"device": "cpu:0"}
    restored: Any = gym.make(_from_json(agent.spec))
    assert restored.device == jax.devices()[0]


@pytest.mark.parametrize("form", ["single", "vector"])
def test_a_sharding_over_one_device_is_that_device(form: str, travel: Callable[[Any], Any]) -> None:
    require("jax")
    import jax

    one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    if form == "single":
        agent: Any = gymbridge.NumpyToJax(gym.make("CartPole-v1"), one)
        assert agent.spec.additional_wrappers[-1].kwargs == {"device": "cpu:0"}
        assert gym.make(_from_json(agent.spec)).get_wrapper_attr("device") == jax.devices()[0]
    else:
        envs = SyncVectorEnv([partial(gym.make, "CartPole-v1")])
        agent = import_module("gymbridge.vector").NumpyToJax(envs, one)
    assert agent.device == travel(agent).device == jax.devices()[0]


@pytest.mark.parametrize("form", ["single", "vector"])
def test_type_parameters_do_not_prevent_pickling(
    pair_of_any: Pair, form: str, travel: Callable[[Any], Any]
) -> None:
    pair = pair_of_any
    array: Any = type(pair.target.make(np.zeros(1)))
    if pair.target.name == "jax":
        import jax

        array = jax.Array  # which cannot be pickled
    plain = _cartpole(pair) if form == "single" else _cartpoles(pair)
    observed: Any = dict.__class_getitem__((str, array))
    agent = type(plain)[observed, array](plain.env)
    agent.reset(seed=3)
    restored = travel(agent)
    _alike(restored, agent, pair, np.array(1) if form == "single" else np.array([1, 0]))


def test_a_spec_may_hold_other_wrappers_around_it() -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    inner = gym.wrappers.DtypeObservation(gym.make("CartPole-v1"), np.float64)
    agent: Any = gym.wrappers.TimeLimit(bridge(pair, inner), 3)
    restored: Any = gym.make(agent.spec)
    for env in (agent, restored):
        env.reset(seed=0)
    for step in range(3):
        got, wanted = (env.step(pair.target.make(np.array(1))) for env in (restored, agent))
        same(got, wanted)
        assert pair.target.dtype(got[0]) == "float64"
        assert got[3] is (step == 2)


def test_make_vec_takes_wrappers() -> None:
    """`make_vec(…, wrappers=…)`: Gymnasium batches the observations with NumPy again."""
    for name in AGENTS:
        require(name)
        wrap = getattr(gymbridge, f"NumpyTo{LIBRARIES[name].name.title()}")
        envs, bare = (
            gym.make_vec("CartPole-v1", 2, vectorization_mode="sync", wrappers=wrappers)
            for wrappers in ([wrap], [])
        )
        same(envs.reset(seed=0), bare.reset(seed=0))
        for _ in range(3):
            actions = np.array([1, 0])
            same(envs.step(actions), bare.step(actions))
        envs.close()


def test_the_spec_of_a_vector_wrapper_is_that_of_gymnasium() -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    envs = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
    agent = vector_bridge(pair, envs)
    spec = envs.spec
    assert spec is not None
    assert agent.spec is spec
    restored = vector_bridge(pair, gym.make_vec(spec))
    same(restored.reset(seed=0), agent.reset(seed=0))
    _alike(restored, agent, pair, np.array([1, 0]))
