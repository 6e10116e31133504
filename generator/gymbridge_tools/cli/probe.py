"""`gymbridge probe`."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from gymbridge_generator.errors import SpecError
from gymbridge_tools.cli.command import Command, CommandError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from contextlib import AbstractContextManager

_PATIENCE = 120.0


class Probe(Command):
    """Try an installed library and print its spec entry."""

    name: ClassVar[str] = "probe"
    text: ClassVar[str] = "try an array library, and print its spec entry with the evidence"

    module: str
    importer: str | None
    json: bool
    timeout: float

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        _ = parser.add_argument("module", metavar="MODULE", help="the module to import: mlx.core")
        _ = parser.add_argument(
            "--importer",
            metavar="FUNCTION",
            help="the function that makes arrays: MODULE.from_dlpack (default: the first that "
            + "works of those with usual names)",
        )
        _ = parser.add_argument("--json", action="store_true", help="print all findings instead")
        _ = parser.add_argument(
            "--timeout",
            type=float,
            default=_PATIENCE,
            metavar="SECONDS",
            help="the time after which a process counts as hanging (default: %(default)g)",
        )

    @override
    def run(self) -> int:
        from gymbridge_tools.probe.entry import entry
        from gymbridge_tools.probe.examination import NoArraysError, examine
        from gymbridge_tools.probe.facts import facts
        from gymbridge_tools.probe.trial import try_entry

        root = self.module.partition(".")[0]
        if not root.isidentifier() or find_spec(root) is None:
            raise CommandError(f"there is no module {self.module!r}; install what brings it")
        if self.importer is not None and not self.importer.startswith(f"{self.module}."):
            raise CommandError(
                f"{self.importer!r} is not in {self.module!r}; begin with the module"
            )
        with _progress() as show:
            try:
                report = examine(self.module, self.timeout, show, self.importer)
                show(0, 1, "what comes back through wrappers of the entry")
                report = try_entry(report, self.timeout)
            except NoArraysError as error:
                raise CommandError(str(error)) from error
            except SpecError as error:
                wrong = "; ".join(problem.what for problem in error.problems)
                raise CommandError(f"{self.module}: no spec can have its entry: {wrong}") from error
        found = facts(report)
        if self.json:
            findings = [finding.as_json() for finding in report.findings]
            stated = {fact.key: fact.value for fact in found}
            printed = {"facts": stated, "entry": entry(report, found), "findings": findings}
            print(json.dumps(printed, indent=2))
        else:
            print(entry(report, found), end="")
        if report.works:
            return 0
        print("gymbridge: this entry does not work as it is; see its last lines", file=sys.stderr)
        return 1


def _progress() -> AbstractContextManager[Callable[[int, int, str], None]]:
    """Return the progress display; it shows nothing without a terminal."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        return nullcontext(_ignore)
    from gymbridge_tools.cli.progress import Bar

    return Bar()


def _ignore(done: int, total: int, text: str) -> None:
    del done, total, text
