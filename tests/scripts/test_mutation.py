"""The list of modules for mutation tests is complete and correct."""

from __future__ import annotations

import tomllib

from tests.support import REPOSITORY

RUNTIME = REPOSITORY / "runtime" / "gymbridge_runtime"
ROOTS = {"gymbridge_generator": REPOSITORY / "generator" / "gymbridge_generator"}

NOTHING_TO_BREAK = {
    *("__init__", "_version", "backends/__init__", "backends/jax/__init__", "core/__init__"),
    *("testing/__init__", "testing/suite", "types", "wrappers/__init__"),
}
"""Modules without code to mutate."""


def listed() -> list[tuple[str, str, list[str]]]:
    """Return the package, one module, and the tests of each entry."""
    groups = tomllib.loads((REPOSITORY / "scripts" / "mutation.toml").read_text(encoding="utf-8"))
    del groups["imported"]
    return [
        (group["package"], module, group["tests"])
        for group in groups.values()
        for module in group["modules"]
    ]


def test_every_listed_module_and_test_exists() -> None:
    for package, module, tests in listed():
        root = ROOTS.get(package, RUNTIME)
        assert (root / f"{module}.py").is_file(), (package, module)
        for test in tests:
            assert (REPOSITORY / test.partition("::")[0]).exists(), (module, test)


def test_every_runtime_module_is_listed_once() -> None:
    named = [module for package, module, _ in listed() if package == "gymbridge_runtime"]
    assert len(set(named)) == len(named)
    there = {path.relative_to(RUNTIME).with_suffix("").as_posix() for path in RUNTIME.rglob("*.py")}
    assert there - NOTHING_TO_BREAK == set(named)
