"""The style of plots, for light and dark pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnyType
    from matplotlib.typing import RcKeyType

INK = "#808080"  # readable on white and on black
STYLE: dict[RcKeyType, AnyType] = {
    "font.size": 10,
    "svg.fonttype": "none",
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
