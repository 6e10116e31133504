"""Find wrappers, and compare their results with those of the bare environment."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.testing import Side
from gymbridge_runtime.testing.expectation import Expectation

from tests.support import LIBRARIES

if TYPE_CHECKING:
    from tests.support import Library, Pair

Value: TypeAlias = Any
"""A value of a type that only the test knows."""

AGENTS = [name for name in LIBRARIES if name != "numpy"]
"""The target libraries of pairs from NumPy."""


def _class_name(pair: Pair) -> str:
    return f"{pair.source.name.title()}To{pair.target.name.title()}"


def bridge(pair: Pair, env: Value, **options: object) -> Value:
    """Wrap an environment of ``pair.source`` for agents of ``pair.target``."""
    wrap: Any = getattr(import_module("gymbridge"), _class_name(pair))
    return wrap(env, **options)


def vector_bridge(pair: Pair, envs: Value, **options: object) -> Value:
    """Wrap vector environments of ``pair.source`` for agents of ``pair.target``."""
    wrap: Any = getattr(import_module("gymbridge.vector"), _class_name(pair))
    return wrap(envs, **options)


def batched_bridge(pair: Pair, env: Value, **options: object) -> Value:
    """Wrap an environment of ``pair.source``, whose every result is an array."""
    wrap: Any = getattr(import_module("gymbridge.batched"), _class_name(pair))
    return wrap(env, **options)


def same(one: object, other: object) -> None:
    """Fail unless both are the same in structure, type, dtype, shape and value."""
    assert type(one) is type(other), f"{one!r} is no {type(other).__name__}"
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        assert len(one) == len(other)
        for part, counter in zip(one, other, strict=True):
            same(part, counter)
    elif isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        if one.dtype.kind == "O":
            same(one.tolist(), other.tolist())
        else:
            np.testing.assert_array_equal(one, other)
    elif one is other:
        return  # a key of JAX has no values to compare
    elif type(one).__module__.startswith(("torch", "jax", "mlx")):
        library = LIBRARIES[type(one).__module__.split(".")[0].removesuffix("lib")]
        a: Any = one
        b: Any = other
        assert a.dtype == b.dtype
        same(library.values(a), library.values(b))
    elif isinstance(one, float) and isinstance(other, float):
        np.testing.assert_equal(one, other)
    else:
        assert one == other


def counterpart(got: object, bare: object, library: Library) -> None:
    """Fail unless ``got`` is the counterpart of ``bare`` in ``library``.

    Arrays and numbers are arrays of the library with the same shape, dtype and values. Everything
    else is unchanged.
    """
    reference = f"gymbridge_runtime.backends.{library.name}:{library.name.upper()}"
    expect = Expectation(Side(load(reference), library))
    assert list(expect.differences(got, bare, "value")) == []
