"""A generated package for one library of the catalogue."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Array, Library


def package_of(library: str) -> str:
    """Return the name of the generated package."""
    return f"bridges_of_{library}"


class Bridges(NamedTuple):
    """The generated package for a library and its partners."""

    folder: Path
    """The folder to import it from."""
    package: str

    def convert(self, source: Library, target: Library, value: object, **options: object) -> Array:
        """Call the converter from ``source`` to ``target``."""
        name = f"{source.name}_to_{target.name}"
        module = import_module(f"{self.package}.{name}")
        return getattr(module, name)(value, **options)

    def wrapper(self, source: Library, target: Library, form: str = "") -> Array:
        """Return the wrapper class from ``source`` to ``target``."""
        package = import_module(f"{self.package}.{form}".rstrip("."))
        return getattr(package, f"{source.name.capitalize()}To{target.name.capitalize()}")

    def backend(self, library: Library) -> Array:
        """Return the generated backend."""
        module = import_module(f"{self.package}.backends.{library.name}")
        return getattr(module, library.name.upper())
