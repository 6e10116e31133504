"""A PyTorch agent on Gymnasium's JAX CartPoles.

    python -m scripts.examples.torch_on_phys2d

The agent is the one of `ppo_torch`, unchanged. Only the name of the wrapper depends on the library
of the environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym
import torch

from gymbridge.vector import JaxToTorch
from scripts.examples.ppo_torch import ENVIRONMENTS, GOAL, SEED, ActorCritic, train
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=200_000, quick=20_000, arguments=arguments)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the network is too small for several threads
    envs = JaxToTorch(gym.make_vec("phys2d/CartPole-v1", ENVIRONMENTS))
    with Watch("PPO in PyTorch on 16 CartPoles in JAX", asked.steps) as watch:
        train(envs, ActorCritic(observation=4, actions=2), watch)
    envs.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
