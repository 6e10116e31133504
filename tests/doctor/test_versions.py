"""Versions that do not go together are found among the installed distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gymbridge_tools.doctor.findings import Combination
from gymbridge_tools.doctor.versions import combinations
from tests.support import require

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Add the metadata of distributions to the path."""
    require("packaging")
    monkeypatch.syspath_prepend(tmp_path)

    def installed(name: str, version: str, *requirements: str) -> None:
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        lines = [f"Name: {name}", f"Version: {version}"]
        lines += [f"Requires-Dist: {requirement}" for requirement in requirements]
        text = "\n".join(["Metadata-Version: 2.1", *lines, ""])
        (folder / "METADATA").write_text(text, encoding="utf-8")

    return installed


def test_versions_out_of_bounds_are_reported(install: Install) -> None:
    bounds = ["old>=2", 'extra-lib<3; extra == "lib"', 'tool>=9; extra == "test"', "absent>=1"]
    install("gymbridge", "1.0", *bounds, "good>=1")
    for name, version in {"old": "1.9", "extra-lib": "3.1", "tool": "1", "good": "1.0rc1"}.items():
        install(name, version)
    advice = {found.problem: found.advice for found in combinations(["lib"])}
    assert advice.pop("gymbridge is made for old >=2") == "run: pip install 'old>=2'"
    assert advice.pop("gymbridge is made for extra-lib <3") == ("run: pip install 'extra-lib<3'")
    assert list(advice) == [
        "gymbridge is made for good >=1"
    ]  # a release candidate is older than the release


def test_combinations_that_are_known_to_fail_are_reported(install: Install) -> None:
    install("gymbridge", "1.0")
    install("tensorflow", "2.21.0")
    assert combinations([]) == []
    install("paddlepaddle", "3.3.1")
    assert combinations([]) == [
        Combination(
            {"paddlepaddle": "3.3.1", "tensorflow": "2.21.0"},
            "a process that imports TensorFlow before Paddle ends with a segmentation fault",
            "import paddle first, or use them in processes of their own",
        )
    ]
