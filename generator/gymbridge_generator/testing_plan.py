"""Plans the module `testing` of a package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gymbridge_generator import naming
from gymbridge_generator.forms import FORMS
from gymbridge_generator.layout import fold

if TYPE_CHECKING:
    from gymbridge_generator.load import Selection


@dataclass(frozen=True)
class TestingPlan:
    """The test suite of one package, with its pairs."""

    __test__: ClassVar[bool] = False  # pytest would collect it as a test

    package: str
    """The package that examples import it from."""
    forms: str
    """The definition of the package's forms."""
    pairs: tuple[str, ...]

    @classmethod
    def of(cls, selection: Selection) -> TestingPlan:
        """Plan the module of a spec."""
        forms = [f'"{name}": "{FORMS[name].folder}"' for name in selection.spec.matrix.forms]
        return cls(
            package=selection.spec.package.name or "mine.bridges",
            forms=fold("_FORMS = {", forms, "}"),
            pairs=tuple(
                fold(
                    "Pair(",
                    [
                        "_PACKAGE",
                        f'"{source.name}"',
                        f'"{target.name}"',
                        f'"{naming.wrapper(source, target)}"',
                        "_FORMS",
                    ],
                    "),",
                    indent=8,
                )[:-1]  # a comma follows
                for source, target in selection.pairs
            ),
        )
