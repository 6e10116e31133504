"""Values that environments return and agents pass, usual and unusual."""

from __future__ import annotations

from collections import OrderedDict
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tests.libraries.jax import enable_x64, jax, jnp
from tests.libraries.ml_dtypes import ml_dtypes
from tests.libraries.torch import torch
from tests.support import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Array, Host


class Keep(Protocol):
    """Records memory that the environment keeps, and returns it."""

    def __call__(self, memory: Host) -> Host: ...


class Make(Protocol):
    """Makes a new value; memory that the environment keeps is passed to ``keep``."""

    def __call__(self, keep: Keep) -> Array: ...


class Point(NamedTuple):
    x: Array
    y: Array = None


class Level(IntEnum):
    HIGH = 3


def numbers(dtype: str = "float32") -> Host:
    return np.array([[1, 2, 3], [4, 5, 6]], dtype)


def _read_only() -> Host:
    array = numbers()
    array.flags.writeable = False
    return array


def _misaligned() -> Host:
    array: Host = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)
    array[...] = numbers()
    return array


def _object_array() -> Host:
    array = np.empty(2, object)
    array[0] = numbers()
    return array


NUMPY: dict[str, Make] = {
    "usual": lambda _: numbers(),
    "held": lambda keep: keep(numbers()),
    "held view": lambda keep: keep(numbers())[1:],
    "held in a dict": lambda keep: {"a": keep(numbers()), "b": numbers()},
    "view of a fresh base": lambda _: numbers()[1:],
    "reshaped": lambda _: numbers().reshape(3, 2),
    "view with gaps": lambda _: numbers()[:, ::2],
    "negative stride": lambda _: numbers()[:, ::-1],
    "held with a negative stride": lambda keep: keep(numbers())[::-1],
    "Fortran order": lambda _: np.asfortranarray(numbers()),
    "transposed": lambda _: numbers().T,
    "held and transposed": lambda keep: keep(numbers()).T,
    "broadcast": lambda _: as_strided(numbers(), (4, 3), (0, 4)),
    "read-only": lambda _: _read_only(),
    "read-only view": lambda keep: np.broadcast_to(keep(numbers()), (2, 2, 3)),
    "misaligned": lambda _: _misaligned(),
    "big-endian": lambda _: numbers(">f4"),
    "big-endian integers": lambda _: numbers(">i8"),
    "0-d": lambda _: np.array(2.5, np.float32),
    "empty": lambda _: np.zeros((0, 3), np.float32),
    "one number": lambda _: np.ones((1, 1), np.float32),
    "bool": lambda _: numbers() > 2,
    **{
        name: lambda _, name=name: numbers(name)
        for name in ("float16", "float64", "int8", "uint8", "int32", "int64", "uint64", "complex64")
    },
    "longdouble": lambda _: numbers("longdouble"),
    "bfloat16": lambda _: numbers().astype(ml_dtypes.bfloat16),
    "float8": lambda _: numbers().astype(ml_dtypes.float8_e5m2),
    "wide integers": lambda _: numbers("int64") << 40,
    "large floats": lambda _: numbers("float64") * 1e300,
    "not a number": lambda _: numbers() * np.float32(np.nan),
    "large": lambda _: np.ones((1, 30_000), np.float32),
    "text": lambda _: np.array(["a", "b"]),
    "held text": lambda keep: keep(np.array(["a", "b"])),
    "times": lambda _: np.array(["2026-01-01"], "M8[D]"),
    "records": lambda _: np.zeros(2, "i4,f4"),
    "object array": lambda _: _object_array(),
    "matrix": lambda _: numbers().view(np.matrix),
    "masked": lambda _: np.ma.masked_array(numbers(), mask=numbers() > 4),
    "scalar": lambda _: np.float32(2.5),
    "wide scalar": lambda _: np.int64(2**40),
    "float": lambda _: 2.5,
    "int": lambda _: 3,
    "wide int": lambda _: 2**80,
    "string": lambda _: "text",
    "none": lambda _: None,
    "member of an enum": lambda _: Level.HIGH,
    "dict": lambda _: {"b": numbers(), "a": numbers("int32")},
    "dict of views": lambda _: {"b": numbers()[1:], "a": numbers().reshape(-1)},
    "dict of views with gaps": lambda _: {"b": numbers()[:, ::2], "a": numbers().T},
    "dict of floats": lambda _: {"b": numbers("float64"), "a": numbers("float16")},
    "dict of one": lambda _: {"a": numbers()},
    "dict of wide integers": lambda _: {"a": numbers("int64"), "b": numbers("int64") << 40},
    "dict of large arrays": lambda _: {"a": np.ones(30_000), "b": numbers()},
    "dict with a string": lambda _: {"a": numbers(), "b": "text"},
    "dict with a number": lambda _: {"a": numbers(), "b": 2.5},
    "dict with a dict": lambda _: {"a": {"b": numbers()}, "c": numbers()},
    "dict with a negative stride": lambda _: {"a": numbers()[::-1], "b": numbers()},
    "dict with a read-only array": lambda _: {"a": _read_only(), "b": numbers()},
    "dict with another byte order": lambda _: {"a": numbers(">f4"), "b": numbers()},
    "dict with a longdouble": lambda _: {"a": numbers(), "b": numbers("longdouble")},
    "dict with text": lambda _: {"a": numbers(), "b": np.array(["a"])},
    "dict with a tensor": lambda _: {"a": numbers(), "b": torch.ones(2)},
    "empty dict": lambda _: {},
    "ordered dict": lambda _: OrderedDict(b=numbers(), a=numbers()),
    "list": lambda _: [numbers(), numbers("float64")],
    "named tuple": lambda _: Point(numbers()),
    "tensor": lambda _: torch.ones(2, 3),
    "array of JAX": lambda _: jnp.ones((2, 3)),
}


