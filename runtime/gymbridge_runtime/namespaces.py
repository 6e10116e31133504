"""Array API namespaces, by module or by name, and the backends of the libraries they belong to."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from array_api_compat import array_namespace
from gymbridge_runtime.errors import BackendNotInstalledError
from gymbridge_runtime.known import backend_named

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend

__all__ = [
    "Namespace",
    "backend_for",
    "module_name_to_namespace",
    "module_namespace",
    "namespace_name",
]

Namespace: TypeAlias = ModuleType | str
"""``torch``, ``jax.numpy``, ``array_api_compat.dask.array``, …, or the name of one."""

_COMPAT = "array_api_compat."


def module_namespace(xp: Namespace) -> ModuleType:
    """Return the array API namespace of a library: itself, or the one of array-api-compat.

    Raises:
        ValueError: The module has no arrays that array-api-compat knows.
    """
    module = _imported(xp) if isinstance(xp, str) else xp
    try:
        namespace: ModuleType = array_namespace(module.zeros(0))
    except (AttributeError, TypeError) as error:
        raise ValueError(
            f"{module.__name__} is no array API namespace ({error}); "
            "pass a module such as numpy, torch, jax.numpy or array_api_strict, or its name"
        ) from error
    return namespace


def module_name_to_namespace(name: str) -> ModuleType:
    """Return the array API namespace of the library whose module has this name."""
    return module_namespace(name)


def namespace_name(xp: Namespace) -> str:
    """Return the name of a library's own module, which is what specs and pickles hold."""
    name = xp if isinstance(xp, str) else xp.__name__
    return name.removeprefix(_COMPAT)


def backend_for(xp: Namespace) -> AnyBackend:
    """Return the backend of a library: its own if there is one, else one made of the standard."""
    from gymbridge_runtime.backends.namespace import NamespaceBackend

    name = namespace_name(xp)
    backend = backend_named(name.partition(".")[0])
    return NamespaceBackend.of(name) if backend is None else backend


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise BackendNotInstalledError.explain(name, f"pip install {error.name}", error) from error
