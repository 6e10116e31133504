"""Tests with environments that write into returned memory: stored values must not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import gymnasium as gym
import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.core.ownership import IS_PROVABLE
from gymbridge_runtime.testing.base import PairTests
from gymbridge_runtime.testing.batched_worlds import EchoBatched
from gymbridge_runtime.testing.expectation import Expectation, items_of
from gymbridge_runtime.testing.ownership import are_on_host, shares
from gymbridge_runtime.testing.parallel_worlds import EchoParallel
from gymbridge_runtime.testing.worlds import MOVE, EchoVector
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.testing.forms import Step, Wrapped
    from gymbridge_runtime.testing.pair import Pair
    from gymbridge_runtime.testing.side import Side
    from gymbridge_runtime.types import AnySpace, HostArray, Info

_T = TypeVar("_T")

_STEPS: Final = 20
"""More steps than JAX needs before it compiles a frequent import."""

_Tree: TypeAlias = "Callable[[object], object]"

_TREES: Final[dict[str, _Tree]] = {
    "an array": lambda array: array,
    "a dictionary": lambda array: {"a": array},
    "nested containers": lambda array: {"a": [(array,), "text"]},
}
"""The containers around an array, by name."""


class _Told:
    """One result of an environment, step by step: a buffer that it keeps, or new arrays.

    Args:
        side: The library of the environment.
        tree: Puts an array into its containers.
        keeps: Whether the environment keeps the result, and overwrites its array.
        values: The first array.
    """

    def __init__(self, side: Side, tree: _Tree, *, keeps: bool, values: HostArray) -> None:
        self._side: Side = side
        self._tree: _Tree = tree
        self._keeps: bool = keeps
        # in the dtype of the library, which may have no bool
        self._values: HostArray = values.astype(side.stored(values.dtype) or values.dtype)
        self._kept: tuple[object, object] | None = None
        # the next array might reuse freed memory
        self._alive: list[tuple[object, object]] = []
        self.addresses: list[int] = []
        """The address of each array's memory."""

    def values(self, number: int) -> HostArray:
        """Return the values of an array."""
        return np.full_like(self._values, number % 2 if self._values.dtype == bool else number)

    def expected(self, number: int) -> object:
        """Return the environment's result of a step, in NumPy arrays."""
        return self._tree(self.values(number))

    def next(self, into: type[_T] | None = None) -> _T:
        """Return the result of the next step, of whatever type the caller expects."""
        del into
        return cast("_T", self._next())

    def _next(self) -> object:
        values = self.values(len(self.addresses))
        if self._kept is not None and self._side.write(self._kept[0], values):
            self.addresses.append(self.addresses[-1])
            return self._kept[1]
        array = self._side.make(values)
        self.addresses.append(self._side.address(array))
        if not self._keeps:
            return self._tree(array)
        self._kept = array, self._tree(array)
        self._alive.append(self._kept)
        return self._kept[1]


class _Single(gym.Env[object, object]):
    action_space: AnySpace = MOVE
    observation_space: AnySpace = gym.Space()

    def __init__(self, told: dict[int, _Told]) -> None:
        self._told: dict[int, _Told] = told

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        return self._told[0].next(), self._told[4].next()

    @override
    def step(self, action: object) -> tuple[object, float, bool, bool, Info]:
        return self._told[0].next(), 0.0, False, False, self._told[4].next()


def _first(told: dict[int, _Told]) -> tuple[object, Info]:
    """Return what a reset returns, and move on with the results of a step as well."""
    results: list[object] = [each.next() for each in told.values()]
    return results[0], cast("Info", results[-1])


def _next(told: dict[int, _Told]) -> tuple[object, object, object, object, Info]:
    return told[0].next(), told[1].next(), told[2].next(), told[3].next(), told[4].next()


class _Vector(EchoVector):
    def __init__(self, told: dict[int, _Told]) -> None:
        super().__init__(MOVE)
        self._told: dict[int, _Told] = told

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        return _first(self._told)

    @override
    def step(self, actions: object) -> tuple[object, object, object, object, Info]:
        return _next(self._told)


