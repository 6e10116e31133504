"""Floors of the converters: one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import jax
import numpy as np
from torch import Tensor, from_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import AnyArray, AnyType

__all__ = [
    "ARRAY",
    "ARRAY_COPY",
    "IMAGE",
    "NUMBER",
    "VECTOR_STEP",
    "identities",
    "identity",
    "jax_dict_to_numpy",
    "jax_dict_to_torch",
    "numpy_dict_to_torch",
    "numpy_to_torch",
    "torch_dict_to_numpy",
]

Floors: TypeAlias = "dict[str, Callable[[AnyType], object]]"


# Called with NumPy arrays, a compiled identity is the cheapest way into JAX.
identity: Callable[[AnyArray], jax.Array] = jax.jit(lambda array: array)
identities: Callable[..., tuple[jax.Array, ...]] = jax.jit(lambda *arrays: arrays)


# -- one array ------------------------------------------------------------------------------------


def numpy_to_torch(array: AnyArray) -> Tensor:
    """Share, unless PyTorch could then write where NumPy must not."""
    return from_numpy(array) if array.flags.writeable else from_numpy(array.copy())


def numpy_to_torch_copy(array: AnyArray) -> Tensor:
    return from_numpy(array.copy())


def torch_to_numpy(array: Tensor) -> AnyArray:
    return array.numpy()


def torch_to_numpy_copy(array: Tensor) -> AnyArray:
    return array.numpy().copy()


def numpy_to_jax(array: AnyArray) -> jax.Array:
    return identity(array.copy())


def torch_to_jax(array: Tensor) -> jax.Array:
    return identity(array.numpy().copy())


def jax_to_numpy(array: jax.Array) -> AnyArray:
    return np.asarray(array)


def jax_to_numpy_copy(array: jax.Array) -> AnyArray:
    return np.array(array)


def jax_to_torch(array: jax.Array) -> Tensor:
    return from_numpy(np.array(array))


ARRAY: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch,
    "torch_to_numpy": torch_to_numpy,
    "numpy_to_jax": numpy_to_jax,
    "torch_to_jax": torch_to_jax,
    "jax_to_numpy": jax_to_numpy,
    "jax_to_torch": jax_to_torch,
}
ARRAY_COPY: Final[Floors] = {
    "numpy_to_torch": numpy_to_torch_copy,
    "torch_to_numpy": torch_to_numpy_copy,
    "jax_to_numpy": jax_to_numpy_copy,
}

# -- one large array: JAX takes over memory that is aligned for it --------------------------------


def aligned(array: AnyArray) -> AnyArray:
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy: AnyArray = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def image_to_jax(array: AnyArray) -> jax.Array:
    imported: jax.Array = jax.device_put(aligned(array))
    return imported


def torch_image_to_jax(array: Tensor) -> jax.Array:
    return image_to_jax(array.numpy())


IMAGE: Final[Floors] = ARRAY | {
    "numpy_to_jax": image_to_jax,
    "torch_to_jax": torch_image_to_jax,
}

# -- one float ------------------------------------------------------------------------------------


def number_to_numpy(number: float) -> AnyArray:
    return np.array(number)


def number_to_torch(number: float) -> Tensor:
    return from_numpy(np.array(number))


def number_to_jax(number: float) -> jax.Array:
    return identity(np.array(number, np.float32))


NUMBER: Final[Floors] = {
    "numpy_to_torch": number_to_torch,
    "torch_to_numpy": number_to_numpy,
    "numpy_to_jax": number_to_jax,
    "torch_to_jax": number_to_jax,
    "jax_to_numpy": number_to_numpy,
    "jax_to_torch": number_to_torch,
}

# -- observations, rewards, terminations and truncations ------------------------------------------


def numpy_step_to_torch(step: tuple[AnyArray, AnyArray, AnyArray, AnyArray]) -> object:
    obs, rewards, terminated, truncated = step
    return (
        numpy_to_torch(obs),
        numpy_to_torch(rewards),
        numpy_to_torch(terminated),
        numpy_to_torch(truncated),
    )


def torch_step_to_numpy(step: tuple[Tensor, Tensor, Tensor, Tensor]) -> object:
    obs, rewards, terminated, truncated = step
    return obs.numpy(), rewards.numpy(), terminated.numpy(), truncated.numpy()


def numpy_step_to_jax(step: tuple[AnyArray, AnyArray, AnyArray, AnyArray]) -> object:
    obs, rewards, terminated, truncated = step
    return identities(obs.copy(), rewards.astype(np.float32), terminated.copy(), truncated.copy())


def torch_step_to_jax(step: tuple[Tensor, Tensor, Tensor, Tensor]) -> object:
    obs, rewards, terminated, truncated = step
    return identities(
        obs.numpy().copy(),
        rewards.numpy().copy(),
        terminated.numpy().copy(),
        truncated.numpy().copy(),
    )


def jax_step_to_numpy(step: tuple[jax.Array, jax.Array, jax.Array, jax.Array]) -> object:
    obs, rewards, terminated, truncated = step
    return np.asarray(obs), np.asarray(rewards), np.asarray(terminated), np.asarray(truncated)


def jax_step_to_torch(step: tuple[jax.Array, jax.Array, jax.Array, jax.Array]) -> object:
    obs, rewards, terminated, truncated = step
    return (
        from_numpy(np.array(obs)),
        from_numpy(np.array(rewards)),
        from_numpy(np.array(terminated)),
        from_numpy(np.array(truncated)),
    )


VECTOR_STEP: Final[Floors] = {
    "numpy_to_torch": numpy_step_to_torch,
    "torch_to_numpy": torch_step_to_numpy,
    "numpy_to_jax": numpy_step_to_jax,
    "torch_to_jax": torch_step_to_jax,
    "jax_to_numpy": jax_step_to_numpy,
    "jax_to_torch": jax_step_to_torch,
}

# -- a dict of arrays -----------------------------------------------------------------------------


def numpy_dict_to_torch(tree: dict[str, AnyArray]) -> dict[str, Tensor]:
    """Share each, unless it is read-only."""
    return {
        key: from_numpy(array) if array.flags.writeable else from_numpy(array.copy())
        for key, array in tree.items()
    }


def torch_dict_to_numpy(tree: dict[str, Tensor]) -> dict[str, AnyArray]:
    """Share each."""
    return {key: array.numpy() for key, array in tree.items()}


def jax_dict_to_numpy(tree: dict[str, jax.Array]) -> dict[str, AnyArray]:
    """View each, read-only."""
    return {key: np.asarray(array) for key, array in tree.items()}


def jax_dict_to_torch(tree: dict[str, jax.Array]) -> dict[str, Tensor]:
    """Copy each, or PyTorch could write where JAX must not change."""
    return {key: from_numpy(np.array(array)) for key, array in tree.items()}
