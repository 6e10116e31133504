"""Floors of wrappers for one environment: a step with one array, and one with an info besides.

Each is the method of a `gymnasium.Wrapper`, as one writes it for the one environment one has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from torch import Tensor, from_numpy

from .arrays import identities, identity, numpy_to_torch

if TYPE_CHECKING:
    from collections.abc import Callable

    import gymnasium as gym
    import jax
    from gymbridge_runtime.types import AnyArray, AnyType, Info

__all__ = ["CARTPOLE", "INFO", "STEP"]

Floors: TypeAlias = "dict[str, Callable[[AnyType, AnyType], object]]"

NumpyWrapper: TypeAlias = "gym.Wrapper[AnyType, AnyType, AnyArray, AnyArray]"
TorchWrapper: TypeAlias = "gym.Wrapper[AnyType, AnyType, Tensor, Tensor]"
JaxWrapper: TypeAlias = "gym.Wrapper[AnyType, AnyType, jax.Array, jax.Array]"
CartPoleWrapper: TypeAlias = "gym.Wrapper[AnyType, AnyType, AnyArray, np.int64]"

# -- an observation that is one array, actions that are one, an empty info ------------------------


def numpy_to_torch_step(self: NumpyWrapper, action: Tensor) -> object:
    obs, reward, terminated, truncated, info = self.env.step(action.numpy().copy())
    return numpy_to_torch(obs), float(reward), bool(terminated), bool(truncated), dict(info)


def torch_to_numpy_step(self: TorchWrapper, action: AnyArray) -> object:
    obs, reward, terminated, truncated, info = self.env.step(from_numpy(action.copy()))
    return obs.numpy(), float(reward), bool(terminated), bool(truncated), dict(info)


def numpy_to_jax_step(self: NumpyWrapper, action: jax.Array) -> object:
    obs, reward, terminated, truncated, info = self.env.step(np.array(action))
    return identity(obs.copy()), float(reward), bool(terminated), bool(truncated), dict(info)


def jax_to_numpy_step(self: JaxWrapper, action: AnyArray) -> object:
    obs, reward, terminated, truncated, info = self.env.step(identity(action.copy()))
    return np.asarray(obs), float(reward), bool(terminated), bool(truncated), dict(info)


def torch_to_jax_step(self: TorchWrapper, action: jax.Array) -> object:
    obs, reward, terminated, truncated, info = self.env.step(from_numpy(np.array(action)))
    return (
        identity(obs.numpy().copy()),
        float(reward),
        bool(terminated),
        bool(truncated),
        dict(info),
    )


def jax_to_torch_step(self: JaxWrapper, action: Tensor) -> object:
    obs, reward, terminated, truncated, info = self.env.step(identity(action.numpy().copy()))
    return from_numpy(np.array(obs)), float(reward), bool(terminated), bool(truncated), dict(info)


STEP: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch_step,
    "torch_to_numpy": torch_to_numpy_step,
    "numpy_to_jax": numpy_to_jax_step,
    "jax_to_numpy": jax_to_numpy_step,
    "torch_to_jax": torch_to_jax_step,
    "jax_to_torch": jax_to_torch_step,
}

# -- CartPole: its action space samples NumPy's integer scalars -----------------------------------


def numpy_to_torch_cartpole(
    self: gym.Wrapper[AnyType, AnyType, AnyArray, np.int64], action: Tensor
) -> object:
    obs, reward, terminated, truncated, info = self.env.step(np.int64(action.item()))
    return numpy_to_torch(obs), float(reward), bool(terminated), bool(truncated), dict(info)


def numpy_to_jax_cartpole(
    self: gym.Wrapper[AnyType, AnyType, AnyArray, np.int64], action: jax.Array
) -> object:
    obs, reward, terminated, truncated, info = self.env.step(np.int64(np.asarray(action).item()))
    return identity(obs.copy()), float(reward), bool(terminated), bool(truncated), dict(info)


CARTPOLE: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch_cartpole,
    "numpy_to_jax": numpy_to_jax_cartpole,
}

# -- an info of two arrays, two numbers and two strings -------------------------------------------


def numpy_to_torch_info(self: NumpyWrapper, action: Tensor) -> object:
    obs, reward, terminated, truncated, info = self.env.step(action.numpy().copy())
    new: Info = {
        "position": numpy_to_torch(info["position"]),
        "speed": from_numpy(np.array(info["speed"])),
        "lives": from_numpy(np.array(info["lives"])),
        "time": from_numpy(np.array(info["time"])),
        "mission": info["mission"],
        "outcome": info["outcome"],
    }
    return numpy_to_torch(obs), float(reward), bool(terminated), bool(truncated), new


def torch_to_numpy_info(self: TorchWrapper, action: AnyArray) -> object:
    obs, reward, terminated, truncated, info = self.env.step(from_numpy(action.copy()))
    new: Info = {
        "position": info["position"].numpy(),
        "speed": info["speed"].numpy(),
        "lives": np.array(info["lives"]),
        "time": np.array(info["time"]),
        "mission": info["mission"],
        "outcome": info["outcome"],
    }
    return obs.numpy(), float(reward), bool(terminated), bool(truncated), new


def numpy_to_jax_info(self: NumpyWrapper, action: jax.Array) -> object:
    obs, reward, terminated, truncated, info = self.env.step(np.array(action))
    new_obs, position, speed, lives, time = identities(
        obs.copy(),
        info["position"].copy(),
        np.array(info["speed"], np.float32),
        np.array(info["lives"], np.int32),
        np.array(info["time"], np.float32),
    )
    new: Info = {
        "position": position,
        "speed": speed,
        "lives": lives,
        "time": time,
        "mission": info["mission"],
        "outcome": info["outcome"],
    }
    return new_obs, float(reward), bool(terminated), bool(truncated), new


def jax_to_numpy_info(self: JaxWrapper, action: AnyArray) -> object:
    obs, reward, terminated, truncated, info = self.env.step(identity(action.copy()))
    new: Info = {
        "position": np.asarray(info["position"]),
        "speed": np.asarray(info["speed"]),
        "lives": np.array(info["lives"]),
        "time": np.array(info["time"]),
        "mission": info["mission"],
        "outcome": info["outcome"],
    }
    return np.asarray(obs), float(reward), bool(terminated), bool(truncated), new


def torch_to_jax_info(self: TorchWrapper, action: jax.Array) -> object:
    obs, reward, terminated, truncated, info = self.env.step(from_numpy(np.array(action)))
    new_obs, position, speed, lives, time = identities(
        obs.numpy().copy(),
        info["position"].numpy().copy(),
        info["speed"].numpy().copy(),
        np.array(info["lives"], np.int32),
        np.array(info["time"], np.float32),
    )
    new: Info = {
        "position": position,
        "speed": speed,
        "lives": lives,
        "time": time,
        "mission": info["mission"],
        "outcome": info["outcome"],
    }
    return new_obs, float(reward), bool(terminated), bool(truncated), new


def jax_to_torch_info(self: JaxWrapper, action: Tensor) -> object:
    obs, reward, terminated, truncated, info = self.env.step(identity(action.numpy().copy()))
    new: Info = {
        "position": from_numpy(np.array(info["position"])),
        "speed": from_numpy(np.array(info["speed"])),
        "lives": from_numpy(np.array(info["lives"])),
        "time": from_numpy(np.array(info["time"])),
        "mission": info["mission"],
        "outcome": info["outcome"],
    }
    return from_numpy(np.array(obs)), float(reward), bool(terminated), bool(truncated), new


INFO: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch_info,
    "torch_to_numpy": torch_to_numpy_info,
    "numpy_to_jax": numpy_to_jax_info,
    "jax_to_numpy": jax_to_numpy_info,
    "torch_to_jax": torch_to_jax_info,
    "jax_to_torch": jax_to_torch_info,
}
