"""`gymbridge schema`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from gymbridge_tools.cli.command import Command

if TYPE_CHECKING:
    import argparse


class Schema(Command):
    """Print the JSON Schema of specs, for editors."""

    name: ClassVar[str] = "schema"
    text: ClassVar[str] = "print the JSON Schema of specs"

    out: Path | None

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        _ = parser.add_argument("--out", type=Path, metavar="FILE", help="write it to a file")

    @override
    def run(self) -> int:
        from gymbridge_generator.commands import write_schema

        return write_schema(self.out)
