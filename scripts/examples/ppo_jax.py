"""PPO in JAX, with a network of Flax, on sixteen of Gymnasium's CartPoles, which are NumPy.

    python -m scripts.examples.ppo_jax

All values in `train` are JAX arrays, so everything can be compiled; `NumpyToJax` wraps the
environments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from gymbridge.vector import NumpyToJax
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


class ActorCritic(nnx.Module):
    """Computes the policy and the value."""

    def __init__(self, observation: int, actions: int, rngs: nnx.Rngs) -> None:
        """Make a network whose first policy is almost uniform."""
        self.actor = perceptron(observation, actions, 0.01, rngs)
        self.critic = perceptron(observation, 1, 1, rngs)

    def __call__(self, observations: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the log-probabilities of all actions, and the value."""
        values: jax.Array = self.critic(observations)
        return jax.nn.log_softmax(self.actor(observations)), values.squeeze(-1)


def perceptron(inputs: int, outputs: int, gain: float, rngs: nnx.Rngs) -> nnx.Sequential:
    """Return a network of two hidden layers; ``gain`` scales its first outputs."""
    sizes = (inputs, 64, 64, outputs)
    layers = [
        nnx.Linear(a, b, kernel_init=nnx.initializers.orthogonal(size), rngs=rngs)
        for a, b, size in zip(sizes, sizes[1:], (2**0.5, 2**0.5, gain), strict=False)
    ]
    return nnx.Sequential(layers[0], nnx.tanh, layers[1], nnx.tanh, layers[2])


class Play(NamedTuple):
    """A stretch of play; every array has the axes steps and environments."""

    observations: jax.Array
    actions: jax.Array
    log_probabilities: jax.Array
    values: jax.Array
    rewards: jax.Array
    terminated: jax.Array
    over: jax.Array  # terminated or truncated
    counts: jax.Array  # the step after the end of an episode only resets and ignores its action


class Batch(NamedTuple):
    """The training data, without the axes of steps and environments."""

    observations: jax.Array
    actions: jax.Array
    log_probabilities: jax.Array
    returns: jax.Array
    advantages: jax.Array
    counts: jax.Array


@jax.jit
def look_back(steps: Sequence[Play], last_values: jax.Array) -> Batch:
    """Return the advantage of each action in a stretch, and the returns."""
    play = jax.tree.map(lambda *each: jnp.stack(each), *steps)
    next_values = jnp.concatenate([play.values[1:], last_values[None]])
    surprises = play.rewards + DISCOUNT * next_values * ~play.terminated - play.values
    decays = DISCOUNT * TRACE * ~play.over

    def earlier(
        advantage: jax.Array, step: tuple[jax.Array, jax.Array]
    ) -> tuple[jax.Array, jax.Array]:
        surprise, decay = step
        advantage = surprise + decay * advantage
        return advantage, advantage

    start = jnp.zeros_like(last_values)
    _, advantages = jax.lax.scan(earlier, start, (surprises, decays), reverse=True)
    batch = Batch(
        play.observations,
        play.actions,
        play.log_probabilities,
        advantages + play.values,
        advantages,
        play.counts,
    )
    flat: Batch = jax.tree.map(lambda each: each.reshape(-1, *each.shape[2:]), batch)
    return flat


def chosen(policy: jax.Array, actions: jax.Array) -> jax.Array:
    """Return the log-probability of each of ``actions``."""
    return jnp.take_along_axis(policy, actions[..., None], -1).squeeze(-1)


@nnx.jit
def act(
    network: ActorCritic, observations: jax.Array, key: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Sample an action for every environment; return its log-probability and the value."""
    policy, values = network(observations)
    actions = jax.random.categorical(key, policy)
    return actions, chosen(policy, actions), values


@nnx.jit
def improve(
    network: ActorCritic, optimizer: nnx.Optimizer[ActorCritic], batch: Batch, key: jax.Array
) -> None:
    """Improve the policy with clipped updates."""
    shuffled = jax.random.permutation(key, len(batch.actions))
    for part in jnp.split(shuffled, BATCHES):
        look: Batch = jax.tree.map(lambda each, part=part: each[part], batch)
        gradients = nnx.grad(loss)(network, look)
        optimizer.update(network, gradients)


def loss(network: ActorCritic, batch: Batch) -> jax.Array:
    """Return the loss of the policy, the value and the entropy."""
    policy, values = network(batch.observations)
    ratio = jnp.exp(chosen(policy, batch.actions) - batch.log_probabilities)
    mean = batch.advantages.mean(where=batch.counts)
    gain = (batch.advantages - mean) / (batch.advantages.std(where=batch.counts) + 1e-8)
    careful = jnp.minimum(ratio * gain, ratio.clip(1 - CLIP, 1 + CLIP) * gain)
    error = (values - batch.returns) ** 2
    entropy = -(jnp.exp(policy) * policy).sum(-1)
    return (error / 4 - careful - CURIOSITY * entropy).mean(where=batch.counts)


def train(envs: VectorEnv[jax.Array, jax.Array, jax.Array], watch: Watch) -> ActorCritic:
    """Return a network trained in ``envs``."""
    network = ActorCritic(observation=4, actions=2, rngs=nnx.Rngs(SEED))
    updates = watch.total // (STRETCH * envs.num_envs) * EPOCHS * BATCHES
    schedule = optax.linear_schedule(LEARNING_RATE, 0, updates)
    descent = optax.chain(optax.clip_by_global_norm(STEEPEST), optax.adam(schedule, eps=1e-5))
    optimizer = nnx.Optimizer(network, descent, wrt=nnx.Param)

    keys = jax.random.key(SEED)
    observations, _ = envs.reset(seed=SEED)
    counts = jnp.ones(envs.num_envs, bool)
    while watch.goes_on:
        steps: list[Play] = []
        for _ in range(STRETCH):
            keys, key = jax.random.split(keys)
            actions, likely, values = act(network, observations, key)
            before = observations
            observations, rewards, terminated, truncated, _ = envs.step(actions)
            over = terminated | truncated
            steps.append(Play(before, actions, likely, values, rewards, terminated, over, counts))
            counts = ~over
            watch.step(rewards, over)
        _, last_values = network(observations)
        batch = look_back(steps, last_values)
        for _ in range(EPOCHS):
            keys, key = jax.random.split(keys)
            improve(network, optimizer, batch, key)
    return network


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=200_000, quick=40_000, arguments=arguments)
    envs = NumpyToJax(gym.make_vec("CartPole-v1", ENVIRONMENTS))
    with Watch("PPO in JAX on 16 CartPoles", asked.steps) as watch:
        train(envs, watch)
    envs.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
