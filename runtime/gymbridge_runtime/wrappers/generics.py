"""The generic parts of Gymnasium that differ between its versions.

Before Gymnasium 1.4, type variables have no defaults, and `VectorWrapper` is not generic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from gymbridge_runtime import types
from gymnasium.vector import VectorWrapper
from typing_extensions import TypeVar

__all__ = [
    "ActType",
    "ArrayType",
    "GenericVectorWrapper",
    "ObsType",
    "WrapperActType",
    "WrapperObsType",
]

ObsType = TypeVar("ObsType", default=types.AnyType)
ActType = TypeVar("ActType", default=types.AnyType)
WrapperObsType = TypeVar("WrapperObsType", default=types.AnyType)
WrapperActType = TypeVar("WrapperActType", default=types.AnyType)
ArrayType = TypeVar("ArrayType", default=types.AnyType)

if TYPE_CHECKING:
    from gymnasium.vector import VectorWrapper as GenericVectorWrapper
else:
    GenericVectorWrapper = VectorWrapper
    if not VectorWrapper.__parameters__:

        class GenericVectorWrapper(
            VectorWrapper, Generic[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType]
        ):
            """Gymnasium's class, made generic."""
