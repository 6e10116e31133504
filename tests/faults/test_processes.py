"""Faults of whole processes: dead workers and writes to read-only memory."""

from __future__ import annotations

import re

import pytest

from tests.support import require, run_python

_WORKERS = """\
import os
import signal
import warnings

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv

import gymbridge.vector

class Mortal(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.ones(3, np.float32), {}

    def step(self, action):
        if action == 3:
            DIE
        return np.ones(3, np.float32), 1.0, False, False, {"pid": os.getpid()}

def fail(envs, actions):
    try:
        envs.step(actions)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("a worker has died and nobody said so")

def end(envs, processes):
    envs.close(terminate=True)
    for process in processes:
        process.join(60)
    assert [process.exitcode is None for process in processes] == [False, False]

if __name__ == "__main__":
    from tests.support import LIBRARIES
    warnings.simplefilter("ignore", UserWarning)  # Gymnasium reports what a worker raised
    library = LIBRARIES["LIBRARY"]

    def made(shared_memory):
        envs = AsyncVectorEnv([Mortal] * 2, shared_memory=shared_memory, context="spawn")
        envs.reset(seed=1)
        return envs

    for shared_memory in (True, False):
        bare = made(shared_memory)
        wanted = fail(bare, np.array([0, 3]))
        end(bare, bare.processes)
        envs = made(shared_memory)
        agent = gymbridge.vector.WRAPPER(envs)
        obs, rewards, *_ = agent.step(library.make([0, 1]))
        assert library.values(obs).tolist() == [[1, 1, 1]] * 2
        assert library.values(rewards).tolist() == [1, 1]
        got = fail(agent, library.make([0, 3]))
        assert got == wanted, (got, wanted)
        end(agent, envs.processes)
        print(got)
"""

_DEATHS = {
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", "ConnectionResetError|EOFError"),
    "leaves": ("os._exit(0)", "ConnectionResetError|EOFError"),
    "raises": ("raise ZeroDivisionError('of its own')", "ZeroDivisionError: of its own"),
}


@pytest.mark.parametrize(
    ("library", "death"),
    [
        ("torch", "raises"),
        pytest.param("torch", "leaves", marks=pytest.mark.slow),
        pytest.param("torch", "is killed", marks=pytest.mark.slow),
        pytest.param("jax", "is killed", marks=pytest.mark.slow),
    ],
)
def test_a_dead_worker_gives_gymnasiums_error_and_leaves_no_process(
    library: str, death: str
) -> None:
    require(library)
    dies, expected = _DEATHS[death]
    code = _WORKERS.replace("DIE", dies)
    code = code.replace("LIBRARY", library).replace("WRAPPER", f"NumpyTo{library.title()}")
    said = run_python(code).splitlines()
    assert len(said) == 2
    assert all(re.match(expected, line) for line in said), said


_MAPPED = """\
import tempfile
from pathlib import Path

import numpy as np

from tests.faults.worlds import Scripted
from tests.environments.bridges import bridge
from tests.support import Pair

pair = Pair("numpy", "LIBRARY")
values = np.arange(3, dtype=np.float32)

def write_into(array):
    if pair.target.name == "jax":
        assert array.at[:].set(9).tolist() == [9, 9, 9]
    else:
        array[:] = 9
        assert array.tolist() == [9, 9, 9]

def frozen(array):
    array.flags.writeable = False
    return array

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "memory"
    for mode in ("r", "c", "r+"):
        for copy in (None, True):
            values.tofile(path)
            mapped = np.memmap(path, np.float32, mode=mode)
            read_only = frozen(values.copy())
            cut = frozen(np.arange(6, dtype=np.float32))[::2]
            given = [mapped, read_only, frozen(values[None].copy())[0]]
            kept = [array.tolist() for array in given]
            told = lambda: (given[0], given[1:2], False, False, {"a": given[2], "b": tuple(given)})
            env = bridge(pair, Scripted(*[told] * 40), copy=copy)
            env.reset()
            for _ in range(40):
                obs, rewards, _, _, info = env.step(env.sample_action())
                for array in (obs, rewards[0], info["a"], *info["b"]):
                    write_into(array)
                    assert [array.tolist() for array in given] == kept
            assert np.fromfile(path, np.float32).tolist() == [0, 1, 2], (mode, copy)
            del mapped, given, obs, rewards, info, told, env
print("done")
"""


@pytest.mark.parametrize("library", ["torch", "jax", "mlx"])
def test_read_only_memory_is_not_written_and_no_process_crashes(library: str) -> None:
    """Read-only arrays and memory maps: a write is a segmentation fault."""
    require(library)
    assert run_python(_MAPPED.replace("LIBRARY", library)) == "done\n"
