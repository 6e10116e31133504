"""The arrays of a step travel together: one transfer each way, whatever their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gymbridge
import gymbridge.batched
import gymbridge.parallel
import gymbridge.vector
from gymbridge.numpy_to_torch import numpy_to_torch, torch_to_numpy
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
    WorldParallel,
    WorldVector,
    actual,
    leaves,
    sampled,
)
from tests.environments.bridges import same
from tests.environments.pools import Pool
from tests.libraries.ml_dtypes import ml_dtypes
from tests.libraries.torch import torch

if TYPE_CHECKING:
    from tests.devices.device import Device
    from tests.devices.worlds import Value

STEPS = 5
ONE_EACH_WAY = Transfers(uploads=1, downloads=1)
SEEN: dict[str, tuple[Any, Any]] = {
    "array": (ARRAY, {}),
    "info": (ARRAY, INFO),
    "dict": (DICT, {}),
    "dict and info": (DICT, INFO),
}
TREES: dict[str, tuple[dict[str, Any], int]] = {
    "a large array among small ones": (
        {"a": ARRAY, "image": np.zeros((200, 200, 3), np.uint8), "b": np.array(0.5), "c": ARRAY},
        2,
    ),
    "more than one pack": ({str(i): np.full(15_000, i, np.float32) for i in range(9)}, 3),
    "arrays without elements": ({"a": np.zeros((0, 3)), "b": np.zeros(0, np.int16)}, 0),
    "one of them with elements": ({"a": np.zeros(0), "b": ARRAY, "c": np.zeros((2, 0))}, 1),
    "numbers of 8 and of 16 bits": (
        {
            "a": np.ones(3, ml_dtypes.float8_e5m2),
            "b": np.ones((), ml_dtypes.bfloat16),
            "c": np.ones((2, 2), np.float16),
        },
        1,
    ),
    "other layouts": (
        {
            "a": np.arange(6.0).reshape(2, 3).T,
            "b": ARRAY[::-1],
            "c": np.broadcast_to(ARRAY, (2, 4)),
        },
        1,
    ),
}
"""Trees of arrays, and the number of their transfers."""
FORMS: dict[str, tuple[Any, Any]] = {
    "single": (gymbridge, World),
    "vector": (gymbridge.vector, WorldVector),
    "parallel": (gymbridge.parallel, WorldParallel),
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
        action = sampled(agent)
        _ = device.take_transfers()
        step = agent.step(action)
        transfers = device.take_transfers()
        before = world.overwrite()
        assert transfers == ONE_EACH_WAY
        same(step, before)
        assert {str(array.device) for array in leaves(world.received)} == {device.name}
        same(actual(world.received), actual(action))


@pytest.mark.parametrize("name", TREES)
@on("cpp")
def test_packs_are_as_few_as_possible(device: Device, name: str) -> None:
    tree, count = TREES[name]
    _ = numpy_to_torch(ARRAY, device=device.name)  # the first use tries the device
    _ = device.take_transfers()
    there = numpy_to_torch(tree, device=device.name)
    assert device.take_transfers() == Transfers(uploads=count)
    back = torch_to_numpy(there)
    assert device.take_transfers() == Transfers(downloads=count)
    assert back.keys() == tree.keys()
    for key, array in tree.items():
        assert back[key].dtype == array.dtype
        assert back[key].flags.aligned
        np.testing.assert_array_equal(back[key], array)


@on("cpp")
def test_tensors_of_several_places_travel_by_place(device: Device) -> None:
    names = ("cpu", device.name, device.other)
    tree = {f"{name} {n}": torch.full((3,), n).to(name) for n in range(3) for name in names}
    _ = torch_to_numpy(tree)  # the first use tries the devices
    _ = device.take_transfers()
    found = torch_to_numpy(tree)
    transfers = device.take_transfers()
    assert transfers == Transfers(downloads=2)
    same(found, actual(tree))


@pytest.mark.parametrize("form", FORMS)
@on("cpp")
def test_host_tensors_of_an_inner_wrapper_travel_together(device: Device, form: str) -> None:
    package, make = FORMS[form]
    world = make(DICT, INFO)
    agent = package.NumpyToTorch(package.NumpyToTorch(world), device.name)
    agent.reset()
    action = agent.sample_action()
    _ = device.take_transfers()
    step = agent.step(action)
    assert device.take_transfers() == ONE_EACH_WAY
    same(actual(step), world.overwrite())


def _with_results(world: Value, **results: Value) -> Value:
    """Let steps of ``world`` return other rewards or flags."""
    names = "obs", "reward", "terminated", "truncated", "info"

    def changed(action: Value) -> Value:
        return tuple({**dict(zip(names, step(action), strict=True)), **results}.values())

    step, world.step = world.step, changed
    return world


def _for_each(form: str, value: Value) -> Value:
    """Return ``value``, or in the parallel form a dictionary with it for each agent."""
    return {"left": value, "right": value} if form == "parallel" else value


@pytest.mark.parametrize("form", ["single", "parallel"])
@on("cpp")
def test_rewards_of_several_objectives_travel_with_the_step(device: Device, form: str) -> None:
    package, make = FORMS[form]
    reward, flags = np.array([1.5, 2.5], np.float32), np.array([True, False])
    results = {"reward": _for_each(form, reward), "truncated": _for_each(form, flags)}
    agent = package.NumpyToTorch(_with_results(make(DICT, INFO), **results), device.name)
    agent.reset()
    action = agent.sample_action()
    _ = device.take_transfers()
    step = agent.step(action)
    assert device.take_transfers() == ONE_EACH_WAY
    assert {str(array.device) for array in leaves(step)} == {device.name}
    same(actual((step[1], step[3])), tuple(results.values()))


@pytest.mark.parametrize("form", ["single", "parallel"])
@on("cpp")
def test_several_rewards_of_a_device_travel_with_the_step(device: Device, form: str) -> None:
    package, make = FORMS[form]
    reward = torch.arange(3.0).to(device.name)
    world = _with_results(make(DICT, INFO, device=device.name), reward=_for_each(form, reward))
    agent = package.TorchToNumpy(world, env_device=device.name)
    agent.reset()
    _ = device.take_transfers()
    found = agent.step(sampled(agent))[1]
    assert device.take_transfers() == ONE_EACH_WAY
    same(found, _for_each(form, np.arange(3, dtype=np.float32)))


@on("cpp")
def test_rewards_of_some_agents_travel_together(device: Device) -> None:
    scores: Value = {"left": ARRAY, "middle": 0.1, "right": ARRAY}
    world = _with_results(WorldParallel(ARRAY), reward=scores)
    agent = gymbridge.parallel.NumpyToTorch(world, device.name)
    agent.reset()
    action = agent.sample_action()
    _ = device.take_transfers()
    rewards = agent.step(action)[1]
    assert device.take_transfers() == Transfers(uploads=2, downloads=1)
    assert [*rewards] == [*scores]
    assert (rewards["middle"], type(rewards["middle"])) == (0.1, float)
    same(actual(rewards["right"]), ARRAY)


@pytest.mark.parametrize("dtype", ["int64", "float32", "uint8"])
@on("cpp")
def test_flags_of_numbers_travel_with_the_step(device: Device, dtype: str) -> None:
    flags = torch.from_numpy(np.array([0, 1, 2], dtype)).to(device.name)
    world = WorldBatched(DICT, INFO, device=device.name)
    agent = gymbridge.batched.TorchToNumpy(_with_results(world, terminated=flags))
    agent.reset()
    _ = device.take_transfers()
    terminated = agent.step(sampled(agent))[2]
    assert device.take_transfers() == ONE_EACH_WAY
    same(terminated, np.array([False, True, True]))


@on("cpp")
def test_numbers_as_rewards_and_flags_are_not_uploaded(device: Device) -> None:
    world = WorldBatched(DICT, INFO, device=device.name)
    numbers = {"reward": 0.1, "terminated": True, "truncated": False}
    agent = gymbridge.batched.TorchToNumpy(_with_results(world, **numbers))
    agent.reset()
    _ = device.take_transfers()
    step = agent.step(sampled(agent))
    assert device.take_transfers() == ONE_EACH_WAY
    same(step[1:4], tuple(np.full(3, number) for number in numbers.values()))


@on("cpp")
def test_actions_follow_an_exchanged_environment_to_its_device(device: Device) -> None:
    agent: Value = gymbridge.batched.TorchToNumpy(WorldBatched(DICT, device=device.name))
    agent.reset()
    for place in (device.other, "cpu"):
        agent.env = world = WorldBatched(DICT, device=place)
        agent.reset()
        agent.step(sampled(agent))
        assert str(world.received.device) == place


@on("cpp")
def test_environment_ids_travel_with_actions(device: Device) -> None:
    agent = gymbridge.vector.NumpyToTorch(Pool(MOVE, 4), device.name)
    agent.reset()
    actions, ids = agent.sample_action(), torch.arange(4).to(device.name)
    _ = device.take_transfers()
    agent.send(actions, ids)
    transfers = device.take_transfers()
    assert transfers == Transfers(downloads=1)


@on("cpp")
def test_the_size_of_a_pack_includes_padding(device: Device) -> None:
    tree = {str(number): np.array(number) for number in range(4_096 + 1)}
    _ = numpy_to_torch(ARRAY, device=device.name)
    _ = device.take_transfers()
    there = numpy_to_torch(tree, device=device.name)
    assert device.take_transfers() == Transfers(uploads=2)
    assert max(array.untyped_storage().nbytes() for array in there.values()) == 256 * 1024
