"""RLlib, whose agents need NumPy, learns on environments in JAX.

    python -m scripts.examples.rllib

RLlib's env runners make the environments, with the function that `register_env` got. The spec of a
wrapped environment names the wrapper and its arguments, so the runners need only its JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import ray
import torch
from gymnasium.envs.registration import EnvSpec
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env

from gymbridge import JaxToNumpy
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNNERS = 1
ENVIRONMENTS = 8  # environments per runner
GOAL = 475  # Gymnasium calls CartPole solved from here on
SEED = 1


def cartpole() -> str:
    """Return the JSON of a JAX CartPole of Gymnasium, wrapped for NumPy."""
    spec = JaxToNumpy(gym.make("phys2d/CartPole-v1")).spec
    assert spec is not None
    return spec.to_json()


def make(config: dict[str, str]) -> gym.Env[Any, Any]:
    """Make the environment from the JSON in ``config``, with its wrapper."""
    return gym.make(EnvSpec.from_json(config["spec"]))


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=100_000, quick=2_000, arguments=arguments)
    register_env("CartPole in JAX", make)
    torch.set_num_threads(1)  # RLlib's network is too small for several threads
    ray.init(num_cpus=RUNNERS + 1, include_dashboard=False, log_to_driver=False)
    config = (
        PPOConfig()
        .environment("CartPole in JAX", env_config={"spec": cartpole()})
        .env_runners(num_env_runners=RUNNERS, num_envs_per_env_runner=ENVIRONMENTS)
        .fault_tolerance(restart_failed_env_runners=True)
        .training(
            train_batch_size_per_learner=1_000,
            minibatch_size=250,
            lr=1e-3,
            gamma=0.98,
            num_epochs=8,
        )
        .debugging(seed=SEED)
    )
    algorithm = config.build_algo()
    with Watch("PPO of RLlib on CartPoles in JAX", asked.steps) as watch:
        while watch.goes_on:
            found = algorithm.train()["env_runners"]
            watch.reach(found["num_env_steps_sampled_lifetime"], found["episode_return_mean"])
    algorithm.stop()
    ray.shutdown()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
