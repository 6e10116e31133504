"""Tables are drawn on terminals, and are plain text elsewhere."""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import pytest

from gymbridge_generator.tables import print_table
from tests.support import require

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = ("library", "why")
ROWS = [("NumPy", "[bold] 64-bit"), ("A library", "")]

PLAIN = """\
library    why
NumPy      [bold] 64-bit
A library
"""


class Terminal(io.StringIO):
    """A terminal that records its output."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal with 30 columns and colours."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    return Terminal()


def shown(file: io.StringIO, rows: Sequence[tuple[str, str]]) -> str:
    """Return the text that ``rows`` print to ``file``."""
    with redirect_stdout(file):
        print_table(COLUMNS, rows)
    return file.getvalue()


def test_columns_are_as_wide_as_their_cells() -> None:
    assert shown(io.StringIO(), ROWS) == PLAIN


def test_without_rich_a_terminal_gets_plain_text(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    assert shown(terminal, ROWS) == PLAIN


def test_a_table_is_drawn_on_a_terminal(terminal: Terminal) -> None:
    require("rich")
    drawn = shown(terminal, ROWS)
    assert "\x1b[1mlibrary" in drawn, "names of columns are bold"
    assert "\x1b[36mNumPy" in drawn, "what a row is about has a colour"
    assert "│ [bold] 64-bit │" in drawn, "nothing else has, whatever is in it"


@pytest.mark.parametrize("without", ["nothing", "rich"])
@pytest.mark.parametrize("longest", [6, 12, 40])
def test_lines_end_between_words(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, longest: int, without: str
) -> None:
    require("rich")
    monkeypatch.setitem(sys.modules, without, None)
    rows = [("x" * longest, f"{'y' * longest} {'z' * longest} read-only")]
    drawn = shown(terminal, rows)
    for word in " ".join(rows[0]).split():
        assert word in drawn
    if longest < 20:
        plain = re.sub(r"\x1b\[\d+m", "", drawn)
        assert max(map(len, plain.splitlines())) <= 30
