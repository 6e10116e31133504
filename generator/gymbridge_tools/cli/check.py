"""`gymbridge check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from gymbridge_tools.cli.command import Command
from gymbridge_tools.cli.options import (
    declare_backends,
    declare_out,
    declare_spec,
    declare_tests,
)

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


class Check(Command):
    """Compare the wrappers with their spec; the exit status is 1 if they differ."""

    name: ClassVar[str] = "check"
    text: ClassVar[str] = "show how the wrappers differ from their spec"

    spec: Path | None
    out: Path | None
    backends: tuple[str, ...]
    tests: Path | None

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        declare_spec(parser)
        declare_out(parser)
        declare_backends(parser)
        declare_tests(parser)

    @override
    def run(self) -> int:
        from gymbridge_generator.commands import check

        return check(self.spec, self.out, self.backends, self.tests)
