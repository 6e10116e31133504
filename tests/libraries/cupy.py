from importlib import import_module
from typing import Any

from tests.support import missing

try:
    cupy: Any = import_module("cupy")  # which has no types
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["cupy"]
