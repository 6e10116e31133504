"""The table of supported versions: the bounds in pyproject.toml, and the tested versions."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Final, TypedDict

from scripts.versions import NEIGHBOURS, RUNS, SETTINGS

ROOT: Final = Path(__file__).resolve().parent.parent.parent
TITLES: Final = {
    "gymnasium": "Gymnasium",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "jax": "JAX",
    "mlx": "MLX",
    "pettingzoo": "PettingZoo",
}
START, END = "<!-- --8<-- [start:versions] -->\n", "<!-- --8<-- [end:versions] -->"


class Run(TypedDict):
    """A run on request."""

    date: str
    result: str
    versions: dict[str, str]


def with_table(readme: str) -> str:
    """Return the README with the current table."""
    before, _, rest = readme.partition(START)
    return before + START + "\n".join(_lines()) + "\n" + END + rest.partition(END)[2]


def _lines() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runs: dict[str, Run] = json.loads(RUNS.read_text(encoding="utf-8"))
    pythons = ", ".join(sorted({each.python for each in SETTINGS.values()}))
    lines = [
        "| | lowest version | tests run with | installed by |",
        "|---|---|---|---|",
        f"| Python | {settings['requires-python'].removeprefix('>=')} | {pythons} | |",
    ]
    extras: dict[str, list[str]] = settings["optional-dependencies"]
    for name, title in TITLES.items():
        extra = next((e for e in extras if _bound(name, extras[e])), "")
        by = "gymbridge"
        lowest = _bound(name, settings["dependencies"])
        if not lowest:
            lowest, by = _bound(name, extras[extra]), f"gymbridge[{extra}]"
        lines.append(f"| {title} | {lowest} | {', '.join(_run_with(name, runs))} | `{by}` |")
    if "neighbours" in runs:
        lines += ["", _neighbours(runs["neighbours"])]
    return lines


def _bound(name: str, requirements: list[str]) -> str:
    """Return the lower bound of a library in a list of requirements; empty if it is missing."""
    found = (re.fullmatch(rf"{name}(?:\[\w+\])?>=([\d.]+)", each) for each in requirements)
    return next((match[1] for match in found if match), "")


def _neighbours(run: Run) -> str:
    """Return the sentence about libraries in one environment with gymbridge."""
    names = {"ray": "RLlib", "skrl": "skrl", "stable-baselines3": "Stable-Baselines3"}
    names |= {"tianshou": "tianshou", "torchrl": "TorchRL"}
    plain = (each.partition("[")[0] for each in NEIGHBOURS)
    versions = run["versions"]
    every = [f"{names[name]} {versions[name]}" for name in plain]
    return (
        f"{', '.join(every[:-1])} and {every[-1]} install beside gymbridge in one\n"
        f"environment with Gymnasium {versions['gymnasium']} and PyTorch {versions['torch']}. "
        f"Each ran there on a wrapped environment on {_day(run['date'])}."
    )


def _run_with(name: str, runs: dict[str, Run]) -> list[str]:
    """Return the tested versions; versions tested on request have a date."""
    files = {each.constraints for each in SETTINGS.values() if each.constraints}
    found = set(chain.from_iterable(_pinned(name, file) for file in {*files, "constraints.txt"}))
    if name == "gymnasium":
        found |= set(chain.from_iterable(each.gymnasiums for each in SETTINGS.values()))
    days: dict[str, str] = {}
    if name == "torch":
        requested = [run for key, run in runs.items() if key.startswith("torch-")]
        days = {run["versions"][name]: run["date"] for run in requested}
    every = sorted(found | set(days), key=lambda each: [int(part) for part in each.split(".")])
    return [f"{each} ({_day(days[each])})" if each in days else each for each in every]


def _pinned(name: str, file: str) -> list[str]:
    text = (ROOT / "scripts" / file).read_text(encoding="utf-8")
    return re.findall(rf"(?m)^{name}==([\d.]+)$", text)


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return f"{day.day} {day:%B %Y}"
