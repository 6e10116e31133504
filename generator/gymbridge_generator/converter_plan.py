"""What the module of one converter says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming, sharing
from gymbridge_generator.layout import fold, imports_from, paragraph

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

__all__ = ["ConverterPlan", "Overload"]


@dataclass(frozen=True)
class Overload:
    """One shape of trees that a converter knows."""

    value: str
    returns: str
    """From the bracket after the parameters to the end of the line."""


@dataclass(frozen=True)
class ConverterPlan:
    """The converter from one library to another."""

    function: str
    source: str
    target: str
    source_names: naming.Names
    target_names: naming.Names
    imports: str
    overloads: tuple[Overload, ...]
    memory: str

    @classmethod
    def of(cls, source: Backend, target: Backend) -> ConverterPlan:
        """Plan the converter for one direction of a pair."""
        ours, theirs = naming.Names.of(source), naming.Names.of(target)
        needed = {theirs.constant, theirs.array, theirs.tree, theirs.device} - {""}
        blocks = {
            f"..backends.{source.name}": {ours.constant, ours.leaf},
            f"..backends.{target.name}": needed,
        }
        return cls(
            function=naming.forward(source, target),
            source=source.title,
            target=target.title,
            source_names=ours,
            target_names=theirs,
            imports=imports_from(blocks),
            overloads=tuple(_overloads(ours.leaf, theirs.array, theirs.tree)),
            memory=paragraph(sharing.values(source, target)),
        )


def _overloads(leaf: str, array: str, tree: str) -> list[Overload]:
    """Return one overload a shape, no two of which accept the same argument."""
    shapes = [
        (leaf, array),
        ("_PassT", "_PassT"),
        ("dict[_KeyT, _LeafT]", f"dict[_KeyT, {array}]"),
        ("dict[_KeyT, dict[_Key2T, _LeafT]]", f"dict[_KeyT, dict[_Key2T, {array}]]"),
        (
            "dict[_KeyT, _LeafT | dict[_Key2T, _Leaf2T]]",
            f"dict[_KeyT, {array} | dict[_Key2T, {array}]]",
        ),
        ("list[_LeafT]", f"list[{array}]"),
        ("dict[str, object]", f"dict[str, {tree}]"),
    ]
    overloads = [Overload(value, f") -> {result}: ...") for value, result in shapes]
    leaves = ["_LeafT", "_Leaf2T", "_Leaf3T", "_Leaf4T"]
    tuples = [
        Overload(
            f"tuple[{', '.join(leaves[:size])}]",
            fold(") -> tuple[", [array] * size, "]: ..."),
        )
        for size in range(1, 5)
    ]
    return [*overloads[:6], *tuples, *overloads[6:]]
