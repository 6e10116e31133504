"""Tests of ownership: every meaning of ``copy``, while sources are overwritten."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.errors import ConversionError, CopyRequiredError
from gymbridge_runtime.core.narrowing import is_host_array, is_mapping
from gymbridge_runtime.core.ownership import Ownership
from gymbridge_runtime.testing.base import PairTests, outcome
from gymbridge_runtime.testing.side import numbers_of, same_bytes
from gymbridge_runtime.testing.worlds import Echo
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.testing.pair import Pair, Sides
    from gymbridge_runtime.testing.side import Side
    from gymbridge_runtime.types import HostArray

_SIZES = (8, 4096, 100_000, 1 << 20)
"""Sizes in bytes: small arrays, and large ones that libraries prefer not to copy."""


def _numbers(size: int) -> HostArray:
    """Return ``size`` bytes of numbers, aligned for every library."""
    raw = np.zeros(size + 128, np.uint8)
    start = -raw.ctypes.data % 128
    numbers = raw[start : start + size].view(np.float32)
    numbers[...] = np.arange(numbers.size) % 1021 + 1
    return numbers


def _made(side: Side, size: int) -> object:
    numbers = _numbers(size)
    return numbers if side.backend is NUMPY else side.make(numbers)


def are_on_host(sides: Sides) -> bool:
    """Tell whether the arrays of both sides have addresses in host memory."""
    return not (sides.source.shows_copies or sides.target.shows_copies)


def shares(sides: Sides) -> bool:
    """Tell whether ``copy=None`` shares memory that both sides may write."""
    source, target = sides.source.backend, sides.target.backend
    writable = source.mutable and source.writable_views and target.mutable
    return writable and are_on_host(sides) and not target.copies_in


class OwnershipTests(PairTests):
    """Snapshots never change, immutable memory is never written, and no copy is hidden."""

    def test_a_snapshot_does_not_change_when_its_source_is_overwritten(self, pair: Pair) -> None:
        """Sources of every size are overwritten at once, so late or missing copies fail."""
        sides = self.sides(pair)
        attacked = 0
        for size in _SIZES:
            for name, convert in self._snapshots(pair, sides).items():
                array = _made(sides.source, size)
                before = sides.source.values(array)
                result = convert(array)
                attacked += sides.source.overwrite(array)
                found = sides.target.values(result)
                assert same_bytes(found, before), f"{size} bytes, {name}"
        assert attacked or not sides.source.backend.mutable or _shows_only(sides.source)

    def _snapshots(self, pair: Pair, sides: Sides) -> dict[str, Callable[[object], object]]:
        ways: dict[str, Callable[[object], object]] = {
            "copy=True": lambda array: pair.convert(array, copy=True),
            "the default of wrappers for actions": Converter(
                sides.target.backend, default=Ownership.SNAPSHOT
            ),
        }
        if not shares(sides):
            ways["copy=None"] = pair.convert
        return ways

    def test_memory_is_shared_where_both_libraries_allow(self, pair: Pair) -> None:
        """Addresses are compared, at every size: nothing is copied without need."""
        sides = self.sides(pair)
        if not shares(sides):
            self.skip(f"{pair.source} and {pair.target} share nothing that both may write into")
        array = _made(sides.source, 4096)
        result = pair.convert(array)
        assert sides.target.address(result) == sides.source.address(array)
        assert sides.source.overwrite(array)
        assert same_bytes(sides.target.values(result), sides.source.values(array))

    def test_immutable_memory_is_never_written(self, pair: Pair) -> None:
        """No result gives write access to immutable or read-only memory."""
        sides = self.sides(pair)
        backend = sides.source.backend
        if backend.mutable and backend.writable_views and backend is not NUMPY:
            self.skip(f"arrays of {backend.title} may change")
        for copy in (None, True, False):
            array = _made(sides.source, 4096)
            if is_host_array(array):
                array.flags.writeable = False  # like a memory-mapped file
            before = sides.source.values(array)
            result = outcome(partial(pair.convert, array, copy=copy))
            if isinstance(result, ConversionError):
                assert (type(result), copy) == (CopyRequiredError, False)
                continue
            _ = sides.target.overwrite(result)
            assert same_bytes(sides.source.values(array), before), f"copy={copy}"

    def test_copy_true_copies(self, pair: Pair) -> None:
        """The result owns its memory, and is writable if the library's arrays are."""
        sides = self.sides(pair)
        for size in _SIZES:
            array = _made(sides.source, size)
            result = pair.convert(array, copy=True)
            if are_on_host(sides):
                assert sides.target.address(result) != sides.source.address(array)
            if sides.target.backend.writable_views:
                assert sides.target.is_writable(result) is sides.target.backend.mutable
        own = sides.target.make(_numbers(64))
        assert pair.convert(own, copy=True) is not own

    def test_copy_false_shares_or_names_the_leaf(self, pair: Pair) -> None:
        """No copy is made silently."""
        sides = self.sides(pair)
        array = _made(sides.source, 4096)
        result = outcome(lambda: pair.convert({"a": array}, copy=False))
        if isinstance(result, ConversionError):
            assert isinstance(result, CopyRequiredError)
            assert result.path == "value['a']"
            assert not shares(sides), str(result)
            return
        assert is_mapping(result)
        assert sides.target.address(result["a"]) == sides.source.address(array)

    def test_an_environment_and_its_agent_do_not_share_an_action(self, pair: Pair) -> None:
        """Each may write into its own array afterwards."""
        sides = self.sides(pair)
        if "single" not in pair.forms:
            self.skip(f"{pair.package} has no wrappers for single environments")
        env = Echo(spaces.Box(-2000, 2000, (1024,), np.float32))
        action = _made(sides.target, 4096)
        before = sides.target.values(action)
        _ = pair.wrap("single", env).step(action)
        received = numbers_of(env.received)
        assert received is not None
        assert same_bytes(received, before)
        if sides.source.overwrite(env.received):
            assert same_bytes(sides.target.values(action), before)
            _ = pair.wrap("single", env).step(action)
        _ = sides.target.overwrite(action)
        received = numbers_of(env.received)
        assert received is not None
        assert same_bytes(received, before)


def _shows_only(side: Side) -> bool:
    """Tell whether host views of a library's arrays are read-only, or are copies."""
    return side.shows_copies or not side.backend.writable_views
