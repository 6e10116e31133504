"""Tables for people: drawn on a terminal, and columns of plain text everywhere else."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["print_table"]


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below the names of their columns, of which the first says what a row is about."""
    if sys.stdout.isatty() and find_spec("rich") is not None:
        _draw(columns, rows)
        return
    lines = [columns, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def _draw(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(header_style="bold")
    for column in columns:
        table.add_column(column, style="" if table.columns else "cyan", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(markup=False).print(table)
