"""Tables and texts for people: drawn on a terminal, and plain text everywhere else."""

from __future__ import annotations

import shutil
import sys
import textwrap
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_NARROWEST = 20
"""The least width of the last column."""


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; the first column names the rows.

    As plain text the last column is wrapped; the others are not.
    """
    lines = [columns, *rows]
    if sys.stdout.isatty() and find_spec("rich") is not None:
        words = [_longest_word(column) for column in zip(*lines, strict=True)]
        if sum(words) + 3 * len(words) + 1 <= _width():  # with the lines between the columns
            _draw(columns, words, rows)
            return
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)][:-1]
    for *cells, last in lines:
        start = "".join(f"{cell:<{width}}  " for cell, width in zip(cells, widths, strict=True))
        print_text(last, start, " " * len(start))


def print_text(text: str, start: str = "", indent: str = "") -> None:
    """Print text, wrapped between words; the first line begins with ``start``."""
    lines = textwrap.wrap(
        text,
        max(_width(), len(indent) + _NARROWEST),
        initial_indent=start,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    print(*(lines or [start.rstrip()]), sep="\n")


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


def _longest_word(texts: Sequence[str]) -> int:
    return max(len(word) for text in texts for word in text.split())


def _draw(columns: Sequence[str], words: Sequence[int], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(header_style="bold")
    for column, width in zip(columns, words, strict=True):
        table.add_column(column, style="" if table.columns else "cyan", min_width=width)
    for row in rows:
        table.add_row(*row)
    Console(markup=False).print(table)
