"""Describes how a package changed when it was generated again."""

from __future__ import annotations

import re
from difflib import ndiff
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gymbridge_generator.output import Difference

_RUNTIME_API = re.compile(r"^require_runtime_api\((\d+),", re.MULTILINE)
_EXPORT = re.compile(r'^    "(\w+)",$', re.MULTILINE)


def deed(difference: Difference, path: object) -> str:
    """Return a line that describes the change of the file at ``path``."""
    if difference.state == "missing":
        return f"wrote {path}"
    if not difference.wanted:
        return f"removed {path}"
    found, wanted = difference.found.splitlines(), difference.wanted.splitlines()
    marks = [line[0] for line in ndiff(found, wanted) if line[0] in "+-"]
    return f"updated {path} (+{marks.count('+')} -{marks.count('-')})"


def consequences(done: Iterable[Difference]) -> Iterator[str]:
    """Return what users of an existing package will notice."""
    for difference in done:
        if not (difference.path.endswith("__init__.py") and difference.found and difference.wanted):
            continue
        old, new = _apis(difference.found), _apis(difference.wanted)
        if old != new:
            yield f"runtime API {old} -> {new}: only a gymbridge that has {new} can import it now"
        before, now = _exports(difference.found), _exports(difference.wanted)
        where = difference.path.removesuffix("__init__.py").rstrip("/")
        place = f" in {where}" if where else ""
        if now - before:
            yield f"new names{place}: {', '.join(sorted(now - before))}"
        if before - now:
            yield f"names that are gone{place}: {', '.join(sorted(before - now))}"


def _apis(text: str) -> str:
    found = _RUNTIME_API.search(text)
    return found[1] if found else ""


def _exports(text: str) -> set[str]:
    return set(_EXPORT.findall(text))