def _tensor(dtype: str = "float32") -> Array:
    return torch.from_numpy(numbers()).to(getattr(torch, dtype), copy=True)


def _held_tensor(keep: Keep) -> Array:
    return torch.from_numpy(keep(numbers()))


TORCH: dict[str, Make] = {
    "usual": lambda _: _tensor(),
    "held": _held_tensor,
    "held view": lambda keep: _held_tensor(keep)[1:],
    "held in a dict": lambda keep: {"a": _held_tensor(keep), "b": _tensor()},
    "view with gaps": lambda _: _tensor()[:, ::2],
    "transposed": lambda _: _tensor().T,
    "broadcast": lambda _: torch.ones(1, 3).expand(4, 3),
    "requires grad": lambda _: _tensor().requires_grad_(),
    "with a history": lambda _: _tensor().requires_grad_() * 2,
    "parameter": lambda _: torch.nn.Parameter(_tensor()),
    "conjugate": lambda _: _tensor("complex64").mul(1 + 2j).conj(),
    "negative bit": lambda _: _tensor("complex64").mul(1 + 2j).conj().imag,
    "0-d": lambda _: torch.tensor(2.5),
    "empty": lambda _: torch.zeros(0, 3),
    **{
        name: lambda _, name=name: _tensor(name)
        for name in ("bool", "bfloat16", "float16", "float64", "uint8", "int32", "int64")
    },
    "uint64": lambda _: torch.ones(2, dtype=torch.uint64),
    "complex64": lambda _: _tensor("complex64"),
    "float8": lambda _: _tensor().to(torch.float8_e5m2),
    "wide integers": lambda _: _tensor("int64") << 40,
    "large floats": lambda _: _tensor("float64") * 1e300,
    "large": lambda _: torch.ones(30_000),
    "sparse": lambda _: torch.eye(2).to_sparse(),
    "meta": lambda _: torch.ones(2, device="meta"),
    "float": lambda _: 2.5,
    "none": lambda _: None,
    "dict": lambda _: {"b": _tensor(), "a": _tensor("int32")},
    "dict of floats": lambda _: {"b": _tensor("float64"), "a": _tensor("float16")},
    "dict of wide integers": lambda _: {"a": _tensor("int64"), "b": _tensor("int64") << 40},
    "dict with a string": lambda _: {"a": _tensor(), "b": "text"},
    "dict with grad": lambda _: {"a": _tensor(), "b": _tensor().requires_grad_()},
    "dict with bfloat16": lambda _: {"a": _tensor(), "b": _tensor("bfloat16")},
    "dict with a sparse tensor": lambda _: {"a": _tensor(), "b": torch.eye(2).to_sparse()},
    "empty dict": lambda _: {},
    "ordered dict": lambda _: OrderedDict(b=_tensor(), a=_tensor()),
    "list": lambda _: [_tensor(), _tensor("float64")],
    "array of NumPy": lambda _: numbers(),
    "held array of NumPy": lambda keep: keep(numbers()),
    "array of JAX": lambda _: jnp.ones((2, 3)),
}


