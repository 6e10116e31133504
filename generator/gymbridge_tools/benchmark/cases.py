"""The cases: one row of the table for each of their pairs, each defined in one place.

A case defines the environment or the values, the options of gymbridge's wrapper, the same code
written by hand, Gymnasium's counterpart, and the aims of gymbridge.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import gymnasium as gym
import jax
import numpy as np
import torch

from . import by_hand
from .pairs import NAMESPACES, PAIRS
from .worlds import (
    ENVIRONMENTS,
    Balanced,
    BalancedVector,
    Replay,
    ReplayBatched,
    ReplayHalves,
    ReplayVector,
    Values,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gymbridge_runtime.types import AnyType, Info

    from .pairs import Pair
    from .worlds import World


class Aim(NamedTuple):
    """The aims of gymbridge for a row."""

    by_hand: float | None = None
    """The cost is at most this many times the cost of the code by hand."""
    gymnasium: float | None = None
    """At least this many times as fast as Gymnasium."""
    plain: float | None = None
    """At most this many times the cost without the option, or before the odd values."""
    transfers: int | None = None
    """At most this many transfers to another device, and as many back."""


def _no_options(_pair: Pair) -> Info:
    return {}


def _wrapped(world: World, pair: Pair, options: Info) -> AnyType:
    places = {name: place for name, place in options.items() if name.endswith("device")}
    return pair.gymnasiums_wrapper(world, **places)


class Case(NamedTuple):
    """One row of the table for each of its pairs."""

    title: str
    world: Callable[[Pair], World]
    """The environment, or the values for a converter."""
    by_hand: Callable[[Pair], str]
    """The code by hand."""
    aim: Callable[[Pair], Aim]
    pairs: Collection[str] = PAIRS
    options: Callable[[Pair], Info] = _no_options
    """The arguments of gymbridge's wrapper or converter."""
    gymnasium: Callable[[World, Pair, Info], AnyType] | None = _wrapped
    """Gymnasium's counterpart of gymbridge's wrapper, if there is one."""
    plain: bool = False
    """Whether gymbridge is also measured without the options."""
    odd: str = ""
    """The name of the same case before odd values."""
    halves: bool = False
    """Whether gymbridge steps in two halves, which Gymnasium's wrappers cannot."""
    held: bool = False
    """Whether the environment keeps the arrays that it returns."""
    device: str | None = None
    """The device of PyTorch's arrays."""

    def but(self, difference: str, **changes: AnyType) -> Case:
        """Return this case with other fields."""
        return self._replace(title=f"{self.title}, {difference}", **changes)

    def aliases(self, pair: Pair) -> bool:
        """Tell whether Gymnasium shares memory that may change later."""
        return self.held or ("jax" in pair and pair.target != "numpy")


# -- values and environments ----------------------------------------------------------------------

ARRAY = np.linspace(0, 1, 8, dtype=np.float32)
IMAGES = np.resize(np.arange(251, dtype=np.uint8), (16, 120, 320, 3))  # 1.8 MB
BATCH = np.linspace(0, 1, ENVIRONMENTS * 8, dtype=np.float32).reshape(ENVIRONMENTS, 8)
SENSORS = {f"sensor_{number}": BATCH for number in range(8)}
NUMBERS = (1.0, False, False)
SCALARS = (np.float32(1), np.bool_(False), np.bool_(False))
INFO = {
    "position": np.array([1, 2, 3], np.float32),
    "speed": np.array(0.5, np.float32),
    "lives": 3,
    "time": 1.5,
    "mission": "reach the goal",
    "outcome": "not yet",
}


def results(pair: Pair, obs: object, rewards: type | None = None) -> tuple[object, ...]:
    """Return the results of a vector step without infos, as NumPy arrays."""
    count = len(obs) if isinstance(obs, np.ndarray) else ENVIRONMENTS
    dtype = rewards or (np.float64 if pair.source == "numpy" else np.float32)
    flags = np.arange(count) % 5 == 0
    return obs, np.linspace(-1, 1, count, dtype=dtype), flags, ~flags


