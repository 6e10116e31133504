"""Questions about a library, and their findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal["answered", "refused", "ended"]
"""The outcome of a question: an answer, an error, or the end of the process."""


@dataclass(frozen=True)
class Way:
    """A way to make arrays of the library from NumPy arrays."""

    importer: str
    """The dotted path of the function."""
    capsule: bool = False
    """Whether it takes a capsule instead of an array."""
    start: str | None = None
    """The dotted path of a function to call before."""


@dataclass(frozen=True)
class Question:
    """One question, asked in a process that may crash."""

    name: str
    module: str
    way: Way | None = None
    about: str = ""
    """The subject: a dtype, a layout, another library."""

    @property
    def key(self) -> str:
        """The key of its finding."""
        return f"{self.name} {self.about}".strip()


@dataclass(frozen=True)
class Answer:
    """The answer to a question."""

    value: str | int | bool | dict[str, str] | list[str] | None
    evidence: str = ""


@dataclass(frozen=True)
class Finding:
    """The result of a question."""

    question: Question
    outcome: Outcome
    answer: Answer
    """The answer; without one, its evidence is the error or the end of the process."""

    @property
    def holds(self) -> bool:
        """Whether the answer is true."""
        return self.outcome == "answered" and bool(self.answer.value)

    @property
    def evidence(self) -> str:
        """The evidence, in a line."""
        if self.outcome == "ended":
            return f"the process did not live through it: {self.answer.evidence}"
        return self.answer.evidence

    def as_json(self) -> dict[str, object]:
        """Return the finding for JSON."""
        return {
            "question": self.question.key,
            "outcome": self.outcome,
            "value": self.answer.value,
            "evidence": self.evidence,
            "way": None if self.question.way is None else asdict(self.question.way),
        }


def ended(question: Question, end: str) -> Finding:
    """Return the finding for a question that ended its process."""
    return Finding(question, "ended", Answer(None, end))
