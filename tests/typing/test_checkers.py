"""Five type checkers agree, line by line, on code that uses generated packages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jinja2 import Environment, StrictUndefined

from gymbridge_generator import naming
from gymbridge_generator.load import parse
from gymbridge_generator.output import write
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from gymbridge_generator.resources import shipped_spec, templates
from tests.generator.command import OWN_SPEC
from tests.support import PAIRS, require
from tests.typing.checkers import CHECKERS, Project, differences, marked, run_all

if TYPE_CHECKING:
    from tests.typing.checkers import Diagnostics

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
LIBRARIES = ("array_api_strict", "jax", "mlx", "torch", *CHECKERS)


def scripts() -> dict[str, str]:
    """Return the scripts by file: hand-written ones, and one for every pair of the spec."""
    found = {"accepted.py": (HERE / "accepted.py").read_text(encoding="utf-8")}
    for name in ("own", "rejected"):  # other checks would see the names ending in .py
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
                parallel="parallel" in selection.spec.matrix.forms,
                batched="batched" in selection.spec.matrix.forms,
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


def generate(folder: Path) -> None:
    """Generate the package of a user."""
    pages = plan(parse(OWN_SPEC, "my.toml"))
    write(render(pages, templates(), "my.toml"), folder / "mine/bridges")
    (folder / "mine/__init__.py").touch()


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Diagnostics]:
    """The diagnostics of each checker for the same scripts and a user's package."""
    for library in LIBRARIES:
        require(library)
    folders = [tmp_path_factory.mktemp("scripts") for _ in CHECKERS]
    for folder in folders:
        for name, text in scripts().items():
            (folder / name).write_text(text, encoding="utf-8")
        generate(folder)
    return run_all(map(Project, folders))


def test_five_type_checkers_reject_the_same_lines(said: dict[str, Diagnostics]) -> None:
    assert differences(scripts(), said) == []


def test_the_scripts_have_enough_rejected_lines() -> None:
    found = scripts()
    pairs = {file: text for file, text in found.items() if file.startswith("gymbridge_")}
    assert {f"gymbridge_{pair}.py" for pair in PAIRS} <= pairs.keys()
    assert all(
        text.count("assert_type(") > 48 and len(marked("", text)) > 41 for text in pairs.values()
    )
    assert len(marked("", found["rejected.py"])) > 40


def test_type_checkers_accept_a_users_generated_package(said: dict[str, Diagnostics]) -> None:
    about = {
        (checker, file): lines
        for checker, files in said.items()
        for file, lines in files.items()
        if lines and file.startswith("mine/")
    }
    assert about == {}
    assert all(files["rejected.py"] for files in said.values())  # the scripts were checked
