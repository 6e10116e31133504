"""`gymbridge probe` agrees with the shipped entries, and survives crashes and hangs."""

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
    from subprocess import CompletedProcess

    from gymbridge_generator.model import Backend

FACTS = ("module", "array", "mutable", "read_only", "views", "copies_in", "host")
"""The facts that entries state for libraries with a backend of their own."""


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
@pytest.mark.slow
def test_probe_agrees_with_the_shipped_entries(name: str) -> None:
    require(name)
    entry = entry_of(name)
    found = probed(entry.module)["facts"]
    said = {key: getattr(entry, key) for key in FACTS}
    if name == "jax" and [int(part) for part in version("jax").split(".")[:2]] >= [0, 12]:
        said["read_only"] = "kept"  # older versions refuse it, and the entry covers them
    if name == "mlx":
        said["read_only"] = "refused"  # its backend copies first, so the entry need not say it
        said["views"] = "read-only"  # a probe cannot show that memory never changes
    for key in FACTS:
        default = type(entry).model_fields[key].default
        assert found.get(key, default) == said[key], key
    assert found["name"] == name


@pytest.mark.slow
def test_a_probe_that_ends_its_process_is_a_finding() -> None:
    require("torch")
    findings = {finding["question"]: finding for finding in probed("torch")["findings"]}
    negative = findings["layout negative"]
    assert negative["outcome"] == "ended"
    assert "SIGABRT" in negative["evidence"]
    # the next question runs in another process
    assert findings["byte_offset"]["value"] is True


@pytest.mark.slow
def test_narrowed_dtypes_are_found() -> None:
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


def test_the_printed_entry_generates_working_wrappers(tmp_path: Path) -> None:
    require("array_api_strict")
    entry = probed("array_api_strict")["entry"]
    head = 'spec_version = 1\nextends = ["gymbridge"]\n'
    tail = '[matrix]\nbackends = ["array_api_strict", "numpy"]\n'
    (tmp_path / "mine.toml").write_text(head + entry + tail, encoding="utf-8")
    made = gymbridge("generate", "--spec", "mine.toml", "--out", "bridges", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    used = python("-c", USE, cwd=tmp_path, path=[tmp_path, RUNTIME])
    assert used.stdout == "used\n", used.stderr


HIDDEN = """
import numpy as np

class Array:
    def __init__(self, values):
        self.values = values
    def __dlpack__(self, **keywords):
        return self.values.__dlpack__(**keywords)
    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

def load(array):
    return Array(np.from_dlpack(array))
"""
"""A library whose importer has an unusual name."""

MOODY = """
@property
def dtype(array):
    if array.values.dtype.kind in {kinds!r}:
        raise TypeError("it has no word for that")
    return array.values.dtype

Array.dtype = dtype
from_dlpack = load
"""
"""Arrays of some dtypes can be imported, and raise when their dtype is read."""

REFUSING = """
def from_dlpack(array):
    raise ValueError("never")

def asarray(array):
    raise ValueError("never either")
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with several odd libraries."""
    folder = tmp_path_factory.mktemp("odd")
    text = (REPOSITORY / "tests/probe/odd.py.txt").read_text(encoding="utf-8")
    (folder / "odd.py").write_text(text, encoding="utf-8")
    (folder / "broken.py").write_text("raise OSError('no driver')\n", encoding="utf-8")
    (folder / "nothing.py").touch()
    (folder / "hidden.py").write_text(HIDDEN, encoding="utf-8")
    (folder / "moody.py").write_text(HIDDEN + MOODY.format(kinds="c"), encoding="utf-8")
    (folder / "useless.py").write_text(HIDDEN + MOODY.format(kinds="biufc"), encoding="utf-8")
    (folder / "shell.py").write_text("from hidden import load as from_dlpack\n", encoding="utf-8")
    (folder / "refusing.py").write_text(REFUSING, encoding="utf-8")
    return folder


@cache
def probed_in(folder: Path, module: str, *options: str) -> CompletedProcess[str]:
    """Probe a library in a folder."""
    path = [REPOSITORY / "generator", RUNTIME, folder]
    return gymbridge("probe", module, *options, "--timeout", "10", cwd=folder, path=path)


@pytest.mark.slow
def test_every_oddity_of_a_library_becomes_a_fact(odd: Path) -> None:
    done = probed_in(odd, "odd", "--json")
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


@pytest.mark.parametrize("module", ["odd", "moody"])
@pytest.mark.slow
def test_the_printed_entry_passes_the_generated_suite(
    odd: Path, tmp_path: Path, module: str
) -> None:
    report = json.loads(probed_in(odd, module, "--json").stdout)
    head = 'spec_version = 1\nextends = ["gymbridge"]\n'
    tail = f'[matrix]\nbackends = ["{module}", "numpy"]\n'
    (tmp_path / "mine.toml").write_text(head + report["entry"] + tail, encoding="utf-8")
    options = ("--spec", "mine.toml", "--out", "bridges", "--tests", "tests")
    made = gymbridge("generate", *options, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    suite = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    done = python(*suite, cwd=tmp_path, path=[tmp_path, REPOSITORY / "generator", RUNTIME, odd])
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.slow
def test_dtypes_that_do_not_survive_a_round_trip_are_dropped(odd: Path) -> None:
    done = probed_in(odd, "moody", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    kept = report["facts"]["dtypes"]
    assert [name for name in kept if name.startswith("complex")] == []
    assert "float64" in kept
    entry = " ".join(report["entry"].replace("\n#", " ").split())
    assert "complex64, complex128: with a backend of this entry, ConversionError" in entry
    assert "it has no word for that" in entry


@pytest.mark.slow
def test_a_failure_that_cannot_be_dropped_is_explained(odd: Path) -> None:
    done = probed_in(odd, "useless")
    assert done.returncode == 1
    assert done.stderr == "gymbridge: this entry does not work as it is; see its last lines\n"
    last = done.stdout.partition("# What does not come back through wrappers of this entry:\n")[2]
    assert "# dtype float32: ConversionError" in last
    assert "# empty: ConversionError" in last


def test_the_importer_can_be_named(odd: Path) -> None:
    assert probed_in(odd, "hidden").returncode == 2
    done = probed_in(odd, "hidden", "--importer", "hidden.load")
    assert (done.returncode, done.stderr) == (0, "")
    assert '# what was named\nimporter = "hidden.load"\n' in done.stdout
    done = probed_in(odd, "hidden", "--importer", "numpy.from_dlpack")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gymbridge: 'numpy.from_dlpack' is not in 'hidden'; begin with the module\n"
    )


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("absent_library", "there is no module 'absent_library'; install what brings it"),
        ("../broken", "there is no module '../broken'; install what brings it"),
        ("broken", "broken: OSError: no driver"),
        (
            "nothing",
            "nothing: found no function that makes an array from NumPy's memory (tried none, it "
            "has none of the usual names); name one with --importer nothing.FUNCTION, or see "
            '"A module of your own" in docs/backends.md',
        ),
        (
            "refusing",
            "refusing: found no function that makes an array from NumPy's memory (tried "
            "refusing.from_dlpack: ValueError: never; refusing.asarray: ValueError: never either); "
            "name one with --importer refusing.FUNCTION, or see ",
        ),
        (
            "shell",
            "shell: no spec can have its entry: 'hidden.Array' is not in 'shell'; begin with the "
            "module",
        ),
    ],
)
def test_a_library_that_makes_no_arrays_is_an_error(odd: Path, module: str, message: str) -> None:
    done = probed_in(odd, module)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gymbridge: {message}")
    assert done.stderr.count("\n") == 1
