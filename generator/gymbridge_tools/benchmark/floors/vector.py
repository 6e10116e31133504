"""Floors of wrappers for vector environments: a step with one array, one with a dict of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from torch import Tensor, from_numpy

from .arrays import (
    identities,
    identity,
    jax_dict_to_numpy,
    jax_dict_to_torch,
    numpy_dict_to_torch,
    numpy_to_torch,
    torch_dict_to_numpy,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import jax
    from gymbridge_runtime.types import AnyArray, AnyType
    from gymnasium.vector import VectorWrapper

__all__ = ["CARTPOLES", "DICT", "STEP"]

Floors: TypeAlias = "dict[str, Callable[[AnyType, AnyType], object]]"

NumpyWrapper: TypeAlias = "VectorWrapper[AnyType, AnyType, AnyArray, AnyArray, AnyArray]"
TorchWrapper: TypeAlias = "VectorWrapper[AnyType, AnyType, Tensor, Tensor, Tensor]"
JaxWrapper: TypeAlias = "VectorWrapper[AnyType, AnyType, jax.Array, jax.Array, jax.Array]"

# -- observations that are one array, actions that are one, empty infos ---------------------------


def numpy_to_torch_step(self: NumpyWrapper, actions: Tensor) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(actions.numpy().copy())
    return (
        numpy_to_torch(obs),
        numpy_to_torch(rewards),
        numpy_to_torch(terminated),
        numpy_to_torch(truncated),
        dict(infos),
    )


def torch_to_numpy_step(self: TorchWrapper, actions: AnyArray) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(from_numpy(actions.copy()))
    return obs.numpy(), rewards.numpy(), terminated.numpy(), truncated.numpy(), dict(infos)


def numpy_to_jax_step(self: NumpyWrapper, actions: jax.Array) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(np.array(actions))
    return (
        *identities(obs.copy(), rewards.astype(np.float32), terminated.copy(), truncated.copy()),
        dict(infos),
    )


def jax_to_numpy_step(self: JaxWrapper, actions: AnyArray) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(identity(actions.copy()))
    return (
        np.asarray(obs),
        np.asarray(rewards),
        np.asarray(terminated),
        np.asarray(truncated),
        dict(infos),
    )


def torch_to_jax_step(self: TorchWrapper, actions: jax.Array) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(from_numpy(np.array(actions)))
    return (
        *identities(
            obs.numpy().copy(),
            rewards.numpy().copy(),
            terminated.numpy().copy(),
            truncated.numpy().copy(),
        ),
        dict(infos),
    )


def jax_to_torch_step(self: JaxWrapper, actions: Tensor) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(identity(actions.numpy().copy()))
    return (
        from_numpy(np.array(obs)),
        from_numpy(np.array(rewards)),
        from_numpy(np.array(terminated)),
        from_numpy(np.array(truncated)),
        dict(infos),
    )


STEP: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch_step,
    "torch_to_numpy": torch_to_numpy_step,
    "numpy_to_jax": numpy_to_jax_step,
    "jax_to_numpy": jax_to_numpy_step,
    "torch_to_jax": torch_to_jax_step,
    "jax_to_torch": jax_to_torch_step,
}

# -- CartPoles: JAX counts actions in int32, they in int64 ----------------------------------------


def numpy_to_jax_cartpoles(self: NumpyWrapper, actions: jax.Array) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(np.asarray(actions).astype(np.int64))
    return (
        *identities(obs.copy(), rewards.astype(np.float32), terminated.copy(), truncated.copy()),
        dict(infos),
    )


CARTPOLES: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch_step,
    "numpy_to_jax": numpy_to_jax_cartpoles,
}

# -- observations that are dicts of arrays --------------------------------------------------------


def numpy_to_torch_dict(
    self: VectorWrapper[AnyType, AnyType, dict[str, AnyArray], AnyArray, AnyArray],
    actions: Tensor,
) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(actions.numpy().copy())
    return (
        numpy_dict_to_torch(obs),
        numpy_to_torch(rewards),
        numpy_to_torch(terminated),
        numpy_to_torch(truncated),
        dict(infos),
    )


def torch_to_numpy_dict(
    self: VectorWrapper[AnyType, AnyType, dict[str, Tensor], Tensor, Tensor],
    actions: AnyArray,
) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(from_numpy(actions.copy()))
    return (
        torch_dict_to_numpy(obs),
        rewards.numpy(),
        terminated.numpy(),
        truncated.numpy(),
        dict(infos),
    )


def numpy_to_jax_dict(
    self: VectorWrapper[AnyType, AnyType, dict[str, AnyArray], AnyArray, AnyArray],
    actions: jax.Array,
) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(np.array(actions))
    *leaves, new_rewards, new_terminated, new_truncated = identities(
        *[array.copy() for array in obs.values()],
        rewards.astype(np.float32),
        terminated.copy(),
        truncated.copy(),
    )
    return (
        dict(zip(obs, leaves, strict=True)),
        new_rewards,
        new_terminated,
        new_truncated,
        dict(infos),
    )


def jax_to_numpy_dict(
    self: VectorWrapper[AnyType, AnyType, dict[str, jax.Array], jax.Array, jax.Array],
    actions: AnyArray,
) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(identity(actions.copy()))
    return (
        jax_dict_to_numpy(obs),
        np.asarray(rewards),
        np.asarray(terminated),
        np.asarray(truncated),
        dict(infos),
    )


def torch_to_jax_dict(
    self: VectorWrapper[AnyType, AnyType, dict[str, Tensor], Tensor, Tensor],
    actions: jax.Array,
) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(from_numpy(np.array(actions)))
    *leaves, new_rewards, new_terminated, new_truncated = identities(
        *[array.numpy().copy() for array in obs.values()],
        rewards.numpy().copy(),
        terminated.numpy().copy(),
        truncated.numpy().copy(),
    )
    return (
        dict(zip(obs, leaves, strict=True)),
        new_rewards,
        new_terminated,
        new_truncated,
        dict(infos),
    )


def jax_to_torch_dict(
    self: VectorWrapper[AnyType, AnyType, dict[str, jax.Array], jax.Array, jax.Array],
    actions: Tensor,
) -> object:
    obs, rewards, terminated, truncated, infos = self.env.step(identity(actions.numpy().copy()))
    return (
        jax_dict_to_torch(obs),
        from_numpy(np.array(rewards)),
        from_numpy(np.array(terminated)),
        from_numpy(np.array(truncated)),
        dict(infos),
    )


DICT: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch_dict,
    "torch_to_numpy": torch_to_numpy_dict,
    "numpy_to_jax": numpy_to_jax_dict,
    "jax_to_numpy": jax_to_numpy_dict,
    "torch_to_jax": torch_to_jax_dict,
    "jax_to_torch": jax_to_torch_dict,
}
