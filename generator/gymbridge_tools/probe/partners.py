"""Tries the library with others directly, without gymbridge."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.subject import Subject, WrongError, aligned, attribute, called

if TYPE_CHECKING:
    from gymbridge_runtime.types import HostArray

PARTNERS = {"torch": "torch", "jax": "jax.numpy"}
"""The libraries to try beside NumPy, and the path of their `from_dlpack`."""

_VALUES: HostArray = aligned(np.arange(6, dtype=np.float32).reshape(2, 3))


def gives(subject: Subject) -> Answer:
    """Let another library import an array."""
    module = import_module(PARTNERS[subject.about])
    taken = called(attribute(module, "from_dlpack"), subject.make(_VALUES))
    if not np.array_equal(np.asarray(taken), _VALUES):
        raise WrongError("the values became others")
    return Answer(value=True, evidence=f"{subject.about} takes its arrays")


def takes(subject: Subject) -> Answer:
    """Import an array of another library."""
    module = import_module(PARTNERS[subject.about])
    made = called(attribute(module, "asarray"), _VALUES.copy())
    if not np.array_equal(subject.seen(subject.take(made)), _VALUES):
        raise WrongError("the values became others")
    return Answer(value=True, evidence=f"it takes arrays of {subject.about}")


QUESTIONS = {"gives": gives, "takes": takes}
