"""Errors that say where, what is wrong, and what to do."""

from __future__ import annotations

from typing import Final

from gymbridge_runtime.core.describe import shown
from typing_extensions import override

_LONG_PATH = 160

REFUSED: Final = Exception
"""What libraries raise when they refuse a value: a mode of PyTorch may raise anything."""


class ConversionError(TypeError):
    """A value has no faithful counterpart in the target library.

    Attributes:
        problem: What is wrong. If the error comes from a worker of
            `gymnasium.vector.AsyncVectorEnv`, the whole message.
        advice: What to do about it.
        subject: The value in words: library, type, dtype, shape and device.
        path: Where the value is, such as ``obs['goal'][2]``.
    """

    def __init__(self, problem: str, advice: str = "", subject: str = "", path: str = "") -> None:
        super().__init__(problem, advice, subject, path)
        self.problem: str = problem
        self.advice: str = advice
        self.subject: str = subject
        self.path: str = path

    args: tuple[str, str, str, str]

    @classmethod
    def unforeseen(cls, error: Exception) -> ConversionError:
        """Wrap an unexpected exception."""
        return cls(f"it could not be converted: {shown(error)}", "see the cause above")

    def below(self, step: str) -> None:
        """Put ``step``, such as ``['goal']`` or ``obs``, before the path."""
        self.path = step + self.path
        self.args = (self.problem, self.advice, self.subject, self.path)

    def about(self, subject: str) -> None:
        """Set the subject, unless an inner call has set it already."""
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
    """``copy=False`` was given, and the two libraries cannot share the memory."""

    @classmethod
    def for_cast(cls, dtype: object, wanted: object) -> CopyRequiredError:
        """Say that a cast would have to copy."""
        return cls(f"{dtype} would have to be cast to {wanted}", "cast it first, or allow copies")


class BackendNotInstalledError(ImportError):
    """An array library that a wrapper needs cannot be imported."""

    @classmethod
    def explain(
        cls, title: str, install: str, error: ModuleNotFoundError
    ) -> BackendNotInstalledError:
        """Name the missing module, ``title`` or one that it needs, and how to install it."""
        return cls(
            f"{title} needs the module {error.name!r}, which is not installed; run: {install}",
            name=error.name,
        )
