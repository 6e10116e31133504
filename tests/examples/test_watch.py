"""The progress bar and the learning curve of a training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support import missing

try:
    from scripts.examples.watch import Watch
except ModuleNotFoundError as error:
    missing(error)

if TYPE_CHECKING:
    from pathlib import Path


def test_only_whole_episodes_count() -> None:
    watch = Watch("a training", 8)
    watch.step([1, 10], [False, False])
    assert np.isnan(watch.mean_return)
    watch.step([2, 20], [True, False])
    assert watch.mean_return == 3
    assert watch.left == 0.5
    watch.stretch([[4, 30], [5, 40]], [[True, True], [False, True]])
    assert watch.mean_return == (3 + 4 + 60 + 40) / 4
    assert not watch.goes_on
    assert [tuple(point) for point in watch.curve] == [(4, 3), (6, 67 / 3), (8, 107 / 4)]


@pytest.mark.parametrize("terminal", [True, False])
def test_the_progress_bar_is_drawn_on_terminals_only(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", str(int(terminal)))
    with Watch("a training", 8) as watch:
        watch.step([7.0] * 8, [True] * 8)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ("mean return 7" in printed.err) is terminal
    assert bool(printed.err) is terminal


def test_the_same_curve_gives_the_same_file(tmp_path: Path) -> None:
    watch = Watch("a training", 8)
    for _ in range(4):
        watch.step([1, 2], [True, True])
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    watch.report(one, goal=2)
    watch.report(other, goal=2)
    assert one.read_bytes() == other.read_bytes()
    assert b">a training<" in one.read_bytes()
