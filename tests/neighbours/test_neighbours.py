"""Agents of other libraries learn and play through wrappers.

Their requirements conflict with the other tests, so ``nox -s neighbours`` installs them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest

from gymbridge import JaxToNumpy
from tests.libraries.torch import torch
from tests.support import run_python

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("skrl", "tianshou", "torchrl")),
        reason="skrl, tianshou and torchrl: only `nox -s neighbours` installs them",
    ),
    pytest.mark.filterwarnings("ignore"),  # these libraries emit warnings
]


def cartpole() -> gym.Env[Any, Any]:
    """Return an environment in JAX, used from NumPy."""
    return JaxToNumpy(gym.make("phys2d/CartPole-v1"))


def test_an_agent_of_stable_baselines3_learns() -> None:
    agents: Any = import_module("stable_baselines3")
    agent = agents.PPO("MlpPolicy", cartpole(), n_steps=64, batch_size=32, device="cpu")
    before = [weight.clone() for weight in agent.policy.parameters()]
    agent.learn(128)
    assert agent.num_timesteps == 128
    assert not all(map(torch.equal, before, agent.policy.parameters()))
    action, _ = agent.predict(np.zeros(4, np.float32))
    assert int(action) in {0, 1}


def test_a_gym_wrapper_of_torchrl_rolls_out() -> None:
    envs: Any = import_module("torchrl.envs")
    batch = envs.GymWrapper(cartpole()).rollout(8)
    assert batch["observation"].dtype == torch.float32
    assert batch["observation"].shape == (len(batch), 4)
    assert batch["next", "reward"].sum() == len(batch) > 1
    assert torch.equal(batch["next", "observation"][:-1], batch["observation"][1:])


def test_an_agent_of_skrl_learns(tmp_path: Path) -> None:
    wrappers: Any = import_module("skrl.envs.wrappers.torch")
    agents: Any = import_module("skrl.agents.torch.dqn")
    memories: Any = import_module("skrl.memories.torch")
    models: Any = import_module("skrl.utils.model_instantiators.torch")
    trainers: Any = import_module("skrl.trainers.torch")
    env = wrappers.wrap_env(cartpole(), wrapper="gymnasium")
    spaces = {
        "observation_space": env.observation_space,
        "action_space": env.action_space,
        "device": env.device,
    }
    network = [{"name": "net", "input": "OBSERVATIONS", "layers": [8], "activations": "relu"}]
    networks = {
        name: models.deterministic_model(**spaces, network=network, output="ACTIONS")
        for name in ("q_network", "target_q_network")
    }
    for name, model in networks.items():
        model.init_state_dict(role=name)
    memory = memories.RandomMemory(memory_size=100, device=env.device)
    settings = {
        "batch_size": 8,
        "learning_starts": 10,
        "experiment": {"directory": str(tmp_path), "write_interval": 0, "checkpoint_interval": 0},
    }
    agent = agents.DQN(models=networks, memory=memory, cfg=settings, **spaces)
    quiet = {"headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    trainer = trainers.SequentialTrainer(env=env, agents=agent, cfg={"timesteps": 60, **quiet})
    before = [weight.clone() for weight in networks["q_network"].parameters()]
    trainer.train()
    assert len(memory) == 60
    assert not all(map(torch.equal, before, networks["q_network"].parameters()))


def test_a_collector_of_tianshou_collects() -> None:
    data: Any = import_module("tianshou.data")
    envs: Any = import_module("tianshou.env")
    base: Any = import_module("tianshou.algorithm.algorithm_base")
    env = envs.DummyVectorEnv([cartpole, cartpole])
    policy = base.RandomActionPolicy(env.action_space[0])
    buffer = data.VectorReplayBuffer(100, 2)
    collected = data.Collector(policy, env, buffer).collect(n_step=20, reset_before_collect=True)
    assert collected.n_collected_steps == len(buffer) == 20
    kept, _ = buffer.sample(0)
    assert kept.obs.shape == (20, 4)
    assert kept.rew.sum() == 20
    assert not np.array_equal(kept.obs[0], kept.obs[1])  # stored values do not change later


def test_rllib_learns_with_the_example(tmp_path: Path) -> None:
    printed = run_python(
        f"""
        from scripts.examples import rllib
        watch = rllib.main(["--quick", "--picture", {str(tmp_path / "curve.svg")!r}])
        assert watch.steps >= 2_000
        assert watch.curve[-1].mean_return > 26, watch.curve  # chance reaches 22
        """,
        PYTHONWARNINGS="ignore",
    )
    assert "PPO of RLlib on CartPoles in JAX: mean return" in printed
