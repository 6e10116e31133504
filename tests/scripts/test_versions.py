"""The lower bounds in pyproject.toml are tested versions."""

from __future__ import annotations

import re
import tomllib

from scripts.versions import ON_REQUEST, SETTINGS, requirements
from tests.support import REPOSITORY

EXTRAS = ("cli", "generator", "jax", "mlx", "parallel", "torch")
"""The extras for users; development tools are tested in one version only."""


def pinned(name: str) -> dict[str, str]:
    """Return the versions of a file of constraints."""
    lines = (REPOSITORY / "scripts" / name).read_text(encoding="utf-8").splitlines()
    pins = (line.partition("==") for line in lines if line and not line.startswith("#"))
    return {normalized(package): version for package, _, version in pins}


def normalized(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def bounds() -> dict[str, set[tuple[int, ...]]]:
    """Return the lower bounds of what users install."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    found: dict[str, set[tuple[int, ...]]] = {}
    for requirement in [*project["dependencies"], *(each for e in EXTRAS for each in extras[e])]:
        match = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", requirement)
        if match:
            found.setdefault(normalized(match[1]), set()).add(release(match[2]))
        else:
            assert requirement.startswith("gymbridge["), f"{requirement} has no lower bound alone"
    return found


def release(version: str) -> tuple[int, ...]:
    """Return a version without trailing zeros: 3.1.0 is 3.1."""
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def test_every_lower_bound_is_tested() -> None:
    lowest = pinned("constraints-lowest.txt")
    run = {package: {release(version)} for package, version in lowest.items()}
    # jaxlib and mlx-cpu follow the versions of jax and mlx
    assert bounds() == {name: run[name] for name in run if name not in {"jaxlib", "mlx-cpu"}}


def test_no_lower_bound_is_above_the_pinned_versions() -> None:
    newest, lowest = pinned("constraints.txt"), pinned("constraints-lowest.txt")
    assert {name for name in lowest if release(lowest[name]) > release(newest[name])} == set()


def test_newest_versions_cover_all_packages_and_none_is_older() -> None:
    newest, others = pinned("constraints-newest.txt"), pinned("constraints.txt")
    older = {name for name in newest if release(newest[name]) < release(others[name])}
    assert older == set()
    assert {*bounds()} - {*newest} == {"torch"}


def test_only_the_setting_on_request_has_no_constraints() -> None:
    files = [setting.constraints for setting in SETTINGS.values()]
    assert all(name is not None and (REPOSITORY / "scripts" / name).is_file() for name in files)
    assert all("--pre" not in requirements(setting) for setting in SETTINGS.values())
    assert {name: "--pre" in requirements(setting) for name, setting in ON_REQUEST.items()} == {
        "next": True
    }
