"""Plans the module of a converter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming, sharing
from gymbridge_generator.fast_path import FastPath, FastPaths, is_numpy
from gymbridge_generator.layout import argument, fold, imports_from, paragraph
from gymbridge_generator.structures import LEAVES, Structure, structures

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend


@dataclass(frozen=True)
class Overload:
    """The overload for one structure of trees."""

    value: str
    returns: str
    """The rest of the line, from the bracket after the parameters."""


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
    """What the docstring says about the argument."""
    path: FastPath | None
    """How the usual array is converted."""
    shares: bool
    """Whether the result shares memory with the usual array."""
    is_view: bool
    """Whether the result is a view that nobody writes into."""
    copies: bool
    """Whether a host view is copied before an array is made of it."""
    helpers: str
    """The functions of the runtime that the fast path needs."""

    @classmethod
    def of(cls, source: Backend, target: Backend) -> ConverterPlan:
        """Plan the converter for one direction of a pair."""
        ours, theirs = naming.Names.of(source), naming.Names.of(target)
        needed = {theirs.constant, theirs.array, theirs.tree, theirs.device} - {""}
        blocks = {
            f"..backends.{source.name}": {ours.constant, ours.leaf, ours.tree},
            f"..backends.{target.name}": needed,
        }
        paths = FastPaths.of(source, target)
        if paths.obs:
            for library, names in paths.imports(paths.obs.used(one=True, many=True)).items():
                blocks[f"..backends.{library}"] |= names
        else:
            blocks[f"..backends.{source.name}"].remove(ours.constant)
        copies = not (target.copies_in or (paths.obs and paths.obs.takes_device))
        shares = sharing.sharing(source, target) == "shared"
        helpers = (
            {"behaved_items", "is_behaved"} if shares and is_numpy(source) else {"items_of_type"}
        )
        if shares or copies:
            helpers.add("copied")
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
            path=paths.obs,
            shares=shares,
            copies=copies,
            helpers=", ".join(sorted(helpers)),
            is_view=sharing.sharing(source, target) == "read-only view" and is_numpy(target),
        )


def _overloads(ours: naming.Names, theirs: naming.Names) -> list[Overload]:
    """Return one overload for each structure; no two accept the same argument."""
    array = theirs.array
    known = structures(array, "_KeyT", "_Key2T")
    shapes = [Structure(ours.leaf, array), Structure("_PassT", "_PassT"), *known]
    shapes.insert(-len(LEAVES), Structure("list[_LeafT]", f"list[{array}]"))
    # a converted dict of unknown values is no dict of objects, and must be accepted on the way back
    shapes += [
        Structure(f"dict[str, {anything}]", f"dict[str, {theirs.tree}]")
        for anything in (ours.tree, "object")
    ]
    return [Overload(shape.source, _returns(shape)) for shape in shapes]


def _returns(shape: Structure) -> str:
    if shape.items:
        return fold(") -> tuple[", shape.items, "]: ...")
    return f") -> {shape.target}: ..."
