"""Makes fresh arrays of any library from NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import AnyType, HostArray

Value: TypeAlias = "HostArray | np.generic"

# arrays that JAX computes own their memory; imported arrays may not
_computed: Callable[[Value], jax.Array] = jax.jit(jnp.copy)


def fresh(library: str, trees: Sequence[object], device: str | None = None) -> list[AnyType]:
    """Return a copy of ``trees`` with arrays of ``library`` instead of NumPy arrays.

    A JAX array keeps its NumPy view: only new arrays show the cost of a step.
    """
    makers: dict[str, Callable[[Value], object]] = {
        "numpy": lambda array: array.copy(),
        "torch": lambda array: torch.tensor(array, device=device),
        "jax": _computed,
    }
    copies = [_mapped(tree, makers[library]) for tree in trees]
    settle(copies)
    return copies


def odd(library: str, array: HostArray) -> list[AnyType]:
    """Return unusual arrays with the values of ``array``."""
    if library == "numpy":
        read_only = array.copy()
        read_only.flags.writeable = False
        return [array.copy()[::-1], array.astype(array.dtype.newbyteorder()), read_only]
    if library == "torch":
        tensor = torch.tensor(array)
        return [tensor.clone().requires_grad_(), tensor.bfloat16()]
    return [jnp.asarray(array.copy(), jnp.bfloat16), jnp.asarray(array.copy(), jnp.float16)]


def settle(tree: object) -> None:
    """Wait until the JAX arrays in ``tree`` are computed."""
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, jax.Array):
            leaf.block_until_ready()


def _mapped(tree: object, make: Callable[[Value], object]) -> object:
    if isinstance(tree, dict):
        return {key: _mapped(child, make) for key, child in tree.items()}
    if isinstance(tree, tuple):
        return tuple([_mapped(child, make) for child in tree])
    return make(tree) if isinstance(tree, (np.ndarray, np.generic)) else tree