def _deleted() -> Array:
    array = jnp.ones(3)
    array.delete()
    return array


JAX: dict[str, Make] = {
    "usual": lambda _: jnp.asarray(numbers()),
    "sliced": lambda _: jnp.asarray(numbers())[:, ::2],
    "0-d": lambda _: jnp.float32(2.5),
    "weak": lambda _: jnp.asarray(2.5),
    "empty": lambda _: jnp.zeros((0, 3)),
    **{
        name: lambda _, name=name: jnp.asarray(numbers()).astype(name)
        for name in ("bool", "bfloat16", "float16", "uint8", "int32", "complex64", "float8_e5m2")
    },
    "four bits": lambda _: jnp.ones(3, "int4"),
    "float64": lambda _: _wide("float64"),
    "int64": lambda _: _wide("int64"),
    "large": lambda _: jnp.ones(30_000),
    "deleted": lambda _: _deleted(),
    "key": lambda _: jax.random.key(3),
    "float": lambda _: 2.5,
    "none": lambda _: None,
    "dict": lambda _: {"b": jnp.ones(2), "a": jnp.ones(2, "int32")},
    "dict of floats": lambda _: {"b": jnp.ones(2, "bfloat16"), "a": jnp.ones(2, "float16")},
    "dict with a string": lambda _: {"a": jnp.ones(2), "b": "text"},
    "dict with a deleted array": lambda _: {"a": jnp.ones(2), "b": _deleted()},
    "dict with a key": lambda _: {"a": jnp.ones(2), "b": jax.random.key(3)},
    "empty dict": lambda _: {},
    "ordered dict": lambda _: OrderedDict(b=jnp.ones(2), a=jnp.ones(2)),
    "list": lambda _: [jnp.ones(2), jnp.ones(2, "int32")],
    "held array of NumPy": lambda keep: keep(numbers()),
    "tensor": lambda _: torch.ones(2, 3),
}


def _wide(dtype: str) -> Array:
    with enable_x64(True):
        return jnp.asarray(numbers(dtype))


def _mlx() -> dict[str, Make]:
    require("mlx")
    from tests.libraries.mlx import mx

    return {
        "usual": lambda _: mx.array(numbers()),
        "sliced": lambda _: mx.array(numbers())[:, ::2],
        "transposed": lambda _: mx.array(numbers()).T,
        "lazy": lambda _: mx.array(numbers()) * 2,
        "0-d": lambda _: mx.array(2.5),
        "empty": lambda _: mx.zeros((0, 3)),
        **{
            name: lambda _, name=name: mx.array(numbers()).astype(getattr(mx, name))
            for name in ("bool_", "bfloat16", "float16", "uint8", "int32", "int64", "complex64")
        },
        "wide integers": lambda _: mx.array(numbers("int64") << 40),
        "large": lambda _: mx.ones(30_000),
        "float": lambda _: 2.5,
        "none": lambda _: None,
        "dict": lambda _: {"b": mx.ones(2), "a": mx.ones(2, mx.int32)},
        "dict of floats": lambda _: {"b": mx.ones(2, mx.bfloat16), "a": mx.ones(2, mx.float16)},
        "dict with a string": lambda _: {"a": mx.ones(2), "b": "text"},
        "dict with bfloat16": lambda _: {"a": mx.ones(2), "b": mx.ones(2, mx.bfloat16)},
        "empty dict": lambda _: {},
        "list": lambda _: [mx.ones(2), mx.ones(2, mx.int32)],
        "held array of NumPy": lambda keep: keep(numbers()),
    }


