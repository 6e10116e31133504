"""From a spec file to the libraries and pairs it asks for, or to everything wrong with it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from gymbridge_generator import consistency
from gymbridge_generator.errors import GeneratorError, Problem, SpecError
from gymbridge_generator.locate import line_of
from gymbridge_generator.model import Backend, Matrix, Spec
from gymbridge_generator.problems import KeyPath, explain, spell
from gymbridge_generator.resources import published_names, published_spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Selection", "load", "parse_toml"]

_ModelT = TypeVar("_ModelT", bound=BaseModel)


@dataclass(frozen=True)
class Selection:
    """What a spec comes down to."""

    spec: Spec
    pairs: tuple[tuple[Backend, Backend], ...]


def load(path: Path) -> Selection:
    """Read the spec at ``path``.

    Raises:
        GeneratorError: There is no such file, or no text in it.
        SpecError: Something is wrong with it; everything that is, at once.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise GeneratorError(f"{path}: {reason}; name a spec with --spec") from None
    return parse(text, str(path))


def parse(text: str, file: str) -> Selection:
    """Check the text of a spec, and find the pairs it asks for."""
    data = parse_toml(text, file)
    try:
        spec, findings = Spec.model_validate(data), list[tuple[KeyPath, str]]()
    except ValidationError as error:
        spec, findings = None, explain(error, Spec)
    # what is well-formed is checked against the rest, even if something else is not
    own = dict(_well_formed(Backend, data.get("backend")))
    matrix = dict(_well_formed(Matrix, [data.get("matrix", {})])).get(0)
    inherited: dict[str, Backend] = {}
    for name, place in _extended(data.get("extends")):
        published = published_spec(name)
        if published is None:
            known = ", ".join(published_names())
            findings.append((("extends", place), f"no spec {name!r} is installed (known: {known})"))
        else:
            inherited |= _published(published, f"<{name}>")
    every = inherited | {backend.name: backend for backend in own.values()}
    findings += consistency.check_backends(own, inherited)
    if matrix:
        findings += consistency.check_matrix(matrix, {*every, *_named(data.get("backend"))})
    if spec and not findings:
        mine = {backend.name for backend in own.values()}
        pairs = tuple(_pairs(spec.matrix, every, mine if spec.extends else {*every}))
        findings += consistency.check_output(pairs)
        if not findings:
            return Selection(spec, pairs)
    raise SpecError(
        Problem(file, line_of(text, path), spell(path), what) for path, what in findings
    )


def parse_toml(text: str, file: str) -> dict[str, object]:
    """Parse TOML.

    Raises:
        SpecError: It is none.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at ")
        line = re.match(r"line (\d+)", place)  # else it is the end
        number = int(line[1]) if line else len(text.splitlines())
        raise SpecError([Problem(file, number, "", f"not TOML: {what}")]) from None


def _published(text: str, file: str) -> dict[str, Backend]:
    """Return the libraries of a published spec, those it extends included."""
    spec = Spec.model_validate(parse_toml(text, file))
    found: dict[str, Backend] = {}
    for name in spec.extends:
        found |= _published(published_spec(name) or "", f"<{name}>")
    return found | {backend.name: backend for backend in spec.backend}


def _pairs(
    matrix: Matrix, every: Mapping[str, Backend], own: set[str]
) -> Iterator[tuple[Backend, Backend]]:
    chosen = sorted(every if matrix.backends is None else matrix.backends)
    pairs = (
        ((a, b) for a in chosen for b in chosen if a != b and {a, b} & own)
        if matrix.pairs == "all"
        else sorted(matrix.pairs)
    )
    for a, b in pairs:
        yield every[a], every[b]


def _well_formed(model: type[_ModelT], items: object) -> Iterator[tuple[int, _ModelT]]:
    for place, item in enumerate(items if isinstance(items, list) else []):
        try:
            yield place, model.model_validate(item)
        except ValidationError:
            continue


def _extended(names: object) -> Iterator[tuple[str, int]]:
    for place, name in enumerate(names if isinstance(names, list) else []):
        if isinstance(name, str):
            yield name, place


def _named(backends: object) -> Iterator[str]:
    """Return the names of the libraries, those that are wrong elsewhere included."""
    for backend in backends if isinstance(backends, list) else []:
        if isinstance(backend, dict) and isinstance(name := backend.get("name"), str):
            yield name
