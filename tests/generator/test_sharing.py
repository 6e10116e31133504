"""Docstrings state how a pair shares memory, from the facts of its libraries."""

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
        array="numpy.ndarray" if name == "numpy" else f"{name}.Array",
        mutable=mutable,
        read_only=read_only,
        views=views,
        copies_in=copies_in,
        host=host,
    )


NUMPY = library("numpy", mutable=True, read_only="kept")
TORCH = library("torch", mutable=True, read_only="ignored")
JAX = library("jax", mutable=False, read_only="refused")
MLX = library("mlx", mutable=True, read_only="kept", views="constant", copies_in=True)
VIEWED = library("viewed", mutable=True, read_only="kept", views="read-only")
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
        (VIEWED, NUMPY, "read-only view"),
        (MLX, TORCH, "copied"),
        (MLX, JAX, "copied"),
        (JAX, ARROW, "copied"),
        (TORCH, CUPY, "copied"),
        (CUPY, NUMPY, "copied"),
    ],
)
def test_converters_share_where_the_facts_allow(
    source: Backend, target: Backend, expected: str
) -> None:
    assert sharing.sharing(source, target) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (NUMPY, TORCH, "shared"),
        (TORCH, NUMPY, "copied"),
        (JAX, NUMPY, "read-only view"),
        (MLX, NUMPY, "read-only view"),
        (VIEWED, NUMPY, "copied"),
        (NUMPY, JAX, "copied"),
        (CUPY, NUMPY, "copied"),
    ],
)
def test_wrappers_share_where_the_facts_allow(
    source: Backend, target: Backend, expected: str
) -> None:
    assert sharing.wrapped(source, target) == expected


HELD = "are copies: the environment may keep its arrays and write into them."


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        (
            NUMPY,
            TORCH,
            "share the memory of what the environment returns if nobody else can "
            "reach that memory; otherwise they are copies.",
        ),
        (TORCH, NUMPY, HELD),
        (VIEWED, NUMPY, HELD),
        (
            NUMPY,
            JAX,
            "are copies: arrays of Jax never change, and the memory of Numpy may.",
        ),
        (
            JAX,
            TORCH,
            "are copies: arrays of Jax never change, and Torch would write into it.",
        ),
        (NUMPY, MLX, "are copies: Mlx copies whatever it imports."),
        (
            MLX,
            TORCH,
            "are copies: nobody may write into the memory of Mlx, and Torch would write into it.",
        ),
        (
            CUPY,
            TORCH,
            "are copies: Cupy has its arrays on devices, and shares only what is there already.",
        ),
        (
            TORCH,
            CUPY,
            "are copies: Cupy has its arrays on devices, and shares only what is there already.",
        ),
        (JAX, ARROW, "are copies: arrays of Arrow have memory of their own."),
        (
            MLX,
            NUMPY,
            "are read-only views of the environment's memory: nobody may write into "
            "the memory of Mlx.",
        ),
        (
            JAX,
            NUMPY,
            "are read-only views of the environment's memory: arrays of Jax never change.",
        ),
    ],
)
def test_docstrings_state_how_observations_are_shared(
    source: Backend, target: Backend, words: str
) -> None:
    assert sharing.observations(source, target) == f"By default, observations {words}"


def test_docstrings_state_how_actions_and_values_are_shared() -> None:
    assert sharing.actions(NUMPY) == (
        "Actions reach the environment as copies, so that it may write into them."
    )
    assert sharing.actions(JAX) == "Actions reach the environment as copies."
    assert sharing.values(JAX, NUMPY) == (
        "The result is a read-only view: arrays of Jax never change."
    )
