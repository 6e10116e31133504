"""The whole examination: first how to make arrays, then everything else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from gymbridge_tools.doctor.processes import Survey
from gymbridge_tools.probe.dtypes import DTYPES
from gymbridge_tools.probe.findings import Answer, Finding, Question, Way, ended
from gymbridge_tools.probe.layouts import LAYOUTS, MOST_DIMENSIONS, OFFSETS
from gymbridge_tools.probe.partners import PARTNERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class NoArraysError(Exception):
    """No way was found to make an array of the library from one of NumPy."""


@dataclass(frozen=True)
class Report:
    """All findings."""

    module: str
    way: Way
    findings: tuple[Finding, ...]

    @property
    def works(self) -> bool:
        """Whether everything that the entry promises survived a round trip."""
        return all(f.holds for f in self.findings if f.question.name == "round_trip")

    def of(self, name: str, about: str = "") -> Finding:
        """Return the finding of a question."""
        key = f"{name} {about}".strip()
        return next(finding for finding in self.findings if finding.question.key == key)


def examine(
    module: str,
    patience: float,
    progress: Callable[[int, int, str], None],
    importer: str | None = None,
) -> Report:
    """Examine a library.

    Args:
        module: The module to import.
        patience: Seconds after which a process counts as hanging.
        progress: Gets the number of answered questions, the number of all, and the next one.
        importer: The function that makes arrays; by default the first usual one that works.

    Raises:
        NoArraysError: No array can be made; the text says what was tried.
    """
    survey = Survey[Question, Finding](
        ended, patience=patience, worker="gymbridge_tools.probe.worker"
    )
    progress(0, 1, "how arrays are made")
    way, made = _way(module, survey, importer)
    findings = [*made]
    total = sum(map(len, _GROUPS.values()))
    for title, group in _GROUPS.items():
        progress(len(findings) - len(made), total, title)
        findings += survey.of([Question(name, module, way, about) for name, about in group])
    if findings[-1].outcome != "answered":  # it ended before it reported the number
        findings[-1:] = _dimensions(Question("dimensions", module, way), survey)
    return Report(module, way, tuple(findings))


def _dimensions(question: Question, survey: Survey[Question, Finding]) -> Iterator[Finding]:
    """Ask for one dimension more each time, until there are too many."""
    most = 1
    for count in range(2, MOST_DIMENSIONS):
        (finding,) = survey.of([replace(question, about=f"{count}")])
        if not finding.holds:
            yield finding
            yield Finding(question, "answered", Answer(most, f"{count}: {finding.evidence}"))
            return
        most = count


_GROUPS: dict[str, list[tuple[str, str]]] = {
    "whose memory it is, and how it exports": [
        (name, "")
        for name in (
            *("shared", "late", "read_only", "mutable", "views", "version", "asked_version"),
            *("keywords", "place", "gradients", "text_dtype", "text", "slices", "devices"),
        )
    ],
    "which dtypes it has, and how it gets on with others": [
        *(("dtype", name) for name in DTYPES),
        ("bfloat16", ""),
        *((way, name) for name in PARTNERS for way in ("gives", "takes") if find_spec(name)),
    ],
    "which layouts it takes": [
        *(("layout", name) for name in LAYOUTS),
        *(("byte_offset", ""), ("zero_d", "")),
        *(("offset", f"{offset}") for offset in OFFSETS),
        ("dimensions", ""),
    ],
}
"""The questions in order; each group begins in a new process."""


def _way(
    module: str, survey: Survey[Question, Finding], importer: str | None
) -> tuple[Way, list[Finding]]:
    """Find the first way to make arrays that works, usual ones first."""
    first = list(survey.of([Question("candidates", module), Question("starts", module)]))
    importers, starts = (_names(finding) for finding in first)
    if first[0].outcome != "answered":
        raise NoArraysError(f"{module}: {first[0].evidence}")
    importers = importers if importer is None else [importer]
    ways = [
        Way(importer, capsule=capsule, start=start)
        for start in (None, *starts)
        for capsule in (False, True)
        for importer in importers
    ]
    tried: dict[str, str] = {}
    for way in ways:
        (finding,) = survey.of([Question("array", module, way)])
        if finding.holds:
            return way, [*first, finding]
        _ = tried.setdefault(way.importer, finding.evidence)
    said = "; ".join(f"{function}: {evidence}" for function, evidence in tried.items())
    raise NoArraysError(
        f"{module}: found no function that makes an array from NumPy's memory (tried "
        + f"{said or 'none, it has none of the usual names'}); name one with --importer "
        + f'{module}.FUNCTION, or see "A module of your own" in docs/backends.md'
    )


def _names(finding: Finding) -> list[str]:
    return cast("list[str]", finding.answer.value or [])
