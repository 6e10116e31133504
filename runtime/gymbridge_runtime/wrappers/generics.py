"""The generic part of Gymnasium that differs between its versions.

Before 1.4 its type variables have no defaults, and `VectorWrapper` is not generic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from gymbridge_runtime import types
from gymnasium import vector
from typing_extensions import TypeVar

__all__ = [
    "ActType",
    "ArrayType",
    "ObsType",
    "VectorWrapper",
    "WrapperActType",
    "WrapperObsType",
]

ObsType = TypeVar("ObsType", default=types.AnyType)
ActType = TypeVar("ActType", default=types.AnyType)
WrapperObsType = TypeVar("WrapperObsType", default=types.AnyType)
WrapperActType = TypeVar("WrapperActType", default=types.AnyType)
ArrayType = TypeVar("ArrayType", default=types.AnyType)

if TYPE_CHECKING:
    from gymnasium.vector import VectorWrapper
else:
    VectorWrapper = vector.VectorWrapper
    if not VectorWrapper.__parameters__:

        class VectorWrapper(
            VectorWrapper, Generic[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType]
        ):
            """Gymnasium's class, which can be subscripted."""
