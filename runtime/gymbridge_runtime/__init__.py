"""The conversion core that every generated wrapper shares; users import `gymbridge`."""

from gymbridge_runtime._version import __version__
from gymbridge_runtime.api import RUNTIME_API, require_runtime_api
from gymbridge_runtime.errors import BackendNotInstalledError, ConversionError, CopyRequiredError

__all__ = [
    "RUNTIME_API",
    "BackendNotInstalledError",
    "ConversionError",
    "CopyRequiredError",
    "__version__",
    "require_runtime_api",
]
