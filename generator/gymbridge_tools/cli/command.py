"""What every command is: a name, its options, and what it does with them."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from typing import ClassVar

__all__ = ["Command", "CommandError"]


class CommandError(Exception):
    """Something that the user of the command can mend; its text says how, in one line."""


class Command(argparse.Namespace, ABC):
    """One command of `gymbridge`; its options are its attributes.

    Its module is imported whenever `gymbridge` runs, so that ``--help`` and completion know it:
    what a command needs beyond the standard library it imports when it runs.
    """

    name: ClassVar[str]
    text: ClassVar[str]
    """What it does, as the list of commands says it."""

    @classmethod
    @abstractmethod
    def declare(cls, parser: argparse.ArgumentParser) -> None:
        """Add the command's options, named like its attributes, to ``parser``."""

    @abstractmethod
    def run(self) -> int:
        """Do it; return the exit status."""
