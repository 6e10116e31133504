"""What the `__init__` modules say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gymbridge_generator import naming
from gymbridge_generator.layout import exported, import_from, natural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_generator.model import Backend, Form, Package

    Pairs: TypeAlias = Sequence[tuple[Backend, Backend]]

__all__ = ["RUNTIME_API", "FolderPlan", "LazyName", "PackagePlan", "PassedOnPlan"]

RUNTIME_API = 1
"""What generated code asks of the runtime; a test holds it to the runtime's own."""

_ROOT = "Typed Gymnasium wrappers between array libraries: a class for every ordered pair."
_VECTOR = "The same wrappers for vector environments, under the same names."
_ARRAY_CONVERSION = "ArrayConversion"
_FUNCTIONS = ("array_conversion", "module_name_to_namespace", "module_namespace")
_ANY_SINGLE = "`ArrayConversion`: environments of any array API library used from any other."
_ANY_VECTOR = "`ArrayConversion` for vectors: any array API library used from any other."
_VECTOR_ONLY = "Typed Gymnasium wrappers between array libraries, in the package `vector`."


@dataclass(frozen=True)
class FolderPlan:
    """A package that only holds modules."""

    summary: str


@dataclass(frozen=True)
class PassedOnPlan:
    """A module whose names are the runtime's."""

    summary: str
    imports: str
    exports: tuple[str, ...]

    @classmethod
    def array_conversion(cls, form: Form) -> PassedOnPlan:
        """Plan the module with Gymnasium's name that knows libraries by their modules."""
        single = form == "single"
        names = [_ARRAY_CONVERSION, *(_FUNCTIONS if single else ())]
        module = "array_conversion" if single else "array_conversion_vector"
        return cls(
            summary=_ANY_SINGLE if single else _ANY_VECTOR,
            imports=import_from(f"gymbridge_runtime.{module}", names),
            exports=tuple(exported(names)),
        )


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
        return cls.named(naming.wrapper(source, target), naming.forward(source, target))

    @classmethod
    def named(cls, name: str, module: str) -> LazyName:
        """Plan the import of a name from a module beside."""
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
    def root(cls, pairs: Pairs, package: Package, *, single: bool) -> PackagePlan:
        """Plan the package itself, which is where the runtime is asked whether it fits."""
        exports = package.exports
        wrappers = _wrappers(pairs, package) if single else ()
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
    def vector(cls, pairs: Pairs, package: Package) -> PackagePlan:
        """Plan the package of vector wrappers below it."""
        wrappers = _wrappers(pairs, package)
        return cls(
            summary=_VECTOR,
            runtime_api=0,
            imports="from gymbridge_runtime.lazy import lazy_names",
            exports=tuple(exported(wrapper.name for wrapper in wrappers)),
            wrappers=wrappers,
        )


def _wrappers(pairs: Pairs, package: Package) -> tuple[LazyName, ...]:
    wrappers = [LazyName.of(source, target) for source, target in pairs]
    if package.array_conversion:
        wrappers.append(LazyName.named(_ARRAY_CONVERSION, "array_conversion"))
    return tuple(sorted(wrappers, key=lambda wrapper: natural(wrapper.module)))
