"""Arrays that nobody has seen before, of any library, made from NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import AnyType, HostArray

__all__ = ["fresh", "settle"]

Value: TypeAlias = "HostArray | np.generic"

# what JAX has computed lies in memory of its own; what it imports need not
_computed: Callable[[Value], jax.Array] = jax.jit(jnp.copy)

_MAKERS: dict[str, Callable[[Value], object]] = {
    "numpy": lambda array: array.copy(),
    "torch": lambda array: torch.from_numpy(np.array(array)),
    "jax": _computed,
}


def fresh(library: str, trees: Sequence[object]) -> list[AnyType]:
    """Return a copy of ``trees`` with arrays of ``library`` in the place of NumPy's.

    JAX arrays remember what NumPy once saw of them, so that only new ones tell what a step costs.
    """
    make = _MAKERS[library]
    copies = [_mapped(tree, make) for tree in trees]
    settle(copies)
    return copies


def settle(tree: object) -> None:
    """Wait until the JAX arrays in ``tree`` are there."""
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, jax.Array):
            leaf.block_until_ready()


def _mapped(tree: object, make: Callable[[Value], object]) -> object:
    if isinstance(tree, dict):
        return {key: _mapped(child, make) for key, child in tree.items()}
    if isinstance(tree, tuple):
        return tuple([_mapped(child, make) for child in tree])
    return make(tree) if isinstance(tree, (np.ndarray, np.generic)) else tree
