"""The base of every subcommand: its options and what it does."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from typing import ClassVar


class CommandError(Exception):
    """An error that the user can correct; its text says how, in one line."""


class Command(argparse.Namespace, ABC):
    """One command of `gymbridge`; its options are its attributes.

    Its module is imported whenever `gymbridge` runs, so that ``--help`` and completion know it:
    what a command needs beyond the standard library it imports when it runs.
    """

    name: ClassVar[str]
    text: ClassVar[str]
    """The description in the list of commands."""

    @classmethod
    @abstractmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        """Add the command's options, named like its attributes, to ``parser``."""

    @abstractmethod
    def run(self) -> int:
        """Run the command; return the exit status."""
