"""Finds well-formed entries of a spec that contradict each other or name nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gymbridge_generator import naming, words
from gymbridge_generator.expressions import free_names
from gymbridge_generator.problems import KeyPath
from gymbridge_generator.quoting import spell

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend, Dlpack, Matrix

Findings: TypeAlias = Iterator[tuple[KeyPath, str]]


def check_backends(own: Mapping[int, Backend], inherited: Mapping[str, Backend]) -> Findings:
    """Find errors in single libraries and between them; ``own`` maps them to the file."""
    before = list(inherited.values())
    for place, backend in own.items():
        path = ("backend", place)
        for key, what in _check_alone(backend):
            yield (*path, *key.split(".")), what
        prefix = naming.part(backend)
        for other in before:
            if backend.name == other.name:
                origin = "an extended spec" if other.name in inherited else "this spec"
                yield (*path, "name"), f"{backend.name!r} is in {origin} already; use another name"
            elif prefix.lower() == naming.part(other).lower():
                key = "class_name" if backend.class_name else "name"
                yield (
                    (*path, key),
                    f"the class names of {backend.name!r} and {other.name!r} would be the same but "
                    + f"for case, {prefix!r} and {naming.part(other)!r}; give another class_name",
                )
        before.append(backend)


def _check_alone(backend: Backend) -> Iterator[tuple[str, str]]:
    if not backend.class_name:
        try:
            _ = words.class_name(naming.part(backend))
        except ValueError as error:
            yield "name", f"gives no class name: {error}; or give a class_name"
    if not backend.array.startswith(f"{backend.module}."):
        yield "array", f"{backend.array!r} is not in {backend.module!r}; begin with the module"
    if backend.extra and backend.distribution:
        yield "distribution", "stands beside extra; give one of the two"
    if backend.runtime and backend.dlpack:
        yield "dlpack", "stands beside runtime, which knows all that; give one of the two"
    if backend.annotation and not backend.typed:
        yield "annotation", "stands beside typed = false, where signatures need none; leave it out"
    if backend.dlpack:
        yield from _check_dlpack(backend.dlpack, backend.module)
    yield from _check_names(backend)


def _check_dlpack(dlpack: Dlpack, module: str) -> Iterator[tuple[str, str]]:
    functions = ("start", "importer", "reinterpret", "device_parse", "device_within", "device_copy")
    facts: dict[str, str] = dlpack.model_dump(include={*functions}, exclude_none=True)
    for key, path in facts.items():
        if not path.startswith(f"{module}."):
            yield f"dlpack.{key}", f"{path!r} is not in {module!r}; begin with the module"
    for dtype, stored in (dlpack.narrows or {}).items():
        if dlpack.dtypes is not None and stored not in dlpack.dtypes:
            yield f"dlpack.narrows.{dtype}", f"{stored!r} is none of its dtypes; name one of those"
    if (dlpack.device_within is None) != (dlpack.device_copy is None):
        yield "dlpack", "has one of device_within and device_copy; give both, or none"


def _check_names(backend: Backend) -> Iterator[tuple[str, str]]:
    names = naming.Names.of(backend).all()
    if backend.name.upper() in naming.RESERVED:
        yield "name", f"{backend.name.upper()!r} is used by generated code; use another name"
    bound: set[str] = set()
    for statement in imports_of(backend):
        name = bound_name(statement)
        if name in names | naming.RESERVED:
            yield "imports", f"{statement!r} binds {name!r}, which generated code does; use 'as'"
        bound.add(name)
    expressions = {
        "annotation": backend.annotation,
        "leaf": backend.leaf,
        "action": backend.action,
        "device": backend.device,
        "dtype": backend.dtype,
    }
    for key, expression in expressions.items():
        if expression:
            for name in sorted(free_names(expression) - bound):
                yield key, f"{name!r} is bound by none of the imports; add one that binds it"


def imports_of(backend: Backend) -> tuple[str, ...]:
    """Return the imports that a library's type expressions need."""
    if backend.imports is not None:
        return backend.imports
    return (f"import {backend.module}",) if backend.typed else ()


def bound_name(statement: str) -> str:
    """Return the name that an import of one name binds."""
    match ast.parse(statement).body:
        case [ast.Import(names=[alias])]:
            return alias.asname or alias.name.partition(".")[0]
        case [ast.ImportFrom(names=[alias])]:
            return alias.asname or alias.name
        case _:
            raise ValueError(statement)


def check_matrix(matrix: Matrix, known: Iterable[str]) -> Findings:
    """Find names and pairs in the matrix that are unknown, repeated or impossible."""
    allowed = sorted(known)
    chosen = matrix.backends
    for place, name in enumerate(chosen or ()):
        if name not in allowed:
            yield ("matrix", "backends", place), _unknown(name, allowed)
        elif chosen and name in chosen[:place]:
            yield ("matrix", "backends", place), f"{name!r} is there already; leave it out"
    if chosen is not None:
        allowed = sorted({*chosen} & {*allowed})
    for place, form in enumerate(matrix.forms):
        if form in matrix.forms[:place]:
            yield ("matrix", "forms", place), f"{form!r} is there already; leave it out"
    if isinstance(matrix.pairs, str):
        return
    for place, pair in enumerate(matrix.pairs):
        path = ("matrix", "pairs", place)
        for side, name in enumerate(pair):
            if name not in allowed:
                yield (*path, side), _unknown(name, allowed)
        if pair[0] == pair[1]:
            yield path, f"pairs {pair[0]!r} with itself; name two libraries"
        elif pair in matrix.pairs[:place]:
            yield path, f"{list(pair)} is there already; leave it out"


def _unknown(name: str, known: Sequence[str]) -> str:
    # an entry with errors may hold any value
    return f"no backend {name!r} (known: {', '.join(spell([name]) for name in known)})"


def check_output(pairs: Sequence[tuple[Backend, Backend]]) -> Findings:
    """Find wrappers that would share a file or a name with others."""
    if not pairs:
        yield (
            ("matrix",),
            'makes no wrapper; in a spec that extends others "all" means pairs with a backend of '
            + "its own: add one, or name the pairs",
        )
    seen: dict[str, tuple[Backend, Backend]] = {}
    for source, target in pairs:
        one, other = naming.Names.of(source), naming.Names.of(target)
        for name in sorted(one.all() & other.all()):
            yield (
                ("matrix", "pairs"),
                f"{source.name!r} and {target.name!r} both define {name!r}; give one another "
                + "class_name",
            )
        for name in (naming.forward(source, target), naming.wrapper(source, target)):
            # some file systems ignore case
            first = seen.setdefault(name.lower(), (source, target))
            if first != (source, target):
                yield (
                    ("matrix", "pairs"),
                    f"[{first[0].name!r}, {first[1].name!r}] and [{source.name!r}, "
                    + f"{target.name!r}] would both be {name!r}; rename a backend",
                )
