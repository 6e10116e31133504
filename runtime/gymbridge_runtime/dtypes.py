"""dtypes between libraries: how they are named, and what narrowing one would lose."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, SupportsInt, TypeAlias, cast

import numpy as np
from gymbridge_runtime.errors import ConversionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from gymbridge_runtime.types import HostArray

__all__ = [
    "AnyDType",
    "extended_dtype",
    "first_misfit",
    "is_floating",
    "is_integer",
    "is_number",
    "named_dtype",
]

AnyDType: TypeAlias = np.dtype[Any]  # pyright: ignore[reportExplicitAny] a dtype of anything

_EXTENDED = ("bfloat16", "float8_", "float6_", "float4_", "int2", "int4", "uint2", "uint4")
"""How the names begin of dtypes that NumPy knows through the package `ml_dtypes` only."""


@cache
def extended_dtype(name: str) -> AnyDType:
    """Return a dtype of `ml_dtypes`, ``"bfloat16"`` for example."""
    if find_spec("ml_dtypes") is None:
        raise ConversionError(
            f"NumPy holds {name} only through the package ml_dtypes, which is not installed",
            "run: pip install ml-dtypes",
        )
    import ml_dtypes

    return np.dtype(cast("type[np.generic]", getattr(ml_dtypes, name)))


def named_dtype(name: object) -> AnyDType:
    """Return the dtype of ``"float32"``, ``"torch.bfloat16"``, ``np.float32`` and their like."""
    if isinstance(name, str):
        name = name.rpartition(".")[2]
        if name.startswith(_EXTENDED):
            return extended_dtype(name)
    return np.dtype(cast("npt.DTypeLike", name))


def _is_extended(dtype: AnyDType) -> bool:
    return dtype.kind in "VW" and not issubclass(dtype.type, np.void)


def is_number(dtype: AnyDType) -> bool:
    """Tell whether arrays of ``dtype`` hold numbers or bools: all that libraries exchange."""
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
    bounds = np.iinfo(dtype)
    extremes = (view,) if view.ndim == 0 else (view.min(), view.max())
    for extreme in map(int, cast("Sequence[SupportsInt]", extremes)):
        if not bounds.min <= extreme <= bounds.max:
            return extreme
    return None
