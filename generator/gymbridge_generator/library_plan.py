"""Plans the module of an array library."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gymbridge_generator.consistency import imports_of
from gymbridge_generator.fast_path import calls_of
from gymbridge_generator.layout import assignment, exported, fold, import_block
from gymbridge_generator.naming import Names

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

_Fact: TypeAlias = "bool | int | str | tuple[str, ...] | dict[str, str]"
"""The types of the generic backend's arguments."""


@dataclass(frozen=True)
class LibraryPlan:
    """One library: its names, its types and how it is imported."""

    title: str
    names: Names
    exports: tuple[str, ...]
    install: str
    """The command that installs it; empty if it is always there."""
    imports: str
    """The imports before the library."""
    library_imports: str
    """The imports that fail if the library is missing."""
    missing: str
    """The statement that raises the error for it."""
    checked_imports: str
    """The imports that only type checkers see, for a library without types."""
    module: str
    array: str
    annotation: str
    leaf: str
    tree: str
    """The definition of arrays in containers."""
    branch: str
    """The definition of the containers."""
    action: str
    device: str
    dtype: str
    acts: str
    """The type of an action that is one array."""
    facts: tuple[str, ...]
    """The arguments of a generic backend; none for a library with its own backend."""

    @classmethod
    def of(cls, backend: Backend) -> LibraryPlan:
        """Plan the module of one library."""
        names = Names.of(backend)
        install = _install(backend)
        first, library = _imports(backend, names)
        deep = 4 if backend.typed else 8  # indented by one block or two
        numbers, tree = "int | float | complex", names.tree
        return cls(
            title=backend.title,
            names=names,
            exports=tuple(exported([*names.public(), *calls_of(backend)])),
            install=install,
            imports=import_block(first),
            library_imports=_indented(import_block(library), deep),
            missing=fold(
                "raise BackendNotInstalledError.explain(",
                [f'"{backend.title}"', f'"{install}"', "_error"],
                ") from _error",
                indent=deep,
            ),
            checked_imports=_indented(import_block(_checked_imports(backend, names)), 4),
            module=backend.module,
            array=backend.array,
            annotation=(backend.annotation or backend.array) if backend.typed else "",
            leaf=backend.leaf or f"{names.array} | {numbers}",
            tree=assignment(
                f"{tree}: TypeAlias", f'"{names.array} | str | bytes | {names.branch} | None"'
            ),
            branch=assignment(
                f"{names.branch}: TypeAlias",
                f'"dict[str, {tree}] | tuple[{tree}, ...] | list[{tree}]"',
            ),
            action=backend.action or "",
            device=backend.device or "",
            dtype=backend.dtype,
            acts=names.action or names.array,
            facts=() if backend.runtime else tuple(_facts(backend, names)),
        )


def _indented(block: str, deep: int) -> str:
    """Return ``block`` for a place in a template that indents its first line."""
    return textwrap.indent(block, " " * deep).lstrip()


def _install(backend: Backend) -> str:
    if backend.extra:
        return f"pip install 'gymbridge[{backend.extra}]'"
    return f"pip install '{backend.distribution}'" if backend.distribution else ""


def _imports(backend: Backend, names: Names) -> tuple[list[str], list[str]]:
    """Return the imports that need no library, and those that may fail without it."""
    optional = bool(_install(backend))
    own = {"from gymbridge_runtime import types", "from typing_extensions import TypeVar"}
    own |= {"from collections.abc import Mapping", "from collections.abc import Sequence"}
    own.add("from typing import TypeAlias")
    library: set[str] = set()
    root = backend.module.partition(".")[0]
    for statement in imports_of(backend):
        module = statement.split()[1]
        (library if optional and module.partition(".")[0] == root else own).add(statement)
    (library if optional else own).update(_call_imports(backend))
    if backend.runtime:
        statement = _runtime_import(backend.runtime, names)
        (library if optional else own).add(statement)
    else:
        own.add("from gymbridge_runtime.backends.dlpack import DlpackBackend")
    if optional:
        own.add("from gymbridge_runtime import BackendNotInstalledError")
    if not backend.typed:
        library.add(f"import {backend.module}")
        own |= {"from typing import TYPE_CHECKING", "from typing import Self"}
    return sorted(own), sorted(library)


def _runtime_import(reference: str, names: Names) -> str:
    module, _, name = reference.partition(":")
    statement = f"from {module} import {name}"
    return statement if name == names.constant else f"{statement} as {names.constant}"


def _call_imports(backend: Backend) -> list[str]:
    """Return the imports of the calls, under the names that the spec gives them."""
    statements: list[str] = []
    for call, reference in calls_of(backend).items():
        module, _, name = reference.partition(":")
        renamed = "" if name == call else f" as {call}"
        statements.append(f"from {module} import {name}{renamed}")
    return statements


def _checked_imports(backend: Backend, names: Names) -> list[str]:
    own = [_runtime_import(backend.runtime, names)] if backend.runtime else []
    return ["from types import EllipsisType", *own]


def _facts(backend: Backend, names: Names) -> list[str]:
    """Return the arguments of the generic backend: every fact in the spec."""
    facts: dict[str, _Fact] = {
        "name": backend.name,
        "title": backend.title,
        "module": backend.module,
        "array": backend.array,
        "mutable": backend.mutable,
        "read_only": backend.read_only,
        "views": backend.views,
        "copies_in": backend.copies_in or not backend.host,
    }
    if backend.dlpack:
        facts |= backend.dlpack.model_dump(exclude_none=True)
    lines = [_argument(key, value) for key, value in facts.items()]
    return [*lines[:2], f'reference=f"{{__name__}}:{names.constant}"', *lines[2:]]


def _argument(key: str, value: _Fact) -> str:
    if isinstance(value, tuple):
        items = [f'"{item}"' for item in value]
        tail = ",)," if len(items) == 1 else "),"
        return fold(f"{key}=(", items, tail, indent=4, literal=True)[:-1]  # a comma follows
    if isinstance(value, dict):
        pairs = [f'"{one}": "{other}"' for one, other in value.items()]
        return fold(f"{key}={{", pairs, "},", indent=4, literal=True)[:-1]
    return f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}"
