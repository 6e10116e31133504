"""The catalogue: libraries in the shipped spec that only `--backends` selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gymbridge_generator.errors import GeneratorError
from gymbridge_generator.load import parse
from gymbridge_generator.resources import shipped_spec
from tests.generator.command import GENERATOR, RUNTIME, gymbridge, python

if TYPE_CHECKING:
    from pathlib import Path

CATALOGUE = ("dpnp", "paddle", "pyarrow", "tensorflow", "warp")


def pairs(*names: str, text: str | None = None) -> list[str]:
    text = shipped_spec().read_text(encoding="utf-8") if text is None else text
    return [f"{a.name}>{b.name}" for a, b in parse(text, "spec.toml", names).pairs]


def test_catalogue_libraries_are_in_the_spec_and_not_in_the_matrix() -> None:
    spec = parse(shipped_spec().read_text(encoding="utf-8"), "spec.toml").spec
    assert spec.matrix.backends is not None
    chosen, known = {*spec.matrix.backends}, {backend.name for backend in spec.backend}
    assert known - chosen == {*CATALOGUE}


def test_no_catalogue_entry_needs_code() -> None:
    spec = parse(shipped_spec().read_text(encoding="utf-8"), "spec.toml").spec
    entries = [backend for backend in spec.backend if backend.name in CATALOGUE]
    assert [entry.name for entry in entries if entry.runtime] == []
    assert all(entry.distribution for entry in entries)


def test_named_backends_are_paired_with_each_other() -> None:
    assert pairs("warp", "torch") == ["torch>warp", "warp>torch"]
    assert pairs("torch", "warp", "torch") == ["torch>warp", "warp>torch"]
    assert len(pairs(*CATALOGUE, "numpy", "torch", "jax")) == 8 * 7


def test_a_spec_that_extends_gymbridge_has_the_catalogue_too(own_spec: str) -> None:
    assert pairs("warp", "strict", text=own_spec) == ["strict>warp", "warp>strict"]
    # named libraries are paired, even if none is the spec's own
    assert pairs("warp", "torch", text=own_spec) == ["torch>warp", "warp>torch"]


def test_named_backends_do_not_add_pairs_that_a_spec_leaves_out(own_spec: str) -> None:
    text = own_spec + '[matrix]\npairs = [["strict", "warp"], ["torch", "strict"]]\n'
    assert pairs("strict", "warp", text=text) == ["strict>warp"]
    with pytest.raises(
        GeneratorError, match="no pair can be made of warp, torch; name two backends"
    ):
        pairs("warp", "torch", text=text)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ("warp", "tf"),
            "no backend 'tf' (known: cupy, dpnp, jax, mlx, numpy, paddle, pyarrow, tensorflow, "
            "torch, warp)",
        ),
        (
            ("warp",),
            "no pair can be made of warp; name two backends, between which the spec has wrappers",
        ),
    ],
)
def test_names_that_make_no_pair_are_an_error(names: tuple[str, ...], message: str) -> None:
    with pytest.raises(GeneratorError) as caught:
        pairs(*names)
    assert str(caught.value) == message


def test_the_command_writes_a_package_for_named_backends(tmp_path: Path) -> None:
    out = "src/mine/bridges"
    done = gymbridge("generate", "--backends", "warp, torch", "--out", out, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    wrappers = sorted(path.name for path in (tmp_path / out).glob("*_to_*.py"))
    assert wrappers == ["torch_to_warp.py", "warp_to_torch.py"]
    assert not (tmp_path / out / "array_conversion.py").exists()
    everything = "".join(
        path.read_text(encoding="utf-8") for path in (tmp_path / out).rglob("*.py")
    )
    # examples must import from the generated package
    assert "from gymbridge import" not in everything
    again = gymbridge("check", "--backends", "torch,warp", "--out", out, cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    (tmp_path / out / "py.typed").unlink()
    drifted = gymbridge("check", "--backends", "torch,warp", "--out", out, cwd=tmp_path)
    assert drifted.stdout.endswith(
        f"to mend this, run: gymbridge generate --out {out} --backends torch,warp\n"
    )


def test_settings_may_name_backends(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.gymbridge]\nbackends = ["pyarrow", "numpy"]\nout = "bridges"\n', encoding="utf-8"
    )
    listed = gymbridge("list", cwd=tmp_path)
    assert [line.split("\t")[0] for line in listed.stdout.splitlines()[1:]] == [
        "NumpyToPyarrow",
        "PyarrowToNumpy",
    ]
    other = gymbridge("list", "--backends", "warp,numpy", cwd=tmp_path)
    assert [line.split("\t")[0] for line in other.stdout.splitlines()[1:]] == [
        "NumpyToWarp",
        "WarpToNumpy",
    ]


def test_a_missing_library_is_an_error_with_the_pip_command(tmp_path: Path) -> None:
    gymbridge("generate", "--backends", "warp,numpy", "--out", "bridges", cwd=tmp_path)
    code = """
import sys
sys.modules["warp"] = None
import bridges
try:
    bridges.NumpyToWarp
except ImportError as error:
    print(f"{type(error).__name__}: {error}")
"""
    done = python("-c", code, cwd=tmp_path, path=[tmp_path, RUNTIME, GENERATOR])
    assert done.stdout == (
        "BackendNotInstalledError: Warp needs the module 'warp', which is not installed; "
        "run: pip install 'warp-lang>=1.19'\n"
    ), done.stderr
