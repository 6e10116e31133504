"""`gymbridge doctor`."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from gymbridge_generator.place import place_of
from gymbridge_generator.resources import SHIPPED
from gymbridge_generator.settings import settings
from gymbridge_tools.cli.command import Command, CommandError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from gymbridge_tools.doctor.findings import LibraryFinding, PairFinding, Report


class Doctor(Command):
    """Try what is installed; the exit status is 1 if something does not work."""

    name: ClassVar[str] = "doctor"
    text: ClassVar[str] = "show which libraries and pairs work here, and what they share"

    json: bool
    package: str | None

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        _ = parser.add_argument("--json", action="store_true", help="print a report for machines")
        _ = parser.add_argument(
            "--package",
            metavar="NAME",
            help="the package whose wrappers are tried (default: the one that `out` of "
            + "[tool.gymbridge] names, or gymbridge's own)",
        )

    @override
    def run(self) -> int:
        from gymbridge_tools.doctor.examination import examine
        from gymbridge_tools.doctor.package import NoPackageError

        with _progress() as show:
            try:
                report = examine(_found(self.package), show)
            except NoPackageError as error:
                raise CommandError(str(error)) from error
        if not self.json:
            _print(report)
        else:
            print(json.dumps(report.as_json(), indent=2))
            if not report.works:
                print(f"gymbridge: {report.verdict}", file=sys.stderr)
        return 0 if report.works else 1


def _found(package: str | None) -> str:
    """Return the package to examine, and make it importable."""
    if package is not None:
        here = Path.cwd()
        sys.path += [str(here), str(here / "src")]  # last, so that they hide no installed package
        return package
    out = settings(Path.cwd()).out
    if out is None:
        return SHIPPED
    place = place_of(out)
    sys.path.insert(0, str(place.root))
    return place.name


def _progress() -> AbstractContextManager[Callable[[str], None]]:
    """Return the progress display; it shows nothing without a terminal."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        return nullcontext(_ignore)
    from gymbridge_tools.cli.progress import Progress

    return Progress()


def _ignore(text: str) -> None:
    del text


def _print(report: Report) -> None:
    from gymbridge_generator.tables import print_table, print_text

    print(_versions(report.versions))
    print(report.platform, end="\n\n")
    print_table(
        ("library", "state", "version", "devices", "narrows"), [*map(_library, report.libraries)]
    )
    if report.pairs:
        print()
        print_table(
            ("wrapper", "state", "observations", "actions", "why"), [*map(_pair, report.pairs)]
        )
    print()
    for problem, advice in _remarks(report):
        print_text(problem, indent="  ")
        if advice:
            print_text(advice, "  ", "  ")
    print_text(report.ownership)
    print_text(report.verdict)


def _library(library: LibraryFinding) -> tuple[str, ...]:
    narrowed = [f"{_narrowed(library.narrows)} {library.narrows_when}".strip()]
    narrowed += [f"{_narrowed(there)} on {name}" for name, there in library.narrows_on.items()]
    return (
        library.title,
        library.state,
        _versions(library.versions),
        ", ".join(library.devices) or "-",
        "; ".join(filter(None, narrowed)) or "-",
    )


def _narrowed(dtypes: Mapping[str, str]) -> str:
    return ", ".join(f"{wide} to {narrow}" for wide, narrow in dtypes.items())


def _pair(pair: PairFinding) -> tuple[str, ...]:
    state = "works" if pair.works else "broken"
    return (pair.wrapper, state, pair.observations or "-", pair.actions or "-", pair.why or "-")


def _remarks(report: Report) -> Iterator[tuple[str, str]]:
    """Yield remarks: each problem and its remedy."""
    for library in report.libraries:
        if library.problem:
            yield f"{library.title}: {library.problem}", library.advice
    for pair in report.pairs:
        if pair.problem:
            yield f"{pair.wrapper}: {pair.problem}", ""
    for found in report.combinations:
        yield f"{_versions(found.installed)}: {found.problem}", found.advice


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "-"
