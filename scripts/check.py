"""Check the code: `python scripts/check.py`, or only some of it: `python scripts/check.py lint`.

CI, nox and pre-commit call this script, so each check is defined once.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("generated", "generator", "runtime")
HAND_WRITTEN = ("generator", "runtime", "scripts", "tests", "noxfile.py")
PYTHON = sys.executable

# Each command is a module and its arguments.
CHECKS: dict[str, list[list[str]]] = {
    "lint": [["ruff", "check", *HAND_WRITTEN]],
    "format": [["ruff", "format", "--check", *HAND_WRITTEN]],
    "drift": [["gymbridge_generator", "check"]],
    "regenerate": [],  # see `regenerates`
    "pictures": [["scripts.draw", "--check"]],
    "readme": [["scripts.check_docs", "README.md"]],
    "docs": [
        ["scripts.check_docs"],
        ["scripts.check_docs", "--types"],
        ["mkdocs", "build", "--strict", "--quiet"],
        ["scripts.check_site"],
    ],
    "mypy": [["mypy"]],
    "pyright": [
        ["pyright", "--pythonpath", PYTHON],
        ["pyright", "--verifytypes", "gymbridge", "--ignoreexternal"],
        ["pyright", "--verifytypes", "gymbridge_runtime", "--ignoreexternal"],
    ],
    "basedpyright": [["basedpyright", "-p", "basedpyright.json", "--pythonpath", PYTHON]],
    "pyrefly": [["pyrefly", "check", "--min-severity=warn", "--python-interpreter-path", PYTHON]],
    "ty": [["ty", "check", "--error-on-warning", "--python", PYTHON]],
}
GROUPS = {"types": ("mypy", "pyright", "basedpyright", "pyrefly", "ty")}


def run(module: str, *arguments: str, root: Path = ROOT, output: int | None = None) -> bool:
    """Tell whether a command succeeds in ``root``, where the sources need not be installed."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(str(root / source) for source in SOURCES),
        # `pyright --verifytypes` does not take --pythonpath and looks for libraries here
        "VIRTUAL_ENV": sys.prefix,
        "NO_MKDOCS_2_WARNING": "1",  # an advertisement
        "PATH": os.pathsep.join([str(Path(PYTHON).parent), os.environ.get("PATH", "")]),
    }
    command = [PYTHON, "-m", module, *arguments]
    done = subprocess.run(command, cwd=root, env=environment, stdout=output, check=False)
    return done.returncode == 0


def regenerates() -> bool:
    """Tell whether a tree without generated/gymbridge generates the same bytes."""
    caches = shutil.ignore_patterns("__pycache__")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for source in ("generator", "runtime", "templates"):
            shutil.copytree(ROOT / source, tree / source, ignore=caches)
        shutil.copy(ROOT / "pyproject.toml", tree)
        if not run("gymbridge_generator", "generate", root=tree, output=subprocess.DEVNULL):
            return False
        old, new = contents(ROOT / "generated"), contents(tree / "generated")
    for name in sorted(path for path in old | new if old.get(path) != new.get(path)):
        print(f"generated/{name} does not come back as it was; run: gymbridge generate")
    return old == new


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file below ``folder`` except bytecode."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }


def check(name: str) -> bool:
    """Run one check, and print the result."""
    print(f"-- {name}", flush=True)
    start = time.perf_counter()
    good = regenerates() if name == "regenerate" else all(run(*each) for each in CHECKS[name])
    print(f"-- {name} {'passed' if good else 'FAILED'} in {time.perf_counter() - start:.1f} s")
    return good


def main() -> int:
    """Run the named checks; return 1 if any fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "names",
        nargs="*",
        metavar="CHECK",
        choices=[*CHECKS, *GROUPS],
        default=[*CHECKS],
        help=f"by default all of {', '.join(CHECKS)}; {', '.join(GROUPS)} is a group of them",
    )
    asked = [each for name in parser.parse_args().names for each in GROUPS.get(name, (name,))]
    failed = [name for name in asked if not check(name)]
    if failed:
        print(f"to see it again: python scripts/check.py {shlex.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
