"""dtypes of all libraries: their names, and the integers that narrowing would lose."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, SupportsInt, TypeAlias, cast

import numpy as np
from gymbridge_runtime.core.errors import ConversionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from gymbridge_runtime.types import HostArray

AnyDType: TypeAlias = np.dtype[Any]  # pyright: ignore[reportExplicitAny] a dtype of anything

COMMON_DTYPES: Final = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
"""The names of the dtypes that nearly every library has."""

HALVES: Final[dict[AnyDType, AnyDType]] = {
    np.dtype("float64"): np.dtype("float32"),
    np.dtype("complex128"): np.dtype("complex64"),
}
"""How libraries and devices narrow floating-point numbers of 64 bits."""

_EXTENDED = ("bfloat16", "float8_", "float6_", "float4_", "int2", "int4", "uint2", "uint4")
"""The beginnings of the names of dtypes that NumPy has only through `ml_dtypes`."""


@cache
def extended_dtype(name: str) -> AnyDType:
    """Return a dtype of `ml_dtypes`, such as ``"bfloat16"``."""
    if find_spec("ml_dtypes") is None:
        raise ConversionError(
            f"NumPy holds {name} only through the package ml_dtypes, which is not installed",
            "run: pip install ml-dtypes",
        )
    import ml_dtypes

    return np.dtype(cast("type[np.generic]", getattr(ml_dtypes, name)))


def named_dtype(name: object) -> AnyDType:
    """Return the dtype that ``"float32"``, ``"torch.bfloat16"`` or ``np.float32`` names."""
    if isinstance(name, str):
        name = name.rpartition(".")[2]
        if is_extended_name(name):
            return extended_dtype(name)
    return np.dtype(cast("npt.DTypeLike", name))


def is_extended_name(name: str) -> bool:
    """Tell whether NumPy has the dtype of this name only through `ml_dtypes`."""
    return name.startswith(_EXTENDED)


def words_of(dtype: object) -> list[str]:
    """Return the words in the text of any library's dtype."""
    return cast("list[str]", re.findall(r"\w+", str(dtype)))


def spelled_dtype(dtype: object) -> AnyDType:
    """Return the NumPy dtype of a name or of any library's dtype.

    ``tf.float32`` prints as ``<dtype: 'float32'>``, Warp's as a class, most as ``paddle.float32``.
    """
    is_python = any(dtype is kind for kind in (bool, int, float, complex))
    if is_python or issubclass(type(dtype), (str, np.dtype)):
        return named_dtype(dtype)
    for word in reversed(words_of(dtype)):
        if word in COMMON_DTYPES or is_extended_name(word):
            return named_dtype(word)
    raise TypeError(f"{dtype!r} names no dtype; name it as text, 'float32' for example")


def _is_extended(dtype: AnyDType) -> bool:
    return dtype.kind in "VW" and not issubclass(dtype.type, np.void)


def is_number(dtype: AnyDType) -> bool:
    """Tell whether ``dtype`` is of numbers or bools: libraries exchange nothing else."""
    return dtype.kind in "biufc" or _is_extended(dtype)


def is_integer(dtype: AnyDType) -> bool:
    """Tell whether ``dtype`` is of integers, signed or not."""
    return dtype.kind in "iu" or (_is_extended(dtype) and "int" in dtype.name)


def is_floating(dtype: AnyDType) -> bool:
    """Tell whether ``dtype`` is of real floating-point numbers."""
    return dtype.kind == "f" or (_is_extended(dtype) and "float" in dtype.name)


def first_misfit(view: HostArray, dtype: AnyDType) -> int | None:
    """Return an integer of ``view`` that the integer ``dtype`` cannot hold, or None."""
    if view.size == 0:
        return None
    lowest, highest = integer_bounds(dtype)
    if 0 in view.strides and view.ndim:  # broadcast axes repeat values
        view = view[tuple([slice(None) if stride else slice(1) for stride in view.strides])]
    extremes = (view,) if view.ndim == 0 else (view.min(), view.max())
    for extreme in map(int, cast("Sequence[SupportsInt]", extremes)):
        if not lowest <= extreme <= highest:
            return extreme
    return None


@cache
def integer_bounds(dtype: AnyDType) -> tuple[int, int]:
    """Return the lowest and the highest integer of ``dtype``."""
    bounds = np.iinfo(dtype)
    return bounds.min, bounds.max


@cache
def safe_casts(dtype: AnyDType) -> frozenset[AnyDType]:
    """Return the other dtypes whose every value ``dtype`` can hold."""
    others: list[AnyDType] = [np.dtype(code) for code in "?bhilBHILefd"]
    return frozenset(one for one in others if one != dtype and np.can_cast(one, dtype, "safe"))
