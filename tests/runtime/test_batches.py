"""What goes into JAX goes at once: nothing falls back on one array after the other unseen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from gymbridge_runtime.backends.jax import JaxBackend
from gymbridge_runtime.converter import Converter
from gymnasium import spaces

from gymbridge import NumpyToJax, TorchToJax
from gymbridge import vector as vectors
from tests.libraries.jax import jax, jnp
from tests.libraries.torch import torch
from tests.runtime.replay import Replay, ReplayVector
from tests.support import Array, Pair, identical

if TYPE_CHECKING:
    from collections.abc import Callable

OFTEN = 20
"""Times that a tree is converted; what JAX has seen so often is compiled."""

NUMBERS = [
    *(True, 3, -(2**31), 2.5, float("inf"), 1e300, 1 - 2j),
    *(np.dtype(kind).type(1) for kind in "?bhilBHILefdFD"),
    *(ml_dtypes.bfloat16(1.5), np.int64(2**31 - 1)),
]
BRIDGES: dict[str, tuple[Array, Array]] = {
    "numpy": (NumpyToJax, vectors.NumpyToJax),
    "torch": (TorchToJax, vectors.TorchToJax),
}


@pytest.fixture(params=["numpy", "torch"])
def source(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def nothing_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(_: object, value: object) -> None:
        pytest.fail(f"one by one: {value}")

    monkeypatch.setattr(Converter, "one_by_one", unwanted)


def arrays_of(source: str) -> list[Array]:
    """Return arrays of everything that JAX has a counterpart for."""
    if source == "numpy":
        return [
            *(np.ones((2, 3), kind) for kind in "?bhilBHILefdFD"),
            *(np.ones(3, ">f4"), np.ones(3, ">i8"), np.ones(3, ml_dtypes.bfloat16)),
            *(np.ones(()), np.ones((0, 2)), np.ones((4, 3)).T, np.ones(4)[::-1], np.ones(200_000)),
            np.broadcast_to(np.float32(1), (3, 2)),
        ]
    names = ("bool", "uint8", "int64", "float16", "bfloat16", "float64", "complex64")
    return [
        *(torch.ones(2, 3, dtype=getattr(torch, name)) for name in names),
        torch.ones(3, dtype=torch.complex64, requires_grad=True).conj(),
        *(torch.ones(()), torch.ones(0, 2), torch.ones(4, 3).T, torch.ones(200_000)),
    ]


def tree_of(source: str) -> dict[str, Array]:
    """Return a tree of these, of numbers, and of what stays as it is."""
    arrays = arrays_of(source)
    return {
        "numbers": NUMBERS,
        "arrays": arrays,
        "others": ["text", None, np.array(["a"])],
        "objects": np.array([arrays[0], None, {"a": 2.5}], object),
    }


def leaves(tree: Array) -> list[Array]:
    return [leaf for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.Array)]


@pytest.mark.usefixtures("nothing_compiled", "nothing_one_by_one")
def test_whatever_is_in_a_tree(source: str) -> None:
    tree = tree_of(source)
    convert: Callable[[Array], Array] = Pair(source, "jax").convert
    first = convert(tree)
    assert len(leaves(first["numbers"])) == len(NUMBERS) - 1  # True stays what it is
    assert len(leaves(first["arrays"])) == len(tree["arrays"])
    for _ in range(OFTEN):
        convert(tree)
    again = convert(tree)
    for one, other in zip(leaves(first), leaves(again), strict=True):
        assert identical(np.asarray(one), np.asarray(other))
    assert isinstance(again["objects"][0], jnp.ndarray)


@pytest.mark.usefixtures("nothing_compiled", "nothing_one_by_one")
def test_steps_with_infos(source: str) -> None:
    flags, obs, *_ = arrays_of(source)
    single, vector = BRIDGES[source]
    for env in (
        single(Replay(spaces.Box(-1, 1, (2, 3)), obs, tree_of(source))),
        vector(ReplayVector({"a": obs, "b": obs}, obs, flags, flags)),
    ):
        action = env.sample_action()
        for _ in range(OFTEN):
            env.step(action)
        obs, *_ = env.step(action)
        assert len(leaves(obs)) == len(jax.tree.leaves(obs)) > 0


def ways_of(source: str) -> dict[str, Callable[[], Array]]:
    """Return what is done again and again, each with arrays that all are small."""
    flags, obs, *more = [array for array in arrays_of(source) if math.prod(array.shape) < 100]
    convert, make = Pair(source, "jax").convert, Pair(source, "jax").source.make
    single, vector = BRIDGES[source]
    beyond, page = make(np.array([1e300, 1.0])), make(np.full(1024, 1e300))  # of float32
    env = single(Replay(spaces.Box(-1, 1, (2, 3)), obs, {"speed": 1.5, "all": more}))
    alone = single(Replay(spaces.Box(-1, 1, (2, 3)), obs))
    envs = vector(ReplayVector({"a": obs, "b": [obs, 2.5]}, obs, flags, flags))
    action, actions = env.sample_action(), envs.sample_action()
    return {
        "one": lambda: convert(obs),
        "two": lambda: convert([obs, flags]),
        "infinite": lambda: convert([beyond, beyond]),
        "infinite, not packed": lambda: convert([page, page]),
        "infinite, some not packed": lambda: convert([beyond, beyond, page]),
        "numbers": lambda: convert({"a": 1, "b": 2.5, "c": np.float64(2)}),
        "number": lambda: convert(2.5),
        "step": lambda: alone.step(action),
        "info": lambda: env.step(action),
        "vector": lambda: envs.step(actions),
    }


WAYS = list(ways_of("numpy"))


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("way", WAYS)
def test_what_comes_again_goes_by_what_is_compiled(
    source: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat = ways_of(source)[way]
    for _ in range(2 * OFTEN):
        repeat()

    def unwanted(*_: object) -> None:
        pytest.fail("put, not compiled")

    monkeypatch.setattr("gymbridge_runtime.backends.jax._put", unwanted)
    monkeypatch.setattr("gymbridge_runtime.backends.jax._put_many", unwanted)
    assert leaves(repeat())


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("way", ["two", "numbers", "info", "vector"])
def test_what_comes_together_goes_in_one_call(
    source: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat = ways_of(source)[way]
    repeat()
    batches: list[int] = []
    import_all = JaxBackend.from_host_many

    def counted(self: JaxBackend, views: Array, device: Array) -> list[object]:
        batches.append(len(views))
        return import_all(self, views, device)

    def unwanted(*_: object) -> None:
        pytest.fail("one by one")

    monkeypatch.setattr(JaxBackend, "from_host_many", counted)
    monkeypatch.setattr("gymbridge_runtime.backends.jax._put", unwanted)
    repeat()
    assert len(batches) == 1
    assert batches[0] > 1
