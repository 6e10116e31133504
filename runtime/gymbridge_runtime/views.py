"""Host views of single values of any library, for those who look into them on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.dtypes import is_number
from gymbridge_runtime.foreign import foreign_view, is_foreign_array
from gymbridge_runtime.kinds import Kinds
from gymbridge_runtime.known import backend_of
from gymbridge_runtime.narrowing import is_host_scalar

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import HostArray

__all__ = ["Views"]

View = Callable[[object], "HostArray | None"]


class Views(Kinds[View]):
    """From a type to the function that views its instances: None where there are no numbers."""

    def __missing__(self, kind: type[object]) -> View:
        return self.remember(kind, _view_of(kind))

    def of(self, value: object) -> HostArray | None:
        """Return a host view of an array or number, or None for anything else."""
        return self[type(value)](value)


def _view_of(kind: type[object]) -> View:
    if is_host_scalar(kind):
        return np.asarray if is_number(np.dtype(kind)) else _nothing
    backend = backend_of(kind)
    if backend is not None:
        return _nothing if backend.is_opaque(kind) else _through(backend)
    if issubclass(kind, (bool, int, float)):
        return _of_number
    return _of_foreign if is_foreign_array(kind) else _nothing


def _nothing(_value: object) -> HostArray | None:
    return None


def _of_number(value: object) -> HostArray | None:
    view = np.asarray(value)
    return view if is_number(view.dtype) else None  # an int of more than 64 bits is none


def _of_foreign(value: object) -> HostArray | None:
    view = foreign_view(value).array
    return view if is_number(view.dtype) else None


def _through(backend: AnyBackend) -> View:
    def view(value: object) -> HostArray | None:
        array = backend.show(value).array
        return array if is_number(array.dtype) else None

    return view
