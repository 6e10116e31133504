"""Turns findings into facts of a spec entry, each with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from gymbridge_tools.probe.dtypes import DTYPES
from gymbridge_tools.probe.identity import distribution_of, is_typed
from gymbridge_tools.probe.layouts import MOST_DIMENSIONS, OFFSETS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_tools.probe.examination import Report

Value: TypeAlias = "str | int | bool | list[str] | dict[str, str]"

_STANDARD = [name for name in DTYPES if name != "float16"]
"""The dtypes of an entry that names none: those of the array API."""
_ALIGNED = 64


class Fact(NamedTuple):
    """One line of an entry."""

    key: str
    value: Value
    evidence: str = ""
    dlpack: bool = False
    """Whether it belongs to the table below the entry."""


def facts(report: Report) -> list[Fact]:
    """Return the facts that differ from the defaults."""
    own = [*_names(report), *_memory(report)]
    generic = [*_imports(report), *_exports(report), *_layouts(report), *_dtypes(report)]
    return own + [fact._replace(dlpack=True) for fact in [*generic, *_devices(report)]]


def _names(report: Report) -> Iterator[Fact]:
    root = report.module.partition(".")[0]
    distribution = distribution_of(report.module)
    made = report.of("array")
    yield Fact("name", root.lower())
    yield Fact("title", distribution.partition(">")[0] if distribution else root)
    yield Fact("module", report.module)
    yield Fact("array", cast("str", made.answer.value), made.evidence)
    if distribution:
        yield Fact(
            "distribution", distribution, "the version that is installed here, or a later one"
        )
    if not is_typed(report.module):
        yield Fact("typed", value=False, evidence="its package has no py.typed")
    if report.of("devices").outcome == "answered":
        yield Fact("device", "str")


def _memory(report: Report) -> Iterator[Fact]:
    mutable, shared, place = (report.of(name) for name in ("mutable", "shared", "place"))
    if not mutable.holds:
        yield Fact("mutable", value=False, evidence=mutable.evidence)
    copies = shared.outcome == "answered" and not shared.answer.value
    read_only = report.of("read_only")
    if read_only.answer.value == "refused" or (read_only.answer.value == "kept" and not copies):
        yield Fact("read_only", read_only.answer.value, read_only.evidence)
    views = report.of("views")
    if mutable.holds and views.answer.value == "read-only":
        yield Fact("views", "read-only", views.evidence)
    if place.outcome == "answered" and not place.answer.value:
        yield Fact("host", value=False, evidence=place.evidence)
    elif copies:
        yield Fact("copies_in", value=True, evidence=shared.evidence)


def _imports(report: Report) -> Iterator[Fact]:
    way, asked = report.way, report.of("asked_version")
    if way.start:
        yield Fact("start", way.start, "without it no array can be made")
    if way.importer != f"{report.module}.from_dlpack":
        usual = way.importer in cast("list[str]", report.of("candidates").answer.value)
        which = "the first of the usual functions that works" if usual else "what was named"
        yield Fact("importer", way.importer, which)
    if way.capsule:
        yield Fact("importer_takes", "capsule", "it does not take an array itself")
    if asked.answer.value == "legacy":
        yield Fact("import_version", "legacy", asked.evidence)
    late, shared = report.of("late"), report.of("shared")
    if late.holds and not shared.holds:
        yield Fact("asynchronous", value=True, evidence=late.evidence)


def _exports(report: Report) -> Iterator[Fact]:
    version, keywords = report.of("version"), report.of("keywords")
    gradients, text = report.of("gradients"), report.of("text")
    if gradients.holds:
        yield Fact("prepare", cast("list[str]", gradients.answer.value), gradients.evidence)
    if version.answer.value == "legacy":
        yield Fact("export_version", "legacy", version.evidence)
    if keywords.holds:
        yield Fact("export_keywords", cast("list[str]", keywords.answer.value), keywords.evidence)
    if text.outcome == "ended":
        word = report.of("text_dtype").answer.value
        yield Fact("not_exported", [f"{word}"], text.evidence)


def _layouts(report: Report) -> Iterator[Fact]:
    permuted, gaps = report.of("layout", "permuted"), report.of("layout", "gaps")
    if not permuted.holds:
        yield Fact("strides", "row-major", f"permuted: {permuted.evidence}")
    elif not gaps.holds:
        yield Fact("strides", "permuted", f"with gaps: {gaps.evidence}")
    negative = report.of("layout", "negative")
    if negative.holds:
        yield Fact(
            "negative_strides", value=True, evidence="arrays with negative strides are imported"
        )
    wrong = [offset for offset in OFFSETS if not report.of("offset", f"{offset}").holds]
    if wrong:
        evidence = report.of("offset", f"{max(wrong)}").evidence
        yield Fact("alignment", min(2 * max(wrong), _ALIGNED), f"off by {max(wrong)}: {evidence}")
    zero_d = report.of("zero_d")
    if not zero_d.holds:
        yield Fact("zero_d", value=False, evidence=zero_d.evidence)
    dimensions = report.of("dimensions")
    if dimensions.answer.value != MOST_DIMENSIONS:
        yield Fact("max_ndim", cast("int", dimensions.answer.value), dimensions.evidence)


def _dtypes(report: Report) -> Iterator[Fact]:
    became = {name: report.of("dtype", name).answer.value for name in DTYPES}
    kept = [name for name, there in became.items() if there == name]
    narrows = {name: f"{there}" for name, there in became.items() if there and there != name}
    brain = report.of("bfloat16")
    if brain.holds:
        kept.append("bfloat16")
    if kept != _STANDARD:
        lost: dict[str, list[str]] = {}
        for name in DTYPES:
            if not became[name]:
                lost.setdefault(report.of("dtype", name).evidence, []).append(name)
        said = "; ".join(f"{', '.join(names)}: {why}" for why, names in lost.items())
        yield Fact("dtypes", kept, said)
    said = "the library does it silently"
    if not became["bool"] and became["uint8"] == "uint8":
        narrows["bool"] = "uint8"
        said = "the library has no bool, so flags need another dtype"
    if narrows:
        yield Fact("narrows", narrows, said)
    if brain.holds and brain.answer.value != "view":
        yield Fact("reinterpret", cast("str", brain.answer.value), brain.evidence)


def _devices(report: Report) -> Iterator[Fact]:
    found = report.of("devices")
    for key, value in cast("dict[str, str]", found.answer.value or {}).items():
        yield Fact(key, value, found.evidence)
