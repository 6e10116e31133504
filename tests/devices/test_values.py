"""Values reach devices and come back, in every form; later steps do not change them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymbridge_runtime.testing.parallel_worlds import ParallelWorld
from gymnasium.vector import SyncVectorEnv
from typing_extensions import override

import gymbridge
import gymbridge.batched
import gymbridge.parallel
import gymbridge.vector
from gymbridge.testing import check_bridge
from tests.devices.harness import on
from tests.devices.worlds import (
    ARRAY,
    DICT,
    INFO,
    MOVES,
    World,
    WorldBatched,
    WorldVector,
    actual,
    leaves,
)
from tests.environments.bridges import same
from tests.environments.worlds import Countdown
from tests.libraries.torch import torch

if TYPE_CHECKING:
    from tests.devices.device import Device

FORMS: dict[str, tuple[Any, Any]] = {
    "single": (gymbridge, partial(Countdown, 3, structured=True)),
    "vector": (gymbridge.vector, lambda: SyncVectorEnv([partial(Countdown, 3)] * 2)),
    "parallel": (gymbridge.parallel, ParallelWorld),
}
WORLDS: dict[str, tuple[Any, Any]] = {
    "single": (gymbridge, World),
    "vector": (gymbridge.vector, WorldVector),
    "batched": (gymbridge.batched, WorldBatched),
}


@pytest.mark.parametrize("form", FORMS)
@on("cpp")
def test_agents_on_a_device_use_environments_of_numpy(device: Device, form: str) -> None:
    package, make = FORMS[form]
    for name in (device.name, device.other):
        assert check_bridge(package.NumpyToTorch(make(), name), steps=8) > 50


@pytest.mark.parametrize("form", FORMS)
@on("cpp")
def test_agents_of_numpy_use_environments_on_a_device(device: Device, form: str) -> None:
    package, make = FORMS[form]
    env = package.NumpyToTorch(make(), device.name)
    assert check_bridge(package.TorchToNumpy(env, env_device=device.name), steps=8) > 50


@pytest.mark.parametrize("form", FORMS)
def test_all_results_are_on_the_device_of_the_agent(device: Device, form: str) -> None:
    package, make = FORMS[form]
    seen = package.NumpyToTorch(make(), device.name).reset(seed=3)
    arrays = [*leaves(seen)]
    assert len(arrays) > 3
    assert {str(array.device) for array in arrays} == {device.name}
    same(actual(seen[0]), actual(make().reset(seed=3)[0]))


@pytest.mark.parametrize("form", WORLDS)
def test_later_steps_do_not_change_results(device: Device, form: str) -> None:
    package, make = WORLDS[form]
    world = make(DICT, INFO)
    agent = package.NumpyToTorch(world, device.name)
    agent.reset()
    for _ in range(3):
        seen = agent.step(torch.zeros(world.action_space.shape))
        before = world.overwrite()
        same(actual(seen), before)


@pytest.mark.parametrize("form", WORLDS)
@on("cpp")
def test_later_steps_do_not_change_results_from_a_device(device: Device, form: str) -> None:
    package, make = WORLDS[form]
    world = make(DICT, INFO, device=device.name)
    agent = package.TorchToNumpy(world, env_device=device.name)
    agent.reset()
    for _ in range(3):
        seen = agent.step(np.zeros(world.action_space.shape, np.float32))
        assert {type(array) for array in leaves(seen)} == {np.ndarray}
        before = world.overwrite()
        same(seen, before)


@pytest.mark.parametrize("form", WORLDS)
@on("cpp")
def test_actions_come_from_a_device(device: Device, form: str) -> None:
    package, make = WORLDS[form]
    world = make(ARRAY, action_space=MOVES)
    agent = package.NumpyToTorch(world, device.name)
    action = agent.sample_action()
    assert {str(array.device) for array in leaves(action)} == {device.name}
    agent.step(action)
    assert world.action_space.contains(world.received)
    same(actual(world.received), actual(action))


@pytest.mark.parametrize("form", WORLDS)
@on("cpp")
def test_actions_go_to_a_device(device: Device, form: str) -> None:
    package, make = WORLDS[form]
    world = make(ARRAY, action_space=MOVES, device=device.name)
    agent = package.TorchToNumpy(world, env_device=device.name)
    action = world.action_space.sample()
    agent.step(action)
    assert {str(array.device) for array in leaves(world.received)} == {device.name}
    same(actual(world.received), actual(action))


@on("cpp")
def test_actions_go_to_the_device_that_a_batched_environment_names(device: Device) -> None:
    for name in (device.name, device.other):
        world = WorldBatched(DICT, INFO, device=name)
        agent = gymbridge.batched.TorchToNumpy(world)
        agent.reset()
        agent.step(agent.sample_action())
        assert str(world.received.device) == name
        assert agent._convert.settings.arguments() == {}, "another machine has other devices"


@on("cpp")
def test_a_batched_environment_may_mix_arrays_and_numbers(device: Device) -> None:
    class Limited(WorldBatched):
        @override
        def step(self, action: Any) -> Any:
            obs, reward, terminated, _, info = super().step(action)
            return obs, reward, terminated.to(torch.int64), True, info

    agent = gymbridge.batched.TorchToNumpy(Limited(DICT, INFO, device=device.name))
    agent.reset()
    *_, terminated, truncated, _ = agent.step(np.zeros((3, 2), np.float32))
    same((terminated, truncated), (np.zeros(3, np.bool_), np.ones(3, np.bool_)))


@on("cpp")
def test_an_assigned_buffer_stays_on_its_device(device: Device) -> None:
    world: Any = WorldBatched(ARRAY, device=device.other)
    world.episode_length_buf = torch.zeros(3, dtype=torch.int64).to(device.other)
    agent = gymbridge.batched.TorchToNumpy(world)
    agent.episode_length_buf = np.arange(3, dtype=np.int32)
    assert str(world.episode_length_buf.device) == device.other
    same(actual(world.episode_length_buf), np.arange(3))
    same(agent.episode_length_buf, np.arange(3))
    assert agent.device is None
