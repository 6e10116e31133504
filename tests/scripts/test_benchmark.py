"""The benchmark as it is run, and what it makes of what it measured."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest

from gymbridge_tools.benchmark import command
from gymbridge_tools.benchmark import measure as measuring
from gymbridge_tools.benchmark.cases import CASES, Targets
from gymbridge_tools.benchmark.contest import COLUMNS, Contest
from gymbridge_tools.benchmark.growth import CURVES, measured_point
from gymbridge_tools.benchmark.guard import regressions
from gymbridge_tools.benchmark.measure import Budget, Figures, Measurement, measure
from gymbridge_tools.benchmark.pairs import PAIRS
from gymbridge_tools.benchmark.results import Result
from gymbridge_tools.cli.main import main
from tests.generator.command import GENERATOR, RUNTIME, python
from tests.libraries.jax import jax
from tests.libraries.torch import torch
from tests.support import REPOSITORY, require, run_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAIR = PAIRS["numpy_to_torch"]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


# -- the command -----------------------------------------------------------------------------------


def test_the_script_measures_and_writes_what_it_measured(tmp_path: Path) -> None:
    require("rich")
    asked = ["--quick", "--seconds", "0.01", "--pair", "numpy_to_torch", "--pair", "jax_to_numpy"]
    asked += ["--case", "array", "--case", "array-copy", "--case", "step", "--case", "cartpole"]
    asked += ["--json", str(tmp_path / "figures.json")]
    printed = run_python(
        "import runpy, sys\n"
        f"sys.argv[1:] = {asked!r}\n"
        "runpy.run_path('scripts/benchmark.py', run_name='__main__')\n"
    )
    written = json.loads((tmp_path / "figures.json").read_text())

    rows = [(row["case"], row["pair"]) for row in written["results"]]
    assert rows == [
        ("array", "numpy_to_torch"),
        ("array", "jax_to_numpy"),
        ("array-copy", "numpy_to_torch"),
        ("array-copy", "jax_to_numpy"),
        ("step", "numpy_to_torch"),
        ("step", "jax_to_numpy"),
        ("cartpole", "numpy_to_torch"),
    ]
    assert written["versions"]["torch"] == torch.__version__
    assert written["versions"]["jax"] == jax.__version__
    for row in written["results"]:
        check_row(row)
        assert CASES[row["case"]].title in printed
    assert "NumPy → PyTorch" in printed
    assert "JAX → NumPy" in printed


def check_row(row: dict[str, Any]) -> None:
    """Fail unless the ratios follow from the times, and every column is there that can be."""
    times = row["microseconds"]
    absent = {"array": {"bare"}, "array-copy": {"bare", "gymnasium"}}.get(row["case"], set())
    assert set(times) == set(COLUMNS) - absent
    assert all(time > 0 for time in times.values())
    bare = times.get("bare", 0)
    for name, one, other in (
        ("gymbridge_to_floor", "gymbridge", "floor"),
        ("gymnasium_to_gymbridge", "gymnasium", "gymbridge"),
    ):
        if one not in times:
            assert row[name] is None
            continue
        expected = (times[one] - bare) / (times[other] - bare)
        assert row[name]["ratio"] == pytest.approx(expected)
        assert row[name]["least"] <= row[name]["greatest"]
    assert row["rounds"] >= 10


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_plot_is_drawn_to_a_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require("matplotlib")
    picture = tmp_path / f"costs.{kind}"
    asked = ["--seconds", "0", "--case", "array", "--pair", "numpy_to_torch"]
    assert main(["bench", *asked, "--plot", str(picture)]) == 0
    printed = capsys.readouterr()
    assert "one array of 8 float32" in printed.out
    assert printed.err == ""  # no bar, because there is no terminal
    content = picture.read_bytes()
    if kind == "png":
        assert content.startswith(b"\x89PNG")
    else:
        for text in ("one array of 8 float32", "NumPy → PyTorch", "gymbridge", "by hand"):
            assert f">{text}<".encode() in content


@pytest.mark.parametrize("name", ["--case", "--pair"])
def test_an_unknown_name_is_answered_with_those_there_are(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", name, "nothing"]) == 2
    assert ("cartpole" if name == "--case" else "jax_to_torch") in capsys.readouterr().err


def test_the_command_needs_nothing_but_what_is_installed(tmp_path: Path) -> None:
    asked = ["bench", "--quick", "--seconds", "0", "--case", "array", "--pair", "numpy_to_torch"]
    path = [REPOSITORY / "generated", GENERATOR, RUNTIME]
    done = python(
        "-m", "gymbridge_tools.cli", *asked, "--plot", "costs.svg", cwd=tmp_path, path=path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "costs.svg").is_file()


def test_the_beginning_is_measured_for_every_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    assert main(["bench", "--start", "--pair", "numpy_to_jax", "--json", str(figures)]) == 0
    written = json.loads(figures.read_text())
    assert written["import"] > 0
    [start] = written["pairs"]
    assert start["pair"] == "numpy_to_jax"
    assert 0 < start["single"] < start["first"]
    assert start["slowest"] > start["vector"] > 0
    assert "NumPy → JAX" in capsys.readouterr().out


# -- the guard -------------------------------------------------------------------------------------


def result(*to_floor: float, gymnasium: float = 10) -> Result:
    """Make a result with such ratios in its groups; its targets are 1.1 and 4."""
    groups = [
        Figures({"bare": 1, "floor": 2, "gymbridge": 1 + ratio, "gymnasium": 1 + gymnasium})
        for ratio in to_floor
    ]
    return Result("step", "a step", PAIR, Measurement(groups[0], groups, 50), Targets(1.1, 4))


def test_the_guard_lets_pass_what_noise_may_do() -> None:
    assert regressions(result(2.1)) == []
    assert regressions(result(7, 8, 1.2, 9)) == []  # one group of rounds was undisturbed
    assert result(1.2).missed == ["floor"]  # which the table shows all the same


def test_the_guard_names_what_is_far_from_its_target() -> None:
    assert regressions(result(2.3, 2.5)) == [
        "a step, NumPy → PyTorch: 2.30 times the cost of code written by hand, and 1.1 is aimed at"
    ]
    assert regressions(result(1, gymnasium=1.5)) == [
        "a step, NumPy → PyTorch: 1.50 times as fast as Gymnasium, and 4 is aimed at"
    ]


@pytest.mark.parametrize(("aim", "code"), [(0.001, 1), (1000.0, 0)])
def test_check_measures_again_and_fails_on_a_regression(
    aim: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "THOROUGH", Budget(0.01, 0.0001))
    monkeypatch.setitem(CASES, "number", CASES["number"]._replace(targets=lambda _: Targets(aim)))
    asked = ["--seconds", "0", "--case", "number", "--pair", "torch_to_numpy", "--check"]
    assert main(["bench", *asked]) == code
    assert ("regression: one float, PyTorch → NumPy: " in capsys.readouterr().out) is bool(code)


# -- the measuring ---------------------------------------------------------------------------------


def test_ratios_are_of_what_is_added_to_the_bare_call() -> None:
    figures = Figures({"bare": 10, "floor": 12, "gymbridge": 13, "gymnasium": 25})
    assert figures.overhead("gymbridge") == 3
    assert figures.ratio("gymbridge", "floor") == 1.5
    assert figures.ratio("gymnasium", "gymbridge") == 5
    assert Figures({"floor": 2, "gymbridge": 3}).ratio("gymbridge", "floor") == 1.5
    assert Figures({"gymbridge": 3}).ratio("gymbridge", "floor") is None


def test_every_call_takes_turns_with_new_arguments_and_no_collection() -> None:
    seen: list[tuple[str, object]] = []
    collecting: set[bool] = set()

    def call(column: str) -> Callable[[object], None]:
        def called(argument: object) -> None:
            seen.append((column, argument))
            collecting.add(gc.isenabled())

        return called

    made = iter(range(1_000_000))
    contest = Contest(
        {column: call(column) for column in ("bare", "floor")},
        lambda _column, calls: [next(made) for _ in range(calls)],
        most=3,
    )
    measured = measure(contest, Budget(seconds=0, round_seconds=1, rounds=10))
    assert measured.rounds == 10
    assert len({argument for _, argument in seen}) == len(seen)
    assert collecting == {False}
    assert gc.isenabled()

    rounds = [column for column, _ in seen[-10 * 2 * 3 :: 3]]  # each of three calls
    assert rounds == ["bare", "floor", "floor", "bare"] * 5


@pytest.mark.parametrize(("most", "untimed"), [(1, 0), (10, 2), (100, 4)])
def test_the_first_calls_of_a_long_round_are_not_timed(
    most: int, untimed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0

    def call(nanoseconds: int) -> None:
        nonlocal now
        now += nanoseconds

    monkeypatch.setattr(measuring, "perf_counter_ns", lambda: now)
    contest = Contest(
        {"floor": call},
        lambda _column, calls: [1000] * untimed + [2] * (calls - untimed),
        most,
    )
    measured = measure(contest, Budget(seconds=0, round_seconds=1, rounds=10))
    assert measured.figures.times == {"floor": pytest.approx(2e-9)}


def test_nothing_is_compiled_once_warmed_up() -> None:
    # in a process of its own: what other tests have converted is compiled already
    printed = run_python(
        """
        import logging

        import jax
        import numpy as np

        from gymbridge_tools.benchmark.contest import converting
        from gymbridge_tools.benchmark.measure import warm_up
        from gymbridge_tools.benchmark.pairs import PAIRS

        class Messages(logging.Handler):
            def emit(self, record):
                messages.append(record.getMessage())

        messages = []
        logging.getLogger("jax").addHandler(Messages())
        array = np.ones(37, np.float32)
        contest = converting(array, PAIRS["numpy_to_jax"], None)
        with jax.log_compiles():
            warm_up(contest)
            print(any("Compiling" in message for message in messages))
            messages.clear()
            for call in contest.calls.values():
                for _ in range(20):
                    call(array)
        print(messages)
        """
    )
    assert printed.split() == ["True", "[]"]


# -- growth ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", CURVES)
def test_the_smallest_point_of_every_curve_can_be_measured(curve: str) -> None:
    point = measured_point(curve, PAIR, CURVES[curve].sizes[0])
    assert set(point.microseconds) == {"gymbridge", "gymnasium"}
    assert all(time > 0 for time in point.microseconds.values())
    assert point.as_json()["pair"] == "numpy_to_torch"


def test_growth_is_written_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    require("matplotlib")
    for name, curve in CURVES.items():
        monkeypatch.setitem(CURVES, name, curve._replace(sizes=curve.sizes[:2]))
    figures, picture = tmp_path / "growth.json", tmp_path / "growth.svg"
    asked = ["--growth", "--pair", "numpy_to_torch"]
    assert main(["bench", *asked, "--json", str(figures), "--plot", str(picture)]) == 0
    points = json.loads(figures.read_text())
    assert [(point["curve"], point["size"]) for point in points] == [
        (name, size) for name, curve in CURVES.items() for size in curve.sizes
    ]
    assert all(f">{curve.title}<".encode() in picture.read_bytes() for curve in CURVES.values())
    assert "environments in a vector step" in capsys.readouterr().out
