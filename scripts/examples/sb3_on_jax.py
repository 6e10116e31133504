"""Stable-Baselines3, which needs NumPy, learns on environments in JAX.

    python -m scripts.examples.sb3_on_jax

Inside `JaxToNumpy` a JAX environment looks like any other: Stable-Baselines3 makes several, checks
their spaces, and steps them in its own vector environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from typing_extensions import override

from gymbridge import JaxToNumpy
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

ENVIRONMENTS = 8
GOAL = 475  # Gymnasium calls CartPole solved from here on
SEED = 1


def cartpole() -> gym.Env[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """Make a JAX CartPole of Gymnasium."""
    return JaxToNumpy(gym.make("phys2d/CartPole-v1"))


class Watching(BaseCallback):
    """Reports every step to `Watch`."""

    def __init__(self, watch: Watch) -> None:
        """Report to ``watch``."""
        super().__init__()
        self.watch = watch

    @override
    def _on_step(self) -> bool:
        self.watch.step(self.locals["rewards"], self.locals["dones"])
        return self.watch.goes_on


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=100_000, quick=12_000, arguments=arguments)
    torch.set_num_threads(1)  # the network is too small for several threads
    envs = make_vec_env(cartpole, ENVIRONMENTS, seed=SEED)
    agent = PPO(
        "MlpPolicy",
        envs,
        learning_rate=lambda left: 1e-3 * left,
        n_steps=128,
        batch_size=256,
        n_epochs=10,
        gamma=0.98,
        seed=SEED,
        device="cpu",
    )
    with Watch("PPO of Stable-Baselines3 on CartPoles in JAX", asked.steps) as watch:
        agent.learn(asked.steps, Watching(watch))
    envs.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
