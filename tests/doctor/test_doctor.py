"""`gymbridge doctor` on the libraries of this machine, and on some that misbehave."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from gymbridge_runtime.core.ownership import IS_PROVABLE

from gymbridge_generator.sharing import RULE
from gymbridge_tools.doctor.look import has_gpu, look
from gymbridge_tools.doctor.package import libraries
from tests.generator.command import GENERATOR, RUNTIME, gymbridge
from tests.support import LIBRARIES, PAIRS, REPOSITORY, require

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Examine = Callable[..., dict[str, Any]]

ROOTS = (REPOSITORY / "generated", GENERATOR, RUNTIME)

SHARED = {"NumpyToTorch"}
VIEWED = {"JaxToNumpy", "MlxToNumpy"}

MODULE = """
import numpy as np

class Array:
    def __init__(self, values):
        self.values = values
    def __dlpack__(self, **keywords):
        return self.values.__dlpack__(**keywords)
    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

def from_dlpack(array):
    return Array(changed(np.from_dlpack(array)))

def changed(values):
    return values
"""
"""A small library that speaks DLPack."""

DOCTORS_SIZE = 6
"""The number of elements of the array that the doctor tries a library with."""

SPEC = """\
spec_version = 1
extends = ["gymbridge"]

[package]
name = "bridges"
"""

ENTRY = """
[[backend]]
name = "{name}"
title = "{title}"
module = "{name}"
array = "{name}.Array"
distribution = "{name}"
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The doctor's report on the shipped wrappers."""
    for name in LIBRARIES:
        require(name)
    done = gymbridge("doctor", "--json", cwd=tmp_path_factory.mktemp("doctor"), path=ROOTS)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if found["works"] else 1), done.stderr
    return found


def generate(
    folder: Path, libraries: dict[str, str], *shipped: str, facts: str = "", forms: str = ""
) -> None:
    """Generate wrappers between NumPy, libraries with the given code, and some shipped ones."""
    names = [f'"{name}"' for name in ("numpy", *libraries, *shipped)]
    pairs = f"\n[matrix]\nbackends = [{', '.join(names)}]\n{forms}"
    entries = [ENTRY.format(name=name, title=name.title()) + facts for name in libraries]
    (folder / "spec.toml").write_text("".join([SPEC, *entries, pairs]), encoding="utf-8")
    done = gymbridge("generate", "--spec", "spec.toml", "--out", "bridges", cwd=folder)
    assert done.returncode == 0, done.stderr
    for name, code in libraries.items():
        if code:
            (folder / f"{name}.py").write_text(code, encoding="utf-8")


