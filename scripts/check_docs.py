"""Run the code blocks of the documentation, page by page: `python scripts/check_docs.py [PAGE...]`.

The code blocks of a page run in one process, in their order. Blocks with a title are files and are
written first. Python, the commands of gymbridge, and `python FILE` for a file of the page are run.
Other commands (pip, git, …) are not. A block that cannot run in its place names the test that runs
it, as in `data-run="tests/examples/test_learning.py"`. A block that `data-needs` a missing module
is skipped with a message; in CI that is a failure. A command must succeed, or end with its
`data-status`. With `--types`, mypy checks the Python of all pages instead, and every `assert_type`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("generated", "generator", "runtime")
FENCE = re.compile(r"^( *)```(?:{ *\.)?(\w+)([^\n]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
CALL = "__import__('scripts.check_docs').check_docs.command"
TITLE = re.compile(r'title="([^"]+)"')
STATUS = re.compile(r'data-status="([^"]+)"')
NEEDS = re.compile(r'data-needs="([^"]+)"')
ELSEWHERE = re.compile(r'data-run="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """One code block of a page."""

    language: str
    options: str
    line: int
    lines: list[str]

    @property
    def title(self) -> str:
        """The name of its file; empty without one."""
        found = TITLE.search(self.options)
        return found[1] if found else ""

    @property
    def is_told(self) -> bool:
        """Whether it runs as part of the page's script."""
        return not (self.title or self.elsewhere or self.missing)

    @property
    def elsewhere(self) -> str:
        """The file of the repository that runs it instead; empty without one."""
        found = ELSEWHERE.search(self.options)
        return found[1] if found else ""

    @property
    def statuses(self) -> list[int]:
        """The allowed exit statuses of its commands: 0, or those in `data-status`."""
        found = STATUS.search(self.options)
        return [int(status) for status in (found[1] if found else "0").split()]

    @property
    def missing(self) -> str:
        """The missing module that it needs; empty without one."""
        needed = NEEDS.search(self.options)
        return needed[1] if needed and find_spec(needed[1]) is None else ""


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            match[2],
            match[3],
            text.count("\n", 0, match.start(4)),
            [line.removeprefix(match[1]) for line in match[4].splitlines()],
        )
        for match in FENCE.finditer(text)
    ]


def story(page: Path, *, commands: bool) -> str:
    """Return a page as one script with the same line numbers, for error messages."""
    told: dict[int, str] = {}
    files = [f"python {block.title}" for block in blocks(page) if block.title]
    for block in filter(lambda block: block.is_told, blocks(page)):
        if block.language == "python":
            told |= dict(enumerate(block.lines, block.line))
        elif block.language == "sh" and commands:
            for number, line in enumerate(block.lines, block.line):
                if line.startswith("gymbridge ") or line in files:
                    told[number] = f"{CALL}({line!r}, {block.statuses!r})"
    return "\n".join(told.get(number, "") for number in range(max(told, default=0) + 1)) + "\n"


def command(line: str, statuses: list[int]) -> None:
    """Run a command of gymbridge or a file; fail at any other status."""
    name, *arguments = shlex.split(line, comments=True)
    start = ["-m", "gymbridge_tools.cli"] if name == "gymbridge" else []
    done = subprocess.run([sys.executable, *start, *arguments], check=False)
    if done.returncode not in statuses:
        raise SystemExit(f"{line!r} ended with status {done.returncode}")


def write(page: Path, folder: Path, *, commands: bool) -> Path:
    """Write a page's script and its files; return the script."""
    for block in blocks(page):
        if block.title:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join([*block.lines, ""]), encoding="utf-8")
    script = folder / f"{page.stem}_page.py"
    script.write_text(story(page, commands=commands), encoding="utf-8")
    return script


def process(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder of the page's files, with the checkout on its path."""
    path = [folder, *(ROOT / source for source in SOURCES), ROOT]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def left_out(page: Path) -> list[str]:
    """Return the blocks that look as if they ran, and that nothing runs."""
    found = []
    fences = re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)
    if len(fences) != 2 * len(blocks(page)):
        found.append(f"{page.name}: a code block has no language, or its fences do not match")
    for block in blocks(page):
        where = f"{page.name}:{block.line + 1}:"
        if block.elsewhere and not (ROOT / block.elsewhere).is_file():
            found.append(f"{where} there is no {block.elsewhere} that could run this")
        if block.missing and os.environ.get("CI"):
            found.append(f"{where} {block.missing} is not installed, and CI has to run this")
    return found


def fault(page: Path) -> str:
    """Run a page; return its error, or an empty text."""
    if found := left_out(page):
        return "\n".join(found)
    # ignore warnings of other libraries
    strict = [] if any(NEEDS.search(block.options) for block in blocks(page)) else ["-W", "error"]
    with tempfile.TemporaryDirectory() as work:
        done = process([*strict, str(write(page, Path(work), commands=True))], Path(work))
    name = page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name
    return f"-- {name} does not work:\n{done.stdout}" if done.returncode else ""


def type_faults(pages: list[Path]) -> str:
    """Type-check the Python of all pages; return the errors, or an empty text."""
    with tempfile.TemporaryDirectory() as work:
        scripts = []
        for number, page in enumerate(pages):  # pages in different folders may share a name
            folder = Path(work, f"{page.stem}_{number}")
            folder.mkdir()
            scripts.append(write(page, folder, commands=False).relative_to(work).as_posix())
        options = [
            "--check-untyped-defs",
            "--allow-redefinition",
            "--ignore-missing-imports",
            "--explicit-package-bases",
        ]
        done = process(["-m", "mypy", *options, *scripts], Path(work))
    return done.stdout if done.returncode else ""


def main() -> int:
    """Run the named pages; return 1 if any fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="by default README.md and all of docs")
    parser.add_argument("--types", action="store_true", help="check the types instead")
    options = parser.parse_args()
    given: list[Path] = options.pages or [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    pages = [page.resolve() for page in given]
    if options.types:
        faults = [type_faults(pages)]
    else:
        with ThreadPoolExecutor(max_workers=2) as pool:
            faults = list(pool.map(fault, pages))
    print(*filter(None, faults), sep="\n", end="")
    for page in pages if not options.types else ():
        for block in filter(lambda block: block.missing, blocks(page)):
            print(f"{page.name}:{block.line + 1}: not run, for {block.missing} is not installed")
    failed = sum(map(bool, faults))
    print(f"{len(faults) - failed} of {len(faults)} {'checks' if options.types else 'pages'} work")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
