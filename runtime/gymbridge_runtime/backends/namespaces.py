"""Array API namespaces, by module or by name."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from array_api_compat import array_namespace
from gymbridge_runtime.core.describe import describe
from gymbridge_runtime.core.errors import BackendNotInstalledError
from gymbridge_runtime.core.narrowing import getattr_untyped

if TYPE_CHECKING:
    from collections.abc import Callable

Namespace: TypeAlias = ModuleType | str
"""``torch``, ``jax.numpy``, ``array_api_compat.dask.array``, …, or the name of one."""

_COMPAT = "array_api_compat."

# array-api-compat types only the arrays of a few libraries
_namespace_of: Final = cast("Callable[[object], ModuleType]", array_namespace)


def module_namespace(xp: Namespace) -> ModuleType:
    """Return the array API namespace of a library: itself, or the one of array-api-compat.

    Raises:
        BackendNotInstalledError: No module has the name.
        ValueError: array-api-compat does not know the arrays of the module.
    """
    try:
        module = import_module(xp) if isinstance(xp, str) else xp
    except ModuleNotFoundError as error:
        raise BackendNotInstalledError.explain(
            str(xp), f"pip install {error.name}", error
        ) from error
    try:
        make = cast("Callable[[int], object]", getattr_untyped(module, "zeros"))
        return _namespace_of(make(0))
    except (AttributeError, TypeError) as error:
        raise ValueError(
            f"{getattr(module, '__name__', describe(module))} is no array API namespace ({error}); "
            + "pass a module such as numpy, torch, jax.numpy or array_api_strict, or its name"
        ) from error


def module_name_to_namespace(name: str) -> ModuleType:
    """Return the array API namespace of the library whose module has this name."""
    return module_namespace(name)


def namespace_name(xp: Namespace) -> str:
    """Return the name of a library's own module, for specs and pickles."""
    module = xp if isinstance(xp, str) or hasattr(xp, "__name__") else module_namespace(xp)
    name = module if isinstance(module, str) else module.__name__
    return name.removeprefix(_COMPAT)