def doctor(
    *arguments: str, cwd: Path, stdout: int = subprocess.PIPE, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Let the doctor examine the generated wrappers in a folder."""
    path = (*ROOTS, cwd)
    command = ("doctor", *arguments, "--package", "bridges")
    return gymbridge(*command, cwd=cwd, path=path, stdout=stdout, **variables)


@pytest.fixture(scope="module")
def fine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of wrappers between NumPy and a correct library."""
    folder = tmp_path_factory.mktemp("fine")
    generate(folder, {"fine": MODULE})
    return folder


@pytest.fixture
def examine(tmp_path: Path) -> Examine:
    """Return the doctor's report on wrappers between NumPy and libraries with the given code."""

    def examined(libraries: dict[str, str], facts: str = "") -> dict[str, Any]:
        generate(tmp_path, libraries, facts=facts)
        done = doctor("--json", cwd=tmp_path)
        found: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (0 if found["works"] else 1)
        assert bool(done.stderr) == (done.returncode == 1)
        return found

    return examined


def library(report: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in report["libraries"] if each["name"] == name]
    return dict(found)


def states(report: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["state"] for each in report["libraries"]}


class TestHere:
    def test_every_library_is_examined(self, report: dict[str, Any]) -> None:
        assert {*LIBRARIES, "cupy"} == {*states(report)}
        for name in LIBRARIES:
            found = library(report, name)
            assert found["state"] == "works", found
            assert any(name in distribution for distribution in found["versions"])
        assert library(report, "torch")["devices"][0] == "cpu"

    def test_every_pair_is_tried_and_its_memory_is_compared(self, report: dict[str, Any]) -> None:
        found = {pair["wrapper"]: pair for pair in report["pairs"]}
        titles = {pair.name.title().replace("_To_", "To") for pair in PAIRS}
        assert titles <= found.keys()
        for name in titles:
            pair = found[name]
            expected = (
                "shared" if name in SHARED else "read-only view" if name in VIEWED else "copied"
            )
            assert (pair["works"], pair["problem"]) == (True, "")
            assert (pair["observations"], pair["actions"]) == (expected, "copied")
            assert pair["why"]

    def test_reasons_for_copies_come_from_the_runtime(self, report: dict[str, Any]) -> None:
        why = {pair["wrapper"]: pair["why"] for pair in report["pairs"]}
        assert why["NumpyToJax"] == "JAX arrays never change, and this memory may"
        assert why["JaxToTorch"] == "PyTorch would write through to memory that is read-only"
        assert why["TorchToMlx"] == "MLX copies whatever it imports"

    def test_reasons_for_copies_that_the_runtime_does_not_require(
        self, report: dict[str, Any]
    ) -> None:
        why = {pair["wrapper"]: pair["why"] for pair in report["pairs"]}
        assert why["NumpyToTorch"] == "nobody else can reach what step and reset return"
        assert why["TorchToNumpy"] == "the environment may keep its arrays and write into them"

    def test_ownership_can_be_proven(self, report: dict[str, Any]) -> None:
        assert report["proves_ownership"] is IS_PROVABLE

    def test_narrowed_dtypes_depend_on_the_setting(
        self, report: dict[str, Any], tmp_path: Path
    ) -> None:
        found = library(report, "jax")
        assert found["narrows"]["float64"] == "float32"
        assert found["narrows_when"] == "with x64 off"
        generate(tmp_path, {"fine": MODULE}, "jax")
        done = doctor("--json", cwd=tmp_path, JAX_ENABLE_X64="1")
        found = library(json.loads(done.stdout), "jax")
        assert (found["narrows"], found["narrows_when"]) == ({}, "")


def test_without_a_terminal_the_table_is_plain_text(fine: Path) -> None:
    done = doctor(cwd=fine)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    words = [line.split() for line in done.stdout.splitlines()]
    assert ["library", "state", "version", "devices", "narrows"] in words
    assert ["Fine", "works", "-", "-", "-"] in words
    assert ["FineToNumpy", "works", "copied", "copied"] in [line[:4] for line in words]
    assert ["NumpyToFine", "works", "shared", "copied"] in [line[:4] for line in words]
    assert " ".join(done.stdout.split()).endswith(f" {RULE} All 2 wrappers work here.")
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_an_interpreter_without_a_proof_of_ownership_is_reported(
    fine: Path, tmp_path: Path
) -> None:
    blind = "import sys; sys.getrefcount = lambda _: 5"
    (tmp_path / "sitecustomize.py").write_text(blind, encoding="utf-8")
    path = (*ROOTS, fine, tmp_path)
    done = gymbridge("doctor", "--package", "bridges", cwd=fine, path=path)
    assert (done.returncode, done.stderr) == (0, "")
    words = [line.split() for line in done.stdout.splitlines()]
    assert ["NumpyToFine", "works", "copied", "copied"] in [line[:4] for line in words]
    said = " ".join(done.stdout.split())
    assert "copied this Python cannot prove that nobody else reaches an array" in said
    assert "so wrappers copy the arrays of NumPy. All 2 wrappers work here." in said
    assert RULE not in said


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}], ids=repr)
def test_on_a_terminal_the_table_is_drawn(fine: Path, variables: dict[str, str]) -> None:
    pty = pytest.importorskip("pty", reason="needs a terminal to pretend")
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        kind = {"COLUMNS": "90", "TERM": "xterm"} | variables
        done = doctor(cwd=fine, stdout=theirs, **kind)
        os.close(theirs)
        shown = terminal.read(1 << 16).decode()
    assert (done.returncode, done.stderr) == (0, "")
    assert "FineToNumpy" in shown
    assert "│" in shown
    assert ("\x1b[36m" in shown) == (not variables)


