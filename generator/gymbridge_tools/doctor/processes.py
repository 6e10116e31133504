"""Findings from processes that may crash or hang; a crash is a finding, too."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Generic, cast

from typing_extensions import TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SubjectT = TypeVar("SubjectT")
FindingT = TypeVar("FindingT")

PATIENCE = 180.0
"""Seconds after which a process counts as hanging."""


class Survey(Generic[SubjectT, FindingT]):
    """Examines many subjects in as few processes as possible.

    Args:
        died: Makes the finding for a subject that ended its process, and the way it ended.
        patience: Seconds after which a process counts as hanging.
        worker: The module to run: it reads pickled subjects and writes findings to a file.
        path: One more folder to import from.
    """

    def __init__(
        self,
        died: Callable[[SubjectT, str], FindingT],
        *,
        patience: float = PATIENCE,
        worker: str = "gymbridge_tools.doctor.worker",
        path: str = "",
    ) -> None:
        self._path: str = path
        self._worker: str = worker
        self._died: Callable[[SubjectT, str], FindingT] = died
        self._patience: float = patience

    def of(self, subjects: Sequence[SubjectT]) -> Iterator[FindingT]:
        """Yield a finding for every subject, in their order."""
        left = list(subjects)
        while left:
            findings, end = self._process(left)
            yield from findings
            left = left[len(findings) :]
            if left:
                yield self._died(left.pop(0), end)

    def _process(self, subjects: list[SubjectT]) -> tuple[list[FindingT], str]:
        """Return the findings of one process, and how it ended if it did not finish."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "findings")
            command = [sys.executable, "-m", self._worker, str(file)]
            # the process imports from the same folders
            path = os.pathsep.join(folder for folder in (self._path, *sys.path) if folder)
            try:
                done = subprocess.run(
                    command,
                    input=pickle.dumps(subjects),
                    capture_output=True,
                    env=os.environ | {"PYTHONPATH": path},
                    timeout=self._patience,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                end = f"it did not answer within {self._patience:g} seconds"
            else:
                end = _ending(done.returncode, done.stderr.decode(errors="replace"))
            return cast("list[FindingT]", _findings(file)), end


def _findings(file: Path) -> list[object]:
    found: list[object] = []
    if file.exists():
        with file.open("rb") as stream:
            while True:
                try:
                    found.append(cast("object", pickle.load(stream)))
                except (EOFError, pickle.UnpicklingError):  # the last finding may be incomplete
                    break
    return found


def _ending(status: int, errors: str) -> str:
    """Return how a process ended, in one line."""
    said = [line.strip() for line in errors.splitlines() if line.strip()]
    # an exception without the module of its class
    last = re.sub(r"^(?:\w+\.)+(\w+: )", r"\1", said[-1]) if said else ""
    if status >= 0:
        return last or f"the process ended with exit status {status}"
    name = signal.Signals(-status).name
    return f"the process was ended by {name}" + (f": {last}" if last else "")
