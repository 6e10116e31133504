"""Generated code passes the formatter and the linter."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, TypeAlias

import pytest

from gymbridge_generator import resources
from gymbridge_generator.header import body_of
from gymbridge_generator.load import parse
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from tests.support import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Check: TypeAlias = Callable[..., None]

LONG = """\
spec_version = 1
extends = ["gymbridge"]

[[backend]]
name = "an_array_library"
title = "A library of arrays"
class_name = "AnArrayLibraryX"
module = "an_array_library.and_a_part"
array = "an_array_library.and_a_part.AnArrayType"
device = "an_array_library.and_a_part.AnArrayDevice | str"
dtype = "an_array_library.and_a_part.AnArrayDType | str"
distribution = "an-array-library[and-extras]>=1.2.3"
[backend.dlpack]
dtypes = ["bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64", "complex64"]
export_keywords = ["stream"]
"""


NUMBERED = """\
spec_version = 1
extends = ["gymbridge"]
"""
for number in (2, 10):
    NUMBERED += f"""
[[backend]]
name = "lib{number}"
title = "Library {number}"
module = "lib{number}"
array = "lib{number}.Array"
imports = [
    "import lib{number}",
    "import collections.abc",
    "from lib{number}.b import B as LibB",
    "from lib{number}.b import A",
]
device = "LibB | str"
dtype = "A"
distribution = "lib{number}"
"""


def ruff(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "--no-cache", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def run(files: Mapping[str, str], *more: str) -> None:
        for path, text in files.items():
            target = tmp_path / "gymbridge" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body_of(text), encoding="utf-8")
        config = ["--config", str(REPOSITORY / "pyproject.toml")]
        ruff(tmp_path, "format", "--diff", *config)
        ruff(tmp_path, "check", *config, *more)

    return run


def rendered(text: str) -> dict[str, str]:
    return render(plan(parse(text, "spec.toml")), resources.templates(), "spec.toml")


def test_shipped_wrappers_pass_the_formatter_and_the_linter(check: Check) -> None:
    check(rendered(resources.shipped_spec().read_text(encoding="utf-8")))


@pytest.mark.parametrize("forms", [["single"], ["vector"], ["vector", "parallel"], ["batched"]])
def test_wrappers_of_an_untyped_library_pass(check: Check, own_spec: str, forms: list[str]) -> None:
    # the array API has the names T and mT
    check(rendered(f"{own_spec}[matrix]\nforms = {forms}\n"), "--ignore=N802")


def test_names_with_numbers_pass(check: Check) -> None:
    # they are sorted by their value
    check(rendered(NUMBERED), "--ignore=F401")


def test_long_names_pass(check: Check) -> None:
    # text for readers may exceed a line, code may not
    check(rendered(LONG), "--ignore=E501")


@pytest.mark.slow
def test_pairs_with_names_of_every_length_pass(check: Check) -> None:
    # some end in the last column, with or without the comma
    modules: dict[str, str] = {}
    for length in range(10, 25):
        name = "a" * length
        files = rendered(
            'spec_version = 1\nextends = ["gymbridge"]\n'
            f'[[backend]]\ntitle = "A"\nmodule = "a"\narray = "a.A"\nname = "{name}"\n'
            f'class_name = "A{"a" * 15}"\n[matrix]\nbackends = ["{name}", "tensorflow"]\n'
        )
        modules[f"of_{length}/testing.py"] = files["testing.py"]
    check(modules, "--ignore=INP001")


@pytest.mark.slow
def test_facts_of_every_length_pass(check: Check) -> None:
    known = '"float16", "float32", "float64", "int16", "int32", "int64", "bool"'
    names = ["a" * length for length in range(10, 25)]
    modules = {
        f"of_{name}/strict.py": rendered(
            'spec_version = 1\nextends = ["gymbridge"]\n[[backend]]\nname = "strict"\n'
            'title = "Strict"\nmodule = "strict"\narray = "strict.Array"\n'
            f'[backend.dlpack]\ndtypes = [{known}, "{name}"]\n'
            f"narrows = {{ float64 = "
            f'"float32", int64 = "int32", {name * 2} = "{name}" }}\n'
        )["backends/strict.py"]
        for name in names
    }
    check(modules, "--ignore=INP001")
