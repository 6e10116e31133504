"""`[tool.gymbridge]` in the nearest pyproject.toml: the paths of spec, wrappers and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator.errors import GeneratorError, Problem, SettingsError
from gymbridge_generator.locate import line_of
from gymbridge_generator.quoting import instead, quoted, spell
from gymbridge_generator.reading import read_text
from gymbridge_generator.toml import is_array, is_table, parse_toml

if TYPE_CHECKING:
    from pathlib import Path

_KEYS = {
    "backends": "names, in an array",
    "out": "a path, in quotes",
    "spec": "a path, in quotes",
    "tests": "a path, in quotes",
}
"""The keys of the table, and their types."""
_FILE = "pyproject.toml"


@dataclass(frozen=True)
class Settings:
    """The values of options that the command line leaves out."""

    spec: Path | None = None
    out: Path | None = None
    backends: tuple[str, ...] = ()
    tests: Path | None = None


def root_of(folder: Path) -> Path | None:
    """Return the nearest folder, from ``folder`` upward, that has a pyproject.toml."""
    folder = folder.resolve()
    return next((each for each in (folder, *folder.parents) if (each / _FILE).is_file()), None)


def settings(folder: Path) -> Settings:
    """Read the settings for ``folder``; their paths are relative to their file.

    Raises:
        SettingsError: The file is no TOML, or the table has an error.
    """
    root = root_of(folder)
    if root is None:
        return Settings()
    file = root / _FILE
    try:
        text = read_text(file)
        data = parse_toml(text, str(file))
    except GeneratorError as error:
        raise SettingsError(str(error)) from None
    tools = data.get("tool")
    table: object = tools.get("gymbridge", {}) if is_table(tools) else {}
    if not is_table(table):
        raise SettingsError(_problem(file, text, (), "is of the wrong kind; use a table"))
    problems = [
        _problem(file, text, (key,), what)
        for key, value in table.items()
        if (what := _wrong(key, value))
    ]
    if problems:
        raise SettingsError("\n".join(problems))
    paths = {key: root / str(table[key]) for key in ("spec", "out", "tests") if key in table}
    return Settings(**paths, backends=_names(table.get("backends")))


def _wrong(key: str, value: object) -> str:
    if key not in _KEYS:
        return f"unknown key; {instead(key, [*_KEYS])}"
    good = bool(_names(value)) if key == "backends" else _is_path(value)
    return "" if good else f"{quoted(value)} is of the wrong kind; use {_KEYS[key]}"


def _is_path(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _names(value: object) -> tuple[str, ...]:
    """Return an array of texts; an empty one for anything else."""
    items = value if is_array(value) else []
    names = tuple(item for item in items if isinstance(item, str))
    return names if len(names) == len(items) else ()


def _problem(file: Path, text: str, path: tuple[str, ...], what: str) -> str:
    path = ("tool", "gymbridge", *path)
    return str(Problem(str(file), line_of(text, path), spell(path), what))
