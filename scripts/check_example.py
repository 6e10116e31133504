"""Check the example of a package that adds a library: build it, install it, run its tests.

Run it with `python -m scripts.check_example`; it needs pip, and a package index or a cache of one.

What users do is done here, in a copy of the example and in an environment that has nothing but
gymbridge and what the example asks for: no PyTorch, no JAX.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from scripts.check_wheel import ROOT, Environment, expect

EXAMPLE = ROOT / "scripts" / "examples" / "arrow_agents"


def check_wrappers(user: Environment, project: Path) -> None:
    """Generate; then again, which changes nothing; and see that an edit is noticed."""
    said = user.run("gymbridge", "generate", within=project)
    expect("wrote src/arrow_agents/bridges/numpy_to_pyarrow.py" in said, said)
    expect("wrote tests/bridges/test_bridges.py" in said, said)
    said = user.run("gymbridge", "generate", within=project)
    expect(said.count(", 0 changed") == len(("wrappers", "tests")), said)
    user.run("gymbridge", "check", within=project)
    spec = project / "bridges.toml"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace(', ["pyarrow", "numpy"]', ""), encoding="utf-8")
    said = user.run("gymbridge", "check", within=project, status=1)
    expect("stale: src/arrow_agents/bridges/pyarrow_to_numpy.py" in said, said)
    expect("stale: tests/bridges/types_pyarrow_to_numpy.py" in said, said)
    spec.write_text(text, encoding="utf-8")


def check_package(user: Environment, project: Path, elsewhere: Path) -> None:
    """Build the package, install it, and test it where its sources are not."""
    user.run("python", "-m", "build", "--no-isolation", within=project)
    (wheel,) = (project / "dist").glob("*.whl")
    user.install("--no-deps", wheel, within=elsewhere)
    user.run("python", "-m", "pip", "check", within=elsewhere)
    shutil.copytree(project / "tests", elsewhere / "tests")
    shutil.copy(project / "pyproject.toml", elsewhere)
    said = user.run("python", "-m", "pytest", "-q", "-rs", within=elsewhere)
    print(said.strip().splitlines()[-1], flush=True)
    expect("to_pyarrow" not in said, f"nothing of PyArrow is to be skipped:\n{said}")
    user.run("python", "-m", "mypy", within=elsewhere)


def check_other_runtime(user: Environment, elsewhere: Path) -> None:
    """See that wrappers from another time say what to do."""
    code = "import gymbridge_runtime.api as a; a.RUNTIME_API += 1; import arrow_agents"
    said = user.run("python", "-c", code, within=elsewhere, status=1)
    expect("run `gymbridge generate` with the installed gymbridge" in said, said)


def main() -> None:
    """Do what the example's README says, and look at what becomes of it."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project, elsewhere = folder / "project", folder / "elsewhere"
        shutil.copytree(EXAMPLE, project)
        elsewhere.mkdir()
        user = Environment(folder / "user")
        tools = ("build", "hatchling", "mypy", "pyarrow")
        user.install(f"{ROOT}[generator,testing]", *tools, within=folder)
        check_wrappers(user, project)
        check_package(user, project, elsewhere)
        check_other_runtime(user, elsewhere)
    print(f"the example generates, builds, installs and passes in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
