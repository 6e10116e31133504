"""Test the catalogue with the real libraries: install each one and run its tests.

    python scripts/check_catalogue.py warp pyarrow

Each library gets an environment of its own on top of the current one, which does not change:
the requirements of two libraries may conflict.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

VERSIONS = {
    "dpnp": "dpnp==0.20.0",
    "paddle": "paddlepaddle==3.3.1",
    "pyarrow": "pyarrow==26.0.1",
    "tensorflow": "tensorflow-cpu==2.21.0",
    "warp": "warp-lang==1.19.0",
}
"""The versions of the tested libraries."""


def check(library: str) -> bool:
    """Install ``library`` in a new environment, and tell whether its tests pass."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(Path(folder))
        pip = [sys.executable, "-m", "pip", f"--python={python}", "install", "-q"]
        installed = subprocess.run([*pip, VERSIONS[library]], check=False).returncode == 0
        tests = [str(python), "-m", "pytest", "tests/catalogue", "-q", "-m", ""]
        variables = os.environ | _variables(Path(folder)) | {"GYMBRIDGE_CATALOGUE": library}
        passed = (
            installed
            and subprocess.run(tests, cwd=ROOT, env=variables, check=False).returncode == 0
        )
    word = "passed" if passed else "FAILED"
    print(f"-- {library} {word} in {time.monotonic() - start:.0f} s", flush=True)
    return passed


def _environment(folder: Path) -> Path:
    """Make an environment with access to the current one, and return its interpreter."""
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    names = {"base": str(folder), "platbase": str(folder)}
    below = Path(sysconfig.get_path("purelib", scheme="venv", vars=names))
    here = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    _ = (below / "here.pth").write_text(here, encoding="utf-8")
    return python


def _variables(folder: Path) -> dict[str, str]:
    """Return the variables for oneAPI's CPU driver, whose wheels put it in an unusual folder."""
    drivers = sorted((folder / "lib").glob("libintelocl.so*[0-9]"))
    return {"OCL_ICD_FILENAMES": str(drivers[0])} if drivers else {}


def main() -> int:
    """Check the named libraries."""
    names = sys.argv[1:]
    unknown = [name for name in names if name not in VERSIONS]
    if unknown or not names:
        print(f"name libraries of the catalogue: {' '.join(VERSIONS)}", file=sys.stderr)
        return 2
    failed = [name for name in names if not check(name)]
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
