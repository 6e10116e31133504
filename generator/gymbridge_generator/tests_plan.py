"""Plans the tests of a package: a module for pytest, and modules for type checkers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming
from gymbridge_generator.forms import FORMS
from gymbridge_generator.layout import import_block
from gymbridge_generator.plan import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gymbridge_generator.load import Selection
    from gymbridge_generator.model import Backend, Form


@dataclass(frozen=True)
class TestModulePlan:
    """The module that pytest runs."""

    package: str
    imports: str


@dataclass(frozen=True)
class PairTypesPlan:
    """The promises of one pair that a type checker can check."""

    source: str
    target: str
    imports: str
    single: bool
    vector: bool
    parallel: bool
    batched: bool

    @classmethod
    def of(
        cls, source: Backend, target: Backend, package: str, forms: Sequence[Form]
    ) -> PairTypesPlan:
        """Plan the module of one pair."""
        return cls(
            source=source.title,
            target=target.title,
            imports=import_block(_imports(source, target, package, forms)),
            single="single" in forms,
            vector="vector" in forms,
            parallel="parallel" in forms,
            batched="batched" in forms,
        )


_WRAPPERS: dict[Form, str] = {
    "single": "Wrapper",
    "vector": "VectorWrapper",
    "parallel": "ParallelWrapper",
    "batched": "BatchedWrapper",
}
"""The names of wrappers in these modules, the same for every pair."""

_ENVIRONMENTS: dict[Form, str] = {
    "single": "import gymnasium as gym",
    "vector": "from gymnasium.vector import VectorEnv",
    "parallel": "from gymbridge_runtime.wrappers.parallel_env import ParallelEnv",
    "batched": "from gymbridge_runtime.wrappers.batched_env import BatchedEnv",
}


def _imports(
    source: Backend, target: Backend, package: str, forms: Sequence[Form]
) -> Iterator[str]:
    yield "from typing import assert_type"
    yield "from gymbridge_runtime import types"
    yield f"from {package}.backends.{source.name} import {naming.Names.of(source).array} as A"
    yield f"from {package}.backends.{target.name} import {naming.Names.of(target).array} as B"
    forward, backward = naming.forward(source, target), naming.forward(target, source)
    yield f"from {package}.converters.{forward} import {forward} as convert"
    yield f"from {package}.converters.{backward} import {backward} as convert_back"
    for form in forms:
        folder = FORMS[form].folder
        below = f"{package}.{folder}" if folder else package
        yield f"from {below} import {naming.wrapper(source, target)} as {_WRAPPERS[form]}"
        yield _ENVIRONMENTS[form]


def plan_tests(selection: Selection, package: str) -> list[Page]:
    """Return the files that test the wrappers in ``package``."""
    module = TestModulePlan(package, import_block([f"from {package} import testing"]))
    last = package.rpartition(".")[2]
    pages = [Page(f"test_{last}.py", "test_module.py.jinja", module)]
    for source, target in selection.pairs:
        types = PairTypesPlan.of(source, target, package, selection.spec.matrix.forms)
        path = f"types_{naming.forward(source, target)}.py"
        pages.append(Page(path, "pair_types.py.jinja", types))
    return pages
