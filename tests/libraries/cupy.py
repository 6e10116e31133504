from importlib import import_module
from typing import Any

cupy: Any = import_module("cupy")  # or the stand-in of `tests/conftest.py`

__all__ = ["cupy"]
