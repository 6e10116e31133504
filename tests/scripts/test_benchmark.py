"""The benchmark: its command, its tables and its measurements."""

from __future__ import annotations

import gc
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from gymbridge_tools.benchmark import command
from gymbridge_tools.benchmark import measure as measuring
from gymbridge_tools.benchmark.arrays import fresh
from gymbridge_tools.benchmark.cases import CASES, Aim, cases_on
from gymbridge_tools.benchmark.contest import COLUMNS, Contest, contest_of
from gymbridge_tools.benchmark.growth import CURVES, measured_point
from gymbridge_tools.benchmark.guard import missed, regressions
from gymbridge_tools.benchmark.measure import Budget, Figures, Measurement, measure
from gymbridge_tools.benchmark.pairs import PAIRS
from gymbridge_tools.benchmark.results import Result
from gymbridge_tools.benchmark.table import summary, table
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


@pytest.mark.slow
def test_the_script_measures_and_writes_its_results(tmp_path: Path) -> None:
    require("rich")
    asked = ["--quick", "--seconds", "0.01", "--pair", "numpy_to_torch", "--pair", "jax_to_numpy"]
    for case in ("array", "array-copy", "step-device", "cartpole", "step-odd"):
        asked += ["--case", case]
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
        ("step", "numpy_to_torch"),  # the row before odd values is measured, too
        ("step", "jax_to_numpy"),
        ("step-device", "numpy_to_torch"),
        ("step-device", "jax_to_numpy"),
        ("cartpole", "numpy_to_torch"),
        ("step-odd", "numpy_to_torch"),
        ("step-odd", "jax_to_numpy"),
    ]
    assert written["versions"]["torch"] == torch.__version__
    assert written["versions"]["jax"] == jax.__version__
    for row in written["results"]:
        check_row(row)
        assert CASES[row["case"]].title in printed
    assert "NumPy → PyTorch" in printed
    assert "JAX → NumPy" in printed


