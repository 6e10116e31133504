import warnings
from importlib import import_module
from typing import Any

from tests.support import missing

try:
    pettingzoo: Any = import_module("pettingzoo")  # it declares no types
    with warnings.catch_warnings():  # PettingZoo's tests use an import that it deprecates
        warnings.simplefilter("ignore", DeprecationWarning)
        pettingzoo_test: Any = import_module("pettingzoo.test")
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["pettingzoo", "pettingzoo_test"]
