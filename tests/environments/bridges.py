"""How these tests find wrappers, and hold what they return against what was wrapped."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tests.support import LIBRARIES

if TYPE_CHECKING:
    from tests.support import Host, Library, Pair

__all__ = ["AGENTS", "Value", "bridge", "counterpart", "same", "vector_bridge"]

Value: TypeAlias = Any
"""A value, an environment or a tree of which only the test knows what it is."""

AGENTS = [name for name in LIBRARIES if name != "numpy"]
"""The libraries whose agents meet environments of NumPy."""

_FLOATS = {"float64": "float32", "complex128": "complex64"}
_NARROWED = {"jax": {**_FLOATS, "int64": "int32", "uint64": "uint32"}, "mlx": _FLOATS}
"""What libraries make of 64 bits; JAX with x64 off, as it is in these tests."""


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
    elif type(one).__module__.startswith(("torch", "jax", "mlx")):
        a: Any = one
        b: Any = other
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    elif isinstance(one, float) and isinstance(other, float):
        np.testing.assert_equal(one, other)
    else:
        assert one == other


def counterpart(got: object, bare: object, library: Library) -> None:
    """Fail unless ``got`` is what an agent of ``library`` has to see of ``bare``.

    Every array and number has become an array of the library with the same shape, dtype and values;
    everything else, and every container, is as it was.
    """
    if isinstance(bare, Mapping):
        assert isinstance(got, Mapping)
        assert type(got) is type(bare)
        assert list(got) == list(bare)
        for key, value in bare.items():
            counterpart(got[key], value, library)
    elif isinstance(bare, (tuple, list)):
        assert isinstance(got, (tuple, list))
        assert type(got) is type(bare)
        assert len(got) == len(bare)
        for part, value in zip(got, bare, strict=True):
            counterpart(part, value, library)
    elif isinstance(bare, np.ndarray) and bare.dtype.kind == "O":
        assert isinstance(got, np.ndarray)
        assert got.dtype == bare.dtype
        assert got.shape == bare.shape
        for index in np.ndindex(bare.shape):
            counterpart(got[index], bare[index], library)
    elif _is_kept(bare):
        assert type(got) is type(bare)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(bare))
    else:
        host = _host(bare)
        assert library.is_array(got), f"{got!r} is no array of {library.name}"
        dtype = host.dtype.name
        assert library.dtype(got) == _NARROWED.get(library.name, {}).get(dtype, dtype)
        values = library.values(got)
        assert values.shape == host.shape
        np.testing.assert_array_equal(values, host.astype(values.dtype))


def _is_kept(bare: object) -> bool:
    if isinstance(bare, np.ndarray):
        return bare.dtype.kind not in "biufc"
    if isinstance(bare, np.generic):
        return not isinstance(bare, (np.number, np.bool_))
    return bare is None or isinstance(bare, (bool, str, bytes, Enum, set, frozenset, range))


def _host(bare: Value) -> Host:
    if isinstance(bare, int):
        return np.array(bare, np.int64)
    return np.asarray(bare)
