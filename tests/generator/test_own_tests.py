"""Generated tests and type assertions for a user's package; reports after an upgrade."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from gymbridge_runtime import api

from gymbridge_generator.header import body_of
from gymbridge_generator.load import parse
from gymbridge_generator.render import render
from gymbridge_generator.resources import templates
from gymbridge_generator.tests_plan import plan_tests
from tests.generator.command import GENERATOR, OWN_SPEC, RUNTIME, gymbridge, python
from tests.generator.test_command import edit
from tests.generator.test_style import LONG
from tests.support import REPOSITORY, require

if TYPE_CHECKING:
    from pathlib import Path

NAMED = '\n[package]\nname = "mine.bridges"\n'
SMALL = f'{OWN_SPEC}{NAMED}[matrix]\nbackends = ["strict", "numpy"]\n'


@pytest.fixture
def mine(project: Path) -> Path:
    """A project whose settings ask for tests."""
    (project / "my.toml").write_text(SMALL, encoding="utf-8")
    edit(project / "pyproject.toml", "out =", 'tests = "tests/bridges"\nout =')
    (project / "src/mine").mkdir(parents=True)
    (project / "src/mine/__init__.py").touch()
    return project


def test_generated_tests_are_written_and_checked_like_the_package(mine: Path) -> None:
    done = gymbridge("generate", cwd=mine)
    assert done.returncode == 0, done.stderr
    there = ["test_bridges.py", "types_numpy_to_strict.py", "types_strict_to_numpy.py"]
    assert sorted(path.name for path in (mine / "tests/bridges").iterdir()) == there
    assert done.stdout.endswith("3 files in tests/bridges, 3 changed\n")
    done = gymbridge("check", cwd=mine)
    assert done.returncode == 0
    assert done.stdout.endswith("\n3 files in tests/bridges are up to date\n")

    edit(mine / "tests/bridges/test_bridges.py", "Every pair", "No pair")
    done = gymbridge("check", cwd=mine)
    assert done.returncode == 1
    assert '-    """No pair,' in done.stdout
    assert "edited by hand: tests/bridges/test_bridges.py" in done.stdout
    assert "--force" in gymbridge("generate", cwd=mine).stderr
    assert gymbridge("generate", "--force", cwd=mine).returncode == 0

    edit(mine / "my.toml", "[matrix]", '[matrix]\npairs = [["numpy", "strict"]]')
    done = gymbridge("generate", cwd=mine)
    assert "removed tests/bridges/types_strict_to_numpy.py" in done.stdout


def test_an_option_names_the_folder_of_the_tests(mine: Path) -> None:
    edit(mine / "pyproject.toml", 'tests = "tests/bridges"\n', "")
    assert gymbridge("generate", cwd=mine).returncode == 0
    assert not (mine / "tests").exists()
    assert gymbridge("generate", "--tests", "their tests", cwd=mine).returncode == 0
    (mine / "their tests/test_bridges.py").unlink()
    done = gymbridge("check", "--tests", "their tests", cwd=mine)
    assert done.stdout.splitlines()[-2:] == [
        "missing: their tests/test_bridges.py",
        "to mend this, run: gymbridge generate --tests 'their tests'",
    ]


@pytest.mark.parametrize("folder", ["src/mine/bridges", "src/mine/bridges/vector"])
def test_tests_may_not_go_where_wrappers_go(mine: Path, folder: str) -> None:
    done = gymbridge("generate", "--tests", folder, cwd=mine)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"gymbridge: {folder} is where wrappers go; give tests a folder of their own\n"
    )


def test_the_package_name_is_inferred_from_its_folders(mine: Path) -> None:
    named = gymbridge("generate", cwd=mine)
    edit(mine / "my.toml", NAMED, "\n")
    done = gymbridge("generate", cwd=mine)
    assert (named.returncode, done.returncode) == (0, 0)
    module = (mine / "tests/bridges/test_bridges.py").read_text(encoding="utf-8")
    assert "from mine.bridges import testing" in module

    (mine / "src/mine/__init__.py").unlink()
    done = gymbridge("generate", cwd=mine)
    assert done.stdout.endswith(
        ", 0 changed\nadd src/mine/__init__.py, unless that is a namespace package\n"
    )
    module = (mine / "tests/bridges/test_bridges.py").read_text(encoding="utf-8")
    assert "from mine.bridges import testing" in module


