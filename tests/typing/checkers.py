"""Five type checkers in strict mode, run on the scripts in a folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tests.support import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

Found: TypeAlias = "Iterator[tuple[str, int, str]]"
"""The file, line and message of each diagnostic."""

Diagnostics: TypeAlias = dict[str, dict[int, list[str]]]
"""Diagnostics by file and line."""

ROOTS = tuple(str(REPOSITORY / name) for name in ("generated", "runtime"))
PYTHON_VERSION = "3.11"


@dataclass(frozen=True)
class Project:
    """A folder of scripts, and the paths for their imports."""

    folder: Path
    python: str = sys.executable
    """The interpreter whose packages are installed."""
    roots: tuple[str, ...] = ROOTS
    """Folders of packages that are not installed."""
    strict: bool = True
    """Whether pyright and basedpyright report types that are unknown, other people's too."""

    def files(self) -> list[str]:
        """Return the modules to check."""
        found = sorted(self.folder.rglob("*.py"))
        return [path.relative_to(self.folder).as_posix() for path in found]

    def paths(self) -> list[str]:
        """Return where imports are looked up before the installed packages."""
        return [*self.roots, "."]

    def run(self, *command: str) -> str:
        """Return the output of a checker run in the folder."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode in {0, 1}, done.stdout + done.stderr
        return done.stdout


def _lines(text: str, pattern: str) -> Found:
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield match["file"], int(match["line"]), match["message"]


def mypy(project: Project) -> Found:
    """Run mypy --strict."""
    (project.folder / "mypy.ini").write_text(
        f"[mypy]\nstrict = true\nmypy_path = {':'.join(project.roots)}\n"
        "explicit_package_bases = true\n",
        encoding="utf-8",
    )
    # a cache for each set of installed packages: without one a run takes a minute
    cache = REPOSITORY / ".mypy_cache/tests" / project.folder.name.rstrip("0123456789")
    options = ["--no-error-summary", f"--python-executable={project.python}"]
    text = project.run("mypy", *options, f"--cache-dir={cache}", *project.files())
    return _lines(text, r"^(?P<file>\S+?):(?P<line>\d+): error: (?P<message>.*)$")


def pyright(project: Project) -> Found:
    """Run pyright."""
    return _pyright(
        project, "pyright", {"typeCheckingMode": "strict" if project.strict else "standard"}
    )


def basedpyright(project: Project) -> Found:
    """Run basedpyright."""
    # the scripts say Any, and do not use what the wrappers return
    quiet = {"reportExplicitAny": False, "reportUnusedCallResult": False, "reportAny": False}
    mode = {"typeCheckingMode": "recommended" if project.strict else "standard"}
    return _pyright(project, "basedpyright", mode | quiet)


def _pyright(
    project: Project, name: str, settings: dict[str, str | bool] | dict[str, str]
) -> Found:
    config = {
        "include": project.files(),
        "extraPaths": project.paths(),
        "pythonVersion": PYTHON_VERSION,
    }
    path = project.folder / f"{name}.json"
    path.write_text(json.dumps(config | settings), encoding="utf-8")
    text = project.run(name, "--outputjson", "--pythonpath", project.python, "-p", path.name)
    for found in json.loads(text[text.index("{") :])["generalDiagnostics"]:
        if found.get("rule") == "reportUnusedExpression":
            continue  # a bare name is how a script tests it
        yield found["file"], found["range"]["start"]["line"] + 1, found["message"]


def pyrefly(project: Project) -> Found:
    """Run pyrefly, strict, with its warnings."""
    (project.folder / "pyrefly.toml").write_text(
        f'preset = "strict"\nsearch-path = {project.paths()}\n', encoding="utf-8"
    )
    options = ["--min-severity=warn", "--output-format=json", "--python-interpreter-path"]
    text = project.run("pyrefly", "check", *options, project.python, *project.files())
    for found in json.loads(text[text.index("{") :])["errors"]:
        yield found["path"], found["line"], found["description"]


def ty(project: Project) -> Found:
    """Run ty, with its warnings."""
    (project.folder / "ty.toml").write_text(
        f"[environment]\nroot = {project.paths()}\n", encoding="utf-8"
    )
    options = ["--output-format=concise", "--error-on-warning", "--python", project.python]
    text = project.run("ty", "check", *options, *project.files())
    return _lines(text, r"^(?P<file>\S+?):(?P<line>\d+):\d+: (?P<message>.*)$")


CHECKERS: dict[str, Callable[[Project], Found]] = {
    "mypy": mypy,
    "pyright": pyright,
    "basedpyright": basedpyright,
    "pyrefly": pyrefly,
    "ty": ty,
}


def run_all(
    projects: Iterable[Project], checkers: Sequence[str] = tuple(CHECKERS)
) -> dict[str, Diagnostics]:
    """Return what each of the checkers says of a project of its own."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(checkers, pool.map(_diagnose, checkers, projects), strict=True))


def _diagnose(checker: str, project: Project) -> Diagnostics:
    said: Diagnostics = defaultdict(lambda: defaultdict(list))
    for file, line, message in CHECKERS[checker](project):
        path = project.folder / file
        if path.is_relative_to(project.folder):  # without files of the repository
            said[path.relative_to(project.folder).as_posix()][line].append(message)
    return said


def marked(checker: str, text: str) -> set[int]:
    """Return the lines of a script marked with an E: errors for ``checker``.

    A checker named after an exclamation mark misses the error.
    """
    return {
        number
        for number, line in enumerate(text.splitlines(), 1)
        if "# E" in line and f"!{checker}" not in line
    }


def differences(scripts: dict[str, str], said: dict[str, Diagnostics]) -> list[str]:
    """Return every line where a checker and the script disagree."""
    found: list[str] = []
    for file, text in scripts.items():
        lines = text.splitlines()
        for checker, files in said.items():
            for number in sorted(marked(checker, text) ^ set(files[file])):
                messages = files[file].get(number)
                verb = f"says {messages} of" if messages else "accepts"
                found.append(f"{checker} {verb} {file}:{number}: {lines[number - 1].strip()}")
    return found
