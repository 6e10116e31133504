"""The shipped wrappers, held to what users hold theirs to, by what they hold them with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from gymbridge import testing
from tests.support import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class TestShipped(testing.BridgeSuite):
    # arrays are made and read here without the code under test
    libraries: ClassVar[Mapping[str, testing.Library]] = LIBRARIES
    required: ClassVar[Collection[str]] = [*LIBRARIES] if os.environ.get("CI") else ()


class TestWithoutDescribedLibraries(testing.BridgeSuite):
    """With nothing but the backends to make and read arrays with."""

    pairs: ClassVar[tuple[testing.Pair, ...]] = tuple(
        pair for pair in testing.BridgeSuite.pairs if {pair.source, pair.target} == {"numpy", "jax"}
    )

    def test_a_suite_may_have_other_tests(self) -> None:
        """A suite may have tests that are about no pair: these are left alone."""
        assert len({str(pair) for pair in self.pairs}) == len(self.pairs) == 2
