"""Run some tests with the lowest versions, and with the newest versions on other Pythons.

Without arguments it runs all settings with an available Python; `python scripts/versions.py lowest`
runs one of them. `next` runs only on request, with the newest versions of today, unreleased ones
included. CI's other tests run with `scripts/constraints.txt`, the newest versions for the oldest
Python. This script runs tests that say most about libraries in the least time, in environments of
their own.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("array-api-strict", "cloudpickle", "hypothesis", "pytest")
TESTS = (
    "tests/conformance/test_shipped.py",
    "tests/environments/test_persistence.py",
    "tests/environments/test_vectors.py",
    "tests/generator/test_agreement.py",
    "tests/generator/test_drift.py",
    "tests/generator/test_spec_errors.py",
    "tests/runtime/test_dlpack_facts.py",
)
NEED_TORCH = (
    "tests/runtime/test_direct.py",
    "tests/runtime/test_dtypes.py",
    "tests/runtime/test_leaves.py",
    "tests/runtime/test_own_backend.py",
)
MISSING = re.compile(r"(?m)^SKIPPED .*?(?:: |module ')(\w+)(?:', which)? is not installed")


@dataclass(frozen=True)
class Setting:
    """Versions of libraries, and of Python."""

    python: str
    constraints: str | None
    """The file with the versions; None for the newest, unreleased ones included."""
    extras: str
    absent: frozenset[str]
    """Libraries that are not installed there; only their tests may be skipped."""
    tests: tuple[str, ...]


def newest(python: str) -> Setting:
    """Return the setting of a Python for which PyTorch may have no CPU build."""
    absent = frozenset({"tensordict", "torch"})
    extras = "cli,generator,jax,mlx,parallel"
    return Setting(python, "constraints-newest.txt", extras, absent, TESTS)


SETTINGS = {
    "lowest": Setting(
        "3.11",
        "constraints-lowest.txt",
        "all,parallel",
        frozenset({"tensordict"}),
        (*TESTS, *NEED_TORCH),
    ),
    "3.12": newest("3.12"),
    "3.13": newest("3.13"),
}
ON_REQUEST = {"next": replace(newest("3.13"), constraints=None)}
"""The setting that changes every day, and shows future problems."""


def interpreter(version: str) -> str | None:
    """Return a Python of this version, from the path or pyenv."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}*/bin/python"))]
    return next((str(place) for place in places if place and is_usable(str(place))), None)


def is_usable(python: str) -> bool:
    """Tell whether a Python starts and can make virtual environments."""
    command = [python, "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def requirements(setting: Setting) -> list[str]:
    """Return the requirements for pip."""
    versions = (
        ["--pre"]
        if setting.constraints is None
        else ["-c", str(ROOT / "scripts" / setting.constraints)]
    )
    return [*versions, "-e", f"{ROOT}[{setting.extras}]", *TOOLS]


def run(setting: Setting, python: str, folder: Path) -> bool:
    """Tell whether the tests pass; only absent libraries may be skipped."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    own = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, *requirements(setting)], check=True)
    subprocess.run([own, "-m", "pip", "check"], check=True, stdout=subprocess.DEVNULL)
    # with CI set, a missing library is a failure
    environment = {k: v for k, v in os.environ.items() if k not in {"CI", "PYTHONPATH"}}
    options = ["-q", "-rs", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(
        [own, "-m", "pytest", *options, *setting.tests],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(done.stdout if done.returncode else done.stdout.rstrip().rpartition("\n")[2], flush=True)
    missing = set(MISSING.findall(done.stdout))
    if unexpected := missing - setting.absent:
        print(f"not installed, and tests were skipped: {', '.join(sorted(unexpected))}")
    return done.returncode == 0 and not unexpected


def main() -> int:
    """Run the named settings; return 1 if one fails or has no Python."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = SETTINGS | ON_REQUEST
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    asked: list[str] = parser.parse_args().names
    for name in asked:  # with `choices`, argparse before 3.12 refuses an empty list
        if name not in known:
            parser.error(f"there is no {name!r}; there are {', '.join(known)}")
    bad: list[str] = []
    for name in asked or SETTINGS:
        setting = known[name]
        python = interpreter(setting.python)
        if python is None:
            print(f"-- {name}: there is no Python {setting.python} here", flush=True)
            bad += [name] if asked else []
            continue
        versions = setting.constraints or "what there is today"
        print(f"-- {name}: {versions} on Python {setting.python}", flush=True)
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            bad += [] if run(setting, python, Path(folder)) else [name]
        print(f"-- {name} took {time.perf_counter() - start:.0f} s", flush=True)
    if bad:
        print(f"failed: {', '.join(bad)}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
