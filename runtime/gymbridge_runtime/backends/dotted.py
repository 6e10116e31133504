"""Finds objects by dotted paths within a library."""

from __future__ import annotations

from importlib import import_module
from typing import cast


def dotted(path: str, module: str) -> object:
    """Return the object at ``path``, which begins with ``module``."""
    found: object = import_module(module)
    for name in path.removeprefix(module).split(".")[1:]:
        found = cast("object", getattr(found, name))
    return found
