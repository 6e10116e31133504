"""The conversion core that every generated wrapper shares; users import `gymbridge`."""

from typing import TYPE_CHECKING

from gymbridge_runtime._version import __version__
from gymbridge_runtime.api import RUNTIME_API, require_runtime_api
from gymbridge_runtime.lazy import lazy_names

if TYPE_CHECKING:
    from gymbridge_runtime.core.containers import (
        UnconvertedContainerWarning as UnconvertedContainerWarning,
    )
    from gymbridge_runtime.core.containers import register_container as register_container
    from gymbridge_runtime.core.errors import BackendNotInstalledError as BackendNotInstalledError
    from gymbridge_runtime.core.errors import ConversionError as ConversionError
    from gymbridge_runtime.core.errors import CopyRequiredError as CopyRequiredError

__all__ = [
    "RUNTIME_API",
    "BackendNotInstalledError",
    "ConversionError",
    "CopyRequiredError",
    "UnconvertedContainerWarning",
    "__version__",
    "register_container",
    "require_runtime_api",
]

if not TYPE_CHECKING:  # with a module's __getattr__, type checkers accept every misspelt name
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "BackendNotInstalledError": f"{__name__}.core.errors",
            "ConversionError": f"{__name__}.core.errors",
            "CopyRequiredError": f"{__name__}.core.errors",
            "UnconvertedContainerWarning": f"{__name__}.core.containers",
            "register_container": f"{__name__}.core.containers",
        },
    )
