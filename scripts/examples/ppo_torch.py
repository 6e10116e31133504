"""PPO in PyTorch on sixteen of Gymnasium's CartPoles, which are NumPy.

    python -m scripts.examples.ppo_torch

`Player` and `train` are written for tensors and do not depend on the library of the environments.
One line in `main` wraps them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym
import torch
from torch import Tensor, nn
from typing_extensions import override

from gymbridge.vector import NumpyToTorch
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnasium.vector import VectorEnv

ENVIRONMENTS = 16
GOAL = 475  # Gymnasium calls CartPole solved from here on
SEED = 1

STRETCH = 128  # steps between two updates
EPOCHS = 4  # passes over a stretch in an update
BATCHES = 4  # steps of gradient descent in an epoch
LEARNING_RATE = 2e-3  # at first; it falls to 0
DISCOUNT = 0.98
TRACE = 0.95  # the decay of advantages (lambda)
CLIP = 0.2  # how much likelier one update may make an action
CURIOSITY = 0.005  # the weight of the entropy
STEEPEST = 0.5  # gradients are clipped to this norm


class ActorCritic(nn.Module):
    """Computes the policy and the value."""

    def __init__(self, observation: int, actions: int) -> None:
        super().__init__()
        self.actor = perceptron(observation, actions, gain=0.01)
        self.critic = perceptron(observation, 1, gain=1)

    @override
    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities of all actions, and the value."""
        return self.actor(observations).log_softmax(-1), self.critic(observations).squeeze(-1)


def perceptron(inputs: int, outputs: int, gain: float) -> nn.Sequential:
    """Return a network of two hidden layers; ``gain`` scales its first outputs."""
    layers = [nn.Linear(inputs, 64), nn.Linear(64, 64), nn.Linear(64, outputs)]
    for layer, size in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, size)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


def log_probability(policy: Tensor, actions: Tensor) -> Tensor:
    """Return the log-probability of each of ``actions``."""
    return policy.gather(-1, actions[..., None]).squeeze(-1)


class Play(NamedTuple):
    """A stretch of play; every tensor has the axes steps and environments."""

    observations: Tensor
    actions: Tensor
    log_probabilities: Tensor
    values: Tensor
    rewards: Tensor
    terminated: Tensor
    over: Tensor  # terminated or truncated
    counts: Tensor  # the step after the end of an episode only resets and ignores its action
    last_values: Tensor  # the values after the last step: one row

    def advantages(self) -> Tensor:
        """Return the advantage of each action."""
        advantages = torch.zeros_like(self.values)
        advantage, next_values = torch.zeros_like(self.values[0]), self.last_values[0]
        for step in reversed(range(len(self.values))):
            future = next_values * ~self.terminated[step]
            surprise = self.rewards[step] + DISCOUNT * future - self.values[step]
            advantage = surprise + DISCOUNT * TRACE * advantage * ~self.over[step]
            advantages[step], next_values = advantage, self.values[step]
        return advantages


class Player:
    """Plays in environments that use tensors."""

    def __init__(self, envs: VectorEnv[Tensor, Tensor, Tensor], seed: int) -> None:
        """Begin an episode in each environment."""
        self.envs = envs
        self.observations, _ = envs.reset(seed=seed)
        self.counts = torch.ones(envs.num_envs, dtype=torch.bool)

    @torch.no_grad()
    def play(self, network: nn.Module) -> Play:
        """Play a stretch with the policy of ``network``."""
        steps: list[tuple[Tensor, ...]] = []
        for _ in range(STRETCH):
            before = self.observations
            policy, values = network(before)
            actions = torch.multinomial(policy.exp(), 1).squeeze(-1)
            chosen = log_probability(policy, actions)
            self.observations, rewards, terminated, truncated, _ = self.envs.step(actions)
            over, counts = terminated | truncated, self.counts
            steps.append((before, actions, chosen, values, rewards, terminated, over, counts))
            self.counts = ~over
        _, last_values = network(self.observations)
        columns = [torch.stack(column) for column in zip(*steps, strict=True)]
        columns.append(last_values[None])
        return Play(*columns)


def train(
    envs: VectorEnv[Tensor, Tensor, Tensor], network: nn.Module, watch: Watch, seed: int = SEED
) -> None:
    """Train ``network`` in ``envs``."""
    player = Player(envs, seed)
    optimizer = torch.optim.Adam(network.parameters(), eps=1e-5)
    while watch.goes_on:
        play = player.play(network)
        watch.stretch(play.rewards, play.over)
        improve(network, optimizer, play, watch.left)


def improve(network: nn.Module, optimizer: torch.optim.Optimizer, play: Play, left: float) -> None:
    """Improve the policy with clipped updates."""
    optimizer.param_groups[0]["lr"] = LEARNING_RATE * left
    kept = play.counts
    gains = play.advantages()[kept]
    returns = gains + play.values[kept]
    observations, actions = play.observations[kept], play.actions[kept]
    old = play.log_probabilities[kept]
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(actions)).chunk(BATCHES):
            policy, values = network(observations[batch])
            ratio = (log_probability(policy, actions[batch]) - old[batch]).exp()
            gain = (gains[batch] - gains[batch].mean()) / (gains[batch].std() + 1e-8)
            careful = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
            error = (values - returns[batch]).square()
            entropy = -(policy.exp() * policy).sum(-1)
            loss = (error / 4 - careful - CURIOSITY * entropy).mean()
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(network.parameters(), STEEPEST)
            optimizer.step()


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=200_000, quick=40_000, arguments=arguments)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the network is too small for several threads
    network = ActorCritic(observation=4, actions=2)
    envs = NumpyToTorch(gym.make_vec("CartPole-v1", ENVIRONMENTS))
    with Watch("PPO in PyTorch on 16 CartPoles", asked.steps) as watch:
        train(envs, network, watch)
    envs.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
