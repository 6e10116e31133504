"""What the `__init__` modules say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gymbridge_generator import naming
from gymbridge_generator.layout import exported, import_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_generator.model import Backend

    Pairs: TypeAlias = Sequence[tuple[Backend, Backend]]

__all__ = ["RUNTIME_API", "FolderPlan", "LazyName", "PackagePlan"]

RUNTIME_API = 1
"""What generated code asks of the runtime; a test holds it to the runtime's own."""

_ROOT = "Typed Gymnasium wrappers between array libraries: a class for every ordered pair."
_VECTOR = "The same wrappers for vector environments, under the same names."
_VECTOR_ONLY = "Typed Gymnasium wrappers between array libraries, in the package `vector`."


@dataclass(frozen=True)
class FolderPlan:
    """A package that only holds modules."""

    summary: str


@dataclass(frozen=True)
class LazyName:
    """A class that is imported when it is first touched."""

    name: str
    module: str
    statement: str
    """The import that type checkers see: under its own name again, which passes it on."""

    @classmethod
    def of(cls, source: Backend, target: Backend) -> LazyName:
        """Plan the import of one wrapper."""
        name, module = naming.wrapper(source, target), naming.forward(source, target)
        return cls(name, module, import_from(f".{module}", [f"{name} as {name}"], indent=4))


@dataclass(frozen=True)
class PackagePlan:
    """A package that passes its wrappers on."""

    summary: str
    runtime_api: int
    """What it asks of the runtime, or 0 where the package above has asked."""
    imports: str
    exports: tuple[str, ...]
    wrappers: tuple[LazyName, ...]

    @classmethod
    def root(cls, pairs: Pairs, exports: Sequence[str], *, single: bool) -> PackagePlan:
        """Plan the package itself, which is where the runtime is asked whether it fits."""
        wrappers = _wrappers(pairs) if single else ()
        blocks = [import_from("gymbridge_runtime", {*exports, "require_runtime_api"})]
        if single:
            blocks.append("from gymbridge_runtime.lazy import lazy_names")
        return cls(
            summary=_ROOT if single else _VECTOR_ONLY,
            runtime_api=RUNTIME_API,
            imports="\n".join(blocks),
            exports=tuple(exported([*exports, *(wrapper.name for wrapper in wrappers)])),
            wrappers=wrappers,
        )

    @classmethod
    def vector(cls, pairs: Pairs) -> PackagePlan:
        """Plan the package of vector wrappers below it."""
        wrappers = _wrappers(pairs)
        return cls(
            summary=_VECTOR,
            runtime_api=0,
            imports="from gymbridge_runtime.lazy import lazy_names",
            exports=tuple(exported(wrapper.name for wrapper in wrappers)),
            wrappers=wrappers,
        )


def _wrappers(pairs: Pairs) -> tuple[LazyName, ...]:
    return tuple(LazyName.of(source, target) for source, target in pairs)
