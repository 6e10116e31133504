"""What is asked of a library, and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

__all__ = ["Answer", "Finding", "Outcome", "Question", "Way", "ended"]

Outcome: TypeAlias = Literal["answered", "refused", "ended"]
"""Whether there is an answer, an error, or a process that was ended by the question."""


@dataclass(frozen=True)
class Way:
    """How arrays of the library are made from NumPy's."""

    importer: str
    """The dotted path of the function."""
    capsule: bool = False
    """Whether it takes the capsule of an array, and no array."""
    start: str | None = None
    """The dotted path of what has to be called before."""


@dataclass(frozen=True)
class Question:
    """One thing to find out, in a process that it may end."""

    name: str
    module: str
    way: Way | None = None
    about: str = ""
    """What of it: a dtype, a layout, another library."""

    @property
    def key(self) -> str:
        """What findings are found by."""
        return f"{self.name} {self.about}".strip()


@dataclass(frozen=True)
class Answer:
    """What a question found out."""

    value: str | int | bool | dict[str, str] | list[str] | None
    evidence: str = ""


@dataclass(frozen=True)
class Finding:
    """What became of a question."""

    question: Question
    outcome: Outcome
    answer: Answer
    """With the error, or how the process ended, as its evidence where there is no answer."""

    @property
    def holds(self) -> bool:
        """Whether the answer is yes, or any other that is something."""
        return self.outcome == "answered" and bool(self.answer.value)

    @property
    def evidence(self) -> str:
        """What was seen, in a line."""
        if self.outcome == "ended":
            return f"the process did not live through it: {self.answer.evidence}"
        return self.answer.evidence

    def as_json(self) -> dict[str, object]:
        """Return the finding as objects that JSON has."""
        return {
            "question": self.question.key,
            "outcome": self.outcome,
            "value": self.answer.value,
            "evidence": self.evidence,
            "way": None if self.question.way is None else asdict(self.question.way),
        }


def ended(question: Question, end: str) -> Finding:
    """Return the finding that a question ended its process."""
    return Finding(question, "ended", Answer(None, end))
