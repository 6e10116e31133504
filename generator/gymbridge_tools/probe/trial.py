"""Tries an entry: generates wrappers from it, and checks round trips."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from gymbridge_generator.load import parse
from gymbridge_generator.output import write
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import templates
from gymbridge_tools.doctor.processes import Survey
from gymbridge_tools.probe.entry import entry
from gymbridge_tools.probe.facts import facts
from gymbridge_tools.probe.findings import Answer, Finding, Question, ended
from gymbridge_tools.probe.layouts import MOST_DIMENSIONS
from gymbridge_tools.probe.round_trips import LIBRARY, PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_tools.probe.examination import Report

_PROMISES = ("dtype", "bfloat16", "layout", "offset", "read_only", "zero_d")
"""The questions whose answers an entry lists; without an answer it promises less."""
_REFUSED = "refused"
"""The value of `read_only` in an entry that takes no read-only memory."""
_ALWAYS = ("empty", "read_only")
"""The questions that every entry promises."""
_HEAD = 'spec_version = 1\nextends = ["gymbridge"]\n'
_TAIL = f'[matrix]\nbackends = ["{LIBRARY}", "numpy"]\nforms = ["single"]\n'


def try_entry(report: Report, patience: float) -> Report:
    """Return a report whose entry promises only what its generic backend keeps.

    A promise that is broken is dropped, and the new entry is tried again. What fails and cannot be
    dropped is added to the findings.

    Args:
        report: What was found before.
        patience: Seconds after which a process counts as hanging.

    Raises:
        SpecError: No spec can have the entry.
    """
    while True:
        failed = {finding.question.about: finding for finding in _failures(report, patience)}
        promised = {finding.question.key for finding in _promises(report)}
        dtypes = {key for key in promised if key.startswith("dtype ")}
        # if no dtype survives, the dtypes are not the cause
        if not failed.keys() & promised or dtypes <= failed.keys():
            return replace(report, findings=(*report.findings, *failed.values()))
        findings = (_dropped(finding, failed) for finding in report.findings)
        report = replace(report, findings=tuple(findings))


def _promises(report: Report) -> Iterator[Finding]:
    for finding in report.findings:
        listed = finding.holds and finding.question.name in _PROMISES
        if listed and finding.answer.value != _REFUSED:
            yield finding


def _dropped(finding: Finding, failed: dict[str, Finding]) -> Finding:
    found = failed.get(finding.question.key)
    if found is None:
        return finding
    said = f"with a backend of this entry, {found.answer.evidence}"
    if finding.question.name == "read_only":
        return replace(finding, answer=Answer(_REFUSED, said))
    return replace(finding, outcome=found.outcome, answer=Answer(None, said))


def _failures(report: Report, patience: float) -> Iterator[Finding]:
    """Yield the round trips that fail with a backend of the entry."""
    # there may be another library of the same name
    found = [fact._replace(value=LIBRARY) if fact.key == "name" else fact for fact in facts(report)]
    selection = parse(f"{_HEAD}{entry(report, found)}{_TAIL}", "the entry")
    most = min(cast("int", report.of("dimensions").answer.value), MOST_DIMENSIONS - 1)
    promised = [finding.question.key for finding in _promises(report)]
    with TemporaryDirectory() as folder:
        _ = write(render(plan(selection), templates(), "the entry"), Path(folder, PACKAGE))
        survey = Survey[Question, Finding](
            ended, patience=patience, worker="gymbridge_tools.probe.worker", path=folder
        )
        questions = [
            Question("round_trip", report.module, about=key)
            for key in dict.fromkeys([*promised, *_ALWAYS, f"dimensions {most}"])
        ]
        for finding in survey.of(questions):
            if not finding.holds:
                yield finding
