"""Ray actors play, each in environments of its own; the agent here learns from all of them.

    python -m scripts.examples.ray_actors

Environments are sent as the JSON of Gymnasium's spec, so nothing has to be pickled, and tensors
come back. If an actor dies, Ray starts a new one and repeats the call: only the current episodes
are lost.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import gymnasium as gym
import ray
import torch
from gymnasium.envs.registration import EnvSpec
from torch import nn

from gymbridge.vector import NumpyToTorch
from scripts.examples.ppo_torch import GOAL, SEED, ActorCritic, Play, Player, improve
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ray.actor import ActorProxy

ACTORS = 2
ENVIRONMENTS = 8  # environments per actor


class Actor:
    """A player in a process of its own, possibly on another machine."""

    def __init__(self, spec: str, seed: int) -> None:
        """Make the environments of ``spec``, and wrap them in the process of the actor."""
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.player = Player(NumpyToTorch(gym.make_vec(EnvSpec.from_json(spec))), seed)

    @ray.method
    def play(self, network: nn.Module) -> Play:
        """Play a stretch; everything it needs is an argument, so it can be repeated."""
        return self.player.play(network)


Remote = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(Actor)


def hire() -> list[ActorProxy[Actor]]:
    """Start the actors."""
    envs = gym.make_vec("CartPole-v1", ENVIRONMENTS, vectorization_mode="vector_entry_point")
    spec = envs.spec
    assert spec is not None
    return [Remote.remote(spec.to_json(), SEED + 100 * number) for number in range(ACTORS)]


def together(plays: Sequence[Play]) -> Play:
    """Join the stretches of all actors along the axis of environments."""
    return Play(*(torch.cat(column, 1) for column in zip(*plays, strict=True)))


def train(actors: Sequence[ActorProxy[Actor]], network: nn.Module, watch: Watch) -> None:
    """Train ``network`` with the stretches of ``actors``."""
    optimizer = torch.optim.Adam(network.parameters(), eps=1e-5)
    while watch.goes_on:
        latest = ray.put(deepcopy(network))
        play = together(ray.get([actor.play.remote(latest) for actor in actors]))
        watch.stretch(play.rewards, play.over)
        improve(network, optimizer, play, watch.left)


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=200_000, quick=30_000, arguments=arguments)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    network = ActorCritic(observation=4, actions=2)
    ray.init(num_cpus=ACTORS, include_dashboard=False, log_to_driver=False)
    title = f"PPO in PyTorch, {ENVIRONMENTS} CartPoles in each of {ACTORS} Ray actors"
    with Watch(title, asked.steps) as watch:
        train(hire(), network, watch)
    ray.shutdown()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
