"""What the `__init__` modules say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming
from gymbridge_generator.layout import exported, import_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_generator.model import Backend, Form

__all__ = ["RUNTIME_API", "FolderPlan", "LazyName", "PackagePlan"]

RUNTIME_API = 1
"""What generated code asks of the runtime; a test holds it to the runtime's own."""

_SUMMARY = {
    "single": "Typed Gymnasium wrappers between array libraries: a class for every ordered pair.",
    "vector": "The same wrappers for vector environments, under the same names.",
}


@dataclass(frozen=True)
class FolderPlan:
    """A package that only holds modules."""

    summary: str


@dataclass(frozen=True)
class LazyName:
    """A class that is imported when it is first touched."""

    name: str
    module: str


@dataclass(frozen=True)
class PackagePlan:
    """A package that passes its wrappers on."""

    summary: str
    runtime_api: int
    imports: str
    exports: tuple[str, ...]
    wrappers: tuple[LazyName, ...]

    @classmethod
    def of(
        cls, pairs: Sequence[tuple[Backend, Backend]], form: Form, exports: Sequence[str]
    ) -> PackagePlan:
        """Plan the package of all wrappers in one form."""
        passed_on = exports if form == "single" else ()
        names = [naming.wrapper(source, target) for source, target in pairs]
        return cls(
            summary=_SUMMARY[form],
            runtime_api=RUNTIME_API,
            imports=import_from("gymbridge_runtime", {*passed_on, "require_runtime_api"}),
            exports=tuple(exported([*passed_on, *names])),
            wrappers=tuple(
                LazyName(naming.wrapper(source, target), naming.forward(source, target))
                for source, target in pairs
            ),
        )
