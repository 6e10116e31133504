"""The whole examination: how arrays are made first, then everything else, each in its turn."""

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

__all__ = ["NoArraysError", "Report", "examine"]


class NoArraysError(Exception):
    """No way was found to make an array of the library from one of NumPy."""


@dataclass(frozen=True)
class Report:
    """Everything that was found."""

    module: str
    way: Way
    findings: tuple[Finding, ...]

    @property
    def works(self) -> bool:
        """Whether everything came back through wrappers of the entry that it promises."""
        return all(f.holds for f in self.findings if f.question.name == "round_trip")

    def of(self, name: str, about: str = "") -> Finding:
        """Return what became of a question."""
        key = f"{name} {about}".strip()
        return next(finding for finding in self.findings if finding.question.key == key)


def examine(
    module: str,
    patience: float,
    progress: Callable[[int, int, str], None],
    importer: str | None = None,
) -> Report:
    """Return what there is to say of a library.

    Args:
        module: The module to import.
        patience: Seconds after which a process is taken to hang.
        progress: Told how many questions are answered, how many there are, and what is next.
        importer: The function that makes arrays; by default the first that works of the usual ones.

    Raises:
        NoArraysError: There is no way to make an array, and what was tried.
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
    if findings[-1].outcome != "answered":  # it did not come to say how many
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
"""What is asked, in the order of it; each group begins in a process of its own."""


def _way(
    module: str, survey: Survey[Question, Finding], importer: str | None
) -> tuple[Way, list[Finding]]:
    """Find a way to make arrays: the first that works, the usual ones before others."""
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
