"""`gymbridge generate`."""

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


class Generate(Command):
    """Write what is missing or out of date."""

    name: ClassVar[str] = "generate"
    text: ClassVar[str] = "write the wrappers of a spec"

    spec: Path | None
    out: Path | None
    backends: tuple[str, ...]
    tests: Path | None
    force: bool

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        declare_spec(parser)
        declare_out(parser)
        declare_backends(parser)
        declare_tests(parser)
        _ = parser.add_argument(
            "--force", action="store_true", help="overwrite files that were edited by hand"
        )

    @override
    def run(self) -> int:
        from gymbridge_generator.commands import generate

        return generate(self.spec, self.out, self.backends, self.tests, force=self.force)
