"""Host views of single values of any library, for those who look into them on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.backend import HostView
from gymbridge_runtime.dtypes import is_number
from gymbridge_runtime.foreign import foreign_view, is_foreign_array
from gymbridge_runtime.kinds import Kinds
from gymbridge_runtime.known import backend_of
from gymbridge_runtime.narrowing import is_host_scalar

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import HostArray

__all__ = ["Views"]

View = Callable[[object], "HostView | None"]


class Views(Kinds[View]):
    """From a type to the function that views its instances: None where there are no numbers."""

    def __missing__(self, kind: type[object]) -> View:
        return self.remember(kind, _view_of(kind))

    def shown(self, value: object) -> HostView | None:
        """Return a host view of an array or number, or None for anything else."""
        return self[type(value)](value)

    def of(self, value: object) -> HostArray | None:
        """Return the array of the same, for those to whom it is the same whose memory it has."""
        view = self[type(value)](value)
        return None if view is None else view.array


def _view_of(kind: type[object]) -> View:
    if is_host_scalar(kind):
        return _of_number if is_number(np.dtype(kind)) else _nothing
    backend = backend_of(kind)
    if backend is not None:
        return _nothing if backend.is_opaque(kind) else _through(backend)
    if issubclass(kind, (bool, int, float)):
        return _of_number
    return _of_foreign if is_foreign_array(kind) else _nothing


def _nothing(_value: object) -> HostView | None:
    return None


def _of_number(value: object) -> HostView | None:
    return _of_numbers(HostView(np.asarray(value), owned=True))


def _of_foreign(value: object) -> HostView | None:
    return _of_numbers(foreign_view(value))


def _through(backend: AnyBackend) -> View:
    def view(value: object) -> HostView | None:
        return _of_numbers(backend.show(value))

    return view


def _of_numbers(view: HostView) -> HostView | None:
    return view if is_number(view.array.dtype) else None  # an int of more than 64 bits is none
