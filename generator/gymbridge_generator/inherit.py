"""The libraries that a spec inherits from the specs that it extends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from gymbridge_generator.model import Spec
from gymbridge_generator.problems import explain, located
from gymbridge_generator.resources import published_spec
from gymbridge_generator.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gymbridge_generator.model import Backend


@dataclass(frozen=True)
class Inherited:
    """What a spec inherits."""

    backends: dict[str, Backend]
    """The inherited libraries, by name."""
    chosen: frozenset[str]
    """The names of the libraries that extended specs choose themselves."""


def inherited(names: Iterable[str]) -> Inherited:
    """Return what published specs offer, and those that they extend.

    Raises:
        SpecError: A published spec is wrong itself.
    """
    found: dict[str, Backend] = {}
    chosen: set[str] = set()
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop(0)
        text = None if name in seen else published_spec(name)
        seen.add(name)
        if text is not None:
            spec = _published(text, f"<the spec {name!r}>")
            waiting.extend(spec.extends)
            own = {backend.name: backend for backend in spec.backend}
            found = own | found
            chosen |= own.keys() if spec.matrix.backends is None else {*spec.matrix.backends}
    return Inherited(found, frozenset(chosen))


def _published(text: str, file: str) -> Spec:
    data = parse_toml(text, file)
    try:
        return Spec.model_validate(data)
    except ValidationError as error:
        raise located(explain(error, Spec), text, file) from None
