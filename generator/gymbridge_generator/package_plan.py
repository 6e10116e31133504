"""What the `__init__` modules say."""

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

__all__ = ["RUNTIME_API", "FolderPlan", "LazyName", "PackagePlan", "PassedOnPlan"]

RUNTIME_API = 7
"""What generated code asks of the runtime; a test holds it to the runtime's own."""

_AT_ONCE = frozenset({"__version__"})
"""What the runtime has at hand; it imports errors when somebody asks for one."""


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
    def of(cls, passed: PassedOn) -> PassedOnPlan:
        """Plan the module that passes a module of the runtime on."""
        return cls(
            summary=passed.summary,
            imports=import_from(f"gymbridge_runtime.{passed.module}", passed.names),
            exports=tuple(exported(passed.names)),
        )


@dataclass(frozen=True)
class LazyName:
    """A class that is imported when it is first touched."""

    name: str
    module: str
    """Relative to the package if it begins with a dot."""
    statement: str
    """The import that type checkers see: under its own name again, which passes it on."""

    @classmethod
    def of(cls, source: Backend, target: Backend) -> LazyName:
        """Plan the import of one wrapper."""
        module = f".{naming.forward(source, target)}"
        return cls.named(naming.wrapper(source, target), module)

    @classmethod
    def named(cls, name: str, module: str) -> LazyName:
        """Plan the import of a name from a module; one beside begins with a dot."""
        return cls(name, module, import_from(module, [f"{name} as {name}"], indent=4))

    @property
    def place(self) -> str:
        """Where it is, as an expression."""
        beside = self.module.startswith(".")
        return f'f"{{__name__}}{self.module}"' if beside else f'"{self.module}"'


@dataclass(frozen=True)
class PackagePlan:
    """A package that passes its wrappers on."""

    summary: str
    runtime_api: int
    """What it asks of the runtime, or 0 where the package above has asked."""
    imports: str
    exports: tuple[str, ...]
    passed_on: tuple[LazyName, ...]
    """What the runtime has, and imports as late."""
    wrappers: tuple[LazyName, ...]

    @classmethod
    def root(cls, pairs: Pairs, package: Package, forms: Sequence[FormFacts]) -> PackagePlan:
        """Plan the package itself, which is where the runtime is asked whether it fits."""
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
        """Plan the package of one form's wrappers below it."""
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
