"""Two small agents, one in PyTorch and one in JAX, learn to balance the same NumPy CartPoles.

Run it with `python scripts/demo.py`; it takes well under a minute.

Both agents are actor-critics: a network chooses actions and estimates values, and learns from
short stretches of play. Both play in one loop, `train`, which uses neither library: inside
`NumpyToTorch` and `NumpyToJax` an environment takes and returns the arrays of its agent.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
import torch
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from torch import Tensor, nn
from typing_extensions import override

from gymbridge.vector import NumpyToJax, NumpyToTorch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ENVIRONMENTS = 16
UPDATES = 96
STRETCH = 128  # steps between two updates
SEED = 2

LAYERS = (4, 64, 64, 3)  # observation → scores of two actions, and a value
LEARNING_RATE = 5e-3
EPOCHS = 10
CLIP = 0.2  # how much likelier one update may make an action
DISCOUNT = 0.98
TRACE = 0.95  # the decay of advantages (lambda)
VALUE_WEIGHT = 0.01  # squared returns are large

SAMPLES = 24  # points of the learning curve

ArrayT = TypeVar("ArrayT", Tensor, jax.Array)
ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
FlagsT = TypeVar("FlagsT")
NumpyVectorEnv: TypeAlias = VectorEnv[Any, Any, Any]


class Play(NamedTuple, Generic[ArrayT]):
    """Some steps of play: one entry per step, each an array over the environments."""

    observations: list[ArrayT]  # and one more, after the last action
    actions: list[ArrayT]
    rewards: list[ArrayT]
    terminated: list[ArrayT]
    over: list[ArrayT]  # terminated or truncated; and one more: before the first action


class Agent(Protocol[ArrayT]):
    """Acts and learns with arrays of its own library."""

    @abstractmethod
    def act(self, observations: ArrayT, /) -> ArrayT:
        """Choose an action for every environment."""

    @abstractmethod
    def learn(self, play: Play[ArrayT], rate: float, /) -> None:
        """Learn from a stretch of play."""


class TorchAgent:
    """The agent in PyTorch."""

    def __init__(self) -> None:
        torch.manual_seed(SEED)
        hidden = [nn.Sequential(nn.Linear(a, b), nn.Tanh()) for a, b in pairwise(LAYERS[:-1])]
        self.network = nn.Sequential(*hidden, nn.Linear(*LAYERS[-2:]))
        self.optimizer = torch.optim.Adam(self.network.parameters())

    def judge(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probability of each action, and the value."""
        outputs: Tensor = self.network(observations)
        return outputs[..., :-1].log_softmax(-1), outputs[..., -1]

    @torch.inference_mode()
    def act(self, observations: Tensor) -> Tensor:
        """Sample an action for every environment."""
        log_probabilities, _ = self.judge(observations)
        return torch.multinomial(log_probabilities.exp(), 1).squeeze(-1)

    def learn(self, play: Play[Tensor], rate: float) -> None:
        """Improve the policy and the values."""
        observations, over = torch.stack(play.observations), torch.stack(play.over)
        actions = torch.stack(play.actions)[..., None]
        counts = ~over[:-1]  # the step after the end of an episode only resets

        with torch.no_grad():
            log_probabilities, values = self.judge(observations)
            before = log_probabilities[:-1].gather(-1, actions)[..., 0]
            future = DISCOUNT * values[1:] * ~torch.stack(play.terminated)
            surprises = torch.stack(play.rewards) + future - values[:-1]
            advantages = torch.zeros_like(surprises)
            advantage = torch.zeros(ENVIRONMENTS)
            for step in reversed(range(STRETCH)):
                advantage = surprises[step] + DISCOUNT * TRACE * advantage * ~over[step + 1]
                advantages[step] = advantage
            returns = advantages + values[:-1]
            advantages = (advantages - advantages.mean()) / advantages.std()

        self.optimizer.param_groups[0]["lr"] = rate
        for _ in range(EPOCHS):
            log_probabilities, values = self.judge(observations[:-1])
            ratio = (log_probabilities.gather(-1, actions)[..., 0] - before).exp()
            gain = torch.minimum(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)
            losses = VALUE_WEIGHT * (values - returns) ** 2 - gain
            self.optimizer.zero_grad()
            torch.autograd.backward((losses * counts).mean())
            self.optimizer.step()


Parameters: TypeAlias = list[tuple[jax.Array, jax.Array]]


