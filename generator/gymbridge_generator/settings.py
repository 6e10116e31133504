"""`[tool.gymbridge]` of the nearest pyproject.toml: where the spec is and where wrappers go."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from gymbridge_generator.errors import Problem, SettingsError, SpecError
from gymbridge_generator.locate import line_of
from gymbridge_generator.toml import is_table, parse_toml

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Settings", "root_of", "settings"]

_KEYS = ("out", "spec")
_FILE = "pyproject.toml"


@dataclass(frozen=True)
class Settings:
    """What stands for options that were left out."""

    spec: Path | None = None
    out: Path | None = None


def root_of(folder: Path) -> Path | None:
    """Return the nearest folder, from ``folder`` upward, that has a pyproject.toml."""
    folder = folder.resolve()
    return next((each for each in (folder, *folder.parents) if (each / _FILE).is_file()), None)


def settings(folder: Path) -> Settings:
    """Read the settings that hold in ``folder``; paths are relative to their file.

    Raises:
        SettingsError: The file is no TOML, or the table has something that it should not have.
    """
    root = root_of(folder)
    if root is None:
        return Settings()
    file = root / _FILE
    text = file.read_text(encoding="utf-8")
    try:
        data = parse_toml(text, str(file))
    except SpecError as error:
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
    return Settings(**{key: root / str(value) for key, value in table.items()})


def _wrong(key: str, value: object) -> str:
    if key not in _KEYS:
        near = get_close_matches(key, _KEYS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"allowed are {', '.join(_KEYS)}"
        return f"unknown key; {hint}"
    if isinstance(value, str):
        return ""
    return f"{value!r} is of the wrong kind; use a path, in quotes"


def _problem(file: Path, text: str, path: tuple[str, ...], what: str) -> str:
    path = ("tool", "gymbridge", *path)
    return str(Problem(str(file), line_of(text, path), ".".join(path), what))
