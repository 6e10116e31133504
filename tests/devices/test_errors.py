"""Error messages about devices and the values on them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import pytest

import gymbridge
from gymbridge.numpy_to_torch import numpy_to_torch, torch_to_numpy
from tests.devices.harness import on
from tests.libraries.torch import torch

if TYPE_CHECKING:
    from tests.devices.device import Device


@on("cpp")
def test_an_index_beyond_the_last_is_refused_at_construction(device: Device) -> None:
    env = gym.make("CartPole-v1")
    there = f"'cpu', '{device.name}', '{device.other}'"
    message = f"there is no simulated:2; write one of {there}$"
    with pytest.raises(ValueError, match=message):
        gymbridge.NumpyToTorch(env, "simulated:2")
    with pytest.raises(ValueError, match=message):
        gymbridge.TorchToNumpy(gymbridge.NumpyToTorch(env), env_device="simulated:2")


@on("cpp")
def test_an_error_names_the_refused_tensor_of_a_pack(device: Device) -> None:
    with warnings.catch_warnings(action="ignore"):  # PyTorch warns about this dtype
        bad = torch.ones(3, dtype=torch.complex32).to(device.name)
    tree: Any = {"good": torch.ones(3).to(device.name), "bad": bad}
    with pytest.raises(gymbridge.ConversionError, match=r"^value\['bad'\]: PyTorch has torch.comp"):
        torch_to_numpy(tree)


@on("cpp", "python", "lazy")
def test_errors_name_tensors_within_a_transformation(device: Device) -> None:
    def convert(tensor: torch.Tensor) -> torch.Tensor:
        match = (
            r"^value\['a'\]: PyTorch is transforming a function.* outside of vmap, grad and jvp$"
        )
        trees: Any = ({"a": tensor}, {"a": tensor, "b": there})
        for tree in trees:
            with pytest.raises(gymbridge.ConversionError, match=match):
                torch_to_numpy(tree)
            with pytest.raises(gymbridge.ConversionError, match=match):
                numpy_to_torch(tree, copy=True)
        return tensor.sum()

    there = torch.ones(3).to(device.name)
    torch.func.vmap(convert)(torch.ones(2, 3).to(device.name))
    torch.func.grad(convert)(there)
