"""A PyTorch agent plays Gymnax's Breakout, which is written in JAX: 64 games in one compiled call.

    python -m scripts.examples.torch_on_gymnax

Many environments in JAX (Brax, MuJoCo MJX, Jumanji, Craftax) are pure functions of a state, a
random key and an action. `Functional` gives them Gymnasium's interface, and `JaxToTorch` converts.
The agent is the one of `ppo_torch`, unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from gymnax.environments.environment import Environment, EnvState
from gymnax.environments.minatar.breakout import MinBreakout
from gymnax.environments.spaces import gymnax_space_to_gym_space
from typing_extensions import override

from gymbridge.vector import JaxToTorch
from scripts.examples.ppo_torch import SEED, ActorCritic, train
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

ENVIRONMENTS = 64
GOAL = 5  # bricks in a game; random actions hit one in two games

Game: TypeAlias = Environment[Any, Any]  # each game has a state and parameters of its own


class Moment(NamedTuple):
    """The state of all games, and the random key."""

    key: jax.Array
    states: EnvState
    over: jax.Array


class Functional(VectorEnv[jax.Array, jax.Array, jax.Array]):
    """Games of Gymnax behind Gymnasium's interface; a step of all of them is one compiled call."""

    def __init__(self, env: Game, num_envs: int) -> None:
        """Play ``num_envs`` games at a time."""
        params = env.default_params
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.num_envs = num_envs
        self.single_observation_space = gymnax_space_to_gym_space(env.observation_space(params))
        self.single_action_space = gymnax_space_to_gym_space(env.action_space(params))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        each_begins = jax.vmap(env.reset_env, (0, None))
        each_goes_on = jax.vmap(env.step_env, (0, 0, 0, None))

        def begin(key: jax.Array) -> tuple[jax.Array, EnvState]:
            keys = jax.random.split(key, num_envs)
            return each_begins(keys, params)

        def go_on(
            moment: Moment, actions: jax.Array
        ) -> tuple[Moment, tuple[jax.Array, jax.Array, jax.Array, jax.Array]]:
            later, *keys = jax.random.split(moment.key, num_envs + 2)
            first = begin(keys[0])
            step_keys = jnp.stack(keys[1:])
            seen, states, rewards, done, _ = each_goes_on(step_keys, moment.states, actions, params)
            truncated = done & (states.time >= params.max_steps_in_episode)

            def chosen(new: jax.Array, old: jax.Array) -> jax.Array:
                over = moment.over.reshape(-1, *[1] * (old.ndim - 1))
                return jnp.where(over, new, old)  # a finished game starts again

            seen, states = jax.tree.map(chosen, first, (seen, states))
            goes_on = ~moment.over
            terminated, truncated = done & ~truncated & goes_on, truncated & goes_on
            results = seen, rewards * goes_on, terminated, truncated
            return Moment(later, states, terminated | truncated), results

        self._begin = jax.jit(begin)
        self._go_on = jax.jit(go_on)
        self._key = jax.random.key(0)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[jax.Array, dict[str, Any]]:
        self._key = self._key if seed is None else jax.random.key(seed)
        now, later = jax.random.split(self._key)
        seen, states = self._begin(now)
        self._moment = Moment(later, states, jnp.zeros(self.num_envs, bool))
        return seen, {}

    @override
    def step(
        self, actions: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, dict[str, Any]]:
        self._moment, (seen, rewards, terminated, truncated) = self._go_on(self._moment, actions)
        return seen, rewards, terminated, truncated, {}


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=400_000, quick=100_000, arguments=arguments)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # the network is too small for several threads
    envs = JaxToTorch(Functional(MinBreakout(), ENVIRONMENTS))
    network = torch.nn.Sequential(torch.nn.Flatten(), ActorCritic(observation=400, actions=3))
    with Watch(f"PPO in PyTorch on {ENVIRONMENTS} games of Breakout in JAX", asked.steps) as watch:
        train(envs, network, watch)
    envs.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
