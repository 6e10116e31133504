"""Two processes of torch.distributed, each with environments of its own, train one network.

    torchrun --standalone --nproc-per-node 2 -m scripts.examples.torch_distributed

The agent is the one of `ppo_torch`. PyTorch averages the gradients of all ranks, over gloo here and
over NCCL between GPUs. Every rank has its own environments and wrappers.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import gymnasium as gym
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector

from gymbridge.vector import NumpyToTorch
from scripts.examples.ppo_torch import GOAL, SEED, ActorCritic, train
from scripts.examples.watch import Watch, options

if TYPE_CHECKING:
    from collections.abc import Sequence

ENVIRONMENTS = 8  # environments per rank


def everybodys(values: torch.Tensor) -> torch.Tensor:
    """Return the ``values`` of all ranks, one per row."""
    rows = [torch.empty_like(values) for _ in range(dist.get_world_size())]
    dist.all_gather(rows, values)
    return torch.stack(rows)


def main(arguments: Sequence[str] | None = None) -> Watch:
    """Train as one of the ranks; the first rank reports."""
    asked = options(__doc__, steps=200_000, quick=40_000, arguments=arguments)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(SEED + rank)  # ranks act differently; all have the network of the first
    envs = NumpyToTorch(gym.make_vec("CartPole-v1", ENVIRONMENTS))
    network = DistributedDataParallel(ActorCritic(observation=4, actions=2))
    title = f"PPO in PyTorch, {ENVIRONMENTS} CartPoles in each of {ranks} processes"
    with Watch(title, asked.steps // ranks, quiet=rank > 0) as watch:
        train(envs, network, watch, seed=SEED + 100 * rank)
    envs.close()

    networks = everybodys(parameters_to_vector(network.parameters()).detach())
    returns = everybodys(torch.tensor(watch.mean_return))
    if rank == 0:
        agree = "the same" if (networks == networks[0]).all() else "different"
        print(f"{ranks} ranks with mean returns {returns.tolist()} have {agree} parameters")
        watch.report(asked.picture, GOAL)
    dist.destroy_process_group()
    return watch


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    sys.stderr.flush()
    # at exit PyTorch 2.13 sometimes aborts a finished rank: a thread is not joined
    os._exit(0)
