"""The soak test finds growth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.soaks.gauges import LIMITS, Gauges, growth
from tests.support import require, run_python

if TYPE_CHECKING:
    from collections.abc import Callable

FLAT = Gauges(0, 50, 500, 6, 2, 36, 256, 17)


def over(looks: int, of: Callable[[int], Gauges]) -> dict[str, float]:
    return {limit.name: by for limit, by in growth([of(look) for look in range(looks)]).items()}


def too_much(found: dict[str, float]) -> list[str]:
    return [limit.name for limit in LIMITS if found[limit.name] > limit.most]


def test_growth_at_the_beginning_is_ignored() -> None:
    found = over(30, lambda look: FLAT._replace(traced=min(look, 9), resident=300 + min(look, 9)))
    assert too_much(found) == []
    assert found["traced"] == found["resident"] == 0


@pytest.mark.parametrize(
    ("name", "each"),
    [("traced", 0.1), ("resident", 5), ("files", 1), ("threads", 1), ("environments", 1)],
)
def test_steady_growth_is_found(name: str, each: float) -> None:
    def grown(look: int) -> Gauges:
        return Gauges(**(FLAT._asdict() | {name: look * each}))

    found = over(30, grown)
    assert too_much(found) == [name]


@pytest.mark.parametrize(("name", "number"), [("compiled", 257), ("remembered", 1025)])
def test_a_bounded_value_must_stay_below_its_bound(name: str, number: int) -> None:
    at_once = over(9, lambda look: Gauges(**(FLAT._asdict() | {name: number * (look == 1)})))
    assert too_much(at_once) == [name]


_LEAKING = """
from scripts.soaks import command, worlds

command.STEPS, command.LEAST_LOOKS = 12, 12
soak = ["--minutes", "0", "--pair", "numpy_to_torch"]
assert command.main("", soak) == 0
kept = []
seen = worlds.Shifting._seen

def leaking(self):
    kept.append(open("/dev/null"))
    kept.append(worlds.Shifting())
    return seen(self)

worlds.Shifting._seen = leaking
assert command.main("", soak) == 1
"""


@pytest.mark.slow
def test_a_leak_of_an_environment_is_found() -> None:
    require("torch")
    require("jax")
    flat, leaking = run_python(_LEAKING).split(" steps, and nothing has grown")
    assert "is the limit" not in flat
    for name in ("traced", "files", "environments"):
        assert f"\n{name}: " in leaking
