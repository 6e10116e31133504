"""The cases: what is converted, by hand how, and how good gymbridge wants to be at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .contest import Contest, converting, stepping
from .floors import arrays, single, vector
from .worlds import ENVIRONMENTS, Balanced, BalancedVector, Replay, ReplayVector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gymbridge_runtime.types import AnyType

    from .pairs import Pair

__all__ = ["CASES", "Case", "Targets"]


class Targets(NamedTuple):
    """How good gymbridge wants to be."""

    floor: float | None = None
    """At most so many times the cost of the floor."""
    gymnasium: float | None = None
    """At least so many times as fast as Gymnasium."""


class Case(NamedTuple):
    """One row of the benchmark for each of its pairs."""

    title: str
    floors: Mapping[str, Callable[..., object]]
    """By the name of a pair; the case has no other pairs."""
    contest: Callable[[Pair, AnyType], Contest]
    """From a pair and its floor."""
    targets: Callable[[Pair], Targets] = lambda _: Targets()


# -- what is converted ----------------------------------------------------------------------------

ARRAY = np.linspace(0, 1, 8, dtype=np.float32)
IMAGES = np.resize(np.arange(251, dtype=np.uint8), (16, 120, 320, 3))  # 1.8 MB
OBSERVATIONS = np.linspace(0, 1, ENVIRONMENTS * 8, dtype=np.float32).reshape(ENVIRONMENTS, 8)
INFO = {
    "position": np.array([1, 2, 3], np.float32),
    "speed": np.float64(0.5),
    "lives": 3,
    "time": 1.5,
    "mission": "reach the goal",
    "outcome": "not yet",
}


def step_of(pair: Pair, observations: object) -> tuple[object, ...]:
    """What a vector environment of the pair's library returns, infos excepted."""
    dtype = np.float64 if pair.source == "numpy" else np.float32
    flags = np.arange(ENVIRONMENTS) % 5 == 0
    return observations, np.linspace(-1, 1, ENVIRONMENTS, dtype=dtype), flags, ~flags


def single_world(pair: Pair, info: object) -> Replay:
    """An environment of the pair's library."""
    return Replay(pair.source, (ARRAY, 1.0, False, False, info))


def vector_world(pair: Pair, observations: object) -> ReplayVector:
    """A vector environment of the pair's library."""
    return ReplayVector(pair.source, (*step_of(pair, observations), {}))


# -- how good gymbridge wants to be ---------------------------------------------------------------


def shares(pair: Pair) -> bool:
    """Tell whether observations of the pair share their memory."""
    return "jax" not in {pair.source, pair.target} or pair.target == "numpy"


def with_jax(pair: Pair, yes: float, no: float) -> float:
    """Choose by whether JAX is on one side of the pair."""
    return yes if "jax" in pair else no


CASES: Final = {
    "array": Case(
        "one array of 8 float32",
        arrays.ARRAY,
        lambda pair, floor: converting(ARRAY, pair, floor),
        lambda pair: Targets(1.25 if shares(pair) else 1.1, 2.5),
    ),
    "array-copy": Case(
        "one array of 8 float32, copied",
        arrays.ARRAY_COPY,
        lambda pair, floor: converting(ARRAY, pair, floor, copied=True),
        lambda _: Targets(1.1),
    ),
    "number": Case("one float", arrays.NUMBER, lambda pair, floor: converting(1.5, pair, floor)),
    "arrays": Case(
        "the four arrays of a vector step",
        arrays.VECTOR_STEP,
        lambda pair, floor: converting(step_of(pair, OBSERVATIONS), pair, floor),
    ),
    "images": Case(
        "images of 1.8 MB",
        arrays.IMAGE,
        lambda pair, floor: converting(IMAGES, pair, floor, most=24),
        lambda pair: Targets(1.1, 1 if shares(pair) else None),
    ),
    "images-copy": Case(
        "images of 1.8 MB, copied",
        arrays.ARRAY_COPY,
        lambda pair, floor: converting(IMAGES, pair, floor, copied=True, most=24),
        lambda _: Targets(1.1),
    ),
    "step": Case(
        "a step",
        single.STEP,
        lambda pair, floor: stepping(single_world(pair, {}), pair, floor),
        lambda pair: Targets(1.1, with_jax(pair, 4, 3)),
    ),
    "info": Case(
        "a step with an info of 6",
        single.INFO,
        lambda pair, floor: stepping(single_world(pair, INFO), pair, floor),
        lambda _: Targets(1.6, 4),
    ),
    "vector": Case(
        f"a vector step of {ENVIRONMENTS}",
        vector.STEP,
        lambda pair, floor: stepping(vector_world(pair, OBSERVATIONS), pair, floor),
        lambda pair: Targets(1 if pair.name == "numpy_to_jax" else 1.1, with_jax(pair, 5, 3.3)),
    ),
    "dict": Case(
        f"a vector step of {ENVIRONMENTS} with a Dict of 8",
        vector.DICT,
        lambda pair, floor: stepping(
            vector_world(pair, {f"sensor_{number}": OBSERVATIONS for number in range(8)}),
            pair,
            floor,
        ),
        lambda pair: Targets(1.15, 6 if pair.target == "jax" else 2.5),
    ),
    "cartpole": Case(
        "a step of CartPole",
        single.CARTPOLE,
        lambda pair, floor: stepping(Balanced(), pair, floor),
        lambda pair: Targets(1.1, with_jax(pair, 4, 3)),
    ),
    "cartpoles": Case(
        f"a vector step of {ENVIRONMENTS} CartPoles",
        vector.CARTPOLES,
        lambda pair, floor: stepping(BalancedVector(), pair, floor),
        lambda pair: Targets(1.1, with_jax(pair, 5, 3.3)),
    ),
}
"""All of them, by name."""
