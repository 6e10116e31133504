"""Environments of several JAX processes, put together into one array over all of their devices.

    python -m scripts.examples.jax_processes 0 2 & python -m scripts.examples.jax_processes 1 2

A process can place arrays only on its own devices, so each process wraps its environments over
these. `everywhere` makes one global array of the parts, and `here` returns the part of a process;
neither moves data. The third argument is the address of the first process. On a cluster, SLURM or
Kubernetes provide all three arguments.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from gymbridge.vector import NumpyToJax

if TYPE_CHECKING:
    import numpy.typing as npt

ADDRESS = "127.0.0.1:29471"
DEVICES = 4  # simulated devices per process
ENVIRONMENTS = 8  # environments per process


def spread_over(devices: npt.NDArray[Any]) -> NamedSharding:
    """Return the sharding of an axis of environments over ``devices``."""
    mesh = Mesh(devices, ("devices",), axis_types=(AxisType.Auto,))
    return NamedSharding(mesh, PartitionSpec("devices"))


def everywhere(local: jax.Array) -> jax.Array:
    """Return the global array; ``local`` is the part of this process."""
    shape = (local.shape[0] * jax.process_count(), *local.shape[1:])
    parts = [shard.data for shard in local.addressable_shards]
    return jax.make_array_from_single_device_arrays(
        shape, spread_over(np.array(jax.devices())), parts
    )


def here(everybodys: jax.Array) -> jax.Array:
    """Return the part of this process of a global array."""
    shape = (everybodys.shape[0] // jax.process_count(), *everybodys.shape[1:])
    parts = [shard.data for shard in everybodys.addressable_shards]
    return jax.make_array_from_single_device_arrays(
        shape, spread_over(np.array(jax.local_devices())), parts
    )


@jax.jit
def policy(observations: jax.Array) -> jax.Array:
    """Push the cart towards the side that the pole leans to."""
    return (observations[:, 2] > 0).astype(jnp.int32)


def main(process: int, processes: int, address: str = ADDRESS) -> None:
    """Play some steps as one of the processes."""
    jax.config.update("jax_num_cpu_devices", DEVICES)  # not needed with GPUs
    jax.distributed.initialize(address, processes, process)
    cartpoles = gym.make_vec("CartPole-v1", ENVIRONMENTS)
    envs = NumpyToJax(cartpoles, spread_over(np.array(jax.local_devices())))
    observations, _ = envs.reset(seed=process)
    total = jnp.zeros(())
    for _ in range(10):
        actions = policy(everywhere(observations))
        observations, rewards, _, _, _ = envs.step(here(actions))
        total = total + everywhere(rewards).sum()
    environments = ENVIRONMENTS * processes
    print(f"process {process}: {environments} environments earned {total:.0f}")
    envs.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
