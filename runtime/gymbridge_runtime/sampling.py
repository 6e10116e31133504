"""Which of Gymnasium's spaces a space samples like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.narrowing import untyped
from gymnasium import spaces

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnySpace

__all__ = ["samples_like"]

_KNOWN: frozenset[type[AnySpace]] = frozenset(
    {
        *(spaces.Box, spaces.Discrete, spaces.MultiBinary, spaces.MultiDiscrete),
        *(spaces.Dict, spaces.Graph, spaces.OneOf, spaces.Sequence, spaces.Tuple),
    }
)


def samples_like(space: AnySpace) -> type[AnySpace]:
    """Return the class of Gymnasium's that ``space`` has its samples from, or else its own class.

    A class of a user's own that samples in its own way may sample anything.
    """
    kind = type(space)
    base = next((one for one in _KNOWN if isinstance(space, one)), kind)
    return base if untyped(kind, "sample") is untyped(base, "sample") else kind
