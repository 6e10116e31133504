"""The containers whose static type a converter knows, before and after the conversion."""

from __future__ import annotations

from typing import NamedTuple

from gymbridge_generator.layout import fold

LEAVES = ("_LeafT", "_Leaf2T", "_Leaf3T", "_Leaf4T")
"""The type variables of leaves, which may differ: bool and float arrays, numbers."""


class Structure(NamedTuple):
    """A kind of container: with leaves of the source, and with arrays of the target."""

    source: str
    target: str
    items: tuple[str, ...] = ()
    """The items in the brackets of the target, if the line may have to be folded."""

    def folded(self, indent: int) -> str:
        """Return the target for a line of its own within brackets, folded if it is too long."""
        if not self.items:
            return self.target
        return fold("tuple[", self.items, "],", indent=indent)[:-1]  # a comma follows


def structures(array: str, key: str = "str", key_below: str = "str") -> list[Structure]:
    """Return the structures whose targets can be named, with ``array`` for leaves."""
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
