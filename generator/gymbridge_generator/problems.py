"""Turns pydantic's errors into messages for the author of a spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast, get_args

from pydantic import BaseModel

from gymbridge_generator.errors import Problem, SpecError
from gymbridge_generator.locate import Lines
from gymbridge_generator.quoting import instead, quoted, spell
from gymbridge_generator.toml import is_array

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

KeyPath: TypeAlias = tuple[str | int, ...]

_MOST = 50
"""The most errors in one message."""

_KINDS = {
    "bool_type": "true or false, without quotes",
    "dict_type": "a table",
    "int_type": "a whole number",
    "model_attributes_type": "a table",
    "model_type": "a table",
    "string_type": "text, in quotes",
    "tuple_type": "an array, in brackets",
}


def located(findings: Sequence[tuple[KeyPath, str]], text: str, file: str) -> SpecError:
    """Return an error with the lines of ``text`` that are wrong."""
    lines = Lines(text)
    problems = [
        Problem(file, lines.line_of(path), spell(path), what) for path, what in findings[:_MOST]
    ]
    return SpecError(problems, more=len(findings) - len(problems))


def explain(error: ValidationError, model: type[BaseModel]) -> list[tuple[KeyPath, str]]:
    """Return the path of each error with its message: the problem and the allowed values."""
    return [_explain(detail, model) for detail in error.errors() if not _follows(detail)]


def _explain(detail: ErrorDetails, model: type[BaseModel]) -> tuple[KeyPath, str]:
    # tags of a union are not keys of the file
    path = tuple(part for part in detail["loc"] if not str(part).startswith("("))
    given = _given(detail)
    context: Mapping[str, object] = detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return path, f"is missing; give {_description(model, path)}"
        case "extra_forbidden":
            known = sorted(_table(model, path[:-1]).model_fields)
            return path, f"unknown key; {instead(str(path[-1]), known)}"
        case "literal_error":
            return path, f"{quoted(given)} is not allowed; use {context['expected']}"
        case "greater_than_equal":
            return path, f"{quoted(given)} is too small; use at least {context['ge']}"
        case "less_than_equal":
            return path, f"{quoted(given)} is too large; use at most {context['le']}"
        case "too_short":
            return path, f"has too few items; give at least {context['min_length']}"
        case "too_long":
            return path, f"has too many items; give at most {context['max_length']}"
        case kind if kind in _KINDS:
            return path, f"{quoted(given)} is of the wrong kind; use {_KINDS[kind]}"
        case _:
            return path, detail["msg"].removeprefix("Value error, ")


def _given(detail: ErrorDetails) -> object:
    return cast("object", detail["input"])


def _follows(detail: ErrorDetails) -> bool:
    """Tell whether an array is too short only because invalid items were removed."""
    given = _given(detail)
    return detail["type"] == "too_short" and is_array(given) and bool(given)


def _description(model: type[BaseModel], path: KeyPath) -> str:
    if isinstance(path[-1], int):
        return "two names, the environment's library first"
    return str(_table(model, path[:-1]).model_fields[path[-1]].description).rstrip(".")


def _table(model: type[BaseModel], path: KeyPath) -> type[BaseModel]:
    """Return the model of the table at ``path`` of ``model``."""
    for key in path:
        if isinstance(key, str):
            model = _models(model.model_fields[key].annotation)[0]
    return model


def _models(annotation: object) -> list[type[BaseModel]]:
    """Return the models named anywhere in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    parts: tuple[object, ...] = get_args(annotation)
    return [found for part in parts for found in _models(part)]
