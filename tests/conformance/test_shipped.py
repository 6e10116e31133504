"""The conformance suite, run with the shipped wrappers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from gymbridge import testing
from tests.support import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class TestShipped(testing.BridgeSuite):
    # make and read arrays without the code under test
    libraries: ClassVar[Mapping[str, testing.Library]] = LIBRARIES
    required: ClassVar[Collection[str]] = [*LIBRARIES] if os.environ.get("CI") else ()


class TestWithoutDescribedLibraries(testing.BridgeSuite):
    """The backends make and read the arrays, as in a user's suite."""

    pairs: ClassVar[tuple[testing.Pair, ...]] = tuple(
        pair for pair in testing.BridgeSuite.pairs if {pair.source, pair.target} == {"numpy", "jax"}
    )

    def test_a_suite_may_have_other_tests(self) -> None:
        """A test without the fixture `pair` is not parametrised."""
        assert len({str(pair) for pair in self.pairs}) == len(self.pairs) == 2