def values(value: object, most: int = 200) -> Callable[[Pair], Values]:
    """Make values for a converter."""
    return lambda pair: Values(pair.source, value, most if pair.source == "jax" else 200)


def single(
    obs: object = ARRAY,
    numbers: tuple[object, ...] = NUMBERS,
    info: object = None,
    **options: AnyType,
) -> Callable[[Pair], Replay]:
    """Make an environment of the pair's library."""
    return lambda pair: Replay(pair.source, (obs, *numbers, info or {}), **options)


def vector(
    obs: object = BATCH, rewards: type | None = None, **options: AnyType
) -> Callable[[Pair], ReplayVector]:
    """Make a vector environment of the pair's library."""
    return lambda pair: ReplayVector(pair.source, (*results(pair, obs, rewards), {}), **options)


def halves(pair: Pair) -> ReplayHalves:
    """Make a vector environment of the pair's library that steps in two halves."""
    return ReplayHalves(pair.source, (*results(pair, BATCH), {}))


def batched(obs: object = BATCH, **options: AnyType) -> Callable[[Pair], ReplayBatched]:
    """Make an environment of the pair's library whose every result is an array."""
    return lambda pair: ReplayBatched(pair.source, (*results(pair, obs), {}), **options)


# -- options of wrappers, and Gymnasium's counterparts --------------------------------------------


def default_place(pair: Pair) -> Info:
    """Name the default device."""
    places = {"torch": "cpu", "jax": jax.devices()[0]}
    if pair.target == "numpy":
        return {"env_device": places[pair.source]}
    return {"device": places[pair.target]}


def place_object(_pair: Pair) -> Info:
    """Name the default device as an object of PyTorch."""
    return {"device": torch.device("cpu")}


def copies(_pair: Pair) -> Info:
    """Set ``copy=True``."""
    return {"copy": True}


def float32(pair: Pair) -> Info:
    """Set ``float_dtype`` to float32."""
    return {"float_dtype": NAMESPACES[pair.target].float32}


def with_dtype(world: AnyType, pair: Pair, _options: Info) -> AnyType:
    """Wrap with Gymnasium's wrapper around its `DtypeObservation`."""
    vector = isinstance(world, gym.vector.VectorEnv)
    package: AnyType = gym.wrappers.vector if vector else gym.wrappers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bounds of the space lose precision, which is intended
        return pair.gymnasiums_wrapper(package.DtypeObservation(world, np.float32))


# -- aims -----------------------------------------------------------------------------------------


def of_array(_pair: Pair) -> Aim:
    """The aim for converters of one array."""
    return Aim(1.15, 2.5)


def of_mapping(_pair: Pair) -> Aim:
    """The aim for converters of a dict."""
    return Aim(1.2, 2.5)


def of_images(pair: Pair) -> Aim:
    """The aim for converters of a large array; into JAX, Gymnasium does not copy."""
    return Aim(1.1, 1 if pair.target == "numpy" or "jax" not in pair else None)


def of_step(pair: Pair) -> Aim:
    """The aim for a step of one environment."""
    return Aim(1.1, 4 if "jax" in pair else 3.5)


def of_vector(pair: Pair) -> Aim:
    """The aim for a step of a vector of environments."""
    return Aim(0.95 if pair.target == "jax" else 1.1, 5 if "jax" in pair else 4)


def of_vector_alone(pair: Pair) -> Aim:
    """The aim for a vector step that Gymnasium's wrappers cannot take."""
    return of_vector(pair)._replace(gymnasium=None)


def of_dict(pair: Pair) -> Aim:
    """The aim for a vector step with a Dict."""
    return Aim(1.15, 7 if pair.target == "jax" else 3.5)


