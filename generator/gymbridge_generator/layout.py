"""Lays out lines that the formatter and the linter of this project accept.

No formatter runs over the output, so lines whose length depends on the spec are laid out here.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WIDTH = 100


def assignment(head: str, value: str) -> str:
    """Return an assignment; if the line is too long, its value is in parentheses."""
    line = f"{head} = {value}"
    # the formatter keeps a long line if parentheses do not make it short enough
    short = len(line) <= WIDTH or len(value) + 4 > WIDTH
    return line if short else f"{head} = (\n    {value}\n)"


def fold(
    head: str, items: Sequence[str], tail: str, *, indent: int = 0, literal: bool = False
) -> str:
    """Return bracketed ``items`` on one line, else inside on one line, else one on each line.

    A ``literal`` is never inside on one line.
    """
    pad, inside = " " * indent, ", ".join(items)
    if len(line := f"{head}{inside}{tail}") + indent <= WIDTH:
        return line
    if not literal and len(inside) + indent + 4 <= WIDTH:
        return f"{head}\n{pad}    {inside}\n{pad}{tail}"
    return f"{head}\n" + "".join(f"{pad}    {item},\n" for item in items) + f"{pad}{tail}"


def paragraph(text: str, *, indent: int = 4, hanging: int = 0) -> str:
    """Return ``text`` in lines of a docstring; the first has no indent of its own.

    Args:
        text: The text.
        indent: The indent of all lines.
        hanging: The additional indent of the lines after the first.
    """
    lines = textwrap.wrap(
        text,
        WIDTH - indent,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return ("\n" + " " * indent).join(lines)


def argument(name: str, text: str, *, indent: int) -> str:
    """Return what a docstring says of an argument."""
    return paragraph(f"{name}: {text}", indent=indent, hanging=4)


def import_from(module: str, names: Iterable[str], *, indent: int = 0) -> str:
    """Return the import of ``names`` from ``module``, sorted."""
    items = sorted(names, key=_member)
    if len(line := f"from {module} import {', '.join(items)}") + indent <= WIDTH:
        return line
    pad = " " * indent
    return (
        f"from {module} import (\n" + "".join(f"{pad}    {each},\n" for each in items) + f"{pad})"
    )


def imports_from(members: Mapping[str, Iterable[str]]) -> str:
    """Return the imports of names from modules, sorted by the modules."""
    return "\n".join(
        line for module in sorted(members, key=natural) for line in _lines(module, members[module])
    )


def _lines(module: str, names: Iterable[str]) -> list[str]:
    """Return the imports of ``names``; a renamed one has its own line."""
    found = [*names]
    groups = [{name} for name in found if " as " in name]
    groups.append({name for name in found if " as " not in name})
    in_order = sorted(filter(None, groups), key=lambda group: min(map(_member, group)))
    return [import_from(module, group) for group in in_order]


def import_block(statements: Iterable[str]) -> str:
    """Return imports of one name each, merged and sorted: the standard library first."""
    plain: set[tuple[str, str]] = set()
    members: dict[str, set[str]] = {}
    for statement in statements:
        match ast.parse(statement).body:
            case [ast.Import(names=[alias])]:
                plain.add((alias.name, statement))
            case [ast.ImportFrom(module=str(module), names=[alias])]:
                text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
                members.setdefault(module, set()).add(text)
            case _:
                raise ValueError(statement)
    sections: tuple[list[str], list[str]] = ([], [])
    for module, statement in sorted(plain, key=lambda item: natural(item[0])):
        sections[_third_party(module)].append(statement)
    for module in sorted(members, key=natural):
        sections[_third_party(module)].extend(_lines(module, members[module]))
    return "\n\n".join("\n".join(section) for section in sections if section)


def exported(names: Iterable[str]) -> list[str]:
    """Return names in the order of an ``__all__``: constants, classes, the rest."""
    return sorted(names, key=lambda name: (_kind(name), _numbers(name)))


def _third_party(module: str) -> bool:
    return module.partition(".")[0] not in sys.stdlib_module_names


def _member(name: str) -> tuple[int, object]:
    return _kind(name.partition(" ")[0]), natural(name)


def _kind(name: str) -> int:
    if name.isupper() and len(name) > 1:
        return 0
    return 1 if name[0].isupper() else 2


def natural(name: str) -> tuple[object, object]:
    """Return a sort key for names: 2 comes before 10, and case does not matter."""
    return _numbers(name.lower()), _numbers(name)


def _numbers(name: str) -> list[tuple[int, int, str]]:
    """Split ``name`` so that 2 comes before 10."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part]
