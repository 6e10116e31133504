"""The suite, the doctor and the benchmark on devices."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from gymbridge_tools.cli.main import main
from tests.devices.harness import on
from tests.generator.command import GENERATOR, RUNTIME, gymbridge
from tests.support import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.devices.device import Device
    from tests.devices.harness import DeviceProcess


@on("cpp", "python", "lazy")
def test_the_suite_passes_with_all_tensors_on_the_device(device: Device) -> None:
    del device  # the suite finds it
    suite = str(Path(__file__).with_name("suite_on_device.py"))
    assert pytest.main(["-q", "-n0", "-p", "no:cacheprovider", suite]) == 0


@on("cpp")
def test_the_benchmark_measures_steps_and_counts_transfers(device: Device) -> None:
    with TemporaryDirectory() as folder:
        figures = Path(folder, "figures.json")
        options = ("--seconds", "0", "--device", device.name, "--json", str(figures))
        assert main(["bench", *options]) == 0
        rows = json.loads(figures.read_text())["results"]
    assert len(rows) == 6
    for row in rows:
        assert row["transfers"]["gymbridge"] == [1, 1], row
        assert row["gymnasium_to_gymbridge"] is not None


def test_the_doctor_shows_what_a_device_narrows(
    process: Callable[[str], DeviceProcess], built: Path, tmp_path: Path
) -> None:
    process("narrow")
    start = f"cpp_device.start(pathlib.Path({str(built)!r}), float64=False)"
    code = f"import pathlib\nfrom tests.devices import cpp_device\n{start}\n"
    (tmp_path / "sitecustomize.py").write_text(code, encoding="utf-8")
    settings = '[tool.gymbridge]\nout = "bridges"\nbackends = ["numpy", "torch"]\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    assert gymbridge("generate", cwd=tmp_path).returncode == 0
    path = (tmp_path, REPOSITORY, REPOSITORY / "generated", GENERATOR, RUNTIME)
    done = gymbridge("doctor", cwd=tmp_path, path=path, COLUMNS="400")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("PyTorch")]
    assert "cpu, simulated:0, simulated:1" in line
    narrow = "float64 to float32, complex128 to complex64 on simulated"
    assert line.rstrip().endswith(f"  {narrow}:0; {narrow}:1")
    assert "NumpyToTorch  works" in done.stdout
