"""Five type checkers agree, line by line, about what users of generated packages write."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from jinja2 import Environment, StrictUndefined

from gymbridge_generator import naming
from gymbridge_generator.load import parse
from gymbridge_generator.output import write
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import shipped_spec, templates
from tests.generator.command import OWN_SPEC
from tests.support import PAIRS, REPOSITORY, require

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


LIBRARIES = ("array_api_strict", "jax", "mlx", "torch", *CHECKERS)


def scripts() -> dict[str, str]:
    """Return the scripts, by file: those written by hand, and one for every pair of the spec."""
    found = {"accepted.py": (HERE / "accepted.py").read_text(encoding="utf-8")}
    for name in ("own", "rejected"):  # under their own names other checks would see them
        found[f"{name}.py"] = (HERE / f"{name}.py.txt").read_text(encoding="utf-8")
    template = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    pair = template.from_string((HERE / "pair.py.jinja").read_text(encoding="utf-8"))
    shipped = parse(shipped_spec().read_text(encoding="utf-8"), "backends.toml")
    own = parse(OWN_SPEC, "my.toml")
    for package, selection in (("gymbridge", shipped), ("mine.bridges", own)):
        for source, target in selection.pairs:
            forward = naming.forward(source, target)
            found[f"{package.partition('.')[0]}_{forward}.py"] = pair.render(
                package=package,
                wrapper=naming.wrapper(source, target),
                back=naming.wrapper(target, source),
                source=source.name,
                target=target.name,
                forward=forward,
                backward=naming.forward(target, source),
                ours=naming.Names.of(source),
                theirs=naming.Names.of(target),
            )
    return found


def marked(checker: str, text: str) -> set[int]:
    """Return the lines that are an error to ``checker``."""
    return {
        number
        for number, line in enumerate(text.splitlines(), 1)
        if "# E" in line and f"!{checker}" not in line
    }


@pytest.fixture(scope="module")
def diagnostics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Diagnostics]:
    """What each of the five says about the same scripts, and about a package of a user."""
    for library in LIBRARIES:
        require(library)
    with ThreadPoolExecutor(max_workers=2) as pool:
        folders = {name: tmp_path_factory.mktemp(name) for name in CHECKERS}
        return dict(zip(CHECKERS, pool.map(_diagnose, CHECKERS, folders.values()), strict=True))


def _diagnose(checker: str, folder: Path) -> Diagnostics:
    for name, text in scripts().items():
        (folder / name).write_text(text, encoding="utf-8")
    pages = plan(parse(OWN_SPEC, "my.toml"))
    write(render(pages, templates(), "my.toml"), folder / "mine/bridges")
    (folder / "mine/__init__.py").touch()
    found: Diagnostics = defaultdict(lambda: defaultdict(list))
    for file, line, message in CHECKERS[checker](folder):
        if (path := (folder / file)).is_relative_to(folder):  # not those of the repository
            found[path.relative_to(folder).as_posix()][line].append(message)
    return found


def test_five_checkers_reject_the_same_lines(diagnostics: dict[str, Diagnostics]) -> None:
    expected, reported = {}, {}
    for file, text in scripts().items():
        lines = text.splitlines()
        for checker, said in diagnostics.items():
            wanted, found = marked(checker, text), set(said[file])
            for number in wanted ^ found:
                place = f"{checker} on {file}:{number}: {lines[number - 1].strip()}"
                expected[place] = number in wanted
                reported[place] = said[file].get(number, False)
    assert reported == expected


def test_there_are_enough_lines() -> None:
    found = scripts()
    pairs = {file: text for file, text in found.items() if file.startswith("gymbridge_")}
    assert {f"gymbridge_{pair}.py" for pair in PAIRS} <= pairs.keys()
    assert all(
        text.count("assert_type(") > 48 and len(marked("", text)) > 41 for text in pairs.values()
    )
    assert len(marked("", found["rejected.py"])) > 40


def test_nothing_is_said_about_what_a_user_generates(diagnostics: dict[str, Diagnostics]) -> None:
    said = {
        (checker, file): lines
        for checker, files in diagnostics.items()
        for file, lines in files.items()
        if lines and file.startswith("mine/")
    }
    assert said == {}
    # and it was looked at
    assert all(files["rejected.py"] for files in diagnostics.values())
