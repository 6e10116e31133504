"""Recorded observations equal those of the environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pyarrow as pa
from arrow_agents import read, record
from arrow_agents.bridges import NumpyToPyarrow, PyarrowToNumpy
from arrow_agents.bridges.numpy_to_pyarrow import numpy_to_pyarrow, pyarrow_to_numpy
from arrow_agents.bridges.testing import check_bridge

if TYPE_CHECKING:
    from pathlib import Path


def test_recorded_observations_equal_those_of_the_environments(tmp_path: Path) -> None:
    file = tmp_path / "cartpoles.arrow"
    envs = gym.make_vec("CartPole-v1", num_envs=3, vectorization_mode="sync")
    assert record(envs, file, steps=5, seed=7) == 6

    again = gym.make_vec("CartPole-v1", num_envs=3, vectorization_mode="sync")
    obs, _ = again.reset(seed=7)
    again.action_space.seed(7)
    recorded = read(file)
    assert len(recorded) == 6
    for tensor in recorded:
        assert type(tensor) is pa.Tensor
        np.testing.assert_array_equal(pyarrow_to_numpy(tensor), obs)
        obs, *_ = again.step(again.action_space.sample())


def test_observations_equal_those_of_the_bare_environment() -> None:
    # actions are integers, which Arrow's tensors support
    assert check_bridge(NumpyToPyarrow(gym.make("CartPole-v1")), steps=50) > 200


def test_a_round_trip_keeps_the_values() -> None:
    env = PyarrowToNumpy(NumpyToPyarrow(gym.make("CartPole-v1")))
    obs, _ = env.reset(seed=1)
    assert type(obs) is np.ndarray
    expected, _ = gym.make("CartPole-v1").reset(seed=1)
    np.testing.assert_array_equal(obs, expected)


def test_tensors_own_their_memory() -> None:
    array = np.arange(3.0)
    tensor = numpy_to_pyarrow(array)
    array[:] = 0
    assert pyarrow_to_numpy(tensor).tolist() == [0, 1, 2]
