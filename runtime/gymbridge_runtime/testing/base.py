"""The base of all parts of the suite: the pairs and forms of a package."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from gymbridge_runtime.core.errors import ConversionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import pytest
    from gymbridge_runtime.testing.pair import Pair, Sides
    from gymbridge_runtime.testing.side import Library


def outcome(convert: Callable[[], object]) -> object:
    """Return the result of a conversion, or its error."""
    try:
        return convert()
    except ConversionError as error:
        return error


_FORMS: Final = {
    "form": frozenset({"single", "vector", "parallel", "batched"}),
    "recorded_form": frozenset({"single", "batched"}),  # Gymnasium has no specs for other forms
}
"""The forms of a test, by the name of its parameter."""


class PairTests:
    """Runs every test for all pairs, and for all forms if it has a form parameter."""

    pairs: ClassVar[tuple[Pair, ...]] = ()
    """The pairs to test; the suite of a generated package sets them."""
    libraries: ClassVar[Mapping[str, Library]] = {}
    """How to make and read arrays of a library without its backend."""
    required: ClassVar[Collection[str]] = ()
    """The libraries that must be installed; tests of other missing libraries are skipped."""
    forms: ClassVar[Collection[str] | None] = None
    """The forms to test; by default all forms of the package."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Parametrise the tests; pytest calls this during the collection."""
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
        """Return the libraries of a pair; skip the test if one is missing."""
        return pair.sides(self.libraries, self.required)

    def skip(self, reason: str) -> None:
        """Skip the test."""
        import pytest

        pytest.skip(reason)