class Learner(NamedTuple):
    """The state of the JAX agent."""

    parameters: Parameters
    mean: Parameters  # Adam's running mean of gradients
    square: Parameters  # Adam's running mean of squares
    updates: jax.Array


class JaxAgent:
    """The same agent in JAX: pure functions, and their latest state."""

    def __init__(self) -> None:
        self.key, *keys = jax.random.split(jax.random.key(SEED), len(LAYERS))
        parameters = [
            (jax.random.uniform(k, (a, b), minval=-1, maxval=1) / a**0.5, jnp.zeros(b))
            for k, (a, b) in zip(keys, pairwise(LAYERS), strict=True)
        ]
        zeros = jax.tree.map(jnp.zeros_like, parameters)
        self.learner = Learner(parameters, zeros, zeros, jnp.zeros(()))

    def act(self, observations: jax.Array) -> jax.Array:
        """Sample an action for every environment."""
        actions: jax.Array
        actions, self.key = draw(self.learner.parameters, observations, self.key)
        actions.block_until_ready()  # otherwise the time of the wrapper would include the wait
        return actions

    def learn(self, play: Play[jax.Array], rate: float) -> None:
        """Improve the policy and the values."""
        self.learner = improve(self.learner, play, rate)


def judge(parameters: Parameters, observations: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the log-probability of each action, and the value."""
    *hidden, (weights, biases) = parameters
    outputs = observations
    for w, b in hidden:
        outputs = jnp.tanh(outputs @ w + b)
    outputs = outputs @ weights + biases
    return jax.nn.log_softmax(outputs[..., :-1]), outputs[..., -1]


@jax.jit
def draw(
    parameters: Parameters, observations: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Sample an action for every environment, and return the next key."""
    now, later = jax.random.split(key)
    log_probabilities, _ = judge(parameters, observations)
    return jax.random.categorical(now, log_probabilities), later


@jax.jit
def improve(learner: Learner, play: Play[jax.Array], rate: float) -> Learner:
    """Improve the policy and the values."""
    observations, over = jnp.stack(play.observations), jnp.stack(play.over)
    actions = jnp.stack(play.actions)[..., None]
    counts = ~over[:-1]  # the step after the end of an episode only resets

    log_probabilities, values = judge(learner.parameters, observations)
    before = jnp.take_along_axis(log_probabilities[:-1], actions, -1)[..., 0]
    future = DISCOUNT * values[1:] * ~jnp.stack(play.terminated)
    surprises = jnp.stack(play.rewards) + future - values[:-1]

    def look_ahead(
        advantage: jax.Array, step: tuple[jax.Array, jax.Array]
    ) -> tuple[jax.Array, jax.Array]:
        surprise, decay = step
        advantage = surprise + decay * advantage
        return advantage, advantage

    decays = DISCOUNT * TRACE * ~over[1:]
    start = jnp.zeros(ENVIRONMENTS)
    _, advantages = jax.lax.scan(look_ahead, start, (surprises, decays), reverse=True)
    returns = advantages + values[:-1]
    advantages = (advantages - advantages.mean()) / advantages.std()

    def loss(parameters: Parameters) -> jax.Array:
        log_probabilities, values = judge(parameters, observations[:-1])
        ratio = jnp.exp(jnp.take_along_axis(log_probabilities, actions, -1)[..., 0] - before)
        gain = jnp.minimum(ratio * advantages, ratio.clip(1 - CLIP, 1 + CLIP) * advantages)
        losses = VALUE_WEIGHT * (values - returns) ** 2 - gain
        return (losses * counts).mean()

    def epoch(_: int, learner: Learner) -> Learner:
        return adam(learner, jax.grad(loss)(learner.parameters), rate)

    improved: Learner = jax.lax.fori_loop(0, EPOCHS, epoch, learner)
    return improved


def adam(learner: Learner, gradients: Parameters, rate: float) -> Learner:
    """Take one step of gradient descent."""
    updates = learner.updates + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, learner.mean, gradients)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, learner.square, gradients)
    size = rate * jnp.sqrt(1 - 0.999**updates) / (1 - 0.9**updates)
    parameters = jax.tree.map(
        lambda p, m, s: p - size * m / (jnp.sqrt(s) + 1e-8), learner.parameters, mean, square
    )
    return Learner(parameters, mean, square, updates)


