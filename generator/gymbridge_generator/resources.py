"""Files that ship with the generator, in a wheel or in a checkout."""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.resources.abc import Traversable

SHIPPED = "gymbridge"
"""The name under which `extends` finds the shipped spec."""
SHIPPED_SPEC = "generator/gymbridge_generator/backends.toml"
"""The name of the shipped spec in headers, on every machine."""
_GROUP = "gymbridge.specs"


def shipped_spec() -> Traversable:
    """Return the spec of the wrappers that gymbridge comes with."""
    return files("gymbridge_generator") / "backends.toml"


def published_spec(name: str) -> str | None:
    """Return the text of the spec that an installed distribution publishes as ``name``."""
    if name == SHIPPED:  # works in a checkout that is not installed, too
        return shipped_spec().read_text(encoding="utf-8")
    for entry in entry_points(group=_GROUP, name=name):
        published = cast("Callable[[], Traversable]", entry.load())
        return published().read_text(encoding="utf-8")
    return None


def published_names() -> list[str]:
    """Return the names that `extends` can use."""
    return sorted({SHIPPED, *entry_points(group=_GROUP).names})


def templates() -> dict[str, str]:
    """Return every template by its name."""
    root: Traversable = files("gymbridge_generator") / "templates"
    if not root.is_dir():
        root = Path(__file__).parents[2] / "templates"
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in root.iterdir()
        if entry.name.endswith(".jinja")
    }
