"""The arrays of a step travel to CuPy and back together; the stand-in counts the transfers."""

from __future__ import annotations

import numpy as np
import pytest

from gymbridge.cupy_to_numpy import cupy_to_numpy, numpy_to_cupy
from tests.devices.test_transfers import FORMS, MOVED, SEEN, STEPS
from tests.devices.worlds import actual, sampled
from tests.environments.bridges import same
from tests.libraries.simulated_cupy import Transfers, cupy, simulation


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("moved", MOVED)
def test_agents_of_cupy(form: str, seen: str, moved: str) -> None:
    package, make = FORMS[form]
    world = make(*SEEN[seen], action_space=MOVED[moved])
    agent = package.NumpyToCupy(world, 1)
    _ = simulation.take_transfers()
    agent.reset()
    assert simulation.take_transfers() == Transfers(uploads=1)
    for _ in range(STEPS):
        action = agent.sample_action()
        _ = simulation.take_transfers()
        step = agent.step(action)
        transfers = simulation.take_transfers()
        before = world.overwrite()
        assert transfers == Transfers(uploads=1, downloads=1)
        same(actual(step), before)
        same(actual(world.received), actual(action))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("moved", MOVED)
def test_environments_of_cupy(form: str, seen: str, moved: str) -> None:
    package, make = FORMS[form]
    world = make(*SEEN[seen], action_space=MOVED[moved])
    agent = package.CupyToNumpy(package.NumpyToCupy(world), env_device=1)
    agent.reset()
    for _ in range(STEPS):
        action = sampled(agent)
        _ = simulation.take_transfers()
        step = agent.step(action)
        transfers = simulation.take_transfers()
        before = world.overwrite()
        assert transfers == Transfers(uploads=2, downloads=2)  # both wrappers, each way
        same(step, before)
        same(actual(world.received), actual(action))


def test_large_arrays_travel_alone() -> None:
    tree = {"a": np.arange(3.0), "image": np.zeros((200, 200, 3), np.uint8), "b": np.array(True)}
    _ = simulation.take_transfers()
    there = numpy_to_cupy(tree)
    assert simulation.take_transfers() == Transfers(uploads=2)
    back = cupy_to_numpy(there)
    assert simulation.take_transfers() == Transfers(downloads=2)
    same(back, tree)


def test_arrays_of_two_devices_convert_together() -> None:
    with cupy.cuda.Device(1):
        other = cupy.asarray(np.ones(3), blocking=True)
    tree = {"a": cupy.asarray(np.zeros(3), blocking=True), "b": other}
    same(cupy_to_numpy(tree), {"a": np.zeros(3), "b": np.ones(3)})