class Stopwatch(VectorWrapper[ObsT, ActT, ObsT, ActT, FlagsT]):
    """Times the steps of the environment it wraps."""

    def __init__(self, env: VectorEnv[ObsT, ActT, FlagsT]) -> None:
        super().__init__(env)
        self.seconds = 0.0

    @override
    def step(self, actions: ActT) -> tuple[ObsT, FlagsT, FlagsT, FlagsT, dict[str, Any]]:
        start = time.perf_counter()
        result = self.env.step(actions)
        self.seconds += time.perf_counter() - start
        return result


@dataclass
class Training:
    """The results of a training."""

    library: str
    mean_returns: list[float]
    seconds: float
    steps: int
    arrays: int  # converted arrays, in both directions
    bridge_seconds: float


def train(
    library: str,
    agent: Agent[ArrayT],
    bridge: Callable[[NumpyVectorEnv], VectorEnv[ArrayT, ArrayT, ArrayT]],
    progress: Progress,
) -> Training:
    """Let ``agent`` learn from the CartPoles inside ``bridge``."""
    cartpoles = RecordEpisodeStatistics(
        gym.make_vec("CartPole-v1", ENVIRONMENTS, vectorization_mode="vector_entry_point")
    )
    inner = Stopwatch(cartpoles)
    env = Stopwatch(bridge(inner))

    task = progress.add_task(library, total=UPDATES, mean_return=0.0)
    mean_returns: list[float] = []
    arrays = 0
    start = time.perf_counter()
    observations, _ = env.reset(seed=SEED)
    observations, _, terminated, truncated, _ = env.step(agent.act(observations))
    for update in range(UPDATES):
        play = Play[ArrayT]([observations], [], [], [], [terminated | truncated])
        for _ in range(STRETCH):
            actions = agent.act(observations)
            observations, rewards, terminated, truncated, infos = env.step(actions)
            play.observations.append(observations)
            play.actions.append(actions)
            play.rewards.append(rewards)
            play.terminated.append(terminated)
            play.over.append(terminated | truncated)
            crossed = actions, observations, rewards, terminated, truncated, infos
            arrays += len(jax.tree.leaves(crossed))
        agent.learn(play, LEARNING_RATE * (1 - update / UPDATES))

        mean_return = float(np.mean(cartpoles.return_queue))
        progress.update(task, advance=1, mean_return=mean_return)
        if update % (UPDATES // SAMPLES) == 0:
            mean_returns.append(mean_return)
    seconds = time.perf_counter() - start
    env.close()
    bridge_seconds = env.seconds - inner.seconds
    return Training(library, mean_returns, seconds, UPDATES * STRETCH, arrays, bridge_seconds)


def sparkline(values: Sequence[float], heights: str) -> str:
    """Draw ``values`` as characters of ``heights``, from low to high."""
    scale = (len(heights) - 1) / max(values)
    return "".join(heights[round(value * scale)] for value in values)


def report(trainings: Sequence[Training], console: Console) -> None:
    """Print the returns, and the number and cost of conversions."""
    heights = "_.-=+*#" if console.options.ascii_only else "▁▂▃▄▅▆▇█"
    table = Table("agent", "mean return of the latest 100 episodes", "steps", "seconds")
    for it in trainings:
        first, last = it.mean_returns[0], it.mean_returns[-1]
        curve = f"{first:.0f} {sparkline(it.mean_returns, heights)} {last:.0f}"
        steps = f"{ENVIRONMENTS} x {it.steps:,}"
        table.add_row(it.library, curve, steps, f"{it.seconds:.1f}")
    console.print(table)
    costs = (
        f"NumPy <-> {it.library}: {it.arrays:,} arrays in {it.bridge_seconds:.2f} s, "
        f"{it.bridge_seconds / it.steps * 1e6:.0f} us a step"
        for it in trainings
    )
    console.print("Converted", "; ".join(costs), soft_wrap=True, highlight=False)


def main() -> None:
    """Train both agents and report."""
    torch.set_num_threads(1)  # the network is too small for several threads
    console = Console()
    columns = (
        TextColumn("{task.description:8}"),
        BarColumn(),
        TextColumn("mean return {task.fields[mean_return]:3.0f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        trainings = [
            train("PyTorch", TorchAgent(), NumpyToTorch, progress),
            train("JAX", JaxAgent(), NumpyToJax, progress),
        ]
    report(trainings, console)


if __name__ == "__main__":
    main()
