"""Arrays that nobody has seen before, of any library, made from NumPy's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import AnyType, HostArray

__all__ = ["fresh"]


def fresh(library: str, trees: Sequence[object]) -> list[AnyType]:
    """Return a copy of ``trees`` with arrays of ``library`` in the place of NumPy's.

    JAX arrays remember what NumPy once saw of them, so that only new ones tell what a step costs.
    """
    if library == "numpy":
        return [_mapped(tree, lambda leaf: leaf.copy()) for tree in trees]
    if library == "torch":
        return [_mapped(tree, lambda leaf: torch.from_numpy(np.array(leaf))) for tree in trees]
    copies: list[HostArray] = []
    for tree in trees:
        _mapped(tree, lambda leaf: copies.append(np.array(leaf)))
    arrays: list[jax.Array] = jax.device_put(copies)
    for array in arrays:
        array.block_until_ready()
    left = iter(arrays)
    return [_mapped(tree, lambda _: next(left)) for tree in trees]


def _mapped(tree: object, leaf: Callable[[AnyType], object]) -> object:
    if isinstance(tree, dict):
        return {key: _mapped(child, leaf) for key, child in tree.items()}
    if isinstance(tree, tuple):
        return tuple([_mapped(child, leaf) for child in tree])
    return leaf(tree) if isinstance(tree, (np.ndarray, np.generic)) else tree
