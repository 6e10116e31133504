"""How leaves are treated, by their type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.backends.registry import LISTENERS, backend_of
from gymbridge_runtime.core.containers import OBJECT_ARRAY, AnyContainer, container_of
from gymbridge_runtime.core.dtypes import is_number
from gymbridge_runtime.core.foreign import is_foreign_array
from gymbridge_runtime.core.narrowing import is_host_array, is_host_scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backends.base import AnyBackend


Role: TypeAlias = Literal[
    "keep",  # it stays itself
    "number",  # a number of Python becomes a 0-d array
    "scalar",  # a scalar of NumPy becomes a 0-d array
    "host",  # an array of NumPy; one of objects is a container
    "array",  # an array of another library with a backend
    "foreign",  # an array of any other library
    "unknown",  # an unknown mapping or sequence stays itself, with a warning
    "opaque",  # it only looks like an array of numbers: it stays itself, or is copied whole
]
"""How a leaf is treated. It is a word, because an enum member takes 50 ns to look up."""


class LeafType(NamedTuple):
    """How instances of one type are treated."""

    role: Role
    backend: AnyBackend | None = None


_TEXT: Final = LeafType("opaque", NUMPY)

_MOST_TYPES: Final = 1024
"""The most types that are remembered, because a program may make types without end."""


class _Types(dict[type[object], "LeafType | AnyContainer"]):
    """The treatment of each type, found when the type is first met."""

    def __missing__(self, kind: type[object]) -> LeafType | AnyContainer:
        if len(self) >= _MOST_TYPES:
            self.clear()
        found = self[kind] = _find(kind)
        return found


TYPES: Final = _Types()
LISTENERS.append(TYPES.clear)


kind_of_numbers: Final = cast("Callable[[object], str]", attrgetter("dtype.kind"))
NUMBERS: Final = frozenset("fiubc")
"""The values of ``dtype.kind`` that always stand for numbers."""


def treatment_of(array: object, kind: LeafType) -> LeafType | AnyContainer:
    """Return the treatment of a NumPy array: ``kind``, unless it holds no numbers."""
    if not is_host_array(array) or is_number(array.dtype):
        return kind
    return OBJECT_ARRAY if array.dtype.kind == "O" else _TEXT


def _find(kind: type[object]) -> LeafType | AnyContainer:
    if issubclass(kind, (Enum, str, bytes, bool)):
        return LeafType("keep")
    if is_host_scalar(kind):
        if is_number(np.dtype(kind)):
            return LeafType("scalar")
        return LeafType("opaque" if issubclass(kind, np.void) else "keep")
    backend = backend_of(kind)
    if backend is not None:
        role: Role = "host" if backend is NUMPY else "array"
        return LeafType("opaque" if backend.is_opaque(kind) else role, backend)
    if issubclass(kind, (int, float, complex)):
        return LeafType("number")
    container = container_of(kind)
    if container is not None:
        return container
    if is_foreign_array(kind):
        return LeafType("foreign")
    return LeafType("unknown" if issubclass(kind, (Mapping, Sequence)) else "keep")
