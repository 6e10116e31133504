"""The wrappers of a spec, as a table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gymbridge_generator import naming
from gymbridge_generator.sharing import RULE, wrapped
from gymbridge_generator.tables import print_table, print_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_generator.load import Selection

_COLUMNS = ("wrapper", "environment", "agent", "forms", "observations")


def print_listing(selection: Selection) -> None:
    """Print every wrapper: a table with the rule of sharing on a terminal, else tabs and words."""
    rows = list(_rows(selection))
    if sys.stdout.isatty():
        print_table(_COLUMNS, rows)
        print_text(RULE)
    else:
        for row in (_COLUMNS, *rows):
            print(*row, sep="\t")


def _rows(selection: Selection) -> Iterator[tuple[str, ...]]:
    forms = ", ".join(selection.spec.matrix.forms)
    for source, target in selection.pairs:
        name, shared = naming.wrapper(source, target), wrapped(source, target)
        yield name, source.title, target.title, forms, shared
