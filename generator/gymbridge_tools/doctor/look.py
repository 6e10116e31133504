"""What one library says of itself; run in a process of its own, which it may end."""

from __future__ import annotations

from importlib.metadata import packages_distributions, version
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.backend import load
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.errors import BackendNotInstalledError

from gymbridge_tools.doctor.findings import LibraryFinding

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.dtypes import AnyDType

    from gymbridge_tools.doctor.package import Library

__all__ = ["WrongError", "backend_in", "look", "versions_of"]

_WIDE = ("int64", "float64", "complex128")
"""What some libraries keep as something narrower."""


class WrongError(Exception):
    """Something did not do what it promises."""


def look(library: Library) -> LibraryFinding:
    """Import a library, make an array of it and read the array again."""
    try:
        backend = backend_in(library.module)
    except BackendNotInstalledError as error:
        what, _, install = str(error).partition("; ")
        return LibraryFinding(
            library.name,
            library.title,
            "broken" if library.is_installed() else "not installed",
            versions_of(library.roots),
            problem=what,
            advice=install,
        )
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    array = Converter(backend, copy=True)(values)
    if not np.array_equal(backend.show(array).array, values):
        raise WrongError("an array that is read again has other values than it was made of")
    narrows = _narrowed(backend)
    return LibraryFinding(
        library.name,
        library.title,
        "works",
        versions_of(backend.roots),
        devices=tuple(backend.devices()),
        narrows=narrows,
        narrows_when=backend.narrowing[0] if narrows else "",
    )


def backend_in(module: str) -> AnyBackend:
    """Return the backend that a generated module holds."""
    return load(f"{module}:{module.rpartition('.')[2].upper()}")


def versions_of(roots: frozenset[str] | tuple[str, ...]) -> dict[str, str]:
    """Return the version of every distribution that brings one of these top-level modules."""
    distributions = packages_distributions()
    names = {name for root in roots for name in distributions.get(root, [])}
    return {name: version(name) for name in sorted(names)}


def _narrowed(backend: AnyBackend) -> dict[str, str]:
    kept: list[tuple[AnyDType, AnyDType | None]] = [
        (np.dtype(name), backend.stored_as(np.dtype(name))) for name in _WIDE
    ]
    return {
        dtype.name: stored.name for dtype, stored in kept if stored is not None and stored != dtype
    }
