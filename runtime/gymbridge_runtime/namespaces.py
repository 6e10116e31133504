"""Array API namespaces, by module or by name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from array_api_compat import array_namespace
from gymbridge_runtime.describe import describe
from gymbridge_runtime.errors import BackendNotInstalledError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Namespace",
    "module_name_to_namespace",
    "module_namespace",
    "namespace_name",
]

Namespace: TypeAlias = ModuleType | str
"""``torch``, ``jax.numpy``, ``array_api_compat.dask.array``, …, or the name of one."""

_COMPAT = "array_api_compat."

# any library's arrays, of which the types of array-api-compat name a few
_namespace_of: Final = cast("Callable[[object], ModuleType]", array_namespace)


class _Library(Protocol):
    def zeros(self, shape: int, /) -> object: ...


def module_namespace(xp: Namespace) -> ModuleType:
    """Return the array API namespace of a library: itself, or the one of array-api-compat.

    Raises:
        ValueError: The module has no arrays that array-api-compat knows.
    """
    module = _imported(xp) if isinstance(xp, str) else xp
    try:
        namespace: ModuleType = _namespace_of(_zeros_of(module)(0))
    except (AttributeError, TypeError) as error:
        raise ValueError(
            f"{getattr(module, '__name__', describe(module))} is no array API namespace ({error}); "
            + "pass a module such as numpy, torch, jax.numpy or array_api_strict, or its name"
        ) from error
    return namespace


def module_name_to_namespace(name: str) -> ModuleType:
    """Return the array API namespace of the library whose module has this name."""
    return module_namespace(name)


def namespace_name(xp: Namespace) -> str:
    """Return the name of a library's own module, which is what specs and pickles hold."""
    module = xp if isinstance(xp, str) or hasattr(xp, "__name__") else module_namespace(xp)
    name = module if isinstance(module, str) else module.__name__
    return name.removeprefix(_COMPAT)


def _zeros_of(module: object) -> Callable[[int], object]:
    return cast("_Library", module).zeros


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise BackendNotInstalledError.explain(name, f"pip install {error.name}", error) from error
