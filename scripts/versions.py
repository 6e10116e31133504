"""Run some tests with the lowest versions, and with the newest versions on other Pythons.

Without arguments it runs all settings with an available Python; `python scripts/versions.py lowest`
runs one of them. Some run only on request: `next` takes the newest versions of today, unreleased
ones included. CI's other tests run with `scripts/constraints.txt`, the newest versions for the
oldest Python. This script runs a few fast tests that depend much on library versions, in separate
environments.

The setting `lowest` ends with two further checks. Some tests run in the same environment with the
versions of Gymnasium between the lowest and the newest. The type checkers of this Python run with
the lowest Gymnasium.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("array-api-strict", "cloudpickle", "hypothesis", "pygame-ce", "pytest", "pytest-xdist")
TESTS = (
    "tests/conformance/test_shipped.py",
    "tests/environments/test_persistence.py",
    "tests/environments/test_vectors.py",
    "tests/generator/test_agreement.py",
    "tests/generator/test_drift.py",
    "tests/generator/test_spec_errors.py",
    "tests/runtime/test_dlpack_facts.py",
    "tests/runtime/test_proof.py",
)
OF_GYMNASIUM = (
    "tests/conformance/test_shipped.py",
    "tests/environments/test_actions.py",
    "tests/environments/test_array_conversion.py",
    "tests/environments/test_asynchronous.py",
    "tests/environments/test_forms.py",
    "tests/environments/test_neighbours.py",
    "tests/environments/test_observations.py",
    "tests/environments/test_persistence.py",
    "tests/environments/test_vectors.py",
)
"""The tests that depend most on the version of Gymnasium."""
SOME_PAIRS = "not cupy and not mlx and not jax"
"""The versions of Gymnasium treat all array libraries alike, so a few pairs are enough."""
NEED_TORCH = (
    "tests/runtime/test_direct.py",
    "tests/runtime/test_dtypes.py",
    "tests/runtime/test_leaves.py",
    "tests/runtime/test_own_backend.py",
)
NEIGHBOURS = ("ray[rllib]", "skrl", "stable-baselines3", "tianshou", "torchrl")
"""Libraries of agents, which have to install and work beside gymbridge."""
RECORDED = ("gymnasium", "ray", "skrl", "stable-baselines3", "tianshou", "torch", "torchrl")
RUNS = ROOT / "scripts" / "last_runs.json"
MISSING = re.compile(r"(?m)^SKIPPED .*?(?:: |module ')(\w+)(?:', which)? is not installed")

OLDER = re.compile(r"(?m)^SKIPPED .*?: (needs .* is installed)$")


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
    also: tuple[str, ...] = ()
    """Further packages for pip to install."""
    gymnasiums: tuple[str, ...] = ()
    """The versions of Gymnasium that follow in the same environment."""


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
        frozenset({"Box2D", "dask", "flax", "moviepy", "mujoco", "sparse", "tensordict"}),
        tuple(sorted({*TESTS, *OF_GYMNASIUM, *NEED_TORCH})),
        gymnasiums=("1.3.0",),
    ),
    "3.12": newest("3.12"),
    "3.13": newest("3.13"),
}


def pytorch(version: str) -> Setting:
    """Return the setting of a version of PyTorch, which may be a download of several GB."""
    return replace(
        newest("3.12"),
        extras="cli,generator,jax,mlx,parallel,torch",
        absent=frozenset({"tensordict"}),
        tests=(*TESTS, *NEED_TORCH, "tests/runtime/test_fast_paths.py"),
        also=(f"torch=={version}",),
    )


ON_REQUEST = {
    "next": replace(newest("3.13"), constraints=None),
    "neighbours": Setting(
        "3.11",
        "constraints-neighbours.txt",
        "cli,jax,torch",
        frozenset(),
        ("tests/neighbours",),
        also=(*NEIGHBOURS, "flax", "matplotlib"),
    ),
    "torch-lowest": pytorch("2.6.0"),
    "torch-newest": pytorch("2.15.0"),
}
"""Settings that change every day, or are large; `last_runs.json` says when each passed."""


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
    return [*versions, "-e", f"{ROOT}[{setting.extras}]", *TOOLS, *setting.also]


def run(name: str, setting: Setting, python: str, folder: Path) -> bool:
    """Tell whether the tests pass in an environment of their own."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    own = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    pip = [own, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", *requirements(setting)], check=True)
    subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
    result = passes(own, setting.tests, setting.absent)
    good = bool(result)
    if good and name in ON_REQUEST:
        record(name, result, pip)
    if setting.gymnasiums:
        good &= types_agree(pip, folder / "gymnasium")
    for version in setting.gymnasiums:
        print(f"-- Gymnasium {version}", flush=True)
        subprocess.run([*pip, "install", "-q", "--no-deps", f"gymnasium=={version}"], check=True)
        good &= bool(passes(own, (*OF_GYMNASIUM, "-k", SOME_PAIRS), setting.absent))
    return good


def passes(python: str, tests: tuple[str, ...], absent: frozenset[str]) -> str:
    """Return the summary of passed tests; empty if one fails, or is skipped unexpectedly."""
    # with CI set, a missing library is a failure
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
    result = done.stdout.rstrip().rpartition("\n")[2]
    print(done.stdout if done.returncode else result, flush=True)
    for reason in sorted(set(OLDER.findall(done.stdout))):
        print(f"skipped: {reason}", flush=True)
    missing = set(MISSING.findall(done.stdout))
    if unexpected := missing - absent:
        print(f"not installed, and tests were skipped: {', '.join(sorted(unexpected))}")
    return "" if done.returncode or unexpected else result.partition(" in ")[0]


def types_agree(pip: list[str], folder: Path) -> bool:
    """Tell whether the type checkers of this Python accept the lowest Gymnasium."""
    if find_spec("mypy") is None:
        print("-- there are no type checkers here", flush=True)
        return True
    lowest = str(ROOT / "scripts" / "constraints-lowest.txt")
    where = ["--no-deps", "--target", str(folder)]
    subprocess.run([*pip, "install", "-q", *where, "-c", lowest, "gymnasium"], check=True)
    return (
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-n",
                "0",
                "tests/typing/test_lowest_gymnasium.py",
            ],
            cwd=ROOT,
            env=os.environ | {"LOWEST_GYMNASIUM": str(folder)},
            check=False,
        ).returncode
        == 0
    )


def record(name: str, result: str, pip: list[str]) -> None:
    """Record today's result and the versions; `scripts/draw.py` shows them."""
    listed = subprocess.run([*pip, "list", "--format=json"], check=True, capture_output=True)
    packages = {
        each["name"].replace("_", "-"): each["version"] for each in json.loads(listed.stdout)
    }
    known: dict[str, object] = json.loads(RUNS.read_text(encoding="utf-8"))
    known[name] = {
        "date": f"{date.today():%Y-%m-%d}",
        "result": result,
        "versions": {
            each: packages[each].partition("+")[0] for each in RECORDED if each in packages
        },
    }
    RUNS.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")


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
            bad += [] if run(name, setting, python, Path(folder)) else [name]
        print(f"-- {name} took {time.perf_counter() - start:.0f} s", flush=True)
    if bad:
        print(f"failed: {', '.join(bad)}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
