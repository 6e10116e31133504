from importlib import import_module
from typing import Any

cupy: Any = import_module("cupy")  # or what stands in for it, as `tests/conftest.py` says

__all__ = ["cupy"]
