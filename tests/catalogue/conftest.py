"""Fixtures: the libraries of the catalogue that are installed.

``GYMBRIDGE_CATALOGUE=warp,pyarrow`` names libraries that must be installed: their tests are never
skipped. `nox -s catalogue` sets it, in an environment for each library.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from gymbridge_generator.commands import generate
from tests.catalogue.bridges import Bridges, package_of
from tests.catalogue.libraries import CATALOGUE, CatalogueLibrary
from tests.support import LIBRARIES, Library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WANTED = tuple(filter(None, os.environ.get("GYMBRIDGE_CATALOGUE", "").split(",")))
INSTALLED = tuple(name for name, one in CATALOGUE.items() if find_spec(one.module) is not None)
PARTNERS = tuple(name for name in LIBRARIES if find_spec(name) is not None)


@cache
def imported(module: str) -> None:
    """Import a library, whatever it has to say about the machine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module(module)


@pytest.fixture(scope="session", params=WANTED or INSTALLED or [""])
def entry(request: pytest.FixtureRequest) -> CatalogueLibrary:
    """Every library of the catalogue that is tested, one after the other."""
    name: str = request.param
    if not name:
        pytest.skip(f"none of {', '.join(CATALOGUE)} is installed")
    imported(CATALOGUE[name].module)
    return CATALOGUE[name]


@pytest.fixture(params=PARTNERS)
def partner(request: pytest.FixtureRequest) -> Library:
    """Every other library that is there, one after the other."""
    return LIBRARIES[request.param]


@pytest.fixture(scope="session")
def bridges(entry: CatalogueLibrary, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bridges]:
    """A package of wrappers between the library and all others, made by the command."""
    folder: Path = tmp_path_factory.mktemp("catalogue")
    package = package_of(entry.name)
    generate(None, folder / package, (entry.name, *PARTNERS), force=False)
    sys.path.insert(0, str(folder))
    yield Bridges(folder, package)
    sys.path.remove(str(folder))
