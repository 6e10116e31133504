"""Docstrings say what follows from the facts of a pair."""

from __future__ import annotations

import pytest

from gymbridge_generator import sharing
from gymbridge_generator.model import Backend, ReadOnly, Views


def library(
    name: str,
    *,
    mutable: bool,
    read_only: ReadOnly,
    views: Views = "writable",
    copies_in: bool = False,
    host: bool = True,
) -> Backend:
    return Backend(
        name=name,
        title=name.title(),
        module=name,
        array=f"{name}.Array",
        mutable=mutable,
        read_only=read_only,
        views=views,
        copies_in=copies_in,
        host=host,
    )


NUMPY = library("numpy", mutable=True, read_only="kept")
TORCH = library("torch", mutable=True, read_only="ignored")
JAX = library("jax", mutable=False, read_only="refused")
MLX = library("mlx", mutable=True, read_only="kept", views="read-only", copies_in=True)
CUPY = library("cupy", mutable=True, read_only="ignored", host=False)
ARROW = library("arrow", mutable=False, read_only="kept")


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (NUMPY, TORCH, "shared"),
        (TORCH, NUMPY, "shared"),
        (NUMPY, JAX, "copied"),
        (TORCH, JAX, "copied"),
        (JAX, NUMPY, "read-only view"),
        (JAX, TORCH, "copied"),
        (NUMPY, MLX, "copied"),
        (JAX, MLX, "copied"),
        (MLX, NUMPY, "read-only view"),
        (MLX, TORCH, "copied"),
        (MLX, JAX, "copied"),
        (JAX, ARROW, "copied"),
        (TORCH, CUPY, "copied"),
        (CUPY, NUMPY, "copied"),
    ],
)
def test_sharing(source: Backend, target: Backend, expected: str) -> None:
    assert sharing.sharing(source, target) == expected


def test_sentences() -> None:
    assert sharing.observations(NUMPY, TORCH, reused=False) == (
        "Observations share the memory of what the environment returns; read-only memory is copied."
    )
    assert sharing.observations(TORCH, NUMPY, reused=True) == (
        "Observations share the memory of what the environment returns. An environment that says "
        "it reuses its buffers (``copy=False``) has them copied."
    )
    assert sharing.observations(NUMPY, JAX, reused=False) == (
        "Observations are copies: an array of Jax must not change, and the memory of Numpy may."
    )
    assert sharing.observations(JAX, TORCH, reused=False) == (
        "Observations are copies: an array of Jax must not change, and Torch would write into it."
    )
    assert sharing.observations(NUMPY, MLX, reused=False) == (
        "Observations are copies: Mlx copies whatever it imports."
    )
    assert sharing.observations(MLX, TORCH, reused=False) == (
        "Observations are copies: the memory of Mlx is there to be read, and Torch would write "
        "into it."
    )
    for source, target in ((CUPY, TORCH), (TORCH, CUPY)):
        assert sharing.observations(source, target, reused=False) == (
            "Observations are copies: Cupy has its arrays on devices, and shares only what is "
            "there already."
        )
    assert sharing.observations(JAX, ARROW, reused=False) == (
        "Observations are copies: arrays of Arrow have memory of their own."
    )
    assert sharing.observations(MLX, NUMPY, reused=False) == (
        "Observations are read-only views of the environment's memory: the memory of Mlx is there "
        "to be read."
    )
    assert sharing.actions(NUMPY) == (
        "Actions reach the environment as copies, so that it may write into them."
    )
    assert sharing.actions(JAX) == "Actions reach the environment as copies."
    assert sharing.values(JAX, NUMPY) == (
        "The result is a read-only view: an array of Jax must not change."
    )