class _Batched(EchoBatched):
    def __init__(self, told: dict[int, _Told]) -> None:
        super().__init__(MOVE)
        self._told: dict[int, _Told] = told

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        return _first(self._told)

    @override
    def step(self, action: object) -> tuple[object, object, object, object, Info]:
        return _next(self._told)


class _Parallel(EchoParallel):
    def __init__(self, told: dict[int, _Told]) -> None:
        super().__init__(MOVE)
        self._told: dict[int, _Told] = told

    def reset(
        self, seed: int | None = None, options: Info | None = None
    ) -> tuple[dict[str, object], dict[str, Info]]:
        del seed, options
        return self._told[0].next(), self._told[4].next()

    @override
    def step(
        self, actions: dict[str, object]
    ) -> tuple[
        dict[str, object], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]
    ]:
        _, rewards, terminations, truncations, _ = super().step(actions)
        obs: dict[str, object] = self._told[0].next()
        return obs, rewards, terminations, truncations, self._told[4].next()


_ENVIRONMENTS: Final[dict[str, Callable[[dict[int, _Told]], object]]] = {
    "single": _Single,
    "vector": _Vector,
    "parallel": _Parallel,
    "batched": _Batched,
}


def _told(side: Side, form: str, tree: _Tree, *, keeps: bool) -> dict[int, _Told]:
    """Return the results of an environment, by their position in the result of `step`."""
    numbers: HostArray = np.zeros((3, 2), np.float32)
    flags: HostArray = np.zeros(3, np.bool_)
    is_parallel = form == "parallel"

    def obs(array: object) -> object:
        return {"one": tree(array)} if is_parallel else tree(array)

    def info(array: object) -> object:
        return {"one": {"mask": array}} if is_parallel else {"mask": array}

    found: dict[int, tuple[_Tree, HostArray]] = {0: (obs, numbers)}
    if form in {"vector", "batched"}:
        each = _TREES["an array"]
        found |= {1: (each, numbers[:, 0]), 2: (each, flags), 3: (each, flags)}
    found[4] = info, numbers
    return {
        place: _Told(side, around, keeps=keeps, values=values)
        for place, (around, values) in found.items()
    }


def _played(agent: Wrapped, steps: int) -> list[Step]:
    """Return the results of `reset` and `step`, with the info at the same position in both."""
    obs, info = agent.reset()
    played = [agent.step(agent.sample_action()) for _ in range(steps)]
    return [(obs, None, None, None, info), *played]


def _array_in(tree: object) -> object:
    items = items_of(tree)
    return tree if items is None else _array_in(items[0][1])


class BufferTests(PairTests):
    """Environments may keep their results: wrappers share only arrays that nobody else holds."""

    def test_stored_values_never_change(self, pair: Pair, form: str) -> None:
        """This includes observations, rewards, flags and infos, and their containers."""
        sides = self.sides(pair)
        expect = Expectation(sides.target)
        for name, tree in _TREES.items():
            told = _told(sides.source, form, tree, keeps=True)
            agent = pair.wrap(form, _ENVIRONMENTS[form](told))
            for number, step in enumerate(_played(agent, _STEPS)):
                for place, one in told.items():
                    if number or place in {0, 4}:
                        where = f"{name} of step {number}, result {place}"
                        wrong = list(expect.differences(step[place], one.expected(number), where))
                        assert not wrong, "; ".join(map(str, wrong))

    def test_a_fresh_array_is_shared_and_a_kept_one_is_copied(self, pair: Pair, form: str) -> None:
        """Addresses are compared; arrays that never change may be shared."""
        sides = self.sides(pair)
        source, target = sides.source, sides.target
        if not are_on_host(sides):
            self.skip(f"arrays of {pair.source} or of {pair.target} are not in host memory")
        is_shared = shares(sides) and source.backend is NUMPY and IS_PROVABLE
        for name, tree in _TREES.items():
            for keeps in (False, True):
                told = _told(source, form, tree, keeps=keeps)
                agent = pair.wrap(form, _ENVIRONMENTS[form](told))
                results = [*_played(agent, 3)]
                found = [target.address(_array_in(obs)) for obs, *_ in results]
                if not keeps:
                    assert (found == told[0].addresses) or not is_shared, name
                elif not source.backend.never_changes:
                    assert not {*found} & {*told[0].addresses}, name
