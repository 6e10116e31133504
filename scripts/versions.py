"""Run some of the tests with the lowest versions, and with the newest on other Pythons.

Without arguments it runs all that there is a Python for; `python scripts/versions.py lowest` runs
one, and `next`, only on request, what there is today, unreleased versions too. The other tests run
with `scripts/constraints.txt`, the newest versions for the oldest Python; here are those that say
most about libraries in the least time, in environments of their own.

The setting `lowest` ends with the versions of Gymnasium between its lowest and the newest, in the
same environment, and with the type checkers of this Python, which then look at the lowest.
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
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("array-api-strict", "cloudpickle", "hypothesis", "pygame-ce", "pytest")
TESTS = (
    "tests/conformance/test_shipped.py",
    "tests/environments/test_persistence.py",
    "tests/environments/test_vectors.py",
    "tests/generator/test_agreement.py",
    "tests/generator/test_drift.py",
    "tests/generator/test_spec_errors.py",
    "tests/runtime/test_dlpack_facts.py",
)
OF_GYMNASIUM = (
    "tests/conformance/test_shipped.py",
    "tests/environments/test_actions.py",
    "tests/environments/test_array_conversion.py",
    "tests/environments/test_forms.py",
    "tests/environments/test_neighbours.py",
    "tests/environments/test_observations.py",
    "tests/environments/test_persistence.py",
    "tests/environments/test_vectors.py",
)
"""What says most about Gymnasium; its versions differ in nothing that a library of arrays sees."""
ONE_LIBRARY = "not cupy and not mlx and not jax"
NEED_TORCH = (
    "tests/runtime/test_direct.py",
    "tests/runtime/test_dtypes.py",
    "tests/runtime/test_leaves.py",
    "tests/runtime/test_own_backend.py",
)
MISSING = re.compile(r"(?m)^SKIPPED .*?(?:: |module ')(\w+)(?:', which)? is not installed")

OLDER = re.compile(r"(?m)^SKIPPED .*?: (needs .* is installed)$")


@dataclass(frozen=True)
class Setting:
    """Versions of libraries, and of Python."""

    python: str
    constraints: str | None
    """The file with the versions, or None for the newest, of what is not released too."""
    extras: str
    absent: frozenset[str]
    """What is not installed there, and whose tests are skipped for that reason only."""
    tests: tuple[str, ...]
    gymnasiums: tuple[str, ...] = ()
    """The versions of Gymnasium that follow in the same environment."""


def newest(python: str) -> Setting:
    """Return the setting of a Python that no CPU build of PyTorch can be counted on to be for."""
    absent = frozenset({"tensordict", "torch"})
    extras = "cli,generator,jax,mlx,parallel"
    return Setting(python, "constraints-newest.txt", extras, absent, TESTS)


SETTINGS = {
    "lowest": Setting(
        "3.11",
        "constraints-lowest.txt",
        "all,parallel",
        frozenset({"Box2D", "dask", "flax", "moviepy", "mujoco", "sparse", "tensordict"}),
        tuple(sorted({*TESTS, *OF_GYMNASIUM, *NEED_TORCH})),
        ("1.3.0",),
    ),
    "3.12": newest("3.12"),
    "3.13": newest("3.13"),
}
ON_REQUEST = {"next": replace(newest("3.13"), constraints=None)}
"""What is another thing every day, and says what will have to be changed."""


def interpreter(version: str) -> str | None:
    """Return a Python of this version, from the path or pyenv."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}*/bin/python"))]
    return next((str(place) for place in places if place and is_usable(str(place))), None)


def is_usable(python: str) -> bool:
    """Tell whether it starts, and can make environments."""
    command = [python, "-c", "import ensurepip, venv"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def requirements(setting: Setting) -> list[str]:
    """Return what pip is told to install."""
    versions = (
        ["--pre"]
        if setting.constraints is None
        else ["-c", str(ROOT / "scripts" / setting.constraints)]
    )
    return [*versions, "-e", f"{ROOT}[{setting.extras}]", *TOOLS]


def run(setting: Setting, python: str, folder: Path) -> bool:
    """Tell whether the tests pass in an environment of their own."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    own = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    install = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, *requirements(setting)], check=True)
    subprocess.run([own, "-m", "pip", "check"], check=True, stdout=subprocess.DEVNULL)
    good = passes(own, setting.tests, setting.absent)
    if setting.gymnasiums:
        good &= types_agree(install, folder / "gymnasium")
    for version in setting.gymnasiums:
        print(f"-- Gymnasium {version}", flush=True)
        subprocess.run([*install, "--no-deps", f"gymnasium=={version}"], check=True)
        good &= passes(own, (*OF_GYMNASIUM, "-k", ONE_LIBRARY), setting.absent)
    return good


def types_agree(install: list[str], folder: Path) -> bool:
    """Tell whether type checkers are right with the lowest Gymnasium; others are as installed."""
    if find_spec("mypy") is None:
        print("-- there are no type checkers here", flush=True)
        return True
    lowest = ROOT / "scripts" / "constraints-lowest.txt"
    source = ["--no-deps", "--target", str(folder), "-c", str(lowest), "gymnasium"]
    subprocess.run([*install, *source], check=True)
    environment = os.environ | {"LOWEST_GYMNASIUM": str(folder)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]
    test = "tests/typing/test_lowest_gymnasium.py"
    return subprocess.run([*command, test], cwd=ROOT, env=environment, check=False).returncode == 0


def passes(python: str, tests: tuple[str, ...], absent: frozenset[str]) -> bool:
    """Tell whether the tests pass, and skip nothing but what is absent or older on purpose."""
    # where CI is set a library that is missing is a failure
    environment = {k: v for k, v in os.environ.items() if k not in {"CI", "PYTHONPATH"}}
    options = ["-q", "-rs", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(
        [python, "-m", "pytest", *options, *tests],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(done.stdout if done.returncode else done.stdout.rstrip().rpartition("\n")[2], flush=True)
    for reason in sorted(set(OLDER.findall(done.stdout))):
        print(f"skipped: {reason}", flush=True)
    missing = set(MISSING.findall(done.stdout))
    if unexpected := missing - absent:
        print(f"not installed, and tests were skipped: {', '.join(sorted(unexpected))}")
    return done.returncode == 0 and not unexpected


def main() -> int:
    """Run what was asked for; return 1 if anything fails, or if there is no Python for it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = SETTINGS | ON_REQUEST
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    asked: list[str] = parser.parse_args().names
    for name in asked:  # with `choices`, argparse before 3.12 refuses that there are none
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
