"""Options of several commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["declare_backends", "declare_out", "declare_spec", "declare_tests"]


def declare_spec(parser: argparse.ArgumentParser) -> None:
    """Add ``--spec``."""
    _ = parser.add_argument(
        "--spec", type=Path, metavar="FILE", help="the spec (default: gymbridge's)"
    )


def declare_out(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``."""
    _ = parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the package that wrappers go in"
    )


def declare_backends(parser: argparse.ArgumentParser) -> None:
    """Add ``--backends``."""
    _ = parser.add_argument(
        "--backends",
        type=_names,
        default=(),
        metavar="NAME,NAME",
        help="the libraries to pair, of all that the spec knows (default: those of its matrix)",
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def declare_tests(parser: argparse.ArgumentParser) -> None:
    """Add ``--tests``."""
    _ = parser.add_argument(
        "--tests", type=Path, metavar="DIR", help="the folder that tests of the wrappers go in"
    )
