"""Observations of many environments, laid out over the devices of a mesh.

    python -m scripts.examples.jax_mesh

`device` takes a sharding, too: each of eight devices gets the observations of its own environments,
and the functions of `ppo_jax` are compiled for all devices. The devices are simulated here; on a
machine with eight GPUs, leave out the line that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym
import jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from gymbridge.vector import NumpyToJax
from scripts.examples.ppo_jax import ENVIRONMENTS, GOAL, train
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnasium.vector import VectorEnv

DEVICES = 8


def cartpoles() -> VectorEnv[jax.Array, jax.Array, jax.Array]:
    """Make environments whose observations are spread over all devices."""
    devices = jax.device_count()
    mesh = jax.make_mesh((devices,), ("devices",), axis_types=(AxisType.Auto,))
    spread = NamedSharding(mesh, PartitionSpec("devices"))
    return NumpyToJax(gym.make_vec("CartPole-v1", ENVIRONMENTS), spread)


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train, and report."""
    asked = options(__doc__, steps=100_000, quick=2_000, arguments=arguments)
    jax.config.update("jax_num_cpu_devices", DEVICES)  # not needed with GPUs
    envs = cartpoles()
    observations, _ = envs.reset()
    for shard in observations.addressable_shards:
        first, last = shard.index[0].start, shard.index[0].stop - 1
        print(f"environments {first} to {last} are on {shard.device}")
    with Watch(f"PPO in JAX on {DEVICES} devices", asked.steps) as watch:
        train(envs, watch)
    envs.close()
    watch.report(asked.picture, GOAL)
    return watch


if __name__ == "__main__":
    main()
