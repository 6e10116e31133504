"""Devices of the agent's arrays and of the environment's actions."""

from __future__ import annotations

import gymnasium as gym
import pytest
from gymnasium import spaces

import gymbridge
from tests.environments.bridges import Value, bridge, vector_bridge
from tests.environments.worlds import Echo, EchoVector
from tests.support import Pair, require, run_python

_EIGHT = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}


def test_all_results_are_on_the_agents_device() -> None:
    require("jax")
    code = """\
import jax
from functools import partial
from gymnasium.vector import SyncVectorEnv
import gymbridge, gymbridge.vector
from tests.environments.worlds import Countdown

third = jax.devices()[3]
for device in (third, "cpu:3"):
    agent = gymbridge.NumpyToJax(Countdown(3, structured=True), device)
    assert agent.device == third
    action = agent.sample_action()
    steps = [agent.reset(), agent.step(action)]
    envs = gymbridge.vector.NumpyToJax(SyncVectorEnv([partial(Countdown, 3)] * 2), device)
    actions = envs.sample_action()
    steps += [envs.reset(), envs.step(actions), action, actions]
    arrays = [leaf for leaf in jax.tree.leaves(steps) if isinstance(leaf, jax.Array)]
    assert len(arrays) > 20
    assert {one for array in arrays for one in array.devices()} == {third}
print("done")
"""
    assert run_python(code, **_EIGHT) == "done\n"


def test_actions_from_any_device_go_to_the_environments_device() -> None:
    require("jax")
    require("torch")
    code = """\
import jax, numpy as np, torch
from gymnasium import spaces
import gymbridge
from tests.environments.worlds import Echo

seen = spaces.Discrete(3)  # no array, so of no library
env = Echo(spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(-1, 1, (2,))), seen)
agent = gymbridge.JaxToTorch(env, env_device="cpu:5")
agent.reset(options={"start": torch.zeros(2)})
assert env.options["start"].devices() == {jax.devices()[5]}
agent.step({"a": torch.tensor(1), "b": torch.zeros(2)})
for leaf in env.received.values():
    assert leaf.devices() == {jax.devices()[5]}, leaf
box = Echo(spaces.Box(-1, 1, (2,)))
agent = gymbridge.JaxToNumpy(box, env_device="cpu:5")
for _ in range(3):  # the first finds the short way
    agent.step(np.zeros(2, np.float32))
    assert box.received.devices() == {jax.devices()[5]}
numpy = gymbridge.NumpyToJax(env, "cpu:2")
numpy.step({"a": jax.device_put(1, jax.devices()[6]), "b": jax.numpy.zeros(2)})
assert type(env.received["a"]) is np.int64 and type(env.received["b"]) is np.ndarray
print("done")
"""
    assert run_python(code, **_EIGHT) == "done\n"


def test_vector_observations_can_be_sharded_over_a_mesh() -> None:
    """Sharded actions are gathered; infos are replicated."""
    require("jax")
    code = """\
import jax, numpy as np
from functools import partial
from gymnasium.vector import SyncVectorEnv
from jax.sharding import Mesh, NamedSharding, PartitionSpec
import gymbridge.vector
from tests.environments.worlds import Countdown

mesh = Mesh(np.array(jax.devices()), ("batch",))
spread = NamedSharding(mesh, PartitionSpec("batch"))
bare = SyncVectorEnv([partial(Countdown, 3)] * 16)
envs = gymbridge.vector.NumpyToJax(SyncVectorEnv([partial(Countdown, 3)] * 16), spread)
assert envs.device == spread
obs, infos = envs.reset(seed=0)
wanted, _ = bare.reset(seed=0)
assert obs.sharding.is_equivalent_to(spread, obs.ndim)
np.testing.assert_array_equal(np.asarray(obs), wanted)
actions = jax.device_put(np.zeros(16, np.int32), spread)
obs, rewards, terminations, truncations, infos = envs.step(actions)
wanted = bare.step(np.zeros(16, np.int64))
for got, expected in zip((obs, rewards, terminations, truncations), wanted):
    assert len(got.devices()) == 8
    assert got.sharding.is_equivalent_to(spread, got.ndim)
    np.testing.assert_array_equal(np.asarray(got), expected)
uneven = gymbridge.vector.NumpyToJax(SyncVectorEnv([partial(Countdown, 3)] * 3), spread)
for obs, *_ in (uneven.reset(), uneven.step(np.zeros(3, np.int64))):
    # eight devices have no equal share of three environments
    assert obs.is_fully_replicated and len(obs.devices()) == 8
assert infos["left"].is_fully_replicated and len(infos["left"].devices()) == 8
print("done")
"""
    assert run_python(code, **_EIGHT) == "done\n"


def test_pytorch_devices_may_be_names_or_objects() -> None:
    require("torch")
    import torch

    for device in ("cpu", torch.device("cpu")):
        agent = gymbridge.NumpyToTorch(gym.make("CartPole-v1"), device)
        assert agent.device == torch.device("cpu")
        assert agent.reset()[0].device == torch.device("cpu")


def test_a_device_without_memory_is_refused_at_construction() -> None:
    require("torch")
    with pytest.raises(gymbridge.ConversionError, match=r"device 'meta' has no memory"):
        gymbridge.NumpyToTorch(gym.make("CartPole-v1"), "meta")


@pytest.mark.parametrize("form", ["single", "vector"])
def test_an_env_device_without_memory_is_refused_at_construction(form: str) -> None:
    pair = Pair("torch", "numpy")
    pair.require()
    env: Value = Echo(spaces.Discrete(2)) if form == "single" else EchoVector(spaces.Discrete(2))
    wrap: Value = bridge if form == "single" else vector_bridge
    with pytest.raises(gymbridge.ConversionError, match=r"device 'meta' has no memory"):
        wrap(pair, env, env_device="meta")


def test_a_missing_device_is_refused_at_construction() -> None:
    require("jax")
    with pytest.raises(ValueError, match="JAX has no device 'cpu:77'"):
        gymbridge.NumpyToJax(gym.make("CartPole-v1"), "cpu:77")
