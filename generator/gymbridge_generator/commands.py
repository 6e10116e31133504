"""What each command does; importing this needs `gymbridge[generator]`."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from gymbridge_generator.errors import SettingsError
from gymbridge_generator.listing import print_listing
from gymbridge_generator.load import Selection, load
from gymbridge_generator.model import Package
from gymbridge_generator.output import Difference, compare, write
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import SHIPPED, SHIPPED_SPEC, shipped_spec, templates
from gymbridge_generator.schema import schema
from gymbridge_generator.settings import root_of, settings

__all__ = ["check", "generate", "list_wrappers", "write_schema"]


@dataclass(frozen=True)
class _Work:
    """What a command is about."""

    spec: Path
    out: Path | None
    backends: tuple[str, ...]
    """The libraries to choose from, instead of those of the spec's matrix."""
    options: str
    """The options that a command to mend something needs as well."""

    @classmethod
    def of(cls, spec: Path | None, out: Path | None, backends: tuple[str, ...]) -> _Work:
        given = [("--spec", spec), ("--out", out), ("--backends", ",".join(backends))]
        options = "".join(f" {key} {shlex.quote(str(value))}" for key, value in given if value)
        configured = settings(Path.cwd())
        shipped = Path(str(shipped_spec()))
        return cls(
            spec or configured.spec or shipped,
            out or configured.out,
            backends or configured.backends,
            options,
        )

    def selection(self) -> Selection:
        found = load(_nearby(self.spec), self.backends)
        if not (self.backends and self.is_shipped()):
            return found
        # a package of the user's: what gymbridge passes on besides its wrappers, it has already
        spec = found.spec.model_copy(update={"package": Package()})
        return replace(found, spec=spec)

    def is_shipped(self) -> bool:
        return self.spec.resolve() == Path(str(shipped_spec())).resolve()

    def files(self) -> dict[str, str]:
        name = SHIPPED_SPEC if self.is_shipped() else _label(self.spec)
        return render(plan(self.selection()), templates(), name)


def generate(
    spec: Path | None, out: Path | None, backends: tuple[str, ...] = (), *, force: bool
) -> int:
    """Write what is missing or out of date, and remove what is stale."""
    work = _Work.of(spec, out, backends)
    if work.out is None:
        raise SettingsError("where do the wrappers go? Add --out, or `out` to [tool.gymbridge]")
    files = work.files()
    done = write(files, work.out, force=force)
    for difference in done:
        verb = "wrote" if difference.path in files else "removed"
        print(f"{verb} {_nearby(work.out / difference.path)}")
    print(f"{len(files)} files in {_nearby(work.out)}, {len(done)} changed")
    return 0


def check(spec: Path | None, out: Path | None, backends: tuple[str, ...] = ()) -> int:
    """Print how the wrappers differ from the spec; return 1 if they do."""
    work = _Work.of(spec, out, backends)
    folder = work.out
    if folder is None and work.is_shipped():
        folder = _installed()
    if folder is None:
        raise SettingsError("where are the wrappers? Add --out, or `out` to [tool.gymbridge]")
    files = work.files()
    differences = compare(files, folder)
    if not differences:
        print(f"{len(files)} files in {_nearby(folder)} are up to date")
        return 0
    print(*(difference.diff() for difference in differences), sep="\n")
    for difference in differences:
        print(f"{difference.state}: {_nearby(folder / difference.path)}")
    print(_advice(differences, work.options))
    return 1


def list_wrappers(spec: Path | None, backends: tuple[str, ...] = ()) -> int:
    """Print the wrappers of a spec."""
    print_listing(_Work.of(spec, None, backends).selection())
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
    """Return where the wrappers are that gymbridge comes with."""
    found = find_spec(SHIPPED)
    return Path(found.origin).parent if found and found.origin else None


def _nearby(path: Path) -> Path:
    """Return ``path`` as seen from the working folder, if it is below."""
    path, here = path.absolute(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _label(spec: Path) -> str:
    """Return how headers name ``spec``: alike on every machine."""
    root = root_of(spec.absolute().parent)
    return spec.resolve().relative_to(root).as_posix() if root else spec.name
