"""What the module of one converter says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming, sharing
from gymbridge_generator.layout import argument, fold, imports_from, paragraph
from gymbridge_generator.ordinary import at_once, is_host
from gymbridge_generator.structures import LEAVES, Structure, structures

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
    device: str
    """What the docstring says of that argument."""
    only_here: str
    """The condition that no device is named, after others."""
    shares_at_once: bool
    """Whether it shares ordinary arrays by one call."""
    takes_host_arrays: bool
    """Whether they are NumPy's, which say whether others may write into them."""

    @classmethod
    def of(cls, source: Backend, target: Backend) -> ConverterPlan:
        """Plan the converter for one direction of a pair."""
        ours, theirs = naming.Names.of(source), naming.Names.of(target)
        needed = {theirs.constant, theirs.array, theirs.tree, theirs.device} - {""}
        blocks = {
            f"..backends.{source.name}": {ours.constant, ours.leaf, ours.tree},
            f"..backends.{target.name}": needed,
        }
        return cls(
            function=naming.forward(source, target),
            source=source.title,
            target=target.title,
            source_names=ours,
            target_names=theirs,
            imports=imports_from(blocks),
            overloads=tuple(_overloads(ours, theirs)),
            memory=paragraph(sharing.values(source, target)),
            device=argument(
                "device", f"Where the result goes; {sharing.place(source, target)}.", indent=8
            ),
            only_here=" and device is None" if theirs.device else "",
            shares_at_once=at_once(source, target),
            takes_host_arrays=is_host(source),
        )


def _overloads(ours: naming.Names, theirs: naming.Names) -> list[Overload]:
    """Return one overload a shape, no two of which accept the same argument."""
    array = theirs.array
    known = structures(array, "_KeyT", "_Key2T")
    shapes = [Structure(ours.leaf, array), Structure("_PassT", "_PassT"), *known]
    shapes.insert(-len(LEAVES), Structure("list[_LeafT]", f"list[{array}]"))
    # what came of a dict of anything is no dict of objects, and goes the way back
    shapes += [
        Structure(f"dict[str, {anything}]", f"dict[str, {theirs.tree}]")
        for anything in (ours.tree, "object")
    ]
    return [Overload(shape.source, _returns(shape)) for shape in shapes]


def _returns(shape: Structure) -> str:
    if shape.items:
        return fold(") -> tuple[", shape.items, "]: ...")
    return f") -> {shape.target}: ..."
