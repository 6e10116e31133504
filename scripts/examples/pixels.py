"""CartPole seen as a film: pixels, stacked frames and `float_dtype`, for an agent in PyTorch.

    python -m scripts.examples.pixels

The agent sees three pictures and no numbers, so it must find positions and speeds itself.
Gymnasium's wrappers make the pictures with NumPy, inside gymbridge's wrapper. Averages of pixels
are float64, and networks need float32: `float_dtype` casts the observations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from gymnasium.spaces import Box
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import AddRenderObservation, FrameStackObservation, TransformObservation
from torch import Tensor, nn
from typing_extensions import override

from gymbridge.vector import NumpyToTorch
from scripts.examples.ppo_torch import SEED, train
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnasium.vector import VectorEnv

ENVIRONMENTS = 16
FRAMES = 3
HEIGHT, WIDTH = 25, 100
GOAL = 100  # five times the return of random actions


def shrink(frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Cut off sky and ground, and average six by six pixels; 0 is background."""
    blue = frame[170:320, :, 2].reshape(HEIGHT, 6, WIDTH, 6)
    small: npt.NDArray[np.float64] = 1 - blue.mean((1, 3)) / 255
    return small


def cartpole() -> gym.Env[npt.NDArray[np.float64], np.int64]:
    """Make a CartPole whose observations are its latest frames."""
    seen = AddRenderObservation(gym.make("CartPole-v1", render_mode="rgb_array"))
    small = TransformObservation(seen, shrink, Box(0, 1, (HEIGHT, WIDTH), np.float64))
    return FrameStackObservation(small, FRAMES)


def cartpoles(number: int) -> VectorEnv[Tensor, Tensor, Tensor]:
    """Make some CartPoles for an agent that needs float32."""
    return NumpyToTorch(SyncVectorEnv([cartpole] * number), float_dtype=torch.float32)


class Eyes(nn.Module):
    """Computes the policy and the value from pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2d(FRAMES, 16, 5, stride=(3, 3)),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2),
            nn.ReLU(),
            nn.Flatten(),
            nn.LazyLinear(128),
            nn.ReLU(),
        )
        self.actor = nn.Linear(128, 2)
        self.critic = nn.Linear(128, 1)

    @override
    def forward(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities of both actions, and the value."""
        seen = self.look(frames)
        return self.actor(seen).log_softmax(-1), self.critic(seen).squeeze(-1)


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=200_000, quick=2_000, arguments=arguments)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the network is too small for several threads
    envs = cartpoles(ENVIRONMENTS)
    with Watch("PPO in PyTorch on 16 CartPoles, by sight", asked.steps) as watch:
        train(envs, Eyes(), watch)
    envs.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
