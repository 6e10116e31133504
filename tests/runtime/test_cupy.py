"""The CuPy backend: facts, devices, and errors without a GPU."""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.backends.registry import backend_of
from gymnasium import spaces

from gymbridge import CupyToNumpy, NumpyToCupy
from gymbridge.cupy_to_torch import torch_to_cupy
from tests.devices.gpus import STAND_INS
from tests.libraries.cupy import cupy
from tests.libraries.torch import torch
from tests.runtime.replay import Replay

if TYPE_CHECKING:
    from tests.support import Array

CUPY = load("gymbridge_runtime.backends.cupy:CUPY")


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    if not STAND_INS:
        pytest.skip("there is a GPU, and this is about what happens without one")
    monkeypatch.setattr(cupy.simulation, "device_count", 0)


def test_cupy_arrays_are_recognised() -> None:
    assert backend_of(cupy.ndarray) is CUPY
    assert CUPY.is_array(cupy.ndarray)
    assert not CUPY.is_array(np.ndarray)
    assert pickle.loads(pickle.dumps(CUPY)) is CUPY


def test_the_cupy_backend_has_the_documented_facts() -> None:
    for name in ("bool", "int64", "uint16", "float16", "float64", "complex128"):
        assert CUPY.stored_as(np.dtype(name)) == np.dtype(name)
    assert CUPY.stored_as(np.dtype("longdouble")) is None
    assert CUPY.mutable
    assert CUPY.leaves_host(None)


def test_cupy_imports_only_from_gpus() -> None:
    first = CUPY.parse_device(0)
    assert CUPY.imports_at((2, 0), None)
    assert CUPY.imports_at((2, 1), CUPY.parse_device(1))
    assert not CUPY.imports_at((2, 1), first)
    assert not CUPY.imports_at((1, 0), None)
    assert not CUPY.imports_at((14, 0), None)


class TestDevices:
    @pytest.mark.parametrize(
        ("given", "number"),
        [("cuda", 0), ("cuda:1", 1), (1, 1), (np.int64(1), 1), (cupy.cuda.Device(1), 1)],
    )
    def test_devices_may_be_objects_numbers_or_texts(self, given: Array, number: int) -> None:
        device: Array = CUPY.parse_device(given)
        assert device == cupy.cuda.Device(number)
        assert CUPY.device_text(device) == f"cuda:{number}"

    @pytest.mark.parametrize(
        "given",
        [
            *("cpu", "gpu", "cuda:x", "gpu:0", "cuda:-1", "cuda:2", ""),
            *(2, -1, 0.5, True, [0], cupy.cuda.Device(2)),
        ],
        ids=repr,
    )
    def test_wrong_devices_are_refused_at_construction(self, given: Array) -> None:
        message = f"CuPy has no device {given!r}; write one of 'cuda:0', 'cuda:1'"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            NumpyToCupy(Replay(spaces.Discrete(2), 0), given)

    @pytest.mark.parametrize("given", ["cuda", 0])
    @pytest.mark.usefixtures("no_gpu")
    def test_every_device_is_refused_without_a_gpu(self, given: Array) -> None:
        with pytest.raises(ValueError, match=f"^CuPy has no device {given!r}; it finds no GPU$"):
            CUPY.parse_device(given)

    def test_a_device_is_optional(self) -> None:
        assert CUPY.parse_device(None) is None
        assert CUPY.device_text(None) is None

    def test_specs_record_devices_as_text(self) -> None:
        env = NumpyToCupy(Replay(spaces.Discrete(2), 0), device=1)
        again: Array = pickle.loads(pickle.dumps(env))
        assert again.device == cupy.cuda.Device(1)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_a_conversion_is_an_error() -> None:
    env = NumpyToCupy(gym.make("CartPole-v1"))
    with pytest.raises(ConversionError) as caught:
        env.reset(seed=0)
    assert str(caught.value).startswith("obs: CuPy could not make the array: cudaError")
    with pytest.raises(ConversionError, match=r"value\['a'\]: CuPy could not make the array"):
        torch_to_cupy({"a": torch.ones(2)})


def test_wrappers_can_be_made_without_a_gpu() -> None:
    inner = Replay(spaces.Box(-1, 1, (2,), np.float32), np.ones(2, np.float32))
    assert CupyToNumpy(inner).action_space == inner.action_space
