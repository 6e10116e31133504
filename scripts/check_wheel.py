"""Check the distributions: build them, install the wheel in a new environment, and use it.

Run it with `python scripts/check_wheel.py`. It needs pip, and a package index or a cache.

The environment of the wheel has neither PyTorch nor JAX, and at first not even the requirements of
the generator. What is installed must work, and errors must name what is missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "scripts" / "constraints.txt"

PACKAGES = {
    "gymbridge": "generated/gymbridge",
    "gymbridge_generator": "generator/gymbridge_generator",
    "gymbridge_tools": "generator/gymbridge_tools",
    "gymbridge_runtime": "runtime/gymbridge_runtime",
    "gymbridge_generator/templates": "templates",
}
"""The packages in the wheel, and their folders in the repository."""
ALWAYS = (".gitignore", "LICENSE", "README.md", "pyproject.toml")
"""Files that every sdist holds."""

IMPORT = """
import sys, gymbridge, gymbridge.vector, gymbridge.backends.numpy
loaded = {"torch", "jax", "jinja2", "pydantic"} & set(sys.modules)
assert not loaded, f"importing gymbridge imported {loaded}"
assert "NumpyToTorch" in dir(gymbridge) and "JaxToNumpy" in dir(gymbridge.vector)
print(gymbridge.__version__)
"""

USER_SPEC = """\
spec_version = 1
extends = ["gymbridge"]

[[backend]]
name = "strict"
title = "array-api-strict"
module = "array_api_strict"
array = "array_api_strict._array_object.Array"
distribution = "array-api-strict"

