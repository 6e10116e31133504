"""mjlab itself, on the CPU: ``nox -s mjlab`` installs it.

Its environments do not inherit from Gymnasium's. They reuse the arrays of reward and flags in every
step, and overwrite them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymnasium import spaces

from gymbridge.batched import TorchToJax, TorchToNumpy
from tests.libraries.jax import jax, jnp

if TYPE_CHECKING:
    from tests.environments.bridges import Value

pytestmark = [
    pytest.mark.skipif(find_spec("mjlab") is None, reason="mjlab is not installed"),
    pytest.mark.filterwarnings("ignore"),  # the imports of mjlab emit warnings
]

TASK = "Mjlab-Cartpole-Balance"
STEPS = 5


@pytest.fixture(scope="module")
def env() -> Value:
    _ = import_module("mjlab.tasks")  # registers the task
    cfg = import_module("mjlab.tasks.registry").load_env_cfg(TASK)
    cfg.scene.num_envs = 4
    return import_module("mjlab.envs").ManagerBasedRlEnv(cfg, device="cpu")


def test_a_jax_agent_plays(env: Value) -> None:
    agent: Any = TorchToJax[dict[str, jax.Array]](env)
    assert (agent.num_envs, agent.unwrapped, agent.cfg) == (4, env, env.cfg)
    assert isinstance(agent.max_episode_length, int)
    assert isinstance(agent.action_space, spaces.Box)
    assert agent.device.platform == "cpu"
    obs, _ = agent.reset(seed=1)
    assert agent.observation_space["actor"].shape == obs["actor"].shape == (4, 5)
    seen: list[tuple[Any, Any]] = []
    for _ in range(STEPS):
        step = agent.step(agent.sample_action())
        seen.append((step, jax.tree.map(np.array, step)))
        obs, reward, terminated, truncated, info = step
        assert all(isinstance(array, jax.Array) for array in jax.tree.leaves(obs))
        assert (reward.shape, reward.dtype) == ((4,), jnp.float32)
        assert terminated.dtype == truncated.dtype == bool
        assert terminated.shape == truncated.shape == (4,)
        assert isinstance(info["log"], dict)
    for step, kept in seen:
        jax.tree.map(np.testing.assert_array_equal, step, kept)


def test_some_worlds_reset(env: Value) -> None:
    agent: Any = TorchToNumpy[dict[str, np.ndarray]](env)
    agent.reset(seed=1)
    agent.step(np.zeros((4, 1), np.float64))
    before = agent.episode_length_buf
    agent.reset(env_ids=np.array([1, 3]))
    assert (agent.episode_length_buf == before * [1, 0, 1, 0]).all()
    agent.episode_length_buf = np.arange(4, dtype=np.int32)
    assert str(env.episode_length_buf.dtype) == "torch.int64"
    assert env.episode_length_buf.tolist() == [0, 1, 2, 3]
