"""The lower bounds in pyproject.toml are tested versions."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from scripts.versions import OLDER, ON_REQUEST, RUNS, SETTINGS, requirements
from tests.support import REPOSITORY, require_version

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
    """Return the lower bounds of the packages that users install."""
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
    for requirement in ON_REQUEST["torch-lowest"].also:  # it is several GB
        package, _, lowest[package] = requirement.partition("==")
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


def test_gymnasium_runs_in_every_minor_version_from_the_lowest_on() -> None:
    files = {setting.constraints for setting in SETTINGS.values() if setting.constraints}
    found = {pinned(file)["gymnasium"] for file in files}
    found |= {version for setting in SETTINGS.values() for version in setting.gymnasiums}
    minors = sorted({release(version)[1] for version in found})
    assert minors == list(range(minors[0], minors[-1] + 1))


def test_a_skipped_test_says_what_it_needs() -> None:
    said = "SKIPPED [2] tests/a.py:75: needs gymnasium>=1.4, and 1.2.2 is installed\n"
    assert OLDER.findall(said) == ["needs gymnasium>=1.4, and 1.2.2 is installed"]
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("CI", raising=False)
        with pytest.raises(pytest.skip.Exception, match=r"^needs numpy>=99, and .* is installed$"):
            require_version("numpy>=99")
        require_version("numpy>=1")
        patched.setenv("CI", "true")
        with pytest.raises(pytest.fail.Exception, match="CI has to test with it"):
            require_version("numpy>=99")


def test_runs_on_request_are_recorded() -> None:
    runs = json.loads(RUNS.read_text(encoding="utf-8"))
    assert {"neighbours", "torch-lowest"} <= {*runs} <= {*ON_REQUEST}
    for name, run in runs.items():
        versions = {f"{package}=={version}" for package, version in run["versions"].items()}
        assert {each for each in ON_REQUEST[name].also if "==" in each} <= versions


def test_only_the_setting_on_request_has_no_constraints() -> None:
    files = [setting.constraints for setting in SETTINGS.values()]
    assert all(name is not None and (REPOSITORY / "scripts" / name).is_file() for name in files)
    assert all("--pre" not in requirements(setting) for setting in SETTINGS.values())
    assert {name: "--pre" in requirements(setting) for name, setting in ON_REQUEST.items()} == {
        name: name == "next" for name in ON_REQUEST
    }
