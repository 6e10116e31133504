"""Five type checkers agree about the generated package, at their strictest."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from gymbridge_generator.load import parse
from gymbridge_generator.output import write
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import templates
from tests.generator.command import OWN_SPEC
from tests.support import REPOSITORY, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Diagnostics: TypeAlias = dict[str, dict[int, list[str]]]
"""What a checker says, by file and line."""

HERE = Path(__file__).parent
ROOTS = [str(REPOSITORY / name) for name in ("generated", "runtime")]
PATHS = [*ROOTS, "."]


def run(folder: Path, *command: str) -> str:
    """Return what a checker prints when it is run in ``folder``."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


def files(folder: Path) -> list[str]:
    """Return the modules that a checker is run on."""
    return [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.py"))]


def lines(text: str, pattern: str) -> Iterator[tuple[str, int, str]]:
    """Return file, line and message of every match of ``pattern``."""
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield match["file"], int(match["line"]), match["message"]


def mypy(folder: Path) -> Iterator[tuple[str, int, str]]:
    (folder / "mypy.ini").write_text(
        f"[mypy]\nstrict = true\nmypy_path = {':'.join(ROOTS)}\nexplicit_package_bases = true\n",
        encoding="utf-8",
    )
    cache = REPOSITORY / ".mypy_cache/tests"
    text = run(folder, "mypy", "--no-error-summary", f"--cache-dir={cache}", *files(folder))
    return lines(text, r"^(?P<file>\S+?):(?P<line>\d+): error: (?P<message>.*)$")


def pyright(folder: Path) -> Iterator[tuple[str, int, str]]:
    return _pyright(folder, "pyright", {"typeCheckingMode": "strict"})


def basedpyright(folder: Path) -> Iterator[tuple[str, int, str]]:
    # the tests say Any, and do not use what the wrappers return
    quiet = {"reportExplicitAny": False, "reportUnusedCallResult": False, "reportAny": False}
    return _pyright(folder, "basedpyright", {"typeCheckingMode": "recommended"} | quiet)


def _pyright(
    folder: Path, name: str, settings: dict[str, str | bool] | dict[str, str]
) -> Iterator[tuple[str, int, str]]:
    config = {"include": files(folder), "extraPaths": PATHS, "pythonVersion": "3.11"}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config | settings), encoding="utf-8")
    text = run(folder, name, "--outputjson", "--pythonpath", sys.executable, "-p", path.name)
    for found in json.loads(text[text.index("{") :])["generalDiagnostics"]:
        if found.get("rule") == "reportUnusedExpression":
            continue  # naming something is how a test asks for it
        yield found["file"], found["range"]["start"]["line"] + 1, found["message"]


def pyrefly(folder: Path) -> Iterator[tuple[str, int, str]]:
    (folder / "pyrefly.toml").write_text(
        f'preset = "strict"\nsearch-path = {PATHS}\n', encoding="utf-8"
    )
    options = ["--min-severity=warn", "--output-format=json", "--python-interpreter-path"]
    text = run(folder, "pyrefly", "check", *options, sys.executable, *files(folder))
    for found in json.loads(text[text.index("{") :])["errors"]:
        yield found["path"], found["line"], found["description"]


def ty(folder: Path) -> Iterator[tuple[str, int, str]]:
    (folder / "ty.toml").write_text(f"[environment]\nroot = {PATHS}\n", encoding="utf-8")
    options = ["--output-format=concise", "--error-on-warning", "--python", sys.executable]
    text = run(folder, "ty", "check", *options, *files(folder))
    return lines(text, r"^(?P<file>\S+?):(?P<line>\d+):\d+: (?P<message>.*)$")


CHECKERS: dict[str, Callable[[Path], Iterator[tuple[str, int, str]]]] = {
    "mypy": mypy,
    "pyright": pyright,
    "basedpyright": basedpyright,
    "pyrefly": pyrefly,
    "ty": ty,
}


@pytest.fixture(scope="module", params=CHECKERS)
def checker(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    for library in (name, "jax", "torch"):
        require(library)
    return name


@pytest.fixture(scope="module")
def diagnostics(checker: str, tmp_path_factory: pytest.TempPathFactory) -> Diagnostics:
    folder = tmp_path_factory.mktemp(checker)
    shutil.copy(HERE / "accepted.py", folder)
    for name in ("own", "rejected"):  # under their own names other checks would see them
        shutil.copy(HERE / f"{name}.py.txt", folder / f"{name}.py")
    pages = plan(parse(OWN_SPEC, "my.toml"))
    write(render(pages, templates(), "my.toml"), folder / "mine/bridges")
    (folder / "mine/__init__.py").touch()
    found: Diagnostics = defaultdict(lambda: defaultdict(list))
    for file, line, message in CHECKERS[checker](folder):
        if (path := (folder / file)).is_relative_to(folder):  # not those of the repository
            found[path.relative_to(folder).as_posix()][line].append(message)
    return found


def test_what_users_write_is_accepted(diagnostics: Diagnostics) -> None:
    assert diagnostics["accepted.py"] == {}


def test_mistakes_are_rejected_and_nothing_else(checker: str, diagnostics: Diagnostics) -> None:
    text = (HERE / "rejected.py.txt").read_text(encoding="utf-8")
    expected = {
        number: line.strip()
        for number, line in enumerate(text.splitlines(), 1)
        if "# E" in line and f"!{checker}" not in line
    }
    assert len(expected) > 40
    reported = diagnostics["rejected.py"]
    missed = {number: line for number, line in expected.items() if number not in reported}
    surplus = {number: said for number, said in reported.items() if number not in expected}
    assert (missed, surplus) == ({}, {})


def test_a_package_of_a_user_is_as_good(diagnostics: Diagnostics) -> None:
    assert diagnostics["own.py"] == {}


def test_nothing_is_said_about_generated_code(diagnostics: Diagnostics) -> None:
    others = {file: said for file, said in diagnostics.items() if said and file != "rejected.py"}
    assert others == {}