OBSERVATIONS: dict[str, dict[str, Make]] = {
    "numpy": NUMPY,
    "torch": TORCH,
    "jax": JAX,
    "mlx": _mlx(),
}
"""Observations of environments of each library."""


def _of_any(make: Callable[[Host], Array]) -> dict[str, Make]:
    """Return rewards and flags in the usual shapes and dtypes."""
    values: dict[str, Host] = {
        "0-d": np.array(2.5, np.float32),
        "0-d float64": np.array(2.5),
        "0-d integer": np.array(3, np.int32),
        "0-d flag": np.array(True),
        "0-d flag that is not set": np.array(False),
        "shape (1,)": np.array([2.5], np.float32),
        "shape (1, 1)": np.array([[2.5]], np.float32),
        "flag of shape (1,)": np.array([True]),
        "shape (2,)": np.array([2.5, 3.5], np.float32),
        "flags of shape (2,)": np.array([True, False]),
        "shape (0,)": np.zeros(0, np.float32),
        "complex": np.array(1 + 2j, np.complex64),
        "not a number": np.array(np.nan, np.float32),
    }
    return {name: lambda _, value=value: make(value) for name, value in values.items()}


_ANY: dict[str, Make] = {
    "float": lambda _: 2.5,
    "int": lambda _: 3,
    "bool": lambda _: True,
    "none": lambda _: None,
    "string": lambda _: "text",
    "fraction": lambda _: Fraction(5, 2),
    "decimal": lambda _: Decimal("2.5"),
    "wide int": lambda _: 10**400,
    "complex number": lambda _: 1 + 2j,
    "list": lambda _: [1.5, 2.5],
    "dict": lambda _: {"a": np.float64(1.5), "b": np.ones(2)},
    "float64 of NumPy": lambda _: np.float64(2.5),
    "float32 of NumPy": lambda _: np.float32(2.5),
    "int64 of NumPy": lambda _: np.int64(3),
    "bool of NumPy": lambda _: np.bool_(True),
    "time span": lambda _: np.timedelta64(3, "s"),
    "big-endian": lambda _: np.array(2.5, ">f4"),
    "held": lambda keep: keep(np.array([2.5, 3.5])),
}


def _numbers() -> dict[str, dict[str, Make]]:
    from tests.libraries.mlx import mx

    return {
        "numpy": {**_ANY, **_of_any(np.array)},
        "torch": {
            **_ANY,
            **_of_any(lambda value: torch.from_numpy(value.copy())),
            "with grad": lambda _: torch.ones((), requires_grad=True),
            "bfloat16": lambda _: torch.ones((), dtype=torch.bfloat16),
            "conjugate": lambda _: torch.tensor(1 + 2j).conj(),
            "negative bit": lambda _: torch.tensor(1 + 2j).conj().imag,
            "meta": lambda _: torch.ones((), device="meta"),
        },
        "jax": {
            **_ANY,
            **_of_any(jnp.asarray),
            "bfloat16": lambda _: jnp.ones((), "bfloat16"),
            "weak": lambda _: jnp.asarray(2.5),
            "deleted": lambda _: _deleted(),
        },
        "mlx": {
            **_ANY,
            **_of_any(mx.array),
            "bfloat16": lambda _: mx.ones((), mx.bfloat16),
        },
    }


NUMBERS = _numbers()
"""Rewards and flags of environments of each library."""
