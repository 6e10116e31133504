"""Examines one library, in a process of its own, which may crash."""

from __future__ import annotations

import ctypes
import sys
from importlib.metadata import packages_distributions, version
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.errors import BackendNotInstalledError, ConversionError

from gymbridge_tools.doctor.findings import LibraryFinding

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.core.dtypes import AnyDType

    from gymbridge_tools.doctor.findings import LibraryState
    from gymbridge_tools.doctor.package import Library

_WIDE = ("int64", "float64", "complex128")
"""The dtypes that some libraries narrow."""
_GPU = "cuda"
"""A word in the names of distributions that need a GPU."""
_NO_GPU = "it needs a GPU of NVIDIA, and there is none here"


class WrongError(Exception):
    """The library returned a wrong result."""


def look(library: Library) -> LibraryFinding:
    """Import a library, make an array of it and read the array again."""
    try:
        backend = backend_in(library.module)
    except BackendNotInstalledError as error:
        what, _, install = str(error).partition("; ")
        if _GPU in install and not has_gpu():
            what, install = _NO_GPU, ""
        state: LibraryState = "broken" if library.is_installed() else "not installed"
        return _unusable(library, state, what, install)
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    try:
        array = Converter(backend, copy=True)(values)
    except ConversionError:
        if has_gpu() or not any(_GPU in name for name in versions_of(library.roots)):
            raise
        return _unusable(library, "broken", _NO_GPU, "do without its wrappers, or uninstall it")
    if not np.array_equal(backend.show(array).array, values):
        raise WrongError("an array that is read again has other values than it was made of")
    narrows = _narrowed(backend, None)
    narrows_on: dict[str, dict[str, str]] = {}
    problems: list[str] = []
    for name in backend.devices():
        try:
            convert = Converter(backend, device=name, copy=True)
            if not np.array_equal(backend.show(convert(values)).array, values):
                raise WrongError(f"an array comes back from {name} with other values")
        except (ConversionError, ValueError) as error:
            problems.append(str(error))
        else:
            narrows_on[name] = _narrowed(backend, convert.device)
    return LibraryFinding(
        library.name,
        library.title,
        "works",
        versions_of(backend.roots),
        devices=tuple(backend.devices()),
        narrows=narrows,
        narrows_when=backend.narrowing[0] if narrows else "",
        narrows_on={name: there for name, there in narrows_on.items() if there != narrows},
        problem="; ".join(problems),
        advice="name another device" if problems else "",
    )


def _unusable(library: Library, state: LibraryState, problem: str, advice: str) -> LibraryFinding:
    versions = versions_of(library.roots)
    return LibraryFinding(
        library.name, library.title, state, versions, problem=problem, advice=advice
    )


def has_gpu() -> bool:
    """Tell whether NVIDIA's driver is installed and finds a GPU."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.pointer(count)) != 0:
        return False
    return count.value > 0


def backend_in(module: str) -> AnyBackend:
    """Return the backend that a generated module holds."""
    return load(f"{module}:{module.rpartition('.')[2].upper()}")


def versions_of(roots: frozenset[str] | tuple[str, ...]) -> dict[str, str]:
    """Return the versions of the distributions that install these top-level modules."""
    distributions = packages_distributions()
    names = {name for root in roots for name in distributions.get(root, [])}
    return {name: version(name) for name in sorted(names)}


def _narrowed(backend: AnyBackend, device: object) -> dict[str, str]:
    kept: list[tuple[AnyDType, AnyDType | None]] = [
        (np.dtype(name), backend.stored_at(np.dtype(name), device)) for name in _WIDE
    ]
    return {
        dtype.name: stored.name for dtype, stored in kept if stored is not None and stored != dtype
    }
