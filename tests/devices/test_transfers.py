"""The arrays of a step travel together: one transfer each way, whatever their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import gymbridge
import gymbridge.batched
import gymbridge.vector
from tests.devices.device import Transfers
from tests.devices.harness import on
from tests.devices.worlds import (
    ARRAY,
    DICT,
    INFO,
    MOVE,
    MOVES,
    World,
    WorldBatched,
    WorldVector,
    actual,
    leaves,
)
from tests.environments.bridges import same

if TYPE_CHECKING:
    from tests.devices.device import Device

STEPS = 5
ONE_EACH_WAY = Transfers(uploads=1, downloads=1)
SEEN: dict[str, tuple[Any, Any]] = {
    "array": (ARRAY, {}),
    "info": (ARRAY, INFO),
    "dict": (DICT, {}),
    "dict and info": (DICT, INFO),
}
FORMS: dict[str, tuple[Any, Any]] = {
    "single": (gymbridge, World),
    "vector": (gymbridge.vector, WorldVector),
    "batched": (gymbridge.batched, WorldBatched),
}
MOVED = {"one": MOVE, "three": MOVES}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("moved", MOVED)
@on("cpp")
def test_agents_on_a_device(device: Device, form: str, seen: str, moved: str) -> None:
    package, make = FORMS[form]
    world = make(*SEEN[seen], action_space=MOVED[moved])
    agent = package.NumpyToTorch(world, device.name)
    _ = device.take_transfers()
    agent.reset()
    assert device.take_transfers() == Transfers(uploads=1)
    for _ in range(STEPS):
        action = agent.sample_action()
        _ = device.take_transfers()
        step = agent.step(action)
        transfers = device.take_transfers()
        before = world.overwrite()
        assert transfers == ONE_EACH_WAY
        assert {str(array.device) for array in leaves(step)} == {device.name}
        same(actual(step), before)
        same(actual(world.received), actual(action))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("moved", MOVED)
@on("cpp")
def test_environments_on_a_device(device: Device, form: str, seen: str, moved: str) -> None:
    package, make = FORMS[form]
    world = make(*SEEN[seen], action_space=MOVED[moved], device=device.name)
    agent = package.TorchToNumpy(world, env_device=device.name)
    _ = device.take_transfers()
    agent.reset()
    assert device.take_transfers() == Transfers(downloads=1)
    for _ in range(STEPS):
        action = agent.action_space.sample()
        _ = device.take_transfers()
        step = agent.step(action)
        transfers = device.take_transfers()
        before = world.overwrite()
        assert transfers == ONE_EACH_WAY
        same(step, before)
        assert {str(array.device) for array in leaves(world.received)} == {device.name}
        same(actual(world.received), actual(action))
