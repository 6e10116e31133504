"""Finds the libraries and wrappers of a package, without importing an array library."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_RUNTIME = "gymbridge_runtime"


class NoPackageError(Exception):
    """A name is no package of wrappers; the text says what to do."""


@dataclass(frozen=True)
class Library:
    """One array library of a package."""

    name: str
    title: str
    module: str
    """The generated module that imports it."""
    roots: tuple[str, ...]
    """The top-level modules that it imports."""

    def is_installed(self) -> bool:
        """Tell whether all modules of the library can be imported."""
        return all(find_spec(root) is not None for root in self.roots)


@dataclass(frozen=True)
class Pair:
    """The wrappers of one name in a package, which differ in form."""

    wrapper: str
    modules: tuple[str, ...]
    """The module of each wrapper; the first one is reported."""
    source: str
    """The generated module of the environment's library."""
    target: str
    """The generated module of the agent's library."""


def libraries(package: str) -> list[Library]:
    """Return the libraries that a package has wrappers of.

    Raises:
        NoPackageError: It was not made by `gymbridge generate`, or cannot be found.
    """
    found = [
        _library(name, f"{package}.backends.{name}", ast.parse(path.read_bytes()))
        for name, path in _modules(package, "backends")
    ]
    if not found:
        raise NoPackageError(
            f"there is no package {package!r} with generated wrappers to be imported from here; "
            + "run `gymbridge generate`, or name another one with --package"
        )
    return found


def pairs(package: str, of: list[Library]) -> list[Pair]:
    """Return the pairs of a package; wrappers for parallel environments are left out."""
    forms = {
        package: dict(_modules(package, "")),
        f"{package}.vector": dict(_modules(package, "vector")),
        f"{package}.batched": dict(_modules(package, "batched")),
    }
    found: list[Pair] = []
    for source, target in permutations(of, 2):
        name = f"{source.name}_to_{target.name}"
        files = {f"{form}.{name}": files[name] for form, files in forms.items() if name in files}
        if files:
            wrapper = _wrapper(next(iter(files.values())))
            found.append(Pair(wrapper, tuple(files), source.module, target.module))
    return found


def _wrapper(file: Path) -> str:
    """Return the name of the one class that a generated module defines."""
    body = ast.parse(file.read_bytes()).body
    return next(node.name for node in body if isinstance(node, ast.ClassDef))


def _modules(package: str, folder: str) -> Iterator[tuple[str, Path]]:
    """Yield the modules of a package or of its subpackage."""
    try:
        root = import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.partition(".")[0] and error.name != package:
            raise
        return
    for entry in root.__path__:
        for module in iter_modules([str(Path(entry, folder))]):
            yield module.name, Path(entry, folder, f"{module.name}.py")


def _library(name: str, module: str, source: ast.Module) -> Library:
    title = (ast.get_docstring(source) or name).partition(":")[0]
    attempts = [node for node in ast.walk(source) if isinstance(node, ast.Try)]
    imported = {
        each.partition(".")[0]
        for attempt in attempts  # an import that may fail
        for node in attempt.body
        for each in _imported(node)
    }
    return Library(name, title, module, tuple(sorted(imported - {_RUNTIME})))


def _imported(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
