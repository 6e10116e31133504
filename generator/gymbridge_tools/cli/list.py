"""`gymbridge list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from gymbridge_tools.cli.command import Command
from gymbridge_tools.cli.options import declare_backends, declare_spec

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


class List(Command):
    """Show the wrappers of a spec."""

    name: ClassVar[str] = "list"
    text: ClassVar[str] = "show the wrappers of a spec"

    spec: Path | None
    backends: tuple[str, ...]

    @override
    @classmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        declare_spec(parser)
        declare_backends(parser)

    @override
    def run(self) -> int:
        from gymbridge_generator.commands import list_wrappers

        return list_wrappers(self.spec, self.backends)
