"""Break the code on purpose and see whether tests notice: `python scripts/mutation.py naming`.

It needs mutmut and the extra `test`, and a system that can fork. mutmut needs all packages in one
folder `src`, so it gets a copy of the repository in that layout; the working tree does not change.
`mutation.toml`, beside this file, lists the tests for each module. A mutant gets those of them that
reach its function; see `mutation_forks.py`. A group with `remembers` is code with caches: its
mutants get all tests of the group, each in a process that has imported only libraries; see
`mutation_memory.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from contextlib import chdir
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "scripts" / "mutation.toml"
ROOTS = ("generated", "generator", "runtime")
BESIDE = ("README.md", "docs", "scripts", "templates", "tests")
"""What tests read beside the packages."""

PLUGINS = ("mutation_children", "mutation_memory", "mutation_forks")
"""Plugins of pytest; the second is for groups that remember, the third for all others."""

SETTINGS_OF_MUTMUT = """\
[tool.mutmut]
source_paths = ["src"]
only_mutate = {modules}
also_copy = {beside}
pytest_add_cli_args = {options}
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"  # JAX does not survive a fork of a process that has used it
timeout_constant = 30.0  # seconds: each process compiles anew what all tests share at first
timeout_multiplier = 1.5
forkserver_warmup = "import"
preload_modules_file = "imported.txt"
"""
PYTEST = "import sys, pytest; sys.path.insert(0, 'src'); sys.exit(pytest.main(sys.argv[1:]))"

FAILED = {1, 2, 3, 255}
"""Exit codes: tests failed, could not be read or broke pytest; a plugin was not loaded."""


@dataclass(frozen=True)
class Group:
    """Modules of one package, and the tests for their mutants."""

    package: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    keep: str
    """The selection of these tests, as for pytest's option ``-k``."""
    imported: tuple[str, ...]
    """Imports of the process that is forked for every mutant; empty: all imports of the tests."""


def groups() -> dict[str, Group]:
    """Read which tests belong to which modules."""
    data = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    imported = tuple(data.pop("imported"))
    return {
        name: Group(
            group["package"],
            tuple(group["modules"]),
            tuple(group["tests"]),
            group.get("keep", ""),
            imported if group.get("remembers") else (),
        )
        for name, group in data.items()
    }


def main() -> int:
    """Mutate the named modules; return 1 if a mutant survived."""
    known = groups()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="a module, or a group of them")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in DIR and leave it there")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at a time")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="N mutants of a module, the same ones every time"
    )
    options = parser.parse_args()
    unnoticed = 0
    for group, modules in chosen(known, options.names):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)  # some tests drop root, and must still read this folder
            tree = (options.keep or Path(folder)) / group.package
            lay_out(group, modules, tree)
            if group.imported:
                sample = options.sample and names(group.package, modules, tree, options.sample)
                run(tree, options.jobs, sample or [])
            else:
                run_forks(group, modules, tree, options.jobs, options.sample)
            unnoticed += sum(report(group.package, module, tree) for module in modules)
    return bool(unnoticed)


def chosen(known: dict[str, Group], names: list[str]) -> list[tuple[Group, list[str]]]:
    """Return the named modules by group."""
    called = {
        (name, module): {name, module, f"{group.package}.{module}"}
        for name, group in known.items()
        for module in group.modules
    }
    if unknown := {*names}.difference(*called.values()):
        sys.exit(f"{', '.join(sorted(unknown))}: not in {SETTINGS.relative_to(ROOT)}")
    asked = [
        (group, [module for module in group.modules if called[name, module] & {*names}])
        for name, group in known.items()
    ]
    return [(group, modules) for group, modules in asked if modules]


def names(
    package: str, modules: list[str], tree: Path, size: int | None, *, write: bool = False
) -> list[str]:
    """Return the names of up to ``size`` mutants of each module; ``write`` them into it as well."""
    found: list[str] = []
    with chdir(tree):
        mutate = import_module("mutmut.mutation.file_mutation").mutate_file_contents
        full_name = import_module("mutmut.utils.format_utils").get_mutant_name
        for module in modules:
            path = Path("src", package, f"{module}.py")
            mutated = mutate(str(path), path.read_text(encoding="utf-8"))
            every = sorted(mutated.mutant_names)
            picked = (
                every
                if size is None
                else random.Random(module).sample(every, min(size, len(every)))
            )
            found += [full_name(path, name) for name in picked]
            if write:
                _ = path.write_text(mutated.code, encoding="utf-8")
                note(path, {full_name(path, name): None for name in every})
    return found


def note(path: Path, codes: dict[str, int | None]) -> None:
    """Write down the results for the mutants of a file, where mutmut does."""
    data = import_module("mutmut.mutation.data").SourceFileMutationData(path=path)
    data.load()
    data.exit_code_by_key |= codes
    data.save()


def run(tree: Path, jobs: int, mutants: list[str]) -> None:
    """Let mutmut try ``mutants``; all mutants if there are none."""
    start(tree, "-m", "mutmut", "run", "--max-children", str(jobs), *mutants)


