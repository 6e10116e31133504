"""The hand-written code in the benchmark does exactly what gymbridge does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gymbridge_tools.benchmark.by_hand import compiled
from gymbridge_tools.benchmark.cases import CASES, cases_on
from gymbridge_tools.benchmark.contest import contest_of
from gymbridge_tools.benchmark.pairs import PAIRS
from gymbridge_tools.benchmark.worlds import Values
from tests.environments.bridges import same
from tests.libraries.jax import jax
from tests.libraries.torch import torch
from tests.support import LIBRARIES, Array, Library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_tools.benchmark.contest import Contest

PAIR = PAIRS["numpy_to_torch"]
OF_CONVERTERS = [name for name, case in CASES.items() if isinstance(case.world(PAIR), Values)]
ROWS = [(name, pair) for name, case in CASES.items() for pair in case.pairs]
CONVERSIONS = [row for row in ROWS if row[0] in OF_CONVERTERS]
STEPS = [row for row in ROWS if row[0] not in OF_CONVERTERS]
HELD = [row for row in ROWS if CASES[row[0]].held]
ON_A_DEVICE = [(name, pair) for name, case in cases_on("cpu").items() for pair in case.pairs]


def contest(case: str, pair: str) -> Contest:
    return contest_of(CASES[case], PAIRS[pair])


def arrays_in(tree: Array) -> Iterator[Array]:
    """Yield the arrays in ``tree``, without NumPy scalars, which own their memory."""
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


def treatment(result: Array, taken: set[int]) -> list[tuple[bool, bool]]:
    """Return for every array whether it shares memory and whether it is writable."""
    return [
        (
            library_of(array).address(array) in taken,
            not isinstance(array, np.ndarray) or array.flags.writeable,
        )
        for array in arrays_in(result)
    ]


def steps(measured: Contest, *, holds: bool) -> list[tuple[Array, Array, set[int], Array]]:
    """Step by hand and with gymbridge; return the actions and results of both.

    Only the addresses of the environment's results are recorded, unless the test ``holds`` the
    arrays: gymbridge copies an array that somebody holds.
    """
    world: Array = getattr(measured.calls["bare"], "__self__", None)
    step, inside, held = world.step, [], []

    def watched(action: Array) -> Array:
        told = step(action)
        inside.append((action, addresses(told)))
        if holds:
            held.append(told)
        return told

    world.step = watched  # wrappers look `step` up in every call
    outside = [
        (action, measured.calls[column](action))
        for column in ("by_hand", "gymbridge")
        for action in measured.prepare(column, 1)
    ]
    return [
        (action, arrived, taken, result)
        for (action, result), (arrived, taken) in zip(outside, inside, strict=True)
    ]


@pytest.mark.parametrize(("case", "pair"), CONVERSIONS)
def test_code_by_hand_converts_like_gymbridge(case: str, pair: str) -> None:
    measured = contest(case, pair)
    [one] = measured.prepare("by_hand", 1)
    [other] = measured.prepare("gymbridge", 1)
    by_hand, bridged = measured.calls["by_hand"](one), measured.calls["gymbridge"](other)
    same(by_hand, bridged)
    assert treatment(by_hand, addresses(one)) == treatment(bridged, addresses(other))


@pytest.mark.parametrize(("case", "pair"), STEPS)
def test_code_by_hand_steps_like_gymbridge(case: str, pair: str) -> None:
    (action, arrived, taken, by_hand), (other_action, other_arrived, other_taken, bridged) = steps(
        # JAX takes over fresh memory if it is aligned
        contest(case, pair),
        holds=PAIRS[pair].target == "jax",
    )
    same(arrived, other_arrived)
    assert treatment(arrived, addresses(action)) == treatment(
        other_arrived, addresses(other_action)
    )
    same(by_hand, bridged)
    assert treatment(by_hand, taken) == treatment(bridged, other_taken)


@pytest.mark.parametrize(("case", "pair"), ON_A_DEVICE)
def test_code_by_hand_for_another_device_steps_like_gymbridge(case: str, pair: str) -> None:
    measured = contest_of(cases_on("cpu")[case], PAIRS[pair])
    by_hand, bridged = (
        measured.calls[column](action)
        for column in ("by_hand", "gymbridge")
        for action in measured.prepare(column, 1)
    )
    same(by_hand, bridged)


@pytest.mark.parametrize(("case", "pair"), HELD)
def test_code_by_hand_copies_an_array_that_the_environment_keeps(case: str, pair: str) -> None:
    measured = contest(case, pair)
    actions = measured.prepare("by_hand", 3)
    kept: list[Array] = [measured.calls["bare"](action) for action in actions]
    assert len(addresses([obs for obs, *_ in kept])) == 1
    [action] = measured.prepare("by_hand", 1)
    assert not addresses(measured.calls["by_hand"](action)) & addresses(kept)


@pytest.mark.parametrize("pair", ["numpy_to_torch"])
def test_code_by_hand_does_not_write_through_read_only_memory(pair: str) -> None:
    array = np.ones(8, np.float32)
    array.flags.writeable = False
    result = compiled(CASES["array"].by_hand(PAIRS[pair]))(array)
    assert isinstance(result, torch.Tensor)
    result.zero_()
    assert array.all()


@pytest.mark.parametrize("source", ["numpy", "torch"])
@pytest.mark.parametrize("case", ["array", "images"])
def test_code_by_hand_copies_into_jax(case: str, source: str) -> None:
    measured = contest(case, f"{source}_to_jax")
    array: Array = measured.prepare("by_hand", 1)[0]
    values = LIBRARIES[source].values(array)
    result = measured.calls["by_hand"](array)
    array[...] = 7
    np.testing.assert_array_equal(np.asarray(result), values)


@pytest.mark.parametrize("pair", ["numpy_to_torch", "torch_to_jax", "jax_to_numpy"])
def test_every_step_has_new_arrays(pair: str) -> None:
    measured = contest("vector", pair)
    actions = measured.prepare("bare", 3)
    made = [measured.calls["bare"](action) for action in actions]
    assert len(addresses(made)) == 3 * 4
