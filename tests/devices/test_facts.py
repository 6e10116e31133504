"""Values on devices without storage or float64."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymbridge_runtime.testing.parallel_worlds import ParallelWorld
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

import gymbridge
import gymbridge.parallel
import gymbridge.vector
from gymbridge.numpy_to_torch import numpy_to_torch
from gymbridge.testing import check_bridge
from tests.devices.harness import on
from tests.devices.worlds import ARRAY, DICT, MOVES, World, WorldVector, actual, mapped
from tests.environments.bridges import same
from tests.environments.worlds import Countdown
from tests.libraries.torch import torch

if TYPE_CHECKING:
    from tests.devices.device import Device
    from tests.environments.bridges import Value

FORMS: dict[str, tuple[Any, Any]] = {
    "single": (gymbridge, partial(Countdown, 3, structured=True)),
    "vector": (gymbridge.vector, lambda: SyncVectorEnv([partial(Countdown, 3)] * 2)),
    "parallel": (gymbridge.parallel, ParallelWorld),
}
WORLDS: dict[str, tuple[Any, Any]] = {
    "single": (gymbridge, World),
    "vector": (gymbridge.vector, WorldVector),
}


@pytest.mark.parametrize("form", FORMS)
@on("python", "lazy")
def test_agents_on_a_device_without_storage(device: Device, form: str) -> None:
    package, make = FORMS[form]
    assert check_bridge(package.NumpyToTorch(make(), device.name), steps=8) > 50


@pytest.mark.parametrize("form", FORMS)
@on("python", "lazy")
def test_environments_on_a_device_without_storage(device: Device, form: str) -> None:
    package, make = FORMS[form]
    env = package.NumpyToTorch(make(), device.name)
    assert check_bridge(package.TorchToNumpy(env, env_device=device.name), steps=8) > 50


@pytest.mark.parametrize("form", WORLDS)
@on("python", "lazy")
def test_actions_come_from_a_device_without_storage(device: Device, form: str) -> None:
    package, make = WORLDS[form]
    world = make(ARRAY, action_space=MOVES)
    agent = package.NumpyToTorch(world, device.name)
    action = agent.sample_action()
    agent.step(action)
    same(actual(world.received), actual(action))


def narrow(tree: Value) -> Value:
    """Return a tree of arrays with float64 narrowed to float32."""
    return mapped(lambda a: a.astype(np.float32) if a.dtype == np.float64 else a, tree)


@pytest.mark.parametrize("form", WORLDS)
@on("narrow")
def test_float64_narrows_on_devices_without_float64(device: Device, form: str) -> None:
    package, make = WORLDS[form]
    world = make(DICT, {"double": np.full(2, 0.1)})
    agent = package.NumpyToTorch(world, device.name)
    agent.reset()
    step = agent.step(agent.sample_action())
    before = world.overwrite()
    same(actual(step), narrow(before))


@pytest.mark.parametrize("form", FORMS)
@on("narrow")
def test_check_bridge_accepts_devices_without_float64(device: Device, form: str) -> None:
    package, make = FORMS[form]
    env = package.NumpyToTorch(make(), device.name)
    assert check_bridge(env, steps=8) > 50
    assert check_bridge(package.TorchToNumpy(env, env_device=device.name), steps=8) > 50


@on("narrow")
def test_float64_actions_narrow(device: Device) -> None:
    space = spaces.Box(-1, 1, (2,), np.float64)
    world = World(ARRAY, action_space=space, device=device.name)
    agent = gymbridge.TorchToNumpy(world, env_device=device.name)
    agent.reset()
    action = np.array([0.1, 0.2])
    agent.step(action)
    same(actual(world.received), action.astype(np.float32))


@on("narrow")
def test_float64_numbers_narrow(device: Device) -> None:
    converted: Any = numpy_to_torch({"number": 0.1, "double": np.array(0.2)}, device=device.name)
    same(actual(converted), {"number": np.array(0.1, "f4"), "double": np.array(0.2, "f4")})


@on("narrow")
def test_float64_tensors_of_the_host_narrow(device: Device) -> None:
    tree: Any = {"a": torch.full((2,), 0.5, dtype=torch.float64), "b": torch.ones(3)}
    narrow = {"a": tree["a"].float(), "b": tree["b"]}
    same(actual(numpy_to_torch(tree, device=device.name)), actual(narrow))
    same(actual(numpy_to_torch(tree["a"], device=device.name)), actual(narrow["a"]))
