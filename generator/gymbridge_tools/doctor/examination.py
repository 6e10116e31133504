"""The whole examination: every library, then every pair of working libraries."""

from __future__ import annotations

import platform
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gymbridge_runtime import __version__
from gymbridge_runtime.core.ownership import IS_PROVABLE

from gymbridge_tools.doctor.findings import LibraryFinding, PairFinding, Report
from gymbridge_tools.doctor.look import versions_of
from gymbridge_tools.doctor.package import Library, Pair, libraries, pairs
from gymbridge_tools.doctor.processes import Survey
from gymbridge_tools.doctor.versions import combinations, installed

if TYPE_CHECKING:
    from collections.abc import Callable

_ALWAYS = ("gymnasium", "array-api-compat", "ml_dtypes")


def examine(package: str, progress: Callable[[str], None]) -> Report:
    """Examine the libraries and wrappers of a package.

    Args:
        package: A package that `gymbridge generate` wrote.
        progress: Gets a description of each step, from any thread.
    """
    subjects = libraries(package)
    found = _libraries(subjects, progress)
    working = {finding.name for finding in found if finding.state == "works"}
    tried = pairs(package, [library for library in subjects if library.name in working])
    progress(f"trying {len(tried)} pairs")
    titles = {library.module: library.title for library in subjects}

    def died(pair: Pair, end: str) -> PairFinding:
        source, target = titles[pair.source], titles[pair.target]
        return PairFinding(pair.wrapper, source, target, works=False, problem=end)

    return Report(
        package,
        {"python": platform.python_version(), "gymbridge": __version__, **installed(_ALWAYS)},
        platform.platform(),
        tuple(found),
        len(pairs(package, subjects)),
        tuple(Survey[Pair, PairFinding](died).of(tried)),
        tuple(combinations([library.name for library in subjects])) if _compares() else (),
        IS_PROVABLE,
    )


def _libraries(subjects: list[Library], progress: Callable[[str], None]) -> list[LibraryFinding]:
    def look(library: Library) -> LibraryFinding:
        progress(f"looking at {library.title}")
        (finding,) = Survey[Library, LibraryFinding](_broken).of([library])
        return finding

    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(look, subjects))


def _broken(library: Library, end: str) -> LibraryFinding:
    return LibraryFinding(
        library.name,
        library.title,
        "broken",
        versions_of(library.roots),
        problem=end,
        advice=f"if it fails without gymbridge as well, mend {library.title}; else report it",
    )


def _compares() -> bool:
    """Tell whether versions can be compared, which needs gymbridge[cli]."""
    return find_spec("packaging") is not None
