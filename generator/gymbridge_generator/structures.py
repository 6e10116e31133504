"""The containers of arrays that have a static type of their own, before and after a conversion."""

from __future__ import annotations

from typing import NamedTuple

from gymbridge_generator.layout import fold

__all__ = ["LEAVES", "Structure", "structures"]

LEAVES = ("_LeafT", "_Leaf2T", "_Leaf3T", "_Leaf4T")
"""The type variables for what may differ from leaf to leaf: bool and float arrays, numbers."""


class Structure(NamedTuple):
    """One kind of container, with the leaves of one library and with the arrays of another."""

    source: str
    target: str
    items: tuple[str, ...] = ()
    """What is in the brackets of the target, where there is so much of it that it may be folded."""

    def folded(self, indent: int) -> str:
        """Return the target for a line of its own within brackets, folded if it is too long."""
        if not self.items:
            return self.target
        return fold("tuple[", self.items, "],", indent=indent)[:-1]  # a comma will follow


def structures(array: str, key: str = "str", key_below: str = "str") -> list[Structure]:
    """Return the structures whose counterparts, with ``array`` for leaves, can be named."""
    one, other = LEAVES[:2]
    dicts = [
        Structure(f"dict[{key}, {one}]", f"dict[{key}, {array}]"),
        Structure(
            f"dict[{key}, dict[{key_below}, {one}]]", f"dict[{key}, dict[{key_below}, {array}]]"
        ),
        Structure(
            f"dict[{key}, {one} | dict[{key_below}, {other}]]",
            f"dict[{key}, {array} | dict[{key_below}, {array}]]",
        ),
    ]
    tuples = [
        Structure(
            f"tuple[{', '.join(LEAVES[:size])}]",
            f"tuple[{', '.join([array] * size)}]",
            (array,) * size,
        )
        for size in range(1, len(LEAVES) + 1)
    ]
    return [*dicts, *tuples]
