"""The conformance suite, run with every library of the catalogue."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, ClassVar

import pytest
from gymbridge_runtime.testing import BridgeSuite, Library, Pair

from tests.catalogue.bridges import package_of
from tests.catalogue.conftest import INSTALLED, PARTNERS, WANTED
from tests.catalogue.libraries import CATALOGUE
from tests.support import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = WANTED or INSTALLED


def _pairs() -> list[Pair]:
    forms = {"single": "", "vector": "vector"}
    return [
        Pair(package_of(name), a, b, f"{a.capitalize()}To{b.capitalize()}", forms)
        for name in NAMES
        for partner in PARTNERS
        for a, b in permutations((name, partner))
    ]


@pytest.mark.usefixtures("bridges")
class TestCatalogue(BridgeSuite):
    pairs: ClassVar[tuple[Pair, ...]] = tuple(_pairs())
    libraries: ClassVar[Mapping[str, Library]] = {**LIBRARIES, **CATALOGUE}
    required: ClassVar[tuple[str, ...]] = NAMES
