"""The process that asks questions. It writes each finding at once, because it may crash.

Run as ``python -m gymbridge_tools.probe.worker FINDINGS``, with the questions pickled on its
standard input.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gymbridge_tools.probe import (
    devices,
    dtypes,
    exports,
    identity,
    layouts,
    memory,
    partners,
    round_trips,
)
from gymbridge_tools.probe.findings import Answer, Finding, Question
from gymbridge_tools.probe.subject import Caught, Subject

if TYPE_CHECKING:
    from collections.abc import Callable

_QUESTIONS: dict[str, Callable[[Subject], Answer]] = {
    **identity.QUESTIONS,
    **memory.QUESTIONS,
    **layouts.QUESTIONS,
    **dtypes.QUESTIONS,
    **exports.QUESTIONS,
    **devices.QUESTIONS,
    **partners.QUESTIONS,
    **round_trips.QUESTIONS,
}


def answered(question: Question) -> Finding:
    """Ask a question; an error is an answer, too."""
    answer = Answer(None)
    with Caught() as caught:
        answer = _QUESTIONS[question.name](Subject(question))
    if caught.error is None:
        return Finding(question, "answered", answer)
    return Finding(question, "refused", Answer(None, caught.said))


def main() -> None:
    """Ask one question after the other."""
    warnings.simplefilter("ignore")  # warnings about the machine
    questions = cast("list[Question]", pickle.load(sys.stdin.buffer))
    with Path(sys.argv[1]).open("wb") as findings:
        for question in questions:
            pickle.dump(answered(question), findings)
            findings.flush()


if __name__ == "__main__":
    main()
