"""Errors that say where, what is wrong, and what to do."""

from __future__ import annotations

from typing import Final

from gymbridge_runtime.core.describe import shown
from typing_extensions import override

__all__ = ["REFUSED", "BackendNotInstalledError", "ConversionError", "CopyRequiredError"]

_LONG_PATH = 160

REFUSED: Final = Exception
"""What a library raises when it refuses a value: a mode of PyTorch raises what its author likes."""


class ConversionError(TypeError):
    """A value has no faithful counterpart in the target library.

    Attributes:
        problem: What is wrong; the whole message where that is all that came through, as from the
            workers of `gymnasium.vector.AsyncVectorEnv`.
        advice: What to do about it.
        subject: The value in words: library, type, dtype, shape and device.
        path: Where the value sits, ``obs['goal'][2]``.
    """

    def __init__(self, problem: str, advice: str = "", subject: str = "", path: str = "") -> None:
        super().__init__(problem, advice, subject, path)
        self.problem: str = problem
        self.advice: str = advice
        self.subject: str = subject
        self.path: str = path

    args: tuple[str, str, str, str]

    @classmethod
    def unforeseen(cls, error: Exception, subject: str) -> ConversionError:
        """Wrap an unexpected exception."""
        return cls(f"it could not be converted: {shown(error)}", "see the cause above", subject)

    def below(self, step: str) -> None:
        """Put ``step`` before the path: ``['goal']``, ``obs``."""
        self.path = step + self.path
        self.args = (self.problem, self.advice, self.subject, self.path)

    def about(self, subject: str) -> None:
        """Note what the value is, unless an inner call noted it already."""
        self.subject = self.subject or subject
        self.args = (self.problem, self.advice, self.subject, self.path)

    @override
    def __str__(self) -> str:
        path = self.path
        if len(path) > _LONG_PATH:
            path = f"{path[: _LONG_PATH // 2]}…{path[-_LONG_PATH // 2 :]}"
        where = f"{path}: " if path else ""
        what = f" ({self.subject})" if self.subject else ""
        return f"{where}{self.problem}{what}" + (f"; {self.advice}" if self.advice else "")


class CopyRequiredError(ConversionError):
    """``copy=False`` was asked for where the two libraries cannot share memory."""


class BackendNotInstalledError(ImportError):
    """An array library that a wrapper needs cannot be imported."""

    @classmethod
    def explain(
        cls, title: str, install: str, error: ModuleNotFoundError
    ) -> BackendNotInstalledError:
        """Say what ``title`` misses, and the command that installs it.

        What is missing need not be the library: it may be a module that the library needs.
        """
        return cls(
            f"{title} needs the module {error.name!r}, which is not installed; run: {install}",
            name=error.name,
        )
