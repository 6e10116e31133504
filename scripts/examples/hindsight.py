"""Dictionaries of observations, named by a TypedDict: Q-learning with hindsight in PyTorch.

    python -m scripts.examples.hindsight

The agent flips bits, one per step, until they match a goal; there is no reward before. Random
actions almost never win. But every game ends in some state: an agent that pretends that this state
was the goal learns from every game, and then can reach any goal.

One `TypedDict` describes the observation. `Goal[Bits]` holds the environment's NumPy arrays and
`Goal[Tensor]` the agent's tensors. A type checker reports a misspelt key.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypedDict, cast

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor, nn
from typing_extensions import TypeVar, override

from gymbridge import NumpyToTorch
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

BITS = 10
GOAL = 0.95  # the share of games won
SEED = 1

CAPACITY = 100_000  # steps in the memory
BATCH = 256
LEARNING_RATE = 1e-3
DISCOUNT = 0.95
CURIOSITY = 0.2  # the share of random actions at first; it falls to 0
TRUST = 0.01  # how fast the target network follows the other

Bits: TypeAlias = npt.NDArray[np.int8]
ArrayT = TypeVar("ArrayT")


class Goal(TypedDict, Generic[ArrayT]):
    """An observation: the current and the desired bits, in arrays of some library."""

    observation: ArrayT
    desired_goal: ArrayT


class BitFlip(gym.Env[Goal[Bits], np.int64]):
    """Flip bits, one per step, until they match the goal."""

    def __init__(self, bits: int) -> None:
        """An episode has as many steps as there are bits."""
        space = spaces.Dict(
            observation=spaces.MultiBinary(bits), desired_goal=spaces.MultiBinary(bits)
        )
        # Gymnasium's types do not describe the items of a Dict space
        self.observation_space = cast("spaces.Space[Goal[Bits]]", space)
        self.action_space = spaces.Discrete(bits)
        self.size = bits
        self.steps = 0

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Goal[Bits], dict[str, Any]]:
        super().reset(seed=seed)
        self.bits, self.goal = self.np_random.integers(0, 2, (2, self.size), np.int8)
        self.steps = 0
        return self.seen(), {}

    @override
    def step(self, action: np.int64) -> tuple[Goal[Bits], float, bool, bool, dict[str, Any]]:
        self.bits[action] ^= 1
        self.steps += 1
        won = bool((self.bits == self.goal).all())
        return self.seen(), float(won), won, self.steps == self.size, {}

    def seen(self) -> Goal[Bits]:
        """Return the observation, in new arrays."""
        return {"observation": self.bits.copy(), "desired_goal": self.goal.copy()}


class Steps(NamedTuple):
    """Some steps, one per row, with rewards that depend on the goal."""

    bits: Tensor
    goal: Tensor
    action: Tensor
    next_bits: Tensor
    won: Tensor

    def in_hindsight(self) -> Steps:
        """Return these steps of a game as if its last state had been the goal."""
        goal = self.next_bits[-1].expand_as(self.goal)
        return self._replace(goal=goal, won=(self.next_bits == goal).all(-1))


class Memory:
    """The latest steps."""

    def __init__(self) -> None:
        """Begin with none."""
        bits = torch.zeros(CAPACITY, BITS, dtype=torch.int8)
        action, won = (
            torch.zeros(CAPACITY, dtype=torch.int64),
            torch.zeros(CAPACITY, dtype=torch.bool),
        )
        self.kept = Steps(bits, bits.clone(), action, bits.clone(), won)
        self.count = 0

    def keep(self, steps: Steps) -> None:
        """Store more steps, in the place of the oldest when the memory is full."""
        rows = torch.arange(self.count, self.count + len(steps.action)) % CAPACITY
        for kept, new in zip(self.kept, steps, strict=True):
            kept[rows] = new
        self.count += len(rows)

    def sample(self) -> Steps:
        """Return random steps."""
        rows = torch.randint(min(self.count, CAPACITY), (BATCH,))
        return Steps(*(kept[rows] for kept in self.kept))


class Worth(nn.Module):
    """Estimates the value of each action, given the current and the desired bits."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * BITS, 256),
            nn.ReLU(),
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Linear(256, BITS),
        )

    @override
    def forward(self, bits: Tensor, goal: Tensor) -> Tensor:
        """Return a value for each bit that could be flipped."""
        worth: Tensor = self.layers(torch.cat([bits, goal], -1).float())
        return worth


class Agent:
    """Flips the bit of the highest value, and learns from its memory."""

    def __init__(self) -> None:
        """Start untrained."""
        self.worth = Worth()
        self.slow = deepcopy(self.worth)
        self.optimizer = torch.optim.Adam(self.worth.parameters(), LEARNING_RATE)
        self.memory = Memory()

    @torch.no_grad()
    def act(self, observed: Goal[Tensor], curiosity: float) -> Tensor:
        """Choose a bit."""
        if torch.rand(()) < curiosity:
            return torch.randint(BITS, ())
        worth: Tensor = self.worth(observed["observation"], observed["desired_goal"])
        return worth.argmax()

    def learn(self) -> None:
        """Fit the values to the observed rewards."""
        steps = self.memory.sample()
        with torch.no_grad():
            future = self.slow(steps.next_bits, steps.goal).max(-1).values
            wanted = torch.where(steps.won, 1.0, DISCOUNT * future)
        guessed = self.worth(steps.bits, steps.goal).gather(-1, steps.action[:, None])[:, 0]
        self.optimizer.zero_grad()
        torch.autograd.backward((guessed - wanted).square().mean())
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.slow.parameters(), self.worth.parameters(), strict=True):
                slow.lerp_(fast, TRUST)


def play(env: gym.Env[Goal[Tensor], Tensor], agent: Agent, watch: Watch) -> Steps:
    """Play one game."""
    game: list[tuple[Tensor, ...]] = []
    observed, _ = env.reset()
    over = False
    while not over:
        action = agent.act(observed, CURIOSITY * watch.left)
        bits, goal = observed["observation"], observed["desired_goal"]
        observed, reward, terminated, truncated, _ = env.step(action)
        game.append((bits, goal, action, observed["observation"], torch.tensor(terminated)))
        over = terminated or truncated
        watch.step(float(reward), over)
    return Steps(*(torch.stack(column) for column in zip(*game, strict=True)))


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=40_000, quick=12_000, arguments=arguments)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the network is too small for several threads
    env = NumpyToTorch[Goal[Tensor]](BitFlip(BITS))
    env.reset(seed=SEED)
    agent = Agent()
    with Watch(f"Flipping {BITS} bits with hindsight, in PyTorch", asked.steps) as watch:
        while watch.goes_on:
            game = play(env, agent, watch)
            agent.memory.keep(game)
            agent.memory.keep(game.in_hindsight())
            for _ in range(len(game.action) // 4):
                agent.learn()
    env.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
