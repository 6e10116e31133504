"""Wrappers inside the workers of `AsyncVectorEnv` and around it."""

from __future__ import annotations

import pytest

from tests.support import require, run_python

_SCRIPT = """\
import os
import sys

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

def refuse(failure, say=sys.stderr.write, leave=os._exit):
    say(str(failure.exc_value))
    leave(1)

sys.unraisablehook = refuse  # JAX warns of a fork from where no warning can be raised

def wrapped():
    import gymbridge
    return gymbridge.{wrapper}(gym.make("CartPole-v1"))

def bare():
    return gym.make("CartPole-v1")

def same(one, other):
    if isinstance(other, dict):
        assert one.keys() == other.keys(), (one, other)
        return all(same(one[key], other[key]) for key in other)
    assert one.dtype == other.dtype, (one, other)
    np.testing.assert_array_equal(one, other)
    return True

if __name__ == "__main__":
    for shared_memory in (True, False):
        envs = AsyncVectorEnv([wrapped] * 2, shared_memory=shared_memory, context="{context}")
        yardstick = SyncVectorEnv([bare] * 2)
        for got, wanted in zip(envs.reset(seed=1), yardstick.reset(seed=1)):
            same(got, wanted)
        ended = 0
        for step in range(30):
            actions = np.array([1, step % 2])
            steps = list(zip(envs.step(actions), yardstick.step(actions)))
            for got, wanted in steps:
                same(got, wanted)
            ended += int(steps[2][1].sum())
        assert ended, "no episode ended"
        envs.close()
    print("done")
"""


@pytest.mark.parametrize(
    ("library", "context"),
    [
        ("torch", "fork"),
        pytest.param("torch", "spawn", marks=pytest.mark.slow),
        pytest.param("jax", "fork", marks=pytest.mark.slow),
        pytest.param("jax", "forkserver", marks=pytest.mark.slow),
    ],
)
def test_wrapped_environments_work_in_worker_processes(library: str, context: str) -> None:
    """Forked workers too, although Gymnasium makes one wrapper in the main process before."""
    require(library)
    code = _SCRIPT.format(wrapper=f"NumpyTo{library.title()}", context=context, library=library)
    assert run_python(code) == "done\n"


_FAILING = """\
import warnings

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv
from gymnasium import spaces

from gymbridge import ConversionError, NumpyToTorch, TorchToNumpy

class Told(gym.Env):
    observation_space, action_space = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}
    def step(self, action):
        return {"who": [10**30]}, 0.0, False, False, {}

def make():
    return TorchToNumpy(NumpyToTorch(Told()))

if __name__ == "__main__":
    envs = AsyncVectorEnv([make] * 2, context="spawn")
    envs.reset()
    warnings.simplefilter("ignore")  # Gymnasium prints the error as well
    try:
        envs.step(np.zeros(2, int))
    except ConversionError as error:
        print(error)
    envs.close(terminate=True)
"""


@pytest.mark.slow
def test_an_error_in_a_worker_process_reaches_the_main_process() -> None:
    require("torch")
    assert run_python(_FAILING) == (
        f"obs['who'][0]: the int {10**30} does not fit int64 (int); "
        "pass it as a str, or leave it out\n"
    )


_AROUND = """\
import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import gymbridge.vector

if __name__ == "__main__":
    for copy in (True, False):
        for shared_memory in (True, False):
            makers = [lambda: gym.make("CartPole-v1")] * 2
            envs = AsyncVectorEnv(makers, shared_memory=shared_memory, copy=copy, context="spawn")
            agent = gymbridge.vector.{wrapper}(envs)
            yardstick = SyncVectorEnv(makers)
            seen, wanted = [agent.reset(seed=1)[0]], [yardstick.reset(seed=1)[0]]
            for _ in range(25):
                action = agent.sample_action()
                got, bare = agent.step(action), yardstick.step(np.asarray(action))
                seen.append(got[0])
                wanted.append(bare[0])
                seen += got[1:4]
                wanted += bare[1:4]
            for one, other in zip(seen, wanted):
                np.testing.assert_array_equal(np.asarray(one), other)
            assert agent.get_attr("x_threshold") == (2.4, 2.4)
            agent.close()
    print("done")
"""


@pytest.mark.parametrize("library", ["torch", pytest.param("jax", marks=pytest.mark.slow)])
def test_an_async_vector_environment_can_be_wrapped(library: str) -> None:
    """Workers write into shared memory, and stored observations do not change."""
    require(library)
    assert run_python(_AROUND.format(wrapper=f"NumpyTo{library.title()}")) == "done\n"
