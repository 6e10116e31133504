"""Tests of leaves: arrays, numbers and everything else."""

from __future__ import annotations

import enum
import math
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from gymbridge_runtime.core.dtypes import is_integer
from gymbridge_runtime.core.errors import ConversionError
from gymbridge_runtime.core.narrowing import getattr_untyped, is_mapping, is_sequence
from gymbridge_runtime.testing.base import PairTests, outcome
from gymbridge_runtime.testing.expectation import Expectation

if TYPE_CHECKING:
    from gymbridge_runtime.testing.pair import Pair
    from gymbridge_runtime.testing.side import Side
    from gymbridge_runtime.types import HostArray

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_SHAPES = ((), (1,), (0,), (3,), (2, 3), (0, 4), (1, 2, 3, 4))


class _Colour(enum.IntEnum):
    RED = 1


class _Anything:
    pass


_KEPT: tuple[object, ...] = (
    *(True, False, None, "text", b"text", np.str_("text"), np.bytes_(b"text")),
    *(np.datetime64("2024-01-01"), np.timedelta64(3, "s"), _Colour.RED, {1, 2}, range(3)),
    *(_Anything(), _Anything, print, np.array(["north", "south"]), np.array(["2024"], "M8[D]")),
)
_NUMBERS: tuple[object, ...] = (
    *(0, -7, 1_700_000_000.123456, float("inf"), -0.0, 1 + 2j, np.bool_(True), np.int8(3)),
    *(np.uint16(9), np.float32(0.1), np.float64(0.1)),
)


class _Named(NamedTuple):
    first: object
    second: object


@dataclass(frozen=True)
class _Record:
    first: object
    second: object


def sample(shape: tuple[int, ...], dtype: str) -> HostArray:
    """Return different numbers that every dtype can hold."""
    count = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
    return count % 2 == 0 if dtype == "bool" else np.power(2.0, count % 5).astype(dtype)


class LeafTests(PairTests):
    """Every leaf is converted by the table, or is refused with its path."""

    def test_arrays_keep_dtype_shape_and_every_bit(self, pair: Pair) -> None:
        """Arrays of a dtype that the target lacks are narrowed or refused."""
        sides = self.sides(pair)
        compared = 0
        for dtype in DTYPES:
            for shape in _SHAPES:
                values = sample(shape, dtype)
                if not sides.source.keeps(values):
                    continue
                for copy in (None, True):
                    compared += self._one(
                        pair, sides.target, sides.source.make(values), values, copy
                    )
        assert compared > 0, f"{pair.source} and {pair.target} have no dtype in common"

    def _one(
        self, pair: Pair, target: Side, array: object, values: HostArray, copy: bool | None
    ) -> int:
        what = f"{values.dtype} of shape {values.shape}, copy={copy}"
        if target.refuses(values):
            refusal = outcome(lambda: pair.convert({"leaf": array}, copy=copy))
            assert isinstance(refusal, ConversionError), f"{what} became {refusal!r}"
            assert refusal.path == "value['leaf']", what
            return 0
        expect = Expectation(target)
        differences = list(expect.differences(pair.convert(array, copy=copy), values, what))
        assert not differences, "; ".join(map(str, differences))
        return 1

    def test_integers_keep_their_value_or_are_refused(self, pair: Pair) -> None:
        """The largest integer of a dtype fits no narrower one, and no integer changes."""
        sides = self.sides(pair)
        expect = Expectation(sides.target)
        tried = 0
        for dtype in filter(is_integer, map(np.dtype, DTYPES)):
            values = np.array([np.iinfo(dtype).max], dtype)
            if not sides.source.keeps(values):
                continue
            tried += 1
            found = outcome(partial(pair.convert, {"a": [sides.source.make(values)]}))
            if sides.target.stored(dtype) == dtype:
                assert not list(expect.differences(found, {"a": [values]}, "value"))
            else:
                assert isinstance(found, ConversionError), f"{values} became {found!r}"
                assert found.path == "value['a'][0]"
        if not tried:
            import pytest

            pytest.skip(f"{pair.source} has no integers")

    def test_numbers_keep_their_value(self, pair: Pair) -> None:
        """Python's and NumPy's numbers become arrays without dimensions."""
        sides = self.sides(pair)
        expect = Expectation(sides.target)
        for number in _NUMBERS:
            values = np.asarray(number)
            if not sides.target.refuses(values):
                found = pair.convert({"number": number})
                assert not list(expect.differences(found, {"number": number}, "value"))

    def test_other_values_stay_themselves(self, pair: Pair) -> None:
        """No other value is taken for an array or a container."""
        _ = self.sides(pair)
        for value in _KEPT:
            assert pair.convert(value) is value, f"{value!r} became {pair.convert(value)!r}"
            held, mapped = pair.convert([value]), pair.convert({"a": value})
            assert is_sequence(held)
            assert is_mapping(mapped)
            assert held[0] is value, f"[{value!r}] became {held!r}"
            assert mapped["a"] is value, f"{value!r} below a key became {mapped!r}"

    def test_containers_keep_type_keys_and_order(self, pair: Pair) -> None:
        """Leaves are converted in every container."""
        sides = self.sides(pair)
        values = sample((3,), "float32")
        array = sides.source.make(values)
        objects = np.empty((2,), object)
        objects[0], objects[1] = array, "text"  # np.array would unpack the array
        defaults: dict[str, object] = defaultdict(list[object], a=array)
        containers: tuple[object, ...] = (
            {"b": array, 1: [array, {"c": (array,)}], "a": None},
            OrderedDict[str, object](b=array, a="text"),
            defaults,
            deque([array, "text"]),
            (array, [array], ()),
            _Named(array, {"a": array}),
            _Record(array, None),
            objects,
        )
        expect = Expectation(sides.target)
        for container in containers:
            found = pair.convert(container)
            assert not list(expect.differences(found, container, "value"))
        kept = getattr_untyped(pair.convert(defaults), "default_factory")
        assert kept is getattr_untyped(defaults, "default_factory")
        bounded = deque([array], maxlen=5)
        assert getattr_untyped(pair.convert(bounded), "maxlen") == bounded.maxlen
        assert expect.leaves >= len(containers)

    def test_arrays_of_the_target_are_returned_themselves(self, pair: Pair) -> None:
        """An array of the agent's library is returned itself."""
        sides = self.sides(pair)
        own = sides.target.make(sample((3,), "float32"))
        found = pair.convert([own])
        assert is_sequence(found)
        assert found[0] is own

    def test_a_container_that_contains_itself_is_an_error(self, pair: Pair) -> None:
        """No conversion is endless."""
        _ = self.sides(pair)
        cycle: dict[str, object] = {}
        cycle["again"] = [cycle]
        refusal = outcome(lambda: pair.convert(cycle))
        assert isinstance(refusal, ConversionError), f"a cycle became {type(refusal)}"
        assert "contains itself" in str(refusal)
