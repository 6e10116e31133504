"""What every part of the suite is given: the pairs of a package, and the forms it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from gymbridge_runtime.core.errors import ConversionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import pytest
    from gymbridge_runtime.testing.pair import Pair, Sides
    from gymbridge_runtime.testing.side import Library

__all__ = ["PairTests", "outcome"]


def outcome(convert: Callable[[], object]) -> object:
    """Return what a conversion makes, or the error with which it refuses."""
    try:
        return convert()
    except ConversionError as error:
        return error


_FORMS: Final = {
    "form": frozenset({"single", "vector", "parallel", "batched"}),
    "recorded_form": frozenset({"single", "batched"}),  # Gymnasium keeps no other specs
}
"""The forms that a test is run with, by what it calls them."""


class PairTests:
    """Runs every test over all pairs, and over all forms where it asks for one."""

    pairs: ClassVar[tuple[Pair, ...]] = ()
    """The pairs to test; the suite of a generated package knows its own."""
    libraries: ClassVar[Mapping[str, Library]] = {}
    """How the arrays of libraries are made and read, where that is not left to their backends."""
    required: ClassVar[Collection[str]] = ()
    """The libraries that have to be installed; without the others their tests are skipped."""
    forms: ClassVar[Collection[str] | None] = None
    """The forms to test; by default all that the package has."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give tests their pairs: pytest calls this while it collects."""
        asked = metafunc.fixturenames
        for name, known in _FORMS.items():
            if name in asked:
                both = [
                    (pair, form)
                    for pair in self.pairs
                    for form in pair.forms
                    if form in known and (self.forms is None or form in self.forms)
                ]
                ids = [f"{pair}-{form}" for pair, form in both]
                metafunc.parametrize(("pair", name), both, ids=ids)
                return
        if "pair" in asked:
            metafunc.parametrize("pair", self.pairs, ids=str)

    def sides(self, pair: Pair) -> Sides:
        """Return the libraries of a pair, or skip the test where one is missing."""
        return pair.sides(self.libraries, self.required)

    def skip(self, reason: str) -> None:
        """Skip the test."""
        import pytest

        pytest.skip(reason)
