"""Reads a spec file: returns its libraries and pairs, or raises all its errors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from gymbridge_generator import consistency
from gymbridge_generator.errors import GeneratorError
from gymbridge_generator.inherit import inherited
from gymbridge_generator.model import MOST_BACKENDS, Backend, Matrix, Spec
from gymbridge_generator.problems import KeyPath, explain, located
from gymbridge_generator.quoting import quoted
from gymbridge_generator.reading import read_text
from gymbridge_generator.resources import published_names
from gymbridge_generator.toml import is_array, is_table, parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_ModelT = TypeVar("_ModelT", bound=BaseModel)


@dataclass(frozen=True)
class Selection:
    """The libraries of a spec, and the pairs that it asks for."""

    spec: Spec
    pairs: tuple[tuple[Backend, Backend], ...]


def load(path: Path, backends: Sequence[str] = ()) -> Selection:
    """Read the spec at ``path``.

    Args:
        path: The file.
        backends: The names of the libraries to choose from instead of those of its matrix.

    Raises:
        GeneratorError: There is no such file, or no text in it that can be read.
        SpecError: The spec has errors; the message lists all of them.
    """
    try:
        text = read_text(path)
    except GeneratorError as error:
        raise GeneratorError(f"{error}; name a spec with --spec") from None
    return parse(text, str(path), backends)


def parse(text: str, file: str, backends: Sequence[str] = ()) -> Selection:
    """Check the text of a spec, and find the pairs that it selects.

    Args:
        text: The spec.
        file: The name of the file in errors.
        backends: The names of the libraries to choose from instead of those of its matrix.

    Raises:
        GeneratorError: One of ``backends`` is unknown, or they make no pair.
        SpecError: The spec has errors; the message lists all of them.
    """
    data = parse_toml(text, file)
    spec, findings = _validated(data)
    # well-formed entries are compared even if others have errors
    own = dict(_well_formed(Backend, _items(data.get("backend"))[:MOST_BACKENDS]))
    matrix = dict(_well_formed(Matrix, [data.get("matrix", {})])).get(0)
    extended = [name for name in _items(data.get("extends")) if isinstance(name, str)]
    others = inherited(extended)
    mine = {backend.name: backend for backend in own.values()}
    every = others.backends | mine
    findings += _check_extended(extended)
    findings += consistency.check_backends(own, others.backends)
    if matrix:
        findings += consistency.check_matrix(matrix, {*every, *_named(data.get("backend"))})
    if spec and not findings:
        if backends:
            pairs = tuple(_chosen_pairs(spec.matrix, every, backends))
        else:
            chosen = {*mine, *others.chosen}
            pairs = tuple(_pairs(spec.matrix, every, chosen, {*mine} if extended else {*every}))
        findings += consistency.check_output(pairs)
        if not findings:
            return Selection(spec, pairs)
    raise located(findings, text, file)


def _validated(data: object) -> tuple[Spec | None, list[tuple[KeyPath, str]]]:
    try:
        return Spec.model_validate(data), []
    except ValidationError as error:
        return None, explain(error, Spec)


def _check_extended(names: list[str]) -> Iterator[tuple[KeyPath, str]]:
    known = published_names()
    for place, name in enumerate(names):
        if name not in known:
            yield (
                ("extends", place),
                f"no spec {quoted(name)} is installed (known: {', '.join(known)})",
            )


def _pairs(
    matrix: Matrix, every: Mapping[str, Backend], default: set[str], own: set[str]
) -> Iterator[tuple[Backend, Backend]]:
    """Return the pairs that a matrix selects, ordered by name."""
    chosen = sorted(default if matrix.backends is None else matrix.backends)
    every_pair = ((a, b) for a in chosen for b in chosen if a != b and {a, b} & own)
    for a, b in every_pair if matrix.pairs == "all" else sorted(matrix.pairs):
        yield every[a], every[b]


def _chosen_pairs(
    matrix: Matrix, every: Mapping[str, Backend], backends: Sequence[str]
) -> Iterator[tuple[Backend, Backend]]:
    """Return the pairs of ``backends`` that a matrix includes."""
    for name in backends:
        if name not in every:
            raise GeneratorError(f"no backend {name!r} (known: {', '.join(sorted(every))})")
    pairs = [
        (every[a], every[b])
        for a, b in permutations(sorted({*backends}), 2)
        if matrix.pairs == "all" or (a, b) in matrix.pairs
    ]
    if not pairs:
        raise GeneratorError(
            f"no pair can be made of {', '.join(backends)}; name two backends, between which the "
            + "spec has wrappers"
        )
    yield from pairs


def _items(array: object) -> list[object]:
    return array if is_array(array) else []


def _well_formed(model: type[_ModelT], tables: object) -> Iterator[tuple[int, _ModelT]]:
    """Return the valid tables of ``model``, with their places."""
    for place, table in enumerate(_items(tables)):
        try:
            yield place, model.model_validate(table)
        except ValidationError:
            continue


def _named(backends: object) -> Iterator[str]:
    """Return the names of all libraries, those with errors included."""
    for backend in _items(backends)[:MOST_BACKENDS]:
        name = backend.get("name") if is_table(backend) else None
        if isinstance(name, str):
            yield name
