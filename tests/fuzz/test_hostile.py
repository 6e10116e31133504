"""Hostile values crash nothing, do not hang, and do not change other values."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gymbridge import ConversionError, CopyRequiredError
from tests.environments.bridges import bridge
from tests.faults.worlds import Scripted, fine
from tests.fuzz.hostile import HOSTILE, Expected, Sample
from tests.support import PAIRS, Array, Host, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

QUICK = [what for what, expected in HOSTILE.items() if not expected.slow]


def outcome(convert: Callable[[], Sample]) -> tuple[Sample, BaseException | None]:
    """Return the result of ``convert`` or its error; any other error is a failure."""
    try:
        return convert(), None
    except (ConversionError, KeyboardInterrupt, SystemExit, GeneratorExit) as error:
        return None, error


def judge(error: BaseException | None, expected: Expected, path: str) -> None:
    """Fail unless ``error`` is the expected one for the value at ``path``."""
    if isinstance(error, ConversionError):
        assert not expected.stays, str(error)
        assert error.problem.startswith(expected.refused), str(error)
        assert error.path.startswith(path), str(error)
        assert len(str(error)) < 1000
    else:
        assert type(error) is (expected.passes or type(None))
        assert error is not None or not expected.refused, "this has to be refused"


def attack(pair: Pair, what: str, copy: bool | None, depth: int) -> None:
    """Convert a hostile value between two good ones, and check all three."""
    expected = HOSTILE[what]
    value: Sample = expected.make()
    beside = [pair.source.make(np.array([i, 2], np.float32)) for i in range(2)]
    tree: Array = [beside[0], value, beside[1]]
    for _ in range(depth):
        tree = [tree]
    result, error = outcome(lambda: pair.convert(tree, copy=copy))
    for i, array in enumerate(beside):
        assert pair.source.values(array).tolist() == [i, 2], "it has changed what is beside it"
    if copy is False and isinstance(error, CopyRequiredError):
        return  # other values may be refused together with it
    judge(error, expected, "value" + "[0]" * depth + "[1]")
    if error is None:
        for _ in range(depth):
            (result,) = result
        assert len(result) == 3
        for i in range(2):
            assert pair.target.values(result[2 * i]).tolist() == [i, 2]
        assert result[1] is value or not expected.stays


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_value_is_converted_kept_or_refused(what: str) -> None:
    if HOSTILE[what].slow:
        attack(Pair("numpy", "torch"), what, None, 1)
        return
    for pair in PAIRS:
        pair.require()
        for copy, depth in ((None, 0), (None, 1), (None, 30), (True, 0), (True, 30), (False, 1)):
            attack(pair, what, copy, depth)


@pytest.mark.parametrize("what", QUICK)
def test_a_hostile_info_leaves_the_wrapper_usable(what: str) -> None:
    expected = HOSTILE[what]

    def told() -> Sample:
        obs, reward, terminated, truncated, _ = fine()
        return obs, reward, terminated, truncated, {"hostile": expected.make()}

    for name in ("torch", "jax", "mlx"):
        pair = Pair("numpy", name)
        pair.require()
        agent = bridge(pair, Scripted(told, told))
        agent.reset()
        for _ in range(2):
            step, error = outcome(partial(agent.step, agent.sample_action()))
            # one call imports all arrays of a step; its error does not name the array
            is_of_a_step = str(error).startswith("obs: JAX could not make the array: ")
            judge(error, expected, "obs" if is_of_a_step else "info['hostile']")
            assert error is not None or list(step[4]) == ["hostile"]
        obs = agent.step(agent.sample_action())[0]
        assert pair.target.values(obs).tolist() == [0, 1, 2]


def test_arrays_beside_a_hostile_value_are_not_kept_alive() -> None:
    gone: dict[str, weakref.ref[Host]] = {}

    def convert(what: str) -> Sample:
        beside = np.ones(1000, np.float32)
        gone[what] = weakref.ref(beside)
        return Pair("numpy", "torch").convert([beside, HOSTILE[what].make()])

    for what in QUICK:
        outcome(partial(convert, what))
    gc.collect()
    assert [what for what, reference in gone.items() if reference() is not None] == []
