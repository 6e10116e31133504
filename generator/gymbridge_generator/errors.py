"""Errors that the command `gymbridge` reports without a traceback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from gymbridge_generator.quoting import printable

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Problem:
    """One error in one file."""

    file: str
    line: int
    where: str
    """The path of the key, such as ``backend[0].name``; may be empty."""
    what: str
    """What is wrong, and what is allowed."""

    @override
    def __str__(self) -> str:
        return ": ".join(
            filter(None, [f"{printable(self.file)}:{self.line}", self.where, self.what])
        )


class GeneratorError(Exception):
    """An error that the user can correct; its text says how."""


class SpecError(GeneratorError):
    """All errors in a spec."""

    def __init__(self, problems: Iterable[Problem], *, more: int = 0) -> None:
        self.problems: list[Problem] = sorted(problems, key=lambda p: (p.file, p.line))
        count = len(self.problems) + more
        head = "1 error" if count == 1 else f"{count} errors"
        tail = [f"and {more} more"] if more else []
        super().__init__("\n".join([f"{head} in the spec", *map(str, self.problems), *tail]))


class SettingsError(GeneratorError):
    """The table ``[tool.gymbridge]`` is wrong, or lacks a setting that is needed."""


class OutputError(GeneratorError):
    """The output folder holds a file that the generator must not replace."""