def test_tests_are_generated_without_a_spec(tmp_path: Path) -> None:
    chosen = ("--backends", "jax,torch", "--out", "bridges", "--tests", "tests")
    done = gymbridge("generate", *chosen, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert gymbridge("check", *chosen, cwd=tmp_path).returncode == 0
    module = (tmp_path / "tests/test_bridges.py").read_text(encoding="utf-8")
    assert "from bridges import testing" in module


@pytest.mark.parametrize("tests", [True, False])
@pytest.mark.parametrize("folder", ["my-bridges", "class", "brücken"])
def test_a_folder_name_that_is_no_identifier_is_refused(
    mine: Path, folder: str, *, tests: bool
) -> None:
    if not tests:
        edit(mine / "pyproject.toml", 'tests = "tests/bridges"\n', "")
    done = gymbridge("generate", "--out", folder, cwd=mine)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"gymbridge: no package can be imported from a folder called {folder}; choose another with "
        "--out: letters of ASCII, digits and underscores, and no keyword of Python\n"
    )
    assert not (mine / folder).exists()


@pytest.mark.parametrize(
    ("out", "marked", "root"),
    [
        ("bridges", [], "."),
        ("src/mine/bridges", [], "src"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("src/mine/deep/bridges", ["src/mine"], "src"),
                ("mine/bridges", ["mine"], "."),
                ("mine/bridges", [], "."),
                ("third-party/bridges", [], "third-party"),
                ("inner/project/mine/bridges", [], "inner/project"),
                ("on_path/mine/bridges", [], "on_path"),
            )
        ),
    ],
)
def test_generated_tests_import_the_package_in_any_tree(
    tmp_path: Path, out: str, marked: list[str], root: str
) -> None:
    require("torch")
    for folder in marked:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "inner/project").mkdir(parents=True)
    (tmp_path / "inner/project/pyproject.toml").touch()
    options = ("--backends", "numpy,torch", "--out", out, "--tests", "tests/bridges")
    path = [GENERATOR, RUNTIME]
    done = gymbridge("generate", *options, cwd=tmp_path, path=[*path, tmp_path / "on_path"])
    assert done.returncode == 0, done.stderr
    only = ("-k", "that_contains_itself", "-p", "no:cacheprovider")
    command = ("-P", "-m", "pytest", "-q", *only, "tests/bridges")
    done = python(*command, cwd=tmp_path, path=[*path, tmp_path / root])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_shipped_wrappers_generated_elsewhere_are_tested_there(tmp_path: Path) -> None:
    done = gymbridge("generate", "--out", "bridges", "--tests", "tests", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    module = (tmp_path / "tests/test_bridges.py").read_text(encoding="utf-8")
    assert "from bridges import testing" in module


@pytest.mark.slow
def test_pytest_runs_the_generated_tests(mine: Path) -> None:
    require("array_api_strict")
    assert gymbridge("generate", cwd=mine).returncode == 0
    path = [mine / "src", GENERATOR, RUNTIME]
    done = python("-m", "pytest", "-q", "tests", cwd=mine, path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.slow
def test_generated_tests_skip_forms_whose_library_is_missing(mine: Path) -> None:
    require("array_api_strict")
    edit(mine / "my.toml", "[matrix]", '[matrix]\nforms = ["single", "parallel"]')
    assert gymbridge("generate", cwd=mine).returncode == 0
    (mine / "tests/conftest.py").write_text(
        'import sys\n\nsys.modules["pettingzoo"] = sys.modules["pettingzoo.utils"] = None\n',
        encoding="utf-8",
    )
    path = [mine / "src", GENERATOR, RUNTIME]
    command = ("-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider")
    done = python(*command, "-k", "parallel", "tests", cwd=mine, path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" not in done.stdout
    assert "PettingZoo needs the module 'pettingzoo.utils', which is not installed" in done.stdout
    done = python(*command, "-k", "single", "tests", cwd=mine, path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PettingZoo" not in done.stdout


@pytest.mark.parametrize(
    "forms", [["single"], ["vector"], ["single", "vector", "parallel", "batched"]]
)
def test_generated_tests_pass_the_formatter_and_the_linter(
    tmp_path: Path, forms: list[str]
) -> None:
    for spec in (SMALL, f"{LONG}{NAMED}[matrix]\n"):
        text = f"{spec}forms = {forms}\n"
        pages = plan_tests(parse(text, "my.toml"), "mine.bridges")
        for path, file in render(pages, templates(), "my.toml", package=False).items():
            (tmp_path / path).write_text(body_of(file), encoding="utf-8")
        for command in (
            ["format", "--diff"],
            ["check", "--extend-ignore=INP001,PLC2701,TC001,TC002"],
        ):
            config = ["--config", str(REPOSITORY / "pyproject.toml"), "--no-cache"]
            done = subprocess.run(
                [sys.executable, "-m", "ruff", *command, *config, "."],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr


def check_types(folder: Path, *checker: str) -> subprocess.CompletedProcess[str]:
    path = [folder / "src", RUNTIME]
    return python("-m", *checker, cwd=folder, path=path, MYPYPATH=f"{folder / 'src'}:{RUNTIME}")


@pytest.mark.slow
def test_type_checkers_pass_generated_tests_and_find_a_wrong_type(mine: Path) -> None:
    require("array_api_strict")
    require("mypy")
    require("pyright")
    assert gymbridge("generate", cwd=mine).returncode == 0
    (mine / "pyrightconfig.json").write_text(
        f'{{"extraPaths": ["src", "{RUNTIME}"], "typeCheckingMode": "strict"}}', encoding="utf-8"
    )
    mypy = ["mypy", "--strict", "--explicit-package-bases", "tests"]
    pyright = ["pyright", "--pythonpath", sys.executable, "tests"]
    for checker in (mypy, pyright):
        done = check_types(mine, *checker)
        assert done.returncode == 0, done.stdout + done.stderr

    wrapper = mine / "src/mine/bridges/numpy_to_strict.py"
    edit(wrapper, "-> tuple[StrictObsT, float,", "-> tuple[object, float,")
    done = check_types(mine, *mypy)  # mypy has a cache, so this is quick
    assert done.returncode == 1
    assert "types_numpy_to_strict.py" in done.stdout
    assert "types_strict_to_numpy.py" not in done.stdout


# -- after an upgrade -----------------------------------------------------------------------------


def test_generating_again_reports_the_changes(mine: Path) -> None:
    assert gymbridge("generate", cwd=mine).returncode == 0
    edit(mine / "my.toml", 'title = "array-api-strict"', 'title = "Strict arrays"')
    edit(mine / "my.toml", 'backends = ["strict", "numpy"]', 'backends = ["strict", "torch"]')
    done = gymbridge("generate", cwd=mine)
    lines = done.stdout.splitlines()
    assert "updated src/mine/bridges/__init__.py (+8 -8)" in lines
    assert "wrote src/mine/bridges/strict_to_torch.py" in lines
    assert "removed src/mine/bridges/strict_to_numpy.py" in lines
    new, gone = "StrictToTorch, TorchToStrict", "NumpyToStrict, StrictToNumpy"
    at = lines.index(f"new names: {new}")
    assert lines[at : at + 4] == [
        f"new names: {new}",
        f"names that are gone: {gone}",
        f"new names in vector: {new}",
        f"names that are gone in vector: {gone}",
    ]


def test_a_changed_runtime_api_is_reported(mine: Path) -> None:
    assert gymbridge("generate", cwd=mine).returncode == 0
    root = mine / "src/mine/bridges/__init__.py"
    ours = f"require_runtime_api({api.RUNTIME_API}, __name__)"
    assert ours in root.read_text(encoding="utf-8")
    edit(root, ours, "require_runtime_api(0, __name__)")
    done = gymbridge("generate", "--force", cwd=mine)
    assert done.stdout.splitlines()[:2] == [
        "updated src/mine/bridges/__init__.py (+1 -1)",
        f"runtime API 0 -> {api.RUNTIME_API}: only a gymbridge that has {api.RUNTIME_API} can "
        "import it now",
    ]


def test_a_package_from_a_newer_gymbridge_asks_for_an_upgrade() -> None:
    with pytest.raises(ImportError) as caught:
        api.require_runtime_api(api.RUNTIME_API + 1, "mine.bridges")
    assert "; upgrade gymbridge (`pip install --upgrade gymbridge`), or run `gymbridge" in str(
        caught.value
    )
    with pytest.raises(ImportError) as caught:
        api.require_runtime_api(api.RUNTIME_API - 1, "mine.bridges")
    assert "upgrade" not in str(caught.value)
    assert "; run `gymbridge generate` with the installed gymbridge, in the " in str(caught.value)
    assert caught.value.name == "mine.bridges"
