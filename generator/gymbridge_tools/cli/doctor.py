"""`gymbridge doctor`."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from gymbridge_tools.cli.command import Command, CommandError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from gymbridge_tools.doctor.findings import LibraryFinding, PairFinding, Report

__all__ = ["Doctor"]


class Doctor(Command):
    """Look at what is installed and try it; the exit status is 1 if some of it does not work."""

    name: ClassVar[str] = "doctor"
    text: ClassVar[str] = "tell which libraries and pairs work here, and what they share"

    json: bool
    package: str

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        _ = parser.add_argument("--json", action="store_true", help="print a report for machines")
        _ = parser.add_argument(
            "--package",
            metavar="NAME",
            default="gymbridge",
            help="the package whose wrappers are tried (default: gymbridge's own)",
        )

    @override
    def run(self) -> int:
        from gymbridge_tools.doctor.examination import examine
        from gymbridge_tools.doctor.package import NoPackageError

        with _progress() as show:
            try:
                report = examine(self.package, show)
            except NoPackageError as error:
                raise CommandError(str(error)) from error
        if self.json:
            print(json.dumps(report.as_json(), indent=2))
        else:
            _print(report)
        if not report.works:
            wrong = ", ".join(_wrong(report))
            print(f"gymbridge: {wrong}: installed, and does not work here", file=sys.stderr)
        return 0 if report.works else 1


def _progress() -> AbstractContextManager[Callable[[str], None]]:
    """Return what shows what is going on, on a terminal only."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        return nullcontext(_ignore)
    from gymbridge_tools.cli.progress import Progress

    return Progress()


def _ignore(text: str) -> None:
    del text


def _print(report: Report) -> None:
    from gymbridge_generator.tables import print_table

    print(_versions(report.versions))
    print(report.platform, end="\n\n")
    print_table(
        ("library", "state", "version", "devices", "keeps"), [*map(_library, report.libraries)]
    )
    if report.pairs:
        print()
        print_table(
            ("wrapper", "state", "observations", "actions", "why"), [*map(_pair, report.pairs)]
        )
    remarks = [*_remarks(report)]
    if remarks:
        print("", *remarks, sep="\n")


def _library(library: LibraryFinding) -> tuple[str, ...]:
    narrowed = ", ".join(f"{wide} as {narrow}" for wide, narrow in library.narrows.items())
    return (
        library.title,
        library.state,
        _versions(library.versions),
        ", ".join(library.devices) or "-",
        f"{narrowed} {library.narrows_when}".strip() or "-",
    )


def _pair(pair: PairFinding) -> tuple[str, ...]:
    state = "works" if pair.works else "broken"
    return (pair.wrapper, state, pair.observations or "-", pair.actions or "-", pair.why or "-")


def _remarks(report: Report) -> Iterator[str]:
    """Yield what is wrong, and what can be done about it."""
    for library in report.libraries:
        if library.problem:
            yield f"{library.title}: {library.problem}\n  {library.advice}"
    for pair in report.pairs:
        if pair.problem:
            yield f"{pair.wrapper}: {pair.problem}"
    for found in report.combinations:
        yield f"{_versions(found.installed)}: {found.problem}\n  {found.advice}"


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "-"


def _wrong(report: Report) -> list[str]:
    libraries = [library.title for library in report.libraries if library.state == "broken"]
    return [*libraries, *(pair.wrapper for pair in report.pairs if not pair.works)]
