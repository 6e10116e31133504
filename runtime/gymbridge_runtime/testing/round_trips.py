"""Tests of round trips: values that both libraries hold come back unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.testing.base import PairTests
from gymbridge_runtime.testing.expectation import Expectation
from gymbridge_runtime.testing.leaves import DTYPES, sample
from gymbridge_runtime.testing.side import same_bytes

if TYPE_CHECKING:
    from gymbridge_runtime.testing.pair import Pair


class RoundTripTests(PairTests):
    """Converters of both directions undo each other, and do not change their sources."""

    def test_a_round_trip_keeps_every_common_dtype(self, pair: Pair) -> None:
        """Every dtype with every ``copy``, in a tree with other values."""
        sides = self.sides(pair)
        expect = Expectation(sides.source)
        compared = 0
        for dtype in DTYPES:
            for shape in ((), (0,), (2, 3)):
                values = sample(shape, dtype)
                if not (sides.source.keeps(values) and sides.target.keeps(values)):
                    continue
                tree = {"array": sides.source.make(values), "rest": ("text", None, [True])}
                for copy in (None, True):
                    back = pair.convert_back(pair.convert(tree, copy=copy), copy=copy)
                    wrong = list(expect.differences(back, tree, f"{dtype} of shape {shape}"))
                    assert not wrong, "; ".join(map(str, wrong))
                    compared += 1
        assert compared > 0, f"{pair.source} and {pair.target} have no dtype in common"

    def test_a_conversion_does_not_change_its_source(self, pair: Pair) -> None:
        """A conversion does not change its input."""
        sides = self.sides(pair)
        values = sample((2, 3), "float32")
        array = sides.source.make(values)
        tree: dict[str, object] = {"a": array, "b": [array, "text"]}
        below = tree["b"]
        for copy in (None, True):
            _ = pair.convert(tree, copy=copy)
            assert list(tree) == ["a", "b"]
            assert tree["a"] is array
            assert tree["b"] is below
            assert same_bytes(sides.source.values(array), values)
