"""Finds the name under which a package is imported, from its folder."""

from __future__ import annotations

import sys
from keyword import iskeyword
from pathlib import Path
from typing import NamedTuple

from gymbridge_generator.errors import SettingsError
from gymbridge_generator.quoting import printable


class Place(NamedTuple):
    """Where a package is imported from."""

    root: Path
    """The folder that has to be on Python's path."""
    name: str

    def unmarked(self) -> list[Path]:
        """Return the folders above the package that have no `__init__`."""
        parts = self.name.split(".")[:-1]
        folders = [self.root.joinpath(*parts[: end + 1]) for end in range(len(parts))]
        return [folder for folder in folders if not _is_package(folder)]


def place_of(out: Path) -> Place:
    """Return where the package in ``out`` is imported from; the folder need not exist yet.

    Folders with an `__init__` are packages. The folder above them that Python looks into is the
    nearest that is on the path, is called `src`, has a pyproject.toml or is the working folder;
    without any of these it is the first.

    Raises:
        SettingsError: The name of a folder is no name of a package.
    """
    folder = out.resolve()
    above = [each for each in folder.parents if not _is_package(each)]
    root = above[0]
    for each in above:
        if _is_root(each):
            root = each
            break
        if not _is_name(each.name):
            break
    names = folder.relative_to(root).parts
    wrong = next((name for name in names if not _is_name(name)), None)
    if wrong is not None:
        raise SettingsError(
            f"no package can be imported from a folder called {printable(wrong)}; choose another "
            + "with --out: letters of ASCII, digits and underscores, and no keyword of Python"
        )
    return Place(root, ".".join(names))


def _is_root(folder: Path) -> bool:
    path = {Path(entry).resolve() for entry in sys.path if entry}
    marked = folder.name == "src" or (folder / "pyproject.toml").is_file()
    return marked or folder in {*path, Path.cwd()}


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _is_name(name: str) -> bool:
    return name.isascii() and name.isidentifier() and not iskeyword(name)