def after_odd(aim: Callable[[Pair], Aim]) -> Callable[[Pair], Aim]:
    """The aim after odd values: the same cost as before."""
    return lambda pair: aim(pair)._replace(plain=1.05)


def only(
    by_hand: float | None = None, gymnasium: float | None = None, plain: float | None = None
) -> Callable[[Pair], Aim]:
    """Return a function with the same aim for every pair."""
    return lambda _pair: Aim(by_hand, gymnasium, plain)


# -- pairs and cases ------------------------------------------------------------------------------

FROM_NUMPY = ("numpy_to_torch", "numpy_to_jax")
INTO_TORCH = ("numpy_to_torch", "jax_to_torch")
MUTABLE = (*FROM_NUMPY, "torch_to_numpy", "torch_to_jax")  # without JAX, whose arrays cannot change
SHARING = ("numpy_to_torch", "torch_to_numpy", "jax_to_numpy")  # the other pairs copy anyway

COPY: Info = {"options": copies, "pairs": SHARING}
HELD: Info = {"held": True, "pairs": MUTABLE}
PLACE: Info = {"options": default_place, "aim": only(None, 1, 1.05), "plain": True}
OBJECT: Info = {**PLACE, "options": place_object, "pairs": INTO_TORCH}
FLOAT: Info = {"options": float32, "aim": only(None, 1, 1.1), "plain": True}
CAST: Info = {
    "options": float32,
    "aim": only(1.15, 1),
    "pairs": FROM_NUMPY,
    "gymnasium": with_dtype,
}
COPIED_ARRAY = partial(by_hand.one_array, way=by_hand.COPIED)
COPIED_STEP = partial(by_hand.step, obs=by_hand.COPIED)
COPIED_VECTOR = partial(by_hand.vector_step, obs=by_hand.COPIED, rest=by_hand.COPIED)

KEEPS = "the environment keeps its arrays"
NAMED = "the default device named"
AS_OBJECT = 'device=torch.device("cpu")'
AS_IT_IS = "float_dtype, no cast needed"
CASTS = "float_dtype, cast from float64"
AFTER = "after odd values"

ONE_ARRAY = Case("one array of 8 float32", values(ARRAY), by_hand.one_array, of_array)
MAPPING = Case(
    "a dict of three arrays", values(dict.fromkeys("abc", ARRAY)), by_hand.mapping, of_mapping
)
LARGE = Case("images of 1.8 MB", values(IMAGES, 24), by_hand.image, of_images)
STEP = Case("a step", single(), by_hand.step, of_step)
VECTOR = Case(f"a vector step of {ENVIRONMENTS}", vector(), by_hand.vector_step, of_vector)
BATCHED = Case(
    f"a batched step of {ENVIRONMENTS}",
    batched(),
    by_hand.vector_step,
    of_vector_alone,
    gymnasium=None,
)
CARTPOLE = Case(
    "a step of CartPole",
    lambda _: Balanced(),
    partial(by_hand.step, action=by_hand.COUNT),
    of_step,
    FROM_NUMPY,
)
CARTPOLES = Case(
    f"a vector step of {ENVIRONMENTS} CartPoles",
    lambda _: BalancedVector(),
    partial(by_hand.vector_step, actions=by_hand.COUNTS),
    of_vector,
    FROM_NUMPY,
)