def test_doctor_agrees_with_list(report: dict[str, Any], tmp_path: Path) -> None:
    rows = [line.split("\t") for line in gymbridge("list", cwd=tmp_path).stdout.splitlines()[1:]]
    memory = {name: observations for name, *_, observations in rows}
    assert report["wrappers"] == len(memory)
    assert {pair["wrapper"]: pair["observations"] for pair in report["pairs"]}.items() <= (
        memory.items()
    )


@pytest.mark.parametrize(
    ("out", "by"),
    [
        ("src/mine/bridges", "settings"),
        pytest.param("bridges", "settings", marks=pytest.mark.slow),
        pytest.param("src/mine/bridges", "name", marks=pytest.mark.slow),
        pytest.param("bridges", "name", marks=pytest.mark.slow),
    ],
)
def test_a_package_in_the_working_folder_is_found(tmp_path: Path, out: str, by: str) -> None:
    settings = f'[tool.gymbridge]\nout = "{out}"\nbackends = ["numpy", "torch"]\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    assert gymbridge("generate", cwd=tmp_path).returncode == 0
    package = out.removeprefix("src/").replace("/", ".")
    options = ("--package", package) if by == "name" else ()
    # the working folder is not on the path, as with the script `gymbridge`
    done = gymbridge("doctor", "--json", *options, cwd=tmp_path, PYTHONSAFEPATH="1")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["package"] == package
    assert [pair["wrapper"] for pair in found["pairs"]] == ["NumpyToTorch", "TorchToNumpy"]


def test_a_package_of_batched_wrappers_is_examined(tmp_path: Path) -> None:
    generate(tmp_path, {"fine": MODULE}, forms='forms = ["batched"]\n')
    done = doctor("--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["pairs"]
    assert {pair["wrapper"]: pair["works"] for pair in found} == {
        "FineToNumpy": True,
        "NumpyToFine": True,
    }


@pytest.mark.parametrize("form", ["vector", "batched"])
def test_a_broken_wrapper_of_another_form_is_found(tmp_path: Path, form: str) -> None:
    generate(tmp_path, {"fine": MODULE}, forms=f'forms = ["single", "{form}"]\n')
    (module,) = tmp_path.rglob(f"{form}/numpy_to_fine.py")
    module.write_text(module.read_text("utf-8") + "\nraise RuntimeError('broken')\n", "utf-8")
    found = json.loads(doctor("--json", cwd=tmp_path).stdout)["pairs"]
    problems = {pair["wrapper"]: pair["problem"] for pair in found}
    assert problems["NumpyToFine"] == "RuntimeError: broken"
    assert not problems["FineToNumpy"]


def test_without_a_gpu_no_gpu_package_is_advised(tmp_path: Path) -> None:
    generate(tmp_path, {"absent": ""})
    module = tmp_path / "bridges/backends/absent.py"
    text = module.read_text(encoding="utf-8").replace("'absent'\"", "'absent-cuda12x'\"")
    module.write_text(text, encoding="utf-8")
    done = doctor(cwd=tmp_path)
    assert done.returncode == 0
    assert ("pip install 'absent-cuda12x'" in done.stdout) == has_gpu()
    assert ("it needs a GPU of NVIDIA, and there is none here" in done.stdout) != has_gpu()


@pytest.mark.parametrize(
    ("status", "count", "found"), [(0, 2, True), (0, 0, False), (100, 2, False)]
)
def test_a_gpu_counts_only_if_the_driver_finds_it(
    monkeypatch: pytest.MonkeyPatch, status: int, count: int, *, found: bool
) -> None:
    def fill(place: list[int]) -> int:
        place[0] = count
        return 0

    driver = SimpleNamespace(cuInit=lambda _flags: status, cuDeviceGetCount=fill)
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: driver)
    assert has_gpu() is found


def test_a_missing_library_is_no_failure(examine: Examine) -> None:
    found = examine({"absent": ""})
    assert found["works"]
    assert states(found) == {"absent": "not installed", "numpy": "works"}
    assert library(found, "absent")["advice"] == "run: pip install 'absent'"
    assert found["pairs"] == []


