"""What is written by hand in the benchmark does exactly what gymbridge does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gymbridge_tools.benchmark.cases import CASES
from gymbridge_tools.benchmark.pairs import PAIRS
from tests.environments.bridges import same
from tests.libraries.jax import jax
from tests.libraries.torch import torch
from tests.support import LIBRARIES, Array, Library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_tools.benchmark.contest import Contest

ROWS = [(case, pair) for case in CASES for pair in CASES[case].floors]
OF_CONVERTERS = {"array", "array-copy", "number", "arrays", "images", "images-copy"}
CONVERSIONS = [row for row in ROWS if row[0] in OF_CONVERTERS]
STEPS = [row for row in ROWS if row[0] not in OF_CONVERTERS]


def contest_of(case: str, pair: str) -> Contest:
    return CASES[case].contest(PAIRS[pair], CASES[case].floors[pair])


def arrays_in(tree: Array) -> Iterator[Array]:
    """Yield the arrays in ``tree``, NumPy's scalars excepted: they own their memory."""
    if isinstance(tree, dict):
        for child in tree.values():
            yield from arrays_in(child)
    elif isinstance(tree, (tuple, list)):
        for child in tree:
            yield from arrays_in(child)
    elif isinstance(tree, (np.ndarray, torch.Tensor, jax.Array)):
        yield tree


def library_of(array: Array) -> Library:
    return next(library for library in LIBRARIES.values() if library.is_array(array))


def addresses(tree: Array) -> set[int]:
    return {library_of(array).address(array) for array in arrays_in(tree)}


def treatment(result: Array, source: Array) -> list[tuple[bool, bool]]:
    """Tell of every array in ``result`` whether it shares memory and whether it is writable."""
    taken = addresses(source)
    return [
        (
            library_of(array).address(array) in taken,
            not isinstance(array, np.ndarray) or array.flags.writeable,
        )
        for array in arrays_in(result)
    ]


@pytest.mark.parametrize(("case", "pair"), CONVERSIONS)
def test_a_floor_converts_like_gymbridge(case: str, pair: str) -> None:
    contest = contest_of(case, pair)
    [one] = contest.prepare("floor", 1)
    [other] = contest.prepare("gymbridge", 1)
    by_hand, bridged = contest.calls["floor"](one), contest.calls["gymbridge"](other)
    same(by_hand, bridged)
    assert treatment(by_hand, one) == treatment(bridged, other)


@pytest.mark.parametrize(("case", "pair"), STEPS)
def test_the_floor_of_a_wrapper_steps_like_gymbridge(case: str, pair: str) -> None:
    contest = contest_of(case, pair)
    world: Array = getattr(contest.calls["bare"], "__self__", None)
    step, inside = world.step, []

    def watched(action: Array) -> Array:
        inside.append((action, step(action)))
        return inside[-1][1]

    world.step = watched  # wrappers look it up whenever they step
    outside = [
        (action, contest.calls[column](action))
        for column in ("floor", "gymbridge")
        for action in contest.prepare(column, 1)
    ]
    (action, step_by_hand), (other_action, bridged_step) = outside
    (arrived, bare), (other_arrived, other_bare) = inside

    same(arrived, other_arrived)
    assert treatment(arrived, action) == treatment(other_arrived, other_action)
    same(step_by_hand, bridged_step)
    assert treatment(step_by_hand, bare) == treatment(bridged_step, other_bare)


@pytest.mark.parametrize("pair", ["numpy_to_torch"])
def test_a_floor_does_not_write_through_read_only_memory(pair: str) -> None:
    array = np.ones(8, np.float32)
    array.flags.writeable = False
    result = CASES["array"].floors[pair](array)
    assert isinstance(result, torch.Tensor)
    result.zero_()
    assert array.all()


@pytest.mark.parametrize("source", ["numpy", "torch"])
@pytest.mark.parametrize("case", ["array", "images"])
def test_a_floor_keeps_what_goes_into_jax_from_changing(case: str, source: str) -> None:
    contest = contest_of(case, f"{source}_to_jax")
    array: Array = contest.prepare("floor", 1)[0]
    values = LIBRARIES[source].values(array)
    result = contest.calls["floor"](array)
    array[...] = 7
    np.testing.assert_array_equal(np.asarray(result), values)


@pytest.mark.parametrize("pair", ["numpy_to_torch", "torch_to_jax", "jax_to_numpy"])
def test_every_step_is_made_of_new_arrays(pair: str) -> None:
    contest = contest_of("vector", pair)
    actions = contest.prepare("bare", 3)
    steps = [contest.calls["bare"](action) for action in actions]
    assert len(addresses(steps)) == 3 * 4