CASES: Final[dict[str, Case]] = {
    "array": ONE_ARRAY,
    "array-copy": ONE_ARRAY.but("copy=True", by_hand=COPIED_ARRAY, gymnasium=None, **COPY),
    "number": Case("one float", values(1.5), by_hand.number, only()),
    "mapping": MAPPING,
    "images": LARGE,
    "images-copy": LARGE.but("copy=True", by_hand=COPIED_ARRAY, gymnasium=None, **COPY),
    "step": STEP,
    "step-arrays": STEP.but(
        "reward and flags are arrays",
        world=single(numbers=SCALARS),
        by_hand=partial(by_hand.step, arrays=True),
    ),
    "step-held": STEP.but(KEEPS, world=single(held=True), by_hand=COPIED_STEP, **HELD),
    "step-copy": STEP.but("copy=True", by_hand=COPIED_STEP, **COPY),
    "step-device": STEP.but(NAMED, **PLACE),
    "step-device-object": STEP.but(AS_OBJECT, **OBJECT),
    "step-float": STEP.but(AS_IT_IS, **FLOAT),
    "step-cast": STEP.but(
        CASTS,
        world=single(ARRAY.astype(np.float64)),
        by_hand=partial(by_hand.step, obs=by_hand.CAST),
        **CAST,
    ),
    "info": Case("a step with an info of 6", single(info=INFO), by_hand.step_with_info, only(2, 3)),
    "vector": VECTOR,
    "vector-held": VECTOR.but(KEEPS, world=vector(held=True), by_hand=COPIED_VECTOR, **HELD),
    "vector-copy": VECTOR.but("copy=True", by_hand=COPIED_VECTOR, **COPY),
    "vector-device": VECTOR.but(NAMED, **PLACE),
    "vector-device-object": VECTOR.but(AS_OBJECT, **OBJECT),
    "vector-float": VECTOR.but(AS_IT_IS, world=vector(rewards=np.float32), **FLOAT),
    "vector-cast": VECTOR.but(
        CASTS,
        world=vector(BATCH.astype(np.float64), np.float32),
        by_hand=partial(by_hand.vector_step, obs=by_hand.CAST),
        **CAST,
    ),
    "vector-halves": VECTOR.but(
        "in two halves", world=halves, halves=True, aim=of_vector_alone, gymnasium=None
    ),
    "dict": Case(
        f"a vector step of {ENVIRONMENTS} with a Dict of 8",
        vector(SENSORS),
        by_hand.vector_step_with_dict,
        of_dict,
    ),
    "batched": BATCHED,
    "batched-held": BATCHED.but(KEEPS, world=batched(held=True), by_hand=COPIED_VECTOR, **HELD),
    "cartpole": CARTPOLE,
    "cartpole-device": CARTPOLE.but(NAMED, **PLACE),
    "cartpoles": CARTPOLES,
    "cartpoles-device": CARTPOLES.but(NAMED, **PLACE),
    # the last cases, so that no other row comes after odd values
    "array-odd": ONE_ARRAY.but(AFTER, odd="array", aim=after_odd(of_array)),
    "mapping-odd": MAPPING.but(AFTER, odd="mapping", aim=after_odd(of_mapping)),
    "step-odd": STEP.but(AFTER, odd="step", aim=after_odd(of_step)),
    "vector-odd": VECTOR.but(AFTER, odd="vector", aim=after_odd(of_vector)),
}
"""All cases by name."""


def cases_on(device: str) -> dict[str, Case]:
    """Return the cases with PyTorch's arrays on another device."""
    way = by_hand.placed(device)

    def placed(pair: Pair) -> Info:
        return {"device" if pair.target == "torch" else "env_device": device}

    there: Info = {
        "aim": lambda _pair: Aim(gymnasium=1, transfers=1),
        "pairs": ("numpy_to_torch", "torch_to_numpy"),
        "options": placed,
        "device": device,
    }
    # float32 rewards: Apple's devices have no float64
    vectors: Info = {"rewards": np.float32, "device": device}
    return {
        "step": STEP._replace(
            world=single(device=device),
            by_hand=partial(by_hand.step, obs=way, action=way),
            **there,
        ),
        "vector": VECTOR._replace(
            world=vector(**vectors),
            by_hand=partial(by_hand.vector_step, obs=way, rest=way, actions=way),
            **there,
        ),
        "dict": CASES["dict"]._replace(
            world=vector(SENSORS, **vectors),
            by_hand=partial(by_hand.vector_step_with_dict, way=way, actions=way),
            **there,
        ),
    }
