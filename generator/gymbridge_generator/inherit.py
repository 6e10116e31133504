"""The libraries that a spec has from the specs it extends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from gymbridge_generator.errors import Problem, SpecError
from gymbridge_generator.locate import line_of
from gymbridge_generator.model import Spec
from gymbridge_generator.problems import explain, spell
from gymbridge_generator.resources import published_spec
from gymbridge_generator.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gymbridge_generator.model import Backend

__all__ = ["inherited"]


def inherited(names: Iterable[str]) -> dict[str, Backend]:
    """Return the libraries of published specs, and of those that they extend, by their names.

    Raises:
        SpecError: A published spec is wrong itself.
    """
    found: dict[str, Backend] = {}
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop(0)
        text = None if name in seen else published_spec(name)
        seen.add(name)
        if text is not None:
            spec = _published(text, f"<the spec {name!r}>")
            waiting.extend(spec.extends)
            found = {backend.name: backend for backend in spec.backend} | found
    return found


def _published(text: str, file: str) -> Spec:
    data = parse_toml(text, file)
    try:
        return Spec.model_validate(data)
    except ValidationError as error:
        raise SpecError(
            Problem(file, line_of(text, path), spell(path), what)
            for path, what in explain(error, Spec)
        ) from None
