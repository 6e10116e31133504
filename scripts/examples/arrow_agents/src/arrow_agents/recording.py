"""Episodes as files of Arrow tensors, which other programs can map into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from arrow_agents.bridges.vector import NumpyToPyarrow

if TYPE_CHECKING:
    from pathlib import Path

    from gymnasium.vector import VectorEnv

    from arrow_agents.bridges.backends.pyarrow import PyarrowArray

__all__ = ["read", "record"]


def record(envs: VectorEnv[Any, Any, Any], path: Path, *, steps: int, seed: int = 0) -> int:
    """Write the observations of random agents to ``path``; return the number of tensors.

    A step's observations are copied once, on their way into a tensor, because tensors never change.
    """
    agents = NumpyToPyarrow(envs)
    obs, _ = agents.reset(seed=seed)
    agents.action_space.seed(seed)
    with pa.OSFile(str(path), "wb") as file:
        pa.ipc.write_tensor(obs, file)
        for _ in range(steps):
            obs, *_ = agents.step(agents.sample_action())
            pa.ipc.write_tensor(obs, file)
    return steps + 1


def read(path: Path) -> list[PyarrowArray]:
    """Return the tensors in a file, over its memory."""
    tensors: list[PyarrowArray] = []
    source = pa.memory_map(str(path))
    while source.tell() < source.size():
        tensors.append(pa.ipc.read_tensor(source))
    return tensors
