"""Options of several commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def declare_spec(parser: argparse.ArgumentParser) -> None:
    """Add ``--spec``."""
    _ = parser.add_argument(
        "--spec", type=Path, metavar="FILE", help="the spec (default: gymbridge's)"
    )


def declare_out(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``."""
    _ = parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder of the generated package"
    )


def declare_backends(parser: argparse.ArgumentParser) -> None:
    """Add ``--backends``."""
    _ = parser.add_argument(
        "--backends",
        type=_names,
        default=(),
        metavar="NAME,NAME",
        help="the libraries to pair (default: those of the spec's matrix)",
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def declare_tests(parser: argparse.ArgumentParser) -> None:
    """Add ``--tests``."""
    _ = parser.add_argument(
        "--tests", type=Path, metavar="DIR", help="a folder for generated tests"
    )
