"""Plans the `__init__` modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gymbridge_generator import naming
from gymbridge_generator.layout import exported, import_from, natural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_generator.forms import FormFacts, PassedOn
    from gymbridge_generator.model import Backend, Package

    Pairs: TypeAlias = Sequence[tuple[Backend, Backend]]

RUNTIME_API = 8
"""The runtime that generated code needs; a test compares it with the runtime's own number."""

_AT_ONCE = frozenset({"__version__"})
"""The names that the runtime imports at once; it imports errors when they are asked for."""


@dataclass(frozen=True)
class FolderPlan:
    """A package with modules only."""

    summary: str


@dataclass(frozen=True)
class PassedOnPlan:
    """A module that re-exports names of the runtime."""

    summary: str
    imports: str
    exports: tuple[str, ...]

    @classmethod
    def of(cls, passed: PassedOn) -> PassedOnPlan:
        """Plan the module that re-exports a module of the runtime."""
        return cls(
            summary=passed.summary,
            imports=import_from(f"gymbridge_runtime.{passed.module}", passed.names),
            exports=tuple(exported(passed.names)),
        )


@dataclass(frozen=True)
class LazyName:
    """A name that is imported on first use."""

    name: str
    module: str
    """The module; relative to the package if it begins with a dot."""
    statement: str
    """The import that type checkers see: ``import X as X`` re-exports."""

    @classmethod
    def of(cls, source: Backend, target: Backend) -> LazyName:
        """Plan the import of one wrapper."""
        module = f".{naming.forward(source, target)}"
        return cls.named(naming.wrapper(source, target), module)

    @classmethod
    def named(cls, name: str, module: str) -> LazyName:
        """Plan the import of a name from a module; a relative one begins with a dot."""
        return cls(name, module, import_from(module, [f"{name} as {name}"], indent=4))

    @property
    def place(self) -> str:
        """The module, as an expression."""
        beside = self.module.startswith(".")
        return f'f"{{__name__}}{self.module}"' if beside else f'"{self.module}"'


@dataclass(frozen=True)
class PackagePlan:
    """A package that re-exports its wrappers."""

    summary: str
    runtime_api: int
    """The runtime that it needs; 0 if the package above checks that."""
    imports: str
    exports: tuple[str, ...]
    passed_on: tuple[LazyName, ...]
    """The names of the runtime that are re-exported."""
    wrappers: tuple[LazyName, ...]

    @classmethod
    def root(cls, pairs: Pairs, package: Package, forms: Sequence[FormFacts]) -> PackagePlan:
        """Plan the package itself, which checks that the runtime fits."""
        here = next((form for form in forms if not form.folder), None)
        wrappers = () if here is None else _wrappers(pairs, package, here)
        passed_on = tuple(
            LazyName.named(name, "gymbridge_runtime")
            for name in exported(package.exports)
            if name not in _AT_ONCE
        )
        at_once = _AT_ONCE.intersection(package.exports)
        blocks = [import_from("gymbridge_runtime", {*at_once, "require_runtime_api"})]
        if wrappers or passed_on:
            blocks.append("from gymbridge_runtime.lazy import lazy_names")
        return cls(
            summary=_elsewhere(forms) if here is None else here.summary,
            runtime_api=RUNTIME_API,
            imports="\n".join(blocks),
            exports=tuple(exported([*package.exports, *(wrapper.name for wrapper in wrappers)])),
            passed_on=passed_on,
            wrappers=wrappers,
        )

    @classmethod
    def below(cls, pairs: Pairs, package: Package, form: FormFacts) -> PackagePlan:
        """Plan the subpackage of one form."""
        wrappers = _wrappers(pairs, package, form)
        return cls(
            summary=form.summary,
            runtime_api=0,
            imports="from gymbridge_runtime.lazy import lazy_names",
            exports=tuple(exported(wrapper.name for wrapper in wrappers)),
            passed_on=(),
            wrappers=wrappers,
        )


def _elsewhere(forms: Sequence[FormFacts]) -> str:
    names = " and ".join(f"`{form.folder}`" for form in forms)
    return f"Typed wrappers between array libraries, in {names}."


def _wrappers(pairs: Pairs, package: Package, form: FormFacts) -> tuple[LazyName, ...]:
    wrappers = [LazyName.of(source, target) for source, target in pairs]
    if package.array_conversion and form.array_conversion:
        wrappers.append(LazyName.named(form.array_conversion.names[0], ".array_conversion"))
    return tuple(sorted(wrappers, key=lambda wrapper: natural(wrapper.module)))
