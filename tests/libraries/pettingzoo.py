import warnings
from importlib import import_module
from typing import Any

from tests.support import missing

try:
    pettingzoo: Any = import_module("pettingzoo")  # which does not say that it has types
    with warnings.catch_warnings():  # its tests import environments in a way that it deprecates
        warnings.simplefilter("ignore", DeprecationWarning)
        pettingzoo_test: Any = import_module("pettingzoo.test")
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["pettingzoo", "pettingzoo_test"]
