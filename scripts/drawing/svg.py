"""A few SVG shapes, with the same text on every machine."""

from __future__ import annotations

from html import escape

INK = "#1c2430"
QUIET = "#5b6675"
PAPER = "#ffffff"
_FONT = "font-family='system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif'"
_ARROW = (
    "<defs><marker id='arrow' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
    f"markerHeight='7' orient='auto'><path d='M0 0 L8 4 L0 8 z' fill='{QUIET}'/></marker></defs>"
)


def picture(width: int, height: int, title: str, shapes: list[str]) -> str:
    """Return a whole picture; ``title`` is for screen readers."""
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' role='img' "
        f"aria-label='{escape(title, quote=True)}' {_FONT}>"
    )
    paper = f"<rect width='{width}' height='{height}' rx='10' fill='{PAPER}'/>"
    return "\n".join([head, _ARROW, paper, *shapes, "</svg>", ""])


def box(x: float, y: float, width: float, height: float, *, fill: str, line: str = "none") -> str:
    """Return a rectangle with round corners."""
    return (
        f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' rx='7' "
        f"fill='{fill}' stroke='{line}'/>"
    )


def text(
    x: float, y: float, words: str, size: float = 16, *, fill: str = INK, anchor: str = "middle"
) -> str:
    """Return one line of text; its middle (or start, or end) is at ``x``."""
    weight = " font-weight='600'" if fill == INK else ""
    return (
        f"<text x='{x:g}' y='{y:g}' font-size='{size:g}' fill='{fill}' "
        f"text-anchor='{anchor}'{weight}>{escape(words)}</text>"
    )


def arrow(x1: float, y1: float, x2: float, y2: float, *, line: str = QUIET) -> str:
    """Return an arrow from one point to another."""
    return (
        f"<line x1='{x1:g}' y1='{y1:g}' x2='{x2:g}' y2='{y2:g}' stroke='{line}' "
        "stroke-width='1.6' marker-end='url(#arrow)'/>"
    )
