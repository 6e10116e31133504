"""The commands; importing this module needs `gymbridge[generator]`."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from gymbridge_generator.changes import consequences, deed
from gymbridge_generator.errors import SettingsError
from gymbridge_generator.listing import print_listing
from gymbridge_generator.load import Selection, load
from gymbridge_generator.model import Package
from gymbridge_generator.output import FOLDERS, Difference, compare, write
from gymbridge_generator.place import place_of
from gymbridge_generator.plan import plan
from gymbridge_generator.quoting import printable
from gymbridge_generator.render import render
from gymbridge_generator.resources import SHIPPED, SHIPPED_SPEC, shipped_spec, templates
from gymbridge_generator.schema import schema
from gymbridge_generator.settings import root_of, settings
from gymbridge_generator.tests_plan import plan_tests


@dataclass(frozen=True)
class _Work:
    """The spec, the output folder and the options of a command."""

    spec: Path
    out: Path | None
    backends: tuple[str, ...]
    """The libraries to choose from, instead of those of the spec's matrix."""
    tests: Path | None
    options: str
    """The options that a suggested command needs as well."""

    @classmethod
    def of(
        cls,
        spec: Path | None,
        out: Path | None = None,
        backends: tuple[str, ...] = (),
        tests: Path | None = None,
    ) -> _Work:
        given = [
            ("--spec", spec),
            ("--out", out),
            ("--backends", ",".join(backends)),
            ("--tests", tests),
        ]
        options = "".join(f" {key} {shlex.quote(str(value))}" for key, value in given if value)
        configured = settings(Path.cwd())
        shipped = Path(str(shipped_spec()))
        return cls(
            spec or configured.spec or shipped,
            out or configured.out,
            backends or configured.backends,
            tests or configured.tests,
            options,
        )

    def selection(self) -> Selection:
        found = load(_nearby(self.spec), self.backends)
        if not (self.backends and self.is_shipped()):
            return found
        # a user's package need not re-export the names of gymbridge
        spec = found.spec.model_copy(update={"package": Package()})
        return replace(found, spec=spec)

    def is_shipped(self) -> bool:
        return self.spec.resolve() == Path(str(shipped_spec())).resolve()

    def files(self, out: Path) -> dict[Path, dict[str, str]]:
        """Return the folders that are written, each with its files."""
        name = SHIPPED_SPEC if self.is_shipped() else _label(self.spec)
        selection, sources = self.selection(), templates()
        place = place_of(out)
        found = {out: render(plan(selection), sources, name)}
        if self.tests is not None:
            if self.tests.resolve() in {out.resolve(), *(out.resolve() / each for each in FOLDERS)}:
                raise SettingsError(
                    f"{_shown(self.tests)} is where wrappers go; give tests a folder of their own"
                )
            named = None if self.is_shipped() else selection.spec.package.name
            pages = plan_tests(selection, named or place.name)
            found[self.tests] = render(pages, sources, name, package=False)
        return found


def generate(
    spec: Path | None,
    out: Path | None,
    backends: tuple[str, ...] = (),
    tests: Path | None = None,
    *,
    force: bool,
) -> int:
    """Write what is missing or out of date, and remove what is stale."""
    work = _Work.of(spec, out, backends, tests)
    if work.out is None:
        raise SettingsError("where do the wrappers go? Add --out, or `out` to [tool.gymbridge]")
    for folder, files in work.files(work.out).items():
        done = write(files, folder, force=force)
        for difference in done:
            print(deed(difference, _shown(folder / difference.path)))
        print(*consequences(done), f"{_counted(files, folder)}, {len(done)} changed", sep="\n")
    if work.tests is not None:
        for folder in place_of(work.out).unmarked():
            print(f"add {_shown(folder / '__init__.py')}, unless that is a namespace package")
    return 0


def check(
    spec: Path | None,
    out: Path | None,
    backends: tuple[str, ...] = (),
    tests: Path | None = None,
) -> int:
    """Print how the wrappers differ from the spec; return 1 if they do."""
    work = _Work.of(spec, out, backends, tests)
    package = work.out
    if package is None and work.is_shipped():
        package = _installed()
    if package is None:
        raise SettingsError("where are the wrappers? Add --out, or `out` to [tool.gymbridge]")
    found: list[Difference] = []
    for folder, files in work.files(package).items():
        differences = compare(files, folder)
        found += differences
        if not differences:
            print(f"{_counted(files, folder)} are up to date")
            continue
        for difference in differences:
            if difference.found:
                print(difference.diff())
        for difference in differences:
            print(f"{difference.state}: {_shown(folder / difference.path)}")
    if found:
        print(_advice(found, work.options))
    return bool(found)


def _counted(files: dict[str, str], folder: Path) -> str:
    return f"{len(files)} file{'s' * (len(files) != 1)} in {_shown(folder)}"


def list_wrappers(spec: Path | None, backends: tuple[str, ...] = ()) -> int:
    """Print the wrappers of a spec."""
    print_listing(_Work.of(spec, backends=backends).selection())
    return 0


def write_schema(out: Path | None) -> int:
    """Print the JSON Schema of specs, or write it to a file."""
    if out is None:
        print(schema(), end="")
    else:
        _ = out.write_text(schema(), encoding="utf-8", newline="\n")
    return 0


def _advice(differences: list[Difference], options: str) -> str:
    states = Counter(difference.state for difference in differences)
    command = f"gymbridge generate{options}"
    if states["not generated"]:
        return f"move away what gymbridge did not generate, then run: {command}"
    if states["edited by hand"]:
        return f"to give up what was edited by hand, run: {command} --force"
    return f"to mend this, run: {command}"


def _installed() -> Path | None:
    """Return the folder of the wrappers that gymbridge ships."""
    found = find_spec(SHIPPED)
    return Path(found.origin).parent if found and found.origin else None


def _shown(path: Path) -> str:
    """Return ``path`` as messages show it."""
    return printable(_nearby(path))


def _nearby(path: Path) -> Path:
    """Return ``path`` relative to the working folder, if it is below it."""
    path, here = path.absolute(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _label(spec: Path) -> str:
    """Return the name of ``spec`` in headers, the same on every machine."""
    root = root_of(spec.absolute().parent)
    return spec.resolve().relative_to(root).as_posix() if root else spec.name
