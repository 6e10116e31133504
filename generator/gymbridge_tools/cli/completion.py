"""`gymbridge --completion SHELL`: a script that completes without starting Python."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, cast

from typing_extensions import override

from gymbridge_generator.toml import is_table

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
"""The supported shells."""


class PrintCompletion(argparse.Action):
    """Print a completion script for a shell, with all commands and options."""

    @override
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        import shtab

        for action in _actions(parser):
            if action.type is Path:
                kind = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE
                vars(action)["complete"] = kind  # shtab reads this attribute
        print(shtab.complete(parser, str(values)))
        parser.exit()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the options of a parser, and of those of its commands."""
    # argparse has no public name for these; shtab reads the same attribute
    for action in cast("list[argparse.Action]", vars(parser)["_actions"]):
        yield action
        choices: object = action.choices
        for command in choices.values() if is_table(choices) else ():
            if isinstance(command, argparse.ArgumentParser):
                yield from _actions(command)
