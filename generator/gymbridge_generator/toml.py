"""Reads TOML; errors name the file and the line."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from gymbridge_generator.errors import Problem, SpecError

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_MOST_DOTS = 1000
"""The most parts of keys in a line: `tomllib` needs quadratic time for them."""


def parse_toml(text: str, file: str) -> dict[str, object]:
    """Parse TOML.

    Raises:
        SpecError: The text is no TOML.
    """
    for number, row in enumerate(text.split("\n"), start=1):
        if row.count(".") > _MOST_DOTS:
            what = f"has more than {_MOST_DOTS} dots; break the line"
            raise SpecError([Problem(file, number, "", what)])
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at ")
        found = re.match(r"line (\d+), column (\d+)", place)
        line = int(found[1]) if found else max(1, len(text.splitlines()))
        where = f"column {found[2]}" if found else "the end of the file"
        message = f"not TOML: {what[:1].lower()}{what[1:]} at {where}"
        raise SpecError([Problem(file, line, "", message)]) from None
    except RecursionError:
        what = "is nested too deeply"
        raise SpecError([Problem(file, 1, "", what)]) from None
    except ValueError:  # Python's limit for whole numbers
        what = "has a number with too many digits"
        raise SpecError([Problem(file, 1, "", what)]) from None


def is_table(value: object) -> TypeIs[dict[str, object]]:
    """Tell whether ``value`` is a TOML table."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeIs[list[object]]:
    """Tell whether ``value`` is a TOML array."""
    return isinstance(value, list)
