"""A policy in PyTorch that works while the environments of AsyncVectorEnv do.

    python -m scripts.examples.overlap

`step` waits for the environments, and then the environments wait for the policy. Here are two
groups of environments: while one steps in its processes, the policy chooses the actions of the
other. The example prints the speedup.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import torch
from gymnasium.vector import AsyncVectorEnv
from torch import Tensor, nn
from typing_extensions import override

from gymbridge.vector import NumpyToTorch

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUPS = 2
ENVIRONMENTS = 2
"""The number of environments in each group."""


class Slow(gym.Wrapper[Any, Any, Any, Any]):
    """Waits in every step, like a robot or a remote simulator."""

    def __init__(self, env: gym.Env[Any, Any], seconds: float) -> None:
        super().__init__(env)
        self._seconds = seconds

    @override
    def step(self, action: object) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        time.sleep(self._seconds)
        return super().step(action)


def cartpole(seconds: float) -> gym.Env[Any, Any]:
    """Make one environment."""
    return Slow(gym.make("CartPole-v1"), seconds)


def group(seconds: float) -> NumpyToTorch:
    """Make environments in processes of their own."""
    return NumpyToTorch(
        AsyncVectorEnv([partial(cartpole, seconds)] * ENVIRONMENTS, context="spawn")
    )


class Policy(nn.Module):
    """Chooses a random action, and takes as long as a step of an environment."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._scores = nn.Linear(4, 2)
        self._seconds = seconds

    @override
    def forward(self, obs: Tensor) -> Tensor:
        scores: Tensor = self._scores(obs)
        time.sleep(self._seconds)  # like a larger network on an accelerator
        return torch.multinomial(scores.softmax(-1), 1)[:, 0]


@torch.no_grad()
def in_turn(groups: Sequence[NumpyToTorch], policy: Policy, steps: int) -> float:
    """Step the groups one after the other, and return the seconds."""
    seen = [envs.reset(seed=0)[0] for envs in groups]
    start = time.perf_counter()
    for _ in range(steps):
        for number, envs in enumerate(groups):
            seen[number] = envs.step(policy(seen[number]))[0]
    return time.perf_counter() - start


@torch.no_grad()
def overlapping(groups: Sequence[NumpyToTorch], policy: Policy, steps: int) -> float:
    """Step each group while the policy chooses actions for the others; return the seconds."""
    seen = [envs.reset(seed=0)[0] for envs in groups]
    start = time.perf_counter()
    for step in range(steps):
        for number, envs in enumerate(groups):
            if step:
                seen[number] = envs.step_wait()[0]
            envs.step_async(policy(seen[number]))
    for envs in groups:
        envs.step_wait()
    return time.perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> float:
    """Measure both ways; print and return the ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="how many steps each group takes")
    parser.add_argument("--milliseconds", type=float, default=5, help="how long a step takes")
    asked = parser.parse_args(arguments)
    seconds = asked.milliseconds / 1000
    torch.set_num_threads(1)  # the network is too small for several threads
    groups = [group(seconds) for _ in range(GROUPS)]
    policy = Policy(seconds)
    waited = in_turn(groups, policy, asked.steps)
    overlapped = overlapping(groups, policy, asked.steps)
    for envs in groups:
        envs.close()
    count = asked.steps * GROUPS * ENVIRONMENTS
    print(
        f"{count:,} steps: {waited:.1f} s in turn, {overlapped:.1f} s overlapping: "
        f"{waited / overlapped:.1f} times as fast"
    )
    return waited / overlapped


if __name__ == "__main__":
    main()
