"""The picture of an observation that JAX reads after the environment has written again."""

from __future__ import annotations

from scripts.drawing.svg import INK, QUIET, arrow, box, picture, text

_OLD, _NEW, _WRONG = "#bcd9f7", "#ffdfad", "#b3261e"


def attack_picture() -> str:
    """Return the two ways into JAX, side by side in time."""
    shapes: list[str] = []
    for top, title, private in ((20, "shared with JAX", False), (200, "gymbridge", True)):
        shapes.append(text(20, top + 20, title, 18, fill=INK, anchor="start"))
        shapes.append(text(20, top + 62, "environment's buffer", 14, fill=QUIET, anchor="start"))
        shapes.append(box(175, top + 40, 130, 34, fill=_OLD))
        shapes.append(text(240, top + 63, "step 1", 16))
        shapes.append(box(311, top + 40, 130, 34, fill=_NEW))
        shapes.append(text(376, top + 63, "step 2", 16))
        shapes.append(text(20, top + 132, "what JAX holds", 14, fill=QUIET, anchor="start"))
        shapes.append(box(447, top + 110, 100, 34, fill=_OLD if private else _NEW))
        shapes.append(text(497, top + 133, "step 1" if private else "step 2", 16))
        if private:
            shapes.append(box(175, top + 110, 130, 34, fill=_OLD))
            shapes.append(text(240, top + 133, "private copy", 15))
            shapes.append(arrow(240, top + 75, 240, top + 108))
            shapes.append(arrow(307, top + 127, 445, top + 127))
        else:
            shapes.append(text(240, top + 127, "JAX reads when", 14, fill=QUIET))
            shapes.append(text(240, top + 145, "its queue is free …", 14, fill=QUIET))
            shapes.append(arrow(400, top + 76, 452, top + 107, line=_WRONG))
    title = "A shared buffer is read after it was written again; a private copy is not"
    return picture(565, 360, title, shapes)
