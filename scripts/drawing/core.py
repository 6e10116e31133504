"""The picture of the architecture: a module per library, and one core for all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.drawing.matrix import libraries
from scripts.drawing.svg import QUIET, arrow, box, picture, text

if TYPE_CHECKING:
    from gymbridge_generator.load import Selection

_LIBRARY, _CORE, _LINE = "#e5e9f2", "#dcd6f7", "#8f83cf"
_STEPS = ("trees of values", "who owns memory", "dtypes and what fits", "devices and layouts")


def core_picture(selection: Selection) -> str:
    """Return the libraries on either side of the core."""
    titles = [library.title for library in libraries(selection)]
    height = 62 + len(titles) * 52
    middle = 56 + len(titles) * 26
    shapes = [
        text(75, 34, "environment", 16, fill=QUIET),
        text(485, 34, "agent", 16, fill=QUIET),
        box(195, 56, 170, len(titles) * 52 - 12, fill=_CORE, line=_LINE),
        text(280, middle - 58, "one core", 19),
    ]
    shapes += [
        text(280, middle - 26 + number * 25, step, 15, fill=QUIET)
        for number, step in enumerate(_STEPS)
    ]
    for number, title in enumerate(titles):
        top = 56 + number * 52
        for left, points in ((20, (132, 192)), (430, (368, 427))):
            shapes.append(box(left, top, 110, 40, fill=_LIBRARY))
            shapes.append(text(left + 55, top + 26, title, 17))
            shapes.append(arrow(points[0], top + 20, points[1], top + 20))
    forms = ", ".join(selection.spec.matrix.forms)
    summary = f"{len(titles)} modules for {len(selection.pairs)} pairs, each {forms}"
    shapes.append(text(280, height + 8, summary, 16))
    return picture(560, height + 28, "Every library meets one core, not every other", shapes)
