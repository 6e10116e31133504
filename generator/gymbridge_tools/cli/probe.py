"""`gymbridge probe`."""

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
    from collections.abc import Callable
    from contextlib import AbstractContextManager

__all__ = ["Probe"]

_PATIENCE = 120.0


class Probe(Command):
    """Try an installed library, and print what a spec has to say of it."""

    name: ClassVar[str] = "probe"
    text: ClassVar[str] = "try an array library, and print its spec entry with the evidence"

    module: str
    json: bool
    timeout: float

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        _ = parser.add_argument("module", metavar="MODULE", help="the module to import: mlx.core")
        _ = parser.add_argument("--json", action="store_true", help="print all findings instead")
        _ = parser.add_argument(
            "--timeout",
            type=float,
            default=_PATIENCE,
            metavar="SECONDS",
            help="after which a process is taken to hang (default: %(default)g)",
        )

    @override
    def run(self) -> int:
        from gymbridge_tools.probe.entry import entry
        from gymbridge_tools.probe.examination import NoArraysError, examine
        from gymbridge_tools.probe.facts import facts

        root = self.module.partition(".")[0]
        if not root.isidentifier() or find_spec(root) is None:
            raise CommandError(f"there is no module {self.module!r}; install what brings it")
        with _progress() as show:
            try:
                report = examine(self.module, self.timeout, show)
            except NoArraysError as error:
                raise CommandError(str(error)) from error
        found = facts(report)
        if self.json:
            findings = [finding.as_json() for finding in report.findings]
            stated = {fact.key: fact.value for fact in found}
            printed = {"facts": stated, "entry": entry(report, found), "findings": findings}
            print(json.dumps(printed, indent=2))
        else:
            print(entry(report, found), end="")
        return 0


def _progress() -> AbstractContextManager[Callable[[int, int, str], None]]:
    """Return what shows how far it is, on a terminal only."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        return nullcontext(_ignore)
    from gymbridge_tools.cli.progress import Bar

    return Bar()


def _ignore(done: int, total: int, text: str) -> None:
    del done, total, text
