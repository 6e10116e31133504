"""How every wrapper treats the memory of observations, as a picture and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_generator import naming
from gymbridge_generator.sharing import Sharing, wrapped
from scripts.drawing.svg import QUIET, box, picture, text

if TYPE_CHECKING:
    from gymbridge_generator.load import Selection
    from gymbridge_generator.model import Backend

_FILLS: dict[Sharing, str] = {"shared": "#bfe5c6", "read-only view": "#bcd9f7", "copied": "#ffdfad"}
_WORDS: dict[Sharing, str] = {"shared": "shared", "read-only view": "view", "copied": "copied"}
_MEANINGS: dict[Sharing, str] = {
    "shared": "the same memory, if nobody else can reach it",
    "read-only view": "the same memory, read-only",
    "copied": "memory of its own",
}
_LEFT, _TOP, _WIDTH, _HEIGHT = 122, 92, 84, 52


def libraries(selection: Selection) -> list[Backend]:
    """Return the libraries of all pairs, in the order of the spec."""
    paired = {library.name for pair in selection.pairs for library in pair}
    return [library for library in selection.spec.backend if library.name in paired]


def sharing_picture(selection: Selection) -> str:
    """Return the matrix; each cell shows the default rule of a pair."""
    found, pairs = libraries(selection), set(map(_names, selection.pairs))
    count = len(found)
    right = _LEFT + count * _WIDTH
    shapes = [text((_LEFT + right) / 2, 34, "the agent's library", 17, fill=QUIET)]
    shapes.append(text(16, 78, "environment", 15, fill=QUIET, anchor="start"))
    for column, target in enumerate(found):
        shapes.append(text(_LEFT + (column + 0.5) * _WIDTH, 78, target.title, 17))
    for row, source in enumerate(found):
        top = _TOP + row * _HEIGHT
        shapes.append(text(16, top + 32, source.title, 17, anchor="start"))
        for column, target in enumerate(found):
            left = _LEFT + column * _WIDTH
            if (source.name, target.name) in pairs:
                kind = wrapped(source, target)
                shapes.append(box(left + 3, top + 3, _WIDTH - 6, _HEIGHT - 6, fill=_FILLS[kind]))
                shapes.append(text(left + _WIDTH / 2, top + 32, _WORDS[kind], 17))
    bottom = _TOP + count * _HEIGHT + 14
    for number, (kind, meaning) in enumerate(_MEANINGS.items()):
        top = bottom + number * 32
        shapes.append(box(_LEFT, top, 74, 26, fill=_FILLS[kind]))
        shapes.append(text(_LEFT + 37, top + 19, _WORDS[kind], 15))
        shapes.append(text(_LEFT + 88, top + 19, meaning, 16, fill=QUIET, anchor="start"))
    title = "What each pair of libraries does with the memory of observations"
    return picture(right + 16, bottom + len(_MEANINGS) * 32 + 12, title, shapes)


def names(selection: Selection) -> str:
    """Return the names of the wrappers as a Markdown table."""
    found, pairs = libraries(selection), set(map(_names, selection.pairs))
    rows = [["environment ↓ agent →", *(library.title for library in found)]]
    rows.append(["---"] * len(rows[0]))
    for source in found:
        cells = [
            f"`{naming.wrapper(source, target)}`" if (source.name, target.name) in pairs else ""
            for target in found
        ]
        rows.append([source.title, *cells])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _names(pair: tuple[Backend, Backend]) -> tuple[str, str]:
    return pair[0].name, pair[1].name
