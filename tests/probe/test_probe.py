"""`gymbridge probe`: what it finds is what the entries say, and nothing ends it."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from gymbridge_generator.load import parse
from gymbridge_generator.resources import shipped_spec
from tests.generator.command import RUNTIME, gymbridge, python
from tests.support import LIBRARIES, REPOSITORY, require

if TYPE_CHECKING:
    from pathlib import Path

    from gymbridge_generator.model import Backend

FACTS = ("module", "array", "mutable", "read_only", "views", "copies_in", "host")
"""What entries say of libraries that have a backend of their own."""


@cache
def probed(module: str) -> dict[str, Any]:
    done = gymbridge("probe", module, "--json", cwd=REPOSITORY)
    assert (done.returncode, done.stderr) == (0, "")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def entry_of(name: str) -> Backend:
    spec = parse(shipped_spec().read_text(encoding="utf-8"), "spec").spec
    return next(backend for backend in spec.backend if backend.name == name)


@pytest.mark.parametrize("name", LIBRARIES)
def test_it_agrees_with_the_entries_of_the_libraries_that_are_shipped(name: str) -> None:
    require(name)
    entry = entry_of(name)
    found = probed(entry.module)["facts"]
    said = {key: getattr(entry, key) for key in FACTS}
    if name == "jax" and [int(part) for part in version("jax").split(".")[:2]] >= [0, 12]:
        said["read_only"] = "kept"  # and refused by those before, which the entry is of, too
    for key in FACTS:
        default = type(entry).model_fields[key].default
        assert found.get(key, default) == said[key], key
    assert found["name"] == name


def test_what_ends_a_process_is_a_finding() -> None:
    require("torch")
    findings = {finding["question"]: finding for finding in probed("torch")["findings"]}
    negative = findings["layout negative"]
    assert negative["outcome"] == "ended"
    assert "SIGABRT" in negative["evidence"]
    # what is asked after it is asked in another process
    assert findings["byte_offset"]["value"] is True


def test_dtypes_that_become_others_are_found() -> None:
    require("mlx")
    assert probed("mlx.core")["facts"]["narrows"] == {
        "float64": "float32",
        "complex128": "complex64",
    }


def test_devices_are_found() -> None:
    require("array_api_strict")
    facts = probed("array_api_strict")["facts"]
    assert facts["device"] == "str"
    assert facts["device_parse"] == "array_api_strict.Device"


USE = """
import gymnasium as gym, numpy as np, array_api_strict as xp
from bridges import NumpyToArrayApiStrict
agent = NumpyToArrayApiStrict(gym.make("CartPole-v1"), "device1")
obs, _ = agent.reset(seed=3)
assert type(obs) is type(xp.zeros(1)) and obs.device == xp.Device("device1")
obs, *_ = agent.step(agent.sample_action())
assert obs.device == xp.Device("device1")
print("used")
"""


def test_what_it_prints_is_an_entry_that_wrappers_are_generated_from(tmp_path: Path) -> None:
    require("array_api_strict")
    entry = probed("array_api_strict")["entry"]
    head = 'spec_version = 1\nextends = ["gymbridge"]\n'
    tail = '[matrix]\nbackends = ["array_api_strict", "numpy"]\n'
    (tmp_path / "mine.toml").write_text(head + entry + tail, encoding="utf-8")
    made = gymbridge("generate", "--spec", "mine.toml", "--out", "bridges", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    used = python("-c", USE, cwd=tmp_path, path=[tmp_path, RUNTIME])
    assert used.stdout == "used\n", used.stderr


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library in which everything is odd."""
    folder = tmp_path_factory.mktemp("odd")
    text = (REPOSITORY / "tests/probe/odd.py.txt").read_text(encoding="utf-8")
    (folder / "odd.py").write_text(text, encoding="utf-8")
    (folder / "broken.py").write_text("raise OSError('no driver')\n", encoding="utf-8")
    (folder / "nothing.py").touch()
    return folder


def test_every_oddity_becomes_a_fact(odd: Path) -> None:
    path = [REPOSITORY / "generator", RUNTIME, odd]
    options = ("--json", "--timeout", "10")
    done = gymbridge("probe", "odd", *options, cwd=odd, path=path)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert "# 4: the process did not live through it: it did not answer" in report["entry"]
    dtypes = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    assert report["facts"] == {
        "name": "odd",
        "title": "odd",
        "module": "odd",
        "array": "odd.Tensor",
        "typed": False,
        "device": "str",
        "read_only": "refused",
        "views": "read-only",
        "start": "odd.init",
        "importer": "odd.experimental.dlpack.from_dlpack",
        "importer_takes": "capsule",
        "import_version": "legacy",
        "prepare": ["detach"],
        "export_version": "legacy",
        "not_exported": ["str128"],
        "strides": "row-major",
        "alignment": 16,
        "zero_d": False,
        "max_ndim": 3,
        "dtypes": [*dtypes, "float16", "float32", "complex64"],
        "narrows": {"float64": "float32"},
        "device_read": "place",
        "device_move": "to",
    }
    findings = {finding["question"]: finding for finding in report["findings"]}
    assert findings["dimensions 4"]["outcome"] == "ended"
    assert "did not answer within 10 seconds" in findings["dimensions 4"]["evidence"]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("absent_library", "there is no module 'absent_library'; install what brings it"),
        ("../broken", "there is no module '../broken'; install what brings it"),
        ("broken", "broken: OSError: no driver"),
        ("nothing", "nothing: none of its functions makes an array of NumPy's memory; tried none"),
    ],
)
def test_a_library_that_makes_no_arrays_is_an_error(odd: Path, module: str, message: str) -> None:
    path = [REPOSITORY / "generator", RUNTIME, odd]
    done = gymbridge("probe", module, cwd=odd, path=path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gymbridge: {message}")
    assert done.stderr.count("\n") == 1
