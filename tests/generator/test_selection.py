"""The pairs and forms that a spec selects."""

from __future__ import annotations

import ast
import sys
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING

import pytest

from gymbridge_generator import resources
from gymbridge_generator.errors import SpecError
from gymbridge_generator.load import parse
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render

if TYPE_CHECKING:
    from pathlib import Path


def pairs(text: str) -> list[str]:
    return [f"{a.name}>{b.name}" for a, b in parse(text, "my.toml").pairs]


def test_all_means_every_pair_with_a_library_of_the_spec(own_spec: str) -> None:
    assert pairs(own_spec) == [
        "cupy>strict",
        "jax>strict",
        "mlx>strict",
        "numpy>strict",
        "strict>cupy",
        "strict>jax",
        "strict>mlx",
        "strict>numpy",
        "strict>torch",
        "torch>strict",
    ]


def test_all_means_every_pair_in_a_spec_that_extends_none() -> None:
    shipped = resources.shipped_spec().read_text(encoding="utf-8")
    assert len(pairs(shipped)) == 20


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ('backends = ["strict", "torch"]', ["strict>torch", "torch>strict"]),
        ('backends = ["strict", "torch"]\npairs = "all"', ["strict>torch", "torch>strict"]),
        ('pairs = [["torch", "strict"]]', ["torch>strict"]),
        # named pairs may be of other libraries
        ('pairs = [["torch", "jax"], ["jax", "torch"]]', ["jax>torch", "torch>jax"]),
        ('backends = ["torch", "jax"]\npairs = [["torch", "jax"]]', ["torch>jax"]),
    ],
)
def test_the_matrix_selects_pairs(own_spec: str, matrix: str, expected: list[str]) -> None:
    assert pairs(f"{own_spec}[matrix]\n{matrix}\n") == expected


@pytest.mark.parametrize("forms", [["single"], ["vector"], ["vector", "single"], ["batched"]])
def test_the_matrix_selects_forms(own_spec: str, forms: list[str]) -> None:
    selection = parse(f"{own_spec}[matrix]\nforms = {forms}\n", "my.toml")
    assert list(selection.spec.matrix.forms) == forms


def test_a_package_without_single_wrappers_names_its_subpackages(own_spec: str) -> None:
    text = own_spec + '[matrix]\nforms = ["vector", "parallel"]\n'
    files = render(plan(parse(text, "my.toml")), resources.templates(), "my.toml")
    said = "Typed wrappers between array libraries, in `vector` and `parallel`."
    assert ast.get_docstring(ast.parse(files["__init__.py"])) == said


BASE = """\
spec_version = 1
extends = [{extends}]
[[backend]]
name = "{name}"
title = "{name}"
module = "{name}"
array = "{name}.Array"
"""


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish the specs `one`, which extends `two`, and `two`, which extends `one`."""
    code = tmp_path / "publishing.py"
    code.write_text(
        "from pathlib import Path\n"
        "def one(): return Path(__file__).with_name('one.toml')\n"
        "def two(): return Path(__file__).with_name('two.toml')\n",
        encoding="utf-8",
    )
    for name, extends in (("one", '"two"'), ("two", '"one"')):
        text = BASE.format(name=name, extends=extends)
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    # a distribution may have a command with the name of its spec
    points = EntryPoints(
        EntryPoint(name, f"{module}:{name}", group)
        for name in ("one", "two")
        for module, group in (("nowhere", "console_scripts"), ("publishing", "gymbridge.specs"))
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "publishing", raising=False)
    monkeypatch.setattr(resources, "entry_points", points.select)


@pytest.mark.usefixtures("publish")
def test_published_specs_may_extend_each_other() -> None:
    assert pairs(BASE.format(name="mine", extends='"one"')) == [
        "mine>one",
        "mine>two",
        "one>mine",
        "two>mine",
    ]


@pytest.mark.usefixtures("publish")
def test_all_leaves_out_libraries_that_an_extended_spec_does_not_choose(tmp_path: Path) -> None:
    with (tmp_path / "two.toml").open("a", encoding="utf-8") as spec:
        spec.write(BASE.format(name="rare", extends="").partition("]\n")[2])
        spec.write('[matrix]\nbackends = ["one", "two"]\n')
    mine = BASE.format(name="mine", extends='"two"')
    assert pairs(mine) == ["mine>one", "mine>two", "one>mine", "two>mine"]
    assert pairs(mine + '[matrix]\nbackends = ["mine", "rare"]\n') == ["mine>rare", "rare>mine"]


@pytest.mark.usefixtures("publish")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "spec_version = 1\ncolour = 1\n",
            "2: colour: unknown key; allowed are backend, extends, matrix, package, spec_version",
        ),
        ("spec_version = =\n", "1: not TOML: invalid value at column 16"),
    ],
)
def test_an_error_in_a_published_spec_names_it(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "two.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        pairs(BASE.format(name="mine", extends='"one"'))
    assert str(caught.value) == f"1 error in the spec\n<the spec 'two'>:{message}"


@pytest.mark.usefixtures("publish")
def test_an_unknown_spec_is_an_error_that_lists_the_published_ones() -> None:
    with pytest.raises(
        SpecError, match=r"no spec 'three' is installed \(known: gymbridge, one, two\)"
    ):
        pairs(BASE.format(name="mine", extends='"three"'))
