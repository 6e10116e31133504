"""Break the code on purpose and see whether tests notice: `python scripts/mutation.py naming`.

It needs mutmut beside the extra `test`, and a system that can fork. mutmut wants all packages in
one folder `src`, so it is given a copy of the repository that is laid out like that; the working
tree is left alone. Which tests a module is held against is in `mutation.toml`, beside this file;
of these mutmut runs, for every mutant, those that reach the function.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "scripts" / "mutation.toml"
ROOTS = ("generated", "generator", "runtime")
BESIDE = ("README.md", "docs", "scripts", "templates", "tests")
"""What tests read beside the packages."""

UNTOUCHED = '[tool.pytest]\nminversion = "9"\n'
SETTINGS_OF_MUTMUT = """\
[tool.mutmut]
source_paths = ["src"]
only_mutate = {modules}
also_copy = {beside}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "mutation_children"]
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"  # JAX does not survive a fork of a process that has used it
timeout_constant = 30.0  # seconds: each process compiles anew what all tests share at first
"""

KILLED = {1: "killed", 3: "killed", 37: "killed", -24: "timeout", 24: "timeout", 152: "timeout"}
"""What mutmut's exit codes mean; a mutant that hangs was noticed too."""


@dataclass(frozen=True)
class Group:
    """Modules of one package, and the tests that they are held against."""

    package: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]


def groups() -> dict[str, Group]:
    """Read which tests belong to which modules."""
    data = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    return {
        name: Group(group["package"], tuple(group["modules"]), tuple(group["tests"]))
        for name, group in data.items()
    }


def main() -> int:
    """Mutate the modules that were asked for; return 1 if a mutant was not noticed."""
    known = groups()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="a module, or a group of them")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in DIR and leave it there")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at a time")
    options = parser.parse_args()
    unnoticed = 0
    for group, modules in chosen(known, options.names):
        with tempfile.TemporaryDirectory() as folder:
            tree = (options.keep or Path(folder)) / group.package
            unnoticed += mutate(group, modules, tree, options.jobs)
    return bool(unnoticed)


def chosen(known: dict[str, Group], names: list[str]) -> list[tuple[Group, list[str]]]:
    """Return the modules that ``names`` ask for, by their groups."""
    asked = [
        (group, [module for module in group.modules if {name, module} & {*names}])
        for name, group in known.items()
    ]
    found = {name for name, group in known.items() for name in (name, *group.modules)}
    if unknown := {*names} - found:
        sys.exit(f"{', '.join(sorted(unknown))}: not in {SETTINGS.relative_to(ROOT)}")
    return [(group, modules) for group, modules in asked if modules]


def mutate(group: Group, modules: list[str], tree: Path, jobs: int) -> int:
    """Mutate ``modules`` in a copy of the repository; return how many mutants went unnoticed."""
    lay_out(group, modules, tree)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs)]
    with (tree / "mutmut.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            command, cwd=tree, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        sys.exit((tree / "mutmut.log").read_text(encoding="utf-8", errors="replace")[-4000:])
    return sum(report(group.package, module, tree) for module in modules)


def lay_out(group: Group, modules: list[str], tree: Path) -> None:
    """Copy the repository to ``tree``, with every package in ``src``, and mutmut's settings."""
    caches = shutil.ignore_patterns("__pycache__")
    for root in ROOTS:
        shutil.copytree(ROOT / root, tree / "src", ignore=caches, dirs_exist_ok=True)
    for name in BESIDE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=caches, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / name, tree / name)
    for name in ("mutation_children", "sitecustomize"):
        shutil.copy(ROOT / "scripts" / "mutation_children.py", tree / "src" / f"{name}.py")
    (tree / "mutants").mkdir(exist_ok=True)
    for root in ROOTS:  # tests know the packages by where they are in the repository
        link = tree / "mutants" / root
        link.unlink(missing_ok=True)
        link.symlink_to("src")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = settings.replace('[".", "generated", "generator", "runtime"]', '[".", "src"]')
    settings += "\n" + SETTINGS_OF_MUTMUT.format(
        modules=json.dumps([f"src/{group.package}/{module}.py" for module in modules]),
        beside=json.dumps(BESIDE),
        tests=json.dumps(group.tests),
    )
    (tree / "pyproject.toml").write_text(settings, encoding="utf-8")


def report(package: str, module: str, tree: Path) -> int:
    """Print what became of a module's mutants; return how many went unnoticed."""
    meta = tree / "mutants" / "src" / package / f"{module}.py.meta"
    codes: dict[str, int] = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    states = Counter(KILLED.get(code, "unnoticed") for code in codes.values())
    noticed = states["killed"] + states["timeout"]
    print(f"{package}.{module}: {noticed} of {len(codes)} mutants noticed", flush=True)
    for name in sorted(name for name, code in codes.items() if code not in KILLED):
        shown = subprocess.run(
            [sys.executable, "-m", "mutmut", "show", name],
            cwd=tree,
            capture_output=True,
            text=True,
            check=False,
        )
        print(shown.stdout)
    return states["unnoticed"]


if __name__ == "__main__":
    sys.exit(main())