def run_forks(group: Group, modules: list[str], tree: Path, jobs: int, size: int | None) -> None:
    """Try up to ``size`` mutants of each module, each in a fork of one process."""
    mutants = names(group.package, modules, tree, size, write=True)
    (tree / "wanted.json").write_text(json.dumps([jobs, mutants]), encoding="utf-8")
    start(tree, "-c", PYTEST, "-q", "-s", *options_of(group), *group.tests)
    ends: dict[str, int] = json.loads((tree / "ends.json").read_text(encoding="utf-8"))
    with chdir(tree):
        for module in modules:
            path = Path("src", group.package, f"{module}.py")
            prefix = f"{group.package}.{module.replace('/', '.')}."
            note(path, {name: code for name, code in ends.items() if name.startswith(prefix)})


def start(tree: Path, *arguments: str) -> None:
    """Run Python in ``tree`` with its output in a file; exit if it fails."""
    own = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    environment = {key: value for key, value in os.environ.items() if key not in own}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = (
        "1"  # no test needs plugins, which take seconds to load
    )
    environment["PYTEST_DEBUG_TEMPROOT"] = str(tree.parent)  # removed together with the tree
    log = tree / "mutmut.log"
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tree,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        sys.exit(log.read_text(encoding="utf-8", errors="replace")[-4000:])


def options_of(group: Group) -> list[str]:
    """Return the options of pytest for the tests of a group."""
    children, memory, forks = PLUGINS
    plugins = ("no:cacheprovider", "xdist.plugin", children, memory if group.imported else forks)
    one_process = ("-n", "0", "-m", "")
    return [*(word for name in plugins for word in ("-p", name)), *one_process, "-k", group.keep]


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
    for module in modules:
        strip(tree / "src" / group.package / f"{module}.py")
    for name in PLUGINS:
        shutil.copy(ROOT / "scripts" / f"{name}.py", tree / "src")
    shutil.copy(ROOT / "scripts" / "mutation_children.py", tree / "src" / "sitecustomize.py")
    (tree / "imported.txt").write_text("\n".join(group.imported), encoding="utf-8")
    mutants = tree / "mutants"
    if group.imported:
        mutants.mkdir(exist_ok=True)
    elif not mutants.is_symlink():
        mutants.symlink_to(".")  # mutmut mutates in place, and reads the originals here
    for root in ROOTS:  # tests use the paths of the repository
        link = mutants / root
        link.unlink(missing_ok=True)
        link.symlink_to("src")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = settings.replace('[".", "generated", "generator", "runtime"]', '[".", "src"]')
    settings += "\n" + SETTINGS_OF_MUTMUT.format(
        options=json.dumps(options_of(group)),
        modules=json.dumps([f"src/{group.package}/{module}.py" for module in modules]),
        beside=json.dumps(BESIDE),
        tests=json.dumps(group.tests),
    )
    (tree / "pyproject.toml").write_text(settings, encoding="utf-8")


def strip(path: Path) -> None:
    """Remove code for type checkers only: mutmut skips decorated functions, for example."""
    code = path.read_text(encoding="utf-8")
    code = re.sub(r"^ *@override\n", "", code, flags=re.MULTILINE)
    code = re.sub(r'\bcast\(\n *"[^"\n]*",\n *(.*),\n *\)', r"(\1)", code)
    code = re.sub(r'\bcast\(\s*"[^"\n]*", ', "(", code)
    _ = path.write_text(code, encoding="utf-8")


def report(package: str, module: str, tree: Path) -> int:
    """Print the results for a module's mutants; return the number of survivors."""
    meta = tree / "mutants" / "src" / package / f"{module}.py.meta"
    codes: dict[str, int | None] = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    # mutants that are not in the sample have no exit code
    tested = {name: code for name, code in codes.items() if code is not None}
    ends = {name: end(code) for name, code in tested.items()}
    unnoticed = sorted(name for name, how in ends.items() if how == "unnoticed")
    noticed = len(tested) - len(unnoticed)
    sample = f", a sample of {len(codes)}" if len(tested) < len(codes) else ""
    counts = ", ".join(f"{count} {how}" for how, count in Counter(ends.values()).items())
    print(f"{package}.{module}: {noticed} of {len(tested)} mutants noticed{sample} ({counts})")
    for name in unnoticed:
        shown = subprocess.run(
            [sys.executable, "-m", "mutmut", "show", name],
            cwd=tree,
            capture_output=True,
            text=True,
            check=False,
        )
        print(shown.stdout, flush=True)
    return len(unnoticed)


def end(code: int) -> str:
    """Return the result for a mutant by the exit code; a signal counts as noticed."""
    if -code in {signal.SIGXCPU, signal.SIGKILL}:
        return "hung"
    if code < 0:
        return "crashed"
    return "failed" if code in FAILED else "unnoticed"


if __name__ == "__main__":
    sys.exit(main())
