"""Build, install and test the example of a package that adds a library.

Run it with `python -m scripts.check_example`. It needs pip, and a package index or a cache.

The script does what users do, in a copy of the example and in an environment with gymbridge and
the requirements of the example: no PyTorch, no JAX.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from scripts.check_wheel import ROOT, Environment, expect

EXAMPLE = ROOT / "scripts" / "examples" / "arrow_agents"


def check_wrappers(user: Environment, project: Path) -> None:
    """Generate twice: the second run changes nothing. Then check that an edit is found."""
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
    """Build and install the package, and test it in a folder without its sources."""
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
    """Check that wrappers for another runtime say what to do."""
    code = "import gymbridge_runtime.api as a; a.RUNTIME_API += 1; import arrow_agents"
    said = user.run("python", "-c", code, within=elsewhere, status=1)
    expect("run `gymbridge generate` with the installed gymbridge" in said, said)


def main() -> None:
    """Follow the example's README and check the results."""
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
