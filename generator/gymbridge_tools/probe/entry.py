"""Writes the spec entry: facts as TOML, with the evidence as comments."""

from __future__ import annotations

import json
import platform
import textwrap
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_tools.probe.examination import Report
    from gymbridge_tools.probe.facts import Fact, Value
    from gymbridge_tools.probe.findings import Finding

_WIDTH = 100
_REMARKABLE = ("byte_offset", "slices", "gives", "takes")
"""The questions whose answer "no" is worth a comment."""


def entry(report: Report, found: list[Fact]) -> str:
    """Return the entry of a library, followed by remarks that have no key."""
    seen_with = f"NumPy {version('numpy')}, Python {platform.python_version()}, {platform.system()}"
    lines = [
        f"# What `gymbridge probe {report.module}` found, with {seen_with}.",
        "[[backend]]",
        *_lines(fact for fact in found if not fact.dlpack),
    ]
    generic = [*_lines(fact for fact in found if fact.dlpack)]
    if generic:
        lines += ["", "[backend.dlpack]", *generic]
    tried = [finding for finding in report.findings if finding.question.name == "round_trip"]
    seen = [finding for finding in report.findings if finding not in tried and _is_odd(finding)]
    if seen:
        lines += ["", "# Seen besides, and nothing that an entry has to say:", *_remarks(seen)]
    if tried:
        lines += ["", "# What does not come back through wrappers of this entry:", *_remarks(tried)]
    return "\n".join([*lines, ""])


def _lines(found: Iterator[Fact]) -> Iterator[str]:
    evidence = ""
    for fact in found:
        if fact.evidence and fact.evidence != evidence:
            yield from _comment(fact.evidence)
        evidence = fact.evidence
        yield from _folded(fact)


def _folded(fact: Fact) -> Iterator[str]:
    line = f"{fact.key} = {_toml(fact.value)}"
    if len(line) <= _WIDTH or not isinstance(fact.value, list):
        yield line
        return
    yield f"{fact.key} = ["
    yield from textwrap.wrap(
        ", ".join(map(_toml, fact.value)) + ",",
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="    ",
    )
    yield "]"


def _comment(text: str) -> Iterator[str]:
    # an error text may hold any characters, and a line break would end the comment
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    yield from textwrap.wrap(plain, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _toml(value: Value) -> str:
    if isinstance(value, dict):
        pairs = ", ".join(f"{key} = {_toml(item)}" for key, item in value.items())
        return f"{{ {pairs} }}"
    return json.dumps(value, ensure_ascii=False)  # TOML reads the same


def _is_odd(finding: Finding) -> bool:
    answered_no = finding.question.name in _REMARKABLE and not finding.holds
    return finding.outcome == "ended" or answered_no


def _remarks(findings: list[Finding]) -> Iterator[str]:
    for finding in findings:
        question = finding.question
        name = question.about if question.name == "round_trip" else question.key
        yield from _comment(f"{name}: {finding.evidence}")
