"""Break the code on purpose and see whether tests notice: `python scripts/mutation.py naming`.

It needs mutmut beside the extra `test`, and a system that can fork. mutmut wants all packages in
one folder `src`, so it is given a copy of the repository that is laid out like that; the working
tree is left alone. Which tests a module is held against is in `mutation.toml`, beside this file;
of these mutmut runs, for every mutant, those that reach the function. A group that `remembers` is
of code that keeps what it once found out: its mutants get all tests of the group, as
`mutation_memory.py` says, each in a process that has imported nothing but libraries.
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

PLUGINS = ("mutation_children", "mutation_memory")
"""Of pytest; the second is for groups of code that remembers."""

SETTINGS_OF_MUTMUT = """\
[tool.mutmut]
source_paths = ["src"]
only_mutate = {modules}
also_copy = {beside}
pytest_add_cli_args = {options}
pytest_add_cli_args_test_selection = {tests}
process_isolation = "forkserver"  # JAX does not survive a fork of a process that has used it
timeout_constant = 30.0  # seconds: each process compiles anew what all tests share at first
{more}"""
SETTINGS_OF_OTHERS = """\
timeout_multiplier = 0.5  # it is doubled, and what tests take in processes of their own counts too
"""
SETTINGS_OF_MEMORY = """\
timeout_multiplier = 1.5
forkserver_warmup = "import"
preload_modules_file = "imported.txt"
"""

FAILED = {1, 2, 3, 255}
"""Exit codes: tests failed, could not be read, broke pytest; what they share was not loaded."""


@dataclass(frozen=True)
class Group:
    """Modules of one package, and the tests that they are held against."""

    package: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    keep: str
    """Which of these tests, as pytest's option ``-k`` has it."""
    imported: tuple[str, ...]
    """What a process imports that is then forked for every mutant; all that tests do, if empty."""


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
    """Mutate the modules that were asked for; return 1 if a mutant was not noticed."""
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
            Path(folder).chmod(0o755)  # a test stops being root for a while, and is watched
            tree = (options.keep or Path(folder)) / group.package
            lay_out(group, modules, tree)
            mutants = options.sample and sample(group.package, modules, tree, options.sample)
            run(tree, options.jobs, mutants or [])
            unnoticed += sum(report(group.package, module, tree) for module in modules)
    return bool(unnoticed)


def chosen(known: dict[str, Group], names: list[str]) -> list[tuple[Group, list[str]]]:
    """Return the modules that ``names`` ask for, by their groups."""
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


def sample(package: str, modules: list[str], tree: Path, size: int) -> list[str]:
    """Return the names of up to ``size`` mutants of each module."""
    names: list[str] = []
    with chdir(tree):
        mutate_file_contents = import_module("mutmut.mutation.file_mutation").mutate_file_contents
        get_mutant_name = import_module("mutmut.utils.format_utils").get_mutant_name
        for module in modules:
            path = Path("src", package, f"{module}.py")
            found = mutate_file_contents(str(path), path.read_text(encoding="utf-8")).mutant_names
            picked = random.Random(module).sample(sorted(found), min(size, len(found)))
            names += [get_mutant_name(path, name) for name in picked]
    return names


def run(tree: Path, jobs: int, mutants: list[str]) -> None:
    """Let mutmut try ``mutants``, or all if there are none."""
    own = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    environment = {key: value for key, value in os.environ.items() if key not in own}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # no test needs one, and they take seconds
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs), *mutants]
    with (tree / "mutmut.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            command, cwd=tree, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        sys.exit((tree / "mutmut.log").read_text(encoding="utf-8", errors="replace")[-4000:])


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
    (tree / "mutants").mkdir(exist_ok=True)
    for root in ROOTS:  # tests know the packages by where they are in the repository
        link = tree / "mutants" / root
        link.unlink(missing_ok=True)
        link.symlink_to("src")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = settings.replace('[".", "generated", "generator", "runtime"]', '[".", "src"]')
    plugins = ("no:cacheprovider", *(PLUGINS if group.imported else PLUGINS[:1]))
    options = [word for name in plugins for word in ("-p", name)]
    settings += "\n" + SETTINGS_OF_MUTMUT.format(
        options=json.dumps([*options, "-k", group.keep]),
        more=SETTINGS_OF_MEMORY if group.imported else SETTINGS_OF_OTHERS,
        modules=json.dumps([f"src/{group.package}/{module}.py" for module in modules]),
        beside=json.dumps(BESIDE),
        tests=json.dumps(group.tests),
    )
    (tree / "pyproject.toml").write_text(settings, encoding="utf-8")


def strip(path: Path) -> None:
    """Remove what only type checkers read: mutmut leaves decorated functions alone, for one."""
    code = path.read_text(encoding="utf-8")
    code = re.sub(r"^ *@override\n", "", code, flags=re.MULTILINE)
    code = re.sub(r'\bcast\(\n *"[^"\n]*",\n *(.*),\n *\)', r"(\1)", code)
    code = re.sub(r'\bcast\(\s*"[^"\n]*", ', "(", code)
    _ = path.write_text(code, encoding="utf-8")


def report(package: str, module: str, tree: Path) -> int:
    """Print what became of a module's mutants; return how many went unnoticed."""
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
    """Say how the tests of a mutant ended, by the exit code: a signal says that it was noticed."""
    if -code in {signal.SIGXCPU, signal.SIGKILL}:
        return "hung"
    if code < 0:
        return "crashed"
    return "failed" if code in FAILED else "unnoticed"


if __name__ == "__main__":
    sys.exit(main())