[matrix]
backends = ["strict", "numpy"]
"""

USE = """
import gymnasium as gym, array_api_strict as xp
from bridges import NumpyToStrict
env = NumpyToStrict(gym.make("CartPole-v1"))
observation, _ = env.reset(seed=0)
assert type(observation) is type(xp.asarray(0.0)), type(observation)
observation, reward, *_ = env.step(env.sample_action())
assert type(observation) is type(xp.asarray(0.0)) and type(reward) is float
"""


class Environment:
    """A virtual environment of its own."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.scripts = folder / ("Scripts" if os.name == "nt" else "bin")

    def run(self, command: str, *arguments: str | Path, within: Path, status: int = 0) -> str:
        """Run a command of the environment and return its output.

        Raises:
            SystemExit: The command ended with another status.
        """
        done = subprocess.run(
            [self.scripts / command, *arguments],
            cwd=within,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != status:
            shown = " ".join(map(str, [command, *arguments]))
            sys.exit(f"{done.stdout}\n{shown}: status {done.returncode}, {status} was expected")
        return done.stdout

    def install(self, *what: str | Path, within: Path) -> None:
        """Install with pip, in the versions of the tests."""
        self.run("python", "-m", "pip", "install", "-q", "-c", CONSTRAINTS, *what, within=within)


def expect(condition: object, message: str) -> None:
    """Stop with ``message`` unless ``condition`` holds."""
    if not condition:
        sys.exit(message)


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist, so that both are complete.

    Both are built again from a newer copy in another folder, and must be the same to the last byte:
    so everybody can check that a release was made from its sources.
    """
    builder = Environment(folder / "builder")
    builder.install("build", "check-wheel-contents", "hatchling", "twine", within=folder)
    copy = folder / "copy" / "gymbridge"
    kept_out = shutil.ignore_patterns(".*", "__pycache__", "dist")
    shutil.copytree(ROOT, copy, ignore=kept_out, copy_function=shutil.copyfile)
    shutil.copyfile(ROOT / ".gitignore", copy / ".gitignore")  # the sdist includes it
    command = ["-m", "build", "--no-isolation", "--outdir"]
    builder.run("python", *command, folder / "dist", ROOT, within=folder)
    builder.run("python", *command, folder / "again", copy, within=folder)
    for path in (folder / "dist").iterdir():
        same = path.read_bytes() == (folder / "again" / path.name).read_bytes()
        expect(same, f"{path.name} is another when it is built again")
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    builder.run("twine", "check", "--strict", sdist, wheel, within=folder)
    packages = ",".join(sorted(top_level()))
    builder.run("check-wheel-contents", "--toplevel", packages, wheel, within=folder)
    return sdist, wheel


def top_level() -> set[str]:
    """Return the packages that users can import."""
    return {name.partition("/")[0] for name in PACKAGES}


def check_contents(sdist: Path, wheel: Path) -> None:
    """Compare the contents of the archives with the repository."""
    wanted = {
        f"{package}/{path.relative_to(ROOT / folder).as_posix()}"
        for package, folder in PACKAGES.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        names = archive.namelist()
    expect(packed == wanted, f"the wheel differs from the repository in {packed ^ wanted}")
    expect(any(name.endswith("/licenses/LICENSE") for name in names), "the wheel has no licence")
    untyped = {package for package in top_level() if f"{package}/py.typed" not in packed}
    expect(not untyped, f"type checkers are not told that there are types in {untyped}")
    with tarfile.open(sdist) as archive:
        kept = {each.name.partition("/")[2] for each in archive.getmembers() if each.isfile()}
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked: list[str] = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    wanted = {
        path.relative_to(ROOT).as_posix()
        for name in (*asked, *ALWAYS)
        for path in ((ROOT / name).rglob("*") if (ROOT / name).is_dir() else [ROOT / name])
        if path.is_file() and "__pycache__" not in path.parts
    }
    differing = wanted ^ (kept - {"PKG-INFO"})
    expect(not differing, f"the sdist differs from the repository in {differing}")


def check_bare(user: Environment, wheel: Path, folder: Path) -> None:
    """Use what needs only NumPy, and check the errors for missing libraries."""
    user.install(wheel, within=folder)
    user.run("python", "-m", "pip", "check", within=folder)
    user.run("python", "-c", IMPORT, within=folder)
    for name, extra in {"NumpyToTorch": "torch", "JaxToNumpy": "jax"}.items():
        for package in ("gymbridge", "gymbridge.vector"):
            use = f"from {package} import {name}"
            said = user.run("python", "-c", use, within=folder, status=1)
            wanted = f"pip install 'gymbridge[{extra}]'"
            expect(wanted in said and "BackendNotInstalledError" in said, f"{use}:\n{said}")
    version = user.run("gymbridge", "--version", within=folder).split()[-1]
    expect(f"-{version}-" in wheel.name, f"gymbridge --version says {version}, not {wheel.name}")
    user.run("gymbridge", "--help", within=folder)
    said = user.run("gymbridge", "list", within=folder, status=2)
    expect("pip install 'gymbridge[generator]'" in said, f"gymbridge list:\n{said}")


def check_generator(user: Environment, wheel: Path, folder: Path) -> None:
    """Generate the shipped wrappers again, and those of a user's own library."""
    user.install(f"{wheel}[generator]", "array-api-strict", within=folder)
    listed = user.run("gymbridge", "list", within=folder)
    expect("TorchToJax" in listed, f"gymbridge list:\n{listed}")
    user.run("gymbridge", "generate", "--out", "shipped", within=folder)
    user.run("gymbridge", "check", "--out", "shipped", within=folder)

    (folder / "mine.toml").write_text(USER_SPEC)
    (folder / "pyproject.toml").write_text('[tool.gymbridge]\nspec = "mine.toml"\nout = "bridges"')
    user.run("gymbridge", "generate", within=folder)
    user.run("gymbridge", "check", within=folder)
    user.run("python", "-c", USE, within=folder)
    with (folder / "bridges" / "numpy_to_strict.py").open("a") as file:
        file.write("# by hand\n")
    said = user.run("gymbridge", "check", within=folder, status=1)
    expect("-# by hand" in said, f"gymbridge check:\n{said}")


def write_bill(user: Environment, wheel: Path, folder: Path) -> Path:
    """Write the bill of materials of an installed gymbridge, as CycloneDX."""
    tool = Environment(folder / "tool")
    tool.install("cyclonedx-bom", within=folder)
    bill = wheel.with_suffix(".cdx.json")
    python = user.scripts / "python"
    options = ["--output-reproducible", "--output-format", "JSON", "--output-file"]
    tool.run("cyclonedx-py", "environment", *options, bill, python, within=folder)
    text = bill.read_text(encoding="utf-8").replace(wheel.as_uri(), wheel.name)
    bill.write_text(text, encoding="utf-8")  # leave out the local path of the build
    names = {each["name"] for each in json.loads(text)["components"]}
    unlisted = {"gymbridge", "gymnasium", "numpy"} - names
    expect(not unlisted, f"the bill of materials lacks {unlisted}")
    return bill


def main() -> None:
    """Build the distributions, check their contents, install the wheel and use it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--dist", type=Path, metavar="DIR", help="put what was checked here, and a bill of it"
    )
    dist: Path | None = parser.parse_args().dist
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sdist, wheel = build(folder)
        check_contents(sdist, wheel)
        print(f"{wheel.name} and {sdist.name} are whole, and the same built twice", flush=True)
        user = Environment(folder / "user")
        check_bare(user, wheel, folder)
        print(
            "without PyTorch, JAX and the generator's libraries it says what to install", flush=True
        )
        made = [sdist, wheel, *([write_bill(user, wheel, folder)] if dist else [])]
        check_generator(user, wheel, folder)
        print("it generates wrappers, its own and those of a user's backend", flush=True)
        if dist:
            dist.mkdir(parents=True, exist_ok=True)
            for path in made:
                shutil.copy(path, dist)
                print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {dist / path.name}")


if __name__ == "__main__":
    main()