def check_row(row: dict[str, Any]) -> None:
    """Fail unless the ratios follow from the times and no column is missing."""
    times = row["microseconds"]
    absent = {
        "array": {"bare", "plain"},
        "array-copy": {"bare", "plain", "gymnasium"},
        "step": {"plain"},
        "cartpole": {"plain"},
    }
    assert set(times) == set(COLUMNS) - absent.get(row["case"], set())
    assert all(time > 0 for time in times.values())
    bare = times.get("bare", 0)
    for name, one, other in (
        ("gymbridge_to_by_hand", "gymbridge", "by_hand"),
        ("gymbridge_to_plain", "gymbridge", "plain"),
        ("gymnasium_to_gymbridge", "gymnasium", "gymbridge"),
    ):
        if not {one, other} <= set(times):
            assert row[name] is None
            continue
        expected = (times[one] - bare) / (times[other] - bare)
        assert row[name]["ratio"] == pytest.approx(expected)
        assert row[name]["least"] <= row[name]["greatest"]
    assert row["rounds"] >= 10


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_plot_is_written_to_a_file(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require("matplotlib")
    picture = tmp_path / f"costs.{kind}"
    asked = ["--seconds", "0", "--case", "array", "--pair", "numpy_to_torch"]
    assert main(["bench", *asked, "--plot", str(picture)]) == 0
    printed = capsys.readouterr()
    assert "one array of 8 float32" in printed.out
    assert printed.err == ""  # no progress bar without a terminal
    content = picture.read_bytes()
    if kind == "png":
        assert content.startswith(b"\x89PNG")
    else:
        for text in ("one array of 8 float32", "NumPy → PyTorch", "gymbridge", "by hand"):
            assert f">{text}<".encode() in content


@pytest.mark.parametrize("name", ["--case", "--pair"])
def test_an_unknown_name_is_an_error_that_lists_the_names(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", name, "nothing"]) == 2
    assert ("cartpole" if name == "--case" else "jax_to_torch") in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_works_without_optional_packages(tmp_path: Path) -> None:
    asked = ["bench", "--quick", "--seconds", "0", "--case", "array", "--pair", "numpy_to_torch"]
    path = [REPOSITORY / "generated", GENERATOR, RUNTIME]
    done = python(
        "-m", "gymbridge_tools.cli", *asked, "--plot", "costs.svg", cwd=tmp_path, path=path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "costs.svg").is_file()


@pytest.mark.slow
def test_start_up_is_measured_for_every_pair(
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


def test_the_hand_written_code_is_readable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--code", "--case", "vector", "--pair", "torch_to_numpy"]) == 0
    assert (
        capsys.readouterr().out.rstrip()
        == """\
# a vector step of 16, PyTorch → NumPy
def by_hand(self, actions):
    obs, rewards, terminated, truncated, infos = self.env.step(from_numpy(actions.copy()))
    return (
        obs.numpy().copy(),
        rewards.numpy().copy(),
        terminated.numpy().copy(),
        truncated.numpy().copy(),
        dict(infos),
    )"""
    )


# -- another device --------------------------------------------------------------------------------


@pytest.mark.slow
def test_steps_on_a_device_are_measured_with_their_transfers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    assert main(["bench", "--seconds", "0", "--device", "cpu", "--json", str(figures)]) == 0
    rows = json.loads(figures.read_text())["results"]
    assert [(row["case"], row["pair"]) for row in rows] == [
        (name, pair) for name, case in cases_on("cpu").items() for pair in case.pairs
    ]
    assert all(
        row["transfers"]["gymbridge"] == [0, 0] for row in rows
    )  # the CPU needs no transfers
    assert all(row["gymnasium_to_gymbridge"] is not None for row in rows)
    assert "0+0 / 0+0" in capsys.readouterr().out


@pytest.mark.slow
def test_copies_to_a_device_and_back_are_counted() -> None:
    # in a process of its own: PyTorch's lazy device cannot be removed
    printed = run_python(
        """
        import torch
        from torch._lazy import ts_backend

        from gymbridge_tools.benchmark.device import counting

        ts_backend.init()
        with counting() as count:
            there = torch.ones(3).to("lazy")
            there.copy_(torch.zeros(3))
            there.cpu()
            torch.zeros(3).clone()
        print(count["up"], count["down"])
        with counting() as count:
            there.sum().item()
        print(count["up"], count["down"])
        """
    )
    assert printed.split() == ["2", "1", "0", "1"]


@pytest.mark.parametrize("name", ["meta", "nonsense"])
def test_a_device_that_cannot_be_used_is_an_error(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--device", name]) == 2
    assert f"PyTorch cannot use the device {name!r} here: " in capsys.readouterr().err


# -- the tables ------------------------------------------------------------------------------------

AIM = Aim(by_hand=1.1, gymnasium=4, plain=1.05, transfers=1)


def result(
    *to_by_hand: float,
    gymnasium: float = 10,
    plain: float = 10,
    transfers: tuple[int, int] = (1, 1),
    name: str = "step",
    pair: str = PAIR.name,
) -> Result:
    """Make a result with the given ratios to the code by hand, one per group."""
    groups = [
        Figures(
            {
                "bare": 1e-6,
                "by_hand": 2e-6,
                "gymbridge": (1 + ratio) * 1e-6,
                "plain": (1 + plain) * 1e-6,
                "gymnasium": (1 + gymnasium) * 1e-6,
            }
        )
        for ratio in to_by_hand
    ]
    case = CASES[name]._replace(aim=lambda _pair: AIM)
    counts = {"gymbridge": transfers, "gymnasium": (4, 1)}
    return Result(name, case, PAIRS[pair], Measurement(groups[0], groups, 50), counts)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_narrow_table_drops_columns_and_never_labels(width: int) -> None:
    rows = [result(5, name=name, pair=pair) for name in CASES for pair in CASES[name].pairs]
    lines = table(rows, width).splitlines()[2:]
    titles = {case.title for case in CASES.values()}
    labels = [line[:17].rstrip() for line in lines[1:] if line and line not in titles]
    assert labels == [f"  {row.pair.title}" for row in rows]
    assert titles <= set(lines)
    assert all(len(line) <= width for line in lines if line not in titles)
    columns = ("bare", "by hand", "gymbridge", "/ plain", "range")
    shown = [column for column in columns if column in lines[0]]
    assert (
        shown
        == {
            40: ["gymbridge"],
            60: ["gymbridge", "/ plain"],
            80: ["by hand", "gymbridge", "/ plain"],
            200: [*columns],
        }[width]
    )


def test_the_usual_rows_keep_all_columns_at_80_characters() -> None:
    lines = table([result(5)._replace(transfers=None)], 80, marks=True).splitlines()
    assert re.split(r"  +", lines[2].strip()) == [
        "bare",
        "by hand",
        "gymbridge",
        "Gymnasium",
        "/ hand",
        "/ plain",
        "faster",
    ]


def test_only_check_marks_missed_aims() -> None:
    missing = result(5, plain=1, gymnasium=6, transfers=(2, 1))
    assert "!" not in table([missing], 200)
    marked = table([missing, result(1)], 200, marks=True).splitlines()[-2:]
    assert [line.count("!") for line in marked] == [3, 0]


def test_gymnasium_figures_from_unsafe_sharing_are_marked() -> None:
    into_jax = result(5, gymnasium=4, pair="numpy_to_jax")
    assert "4.00*" in table([into_jax], 80)
    assert "*" not in table([result(5, gymnasium=4), result(3, pair="numpy_to_jax")], 80)


def test_the_last_sentence_summarises_the_table() -> None:
    plain = [result(ratio)._replace(transfers=None) for ratio in (1, 1.2, 2)]
    assert summary(plain) == (
        "gymbridge costs 1.20 times the code by hand, and Gymnasium 8.3 times gymbridge "
        "(medians of 3 rows)."
    )
    faster = [result(2, gymnasium=1), result(2, gymnasium=1, pair="numpy_to_jax")]
    assert summary(faster) == (
        "gymbridge costs 2.00 times the code by hand, and Gymnasium 0.5 times gymbridge "
        "(medians of 2 rows); Gymnasium is faster in 2, and in 1 of them (*) it shares memory "
        "that may change later; a step makes up to 2 transfers, 5 with Gymnasium."
    )


# -- the guard -------------------------------------------------------------------------------------


def test_the_guard_accepts_noise() -> None:
    assert regressions(result(2.1)) == []
    assert regressions(result(7, 8, 1.2, 9)) == []  # the best group counts
    assert list(missed(result(1.2))) == ["by_hand"]  # the table marks it nevertheless


def test_the_guard_names_regressions() -> None:
    where = "a step, NumPy → PyTorch: "
    assert regressions(result(2.3, 2.5)) == [
        f"{where}2.30 times the cost of the code by hand; the aim is 1.1"
    ]
    assert regressions(result(1, gymnasium=1.5)) == [
        f"{where}1.50 times as fast as Gymnasium; the aim is 4"
    ]
    assert regressions(result(1.1, plain=0.5)) == [
        f"{where}2.20 times the cost of the same without the option or the odd values; "
        "the aim is 1.05"
    ]
    assert regressions(result(1, transfers=(1, 2))) == [
        f"{where}1 transfers to the device and 2 back; the aim is 1 each"
    ]


@pytest.mark.parametrize(("aim", "code"), [(0.001, 1), (1000.0, 0)])
def test_check_measures_again_and_fails_on_a_regression(
    aim: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "THOROUGH", Budget(0.01, 0.0001))
    monkeypatch.setitem(CASES, "number", CASES["number"]._replace(aim=lambda _: Aim(aim)))
    asked = ["--seconds", "0", "--case", "number", "--pair", "torch_to_numpy", "--check"]
    assert main(["bench", *asked]) == code
    assert ("regression: one float, PyTorch → NumPy: " in capsys.readouterr().out) is bool(code)


# -- the measurement -------------------------------------------------------------------------------


def test_ratios_compare_the_cost_above_the_bare_call() -> None:
    figures = Figures({"bare": 10, "by_hand": 12, "gymbridge": 13, "gymnasium": 25})
    assert figures.overhead("gymbridge") == 3
    assert figures.ratio("gymbridge", "by_hand") == 1.5
    assert figures.ratio("gymnasium", "gymbridge") == 5
    assert Figures({"by_hand": 2, "gymbridge": 3}).ratio("gymbridge", "by_hand") == 1.5
    assert Figures({"gymbridge": 3}).ratio("gymbridge", "by_hand") is None


def test_an_earlier_measurement_is_scaled_by_its_code_by_hand() -> None:
    before = Figures({"bare": 1, "by_hand": 3, "gymbridge": 4, "gymnasium": 9})
    after = Figures({"bare": 2, "by_hand": 6, "gymbridge": 11, "gymnasium": 20})
    measured = Measurement(after, [after], 10).compared(Measurement(before, [before], 10))
    assert measured.figures.ratio("gymbridge", "plain") == (9 / 4) / (3 / 2)
    assert measured.spread("gymbridge", "plain") == (1.5, 1.5)


@pytest.mark.parametrize("name", ["array", "step", "vector"])
def test_odd_values_are_converted_before_the_measurement(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted: list[str] = []

    def odd(library: str, array: object) -> list[Any]:
        converted.append(library)
        return fresh(library, [array])

    monkeypatch.setattr("gymbridge_tools.benchmark.contest.odd", odd)
    contest_of(CASES[name], PAIR)
    assert converted == []
    contest_of(CASES[f"{name}-odd"], PAIR)
    assert converted == (["numpy"] if name == "array" else ["numpy", "torch"])


def test_calls_take_turns_with_new_arguments_and_without_garbage_collection() -> None:
    seen: list[tuple[str, object]] = []
    collecting: set[bool] = set()

    def call(column: str) -> Callable[[object], None]:
        def called(argument: object) -> None:
            seen.append((column, argument))
            collecting.add(gc.isenabled())

        return called

    made = iter(range(1_000_000))
    contest = Contest(
        {column: call(column) for column in ("bare", "by_hand")},
        lambda _column, calls: [next(made) for _ in range(calls)],
        most=3,
    )
    measured = measure(contest, Budget(seconds=0, round_seconds=1, rounds=10))
    assert measured.rounds == 10
    assert len({argument for _, argument in seen}) == len(seen)
    assert collecting == {False}
    assert gc.isenabled()

    rounds = [column for column, _ in seen[-10 * 2 * 3 :: 3]]  # each round has three calls
    assert rounds == ["bare", "by_hand", "by_hand", "bare"] * 5


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
        {"by_hand": call},
        lambda _column, calls: [1000] * untimed + [2] * (calls - untimed),
        most,
    )
    measured = measure(contest, Budget(seconds=0, round_seconds=1, rounds=10))
    assert measured.figures.times == {"by_hand": pytest.approx(2e-9)}


@pytest.mark.slow
def test_nothing_is_compiled_after_the_warm_up() -> None:
    # in a process of its own: other tests have compiled imports already
    printed = run_python(
        """
        import logging

        import jax
        import numpy as np

        from gymbridge_tools.benchmark.contest import Contest
        from gymbridge_tools.benchmark.measure import warm_up
        from gymbridge_tools.benchmark.pairs import PAIRS

        class Messages(logging.Handler):
            def emit(self, record):
                messages.append(record.getMessage())

        messages = []
        logging.getLogger("jax").addHandler(Messages())
        array = np.ones(37, np.float32)
        pair = PAIRS["numpy_to_jax"]
        calls = {"gymbridge": pair.converter(), "gymnasium": pair.gymnasiums_converter()}
        contest = Contest(calls, lambda _column, calls: [array] * calls)
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


def test_growth_is_measured_and_drawn(
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
