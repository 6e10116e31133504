"""`scripts/compare.py` compares libraries that return the same observations."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from gymbridge_tools.benchmark.worlds import Balanced, BalancedVector
from scripts.compare import WAYS, Way, bare, contest

if TYPE_CHECKING:
    from collections.abc import Callable

WORLDS = [Balanced, partial(BalancedVector, vectorization_mode="sync")]


@pytest.mark.parametrize("world", WORLDS, ids=["one", "vector"])
def test_every_library_returns_the_same_observations(world: Callable[[], Any]) -> None:
    # TorchRL does not take the default autoreset mode
    ways = [name for name in WAYS if find_spec(WAYS[name][0]) and name != "TorchRL"]
    assert {"bare", "gymbridge", "Gymnasium"} <= {*ways}
    compared = contest(world, ways)
    for name, step in compared.calls.items():
        for action in compared.prepare(name, 3):
            step(action)


def test_a_library_with_other_observations_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(world: Balanced) -> Way:
        way = bare(world)
        return way._replace(step=lambda action: way.step(action) + 1)

    monkeypatch.setitem(WAYS, "late", ("gymnasium", late))
    with pytest.raises(SystemExit, match="late does not return the observations"):
        contest(Balanced, ["bare", "late"])