@pytest.mark.slow
def test_a_library_that_ends_its_process_does_not_end_the_doctor(examine: Examine) -> None:
    found = examine(
        {
            "aborts": "import os; os.abort()",
            "raises": "raise RuntimeError('no driver')",
            "needy": "import something_else",
            "fine": MODULE,
        }
    )
    assert states(found) == {
        "aborts": "broken",
        "fine": "works",
        "needy": "broken",
        "numpy": "works",
        "raises": "broken",
    }
    assert library(found, "aborts")["problem"] == "the process was ended by SIGABRT"
    assert library(found, "raises")["problem"] == "RuntimeError: no driver"
    assert "something_else" in library(found, "needy")["problem"]
    assert [pair["wrapper"] for pair in found["pairs"]] == ["FineToNumpy", "NumpyToFine"]


@pytest.mark.slow
def test_the_report_ends_with_a_verdict(tmp_path: Path) -> None:
    generate(tmp_path, {"absent": "", "raises": "raise RuntimeError('no driver')", "fine": MODULE})
    verdict = (
        "2 of 12 wrappers work here; not installed: Absent; installed, but does not work: Raises."
    )
    done = doctor(cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert " ".join(done.stdout.split()).endswith(f" {verdict}")
    assert doctor("--json", cwd=tmp_path).stderr == f"gymbridge: {verdict}\n"


@pytest.mark.slow
def test_a_pair_that_ends_its_process_does_not_stop_the_others(
    examine: Examine,
) -> None:
    brittle = "import os\n" + MODULE.replace(
        "return values\n", f"return values if values.size == {DOCTORS_SIZE} else os.abort()\n"
    )
    found = examine({"brittle": brittle, "fine": MODULE})
    assert states(found) == {"brittle": "works", "fine": "works", "numpy": "works"}
    works = {pair["wrapper"]: pair["works"] for pair in found["pairs"]}
    assert [name for name, good in works.items() if good] == ["FineToNumpy", "NumpyToFine"]
    assert len(works) == 6
    problems = {pair["problem"] for pair in found["pairs"] if not pair["works"]}
    assert problems == {"the process was ended by SIGABRT"}


def test_changed_values_are_found(examine: Examine) -> None:
    wrong = MODULE.replace("return values\n", f"return values + (values.size != {DOCTORS_SIZE})\n")
    found = examine({"wrong": wrong})
    problems = {pair["wrapper"]: pair["problem"] for pair in found["pairs"]}
    assert problems["NumpyToWrong"] == (
        "WrongError: the observation arrived with other values than it was sent with"
    )


def test_a_copy_that_shares_memory_is_found(tmp_path: Path) -> None:
    generate(tmp_path, {"late": MODULE}, facts="copies_in = true\n")  # a wrong fact
    found = json.loads(doctor("--json", cwd=tmp_path).stdout)
    problems = {pair["wrapper"]: pair["problem"] for pair in found["pairs"]}
    assert problems["NumpyToLate"] == (
        "WrongError: the copy of the action changed with what it is a copy of"
    )


def test_a_listed_device_that_does_not_work_is_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    require("torch")
    from gymbridge_runtime.backends.torch import TorchBackend

    monkeypatch.setattr(TorchBackend, "devices", lambda _: ("cpu", "lazy:0"))
    (torch,) = [library for library in libraries("gymbridge") if library.name == "torch"]
    found = look(torch)
    assert found.state == "works"
    assert found.problem.startswith("PyTorch cannot use device='lazy:0': ")
    assert found.advice == "name another device"


def test_a_package_without_wrappers_is_an_error(tmp_path: Path) -> None:
    for name in ("nothing", "json"):
        done = gymbridge("doctor", "--package", name, cwd=tmp_path, path=ROOTS)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"gymbridge: there is no package {name!r} with generated wrappers to be imported from "
            "here; run `gymbridge generate`, or name another one with --package\n"
        )


def test_doctor_works_without_rich_and_packaging(fine: Path) -> None:
    code = (
        "import sys; sys.modules.update(rich=None, packaging=None); "
        "from gymbridge_tools.cli.main import main; "
        "raise SystemExit(main(['doctor', '--package', 'bridges']))"
    )
    path = os.pathsep.join(map(str, (*ROOTS, fine)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        cwd=fine,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "FineToNumpy" in done.stdout
