"""A process that hangs is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_tools.doctor.findings import LibraryFinding
from gymbridge_tools.doctor.package import Library
from gymbridge_tools.doctor.processes import Survey

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def died(library: Library, end: str) -> LibraryFinding:
    return LibraryFinding(library.name, library.title, "broken", problem=end)


def test_a_process_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "hangs.py").write_text("import threading; threading.Event().wait()")
    survey = Survey[Library, LibraryFinding](died, patience=3)
    (found,) = survey.of([Library("hangs", "Hangs", "hangs", ())])
    assert (found.state, found.problem) == ("broken", "it did not answer within 3 seconds")
