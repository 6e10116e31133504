"""The arrays of a step go into JAX by one call; an odd one does not disturb the others."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from gymbridge_runtime.backends.jax import JaxBackend
from gymnasium import spaces
from typing_extensions import override

from gymbridge import NumpyToJax, TorchToJax
from gymbridge import vector as vectors
from tests.libraries.jax import jax, jnp
from tests.libraries.torch import torch
from tests.runtime.replay import Replay, ReplayVector
from tests.support import LIBRARIES, Array, Library, Pair, identical

if TYPE_CHECKING:
    from collections.abc import Callable

OFTEN = 20
"""The number of conversions after which the import of a tree is compiled."""

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


def arrays_of(source: str) -> list[Array]:
    """Return arrays of every dtype and layout that JAX has a counterpart for."""
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
    """Return a tree of arrays, numbers and leaves that stay themselves."""
    arrays = arrays_of(source)
    return {
        "numbers": NUMBERS,
        "arrays": arrays,
        "others": ["text", None, np.array(["a"])],
        "objects": np.array([arrays[0], None, {"a": 2.5}], object),
    }


def leaves(tree: Array) -> list[Array]:
    return [leaf for leaf in jax.tree.leaves(tree) if isinstance(leaf, jax.Array)]


@pytest.mark.usefixtures("nothing_compiled")
def test_all_arrays_and_numbers_of_a_tree_are_converted_every_time(source: str) -> None:
    tree = tree_of(source)
    convert: Callable[[Array], Array] = Pair(source, "jax").convert
    first = convert(tree)
    assert len(leaves(first["numbers"])) == len(NUMBERS) - 1  # True stays itself
    assert len(leaves(first["arrays"])) == len(tree["arrays"])
    for _ in range(OFTEN):
        convert(tree)
    again = convert(tree)
    for one, other in zip(leaves(first), leaves(again), strict=True):
        assert identical(np.asarray(one), np.asarray(other))
    assert isinstance(again["objects"][0], jnp.ndarray)


@pytest.mark.usefixtures("nothing_compiled")
def test_all_arrays_of_steps_with_infos_are_converted(source: str) -> None:
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
    """Return conversions and steps by name; all arrays are small."""
    flags, obs, *more = [array for array in arrays_of(source) if math.prod(array.shape) < 100]
    convert, make = Pair(source, "jax").convert, Pair(source, "jax").source.make
    single, vector = BRIDGES[source]
    beyond, page = (
        make(np.array([1e300, 1.0])),
        make(np.full(1024, 1e300)),
    )  # beyond the range of float32
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
def test_arrays_with_known_signatures_use_the_compiled_import(
    source: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat = ways_of(source)[way]
    for _ in range(2 * OFTEN):
        repeat()

    def unwanted(*_: object) -> None:
        pytest.fail("put, not compiled")

    monkeypatch.setattr("gymbridge_runtime.backends.jax.backend._put_many", unwanted)
    assert leaves(repeat())


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("way", ["two", "numbers", "info", "vector"])
def test_the_arrays_of_one_tree_are_imported_by_one_call(
    source: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeat = ways_of(source)[way]
    repeat()
    batches: list[int] = []
    import_all = JaxBackend.from_host_many

    def counted(self: JaxBackend, views: Array, device: Array) -> Array:
        batches.append(len(views))
        return import_all(self, views, device)

    def unwanted(*_: object) -> None:
        pytest.fail("one by one")

    monkeypatch.setattr(JaxBackend, "from_host_many", counted)
    monkeypatch.setattr(JaxBackend, "to_device", unwanted)
    repeat()
    assert len(batches) == 1
    assert batches[0] > 1


# -- vector steps -----------------------------------------------------------------------------

ROOTS = ["obs", "reward", "terminated", "truncated"]


def wrap(pair: Pair, env: Array) -> Array:
    """Wrap a vector environment of the pair's source for an agent of its target."""
    name = f"{pair.source.name.title()}To{pair.target.name.title()}"
    return getattr(vectors, name)(env)


def step_of(pair: Pair, values: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return the results of a step, after enough steps to compile an import."""
    env = wrap(pair, ReplayVector(*values))
    action = env.sample_action()
    for _ in range(20):
        assert env.step(action)[4] == {}
    return tuple(env.step(action)[:4])


def four_arrays(library: Library) -> list[Array]:
    return [
        library.make(np.arange(6, dtype=np.float32).reshape(2, 3)),
        library.make(np.array([0.5, 1.5], np.float32)),
        library.make(np.array([True, False])),
        library.make(np.array([False, False])),
    ]


def test_the_four_arrays_of_a_vector_step_are_converted(pair: Pair) -> None:
    values = four_arrays(pair.source)
    for value, result in zip(values, step_of(pair, tuple(values)), strict=True):
        assert pair.target.is_array(result)
        assert identical(pair.target.values(result), pair.source.values(value))


@pytest.mark.parametrize("place", range(4))
def test_a_leaf_that_is_no_array_does_not_disturb_the_others(pair: Pair, place: int) -> None:
    text = np.array(["one", "two"])
    for special in (text, {"a": pair.source.make(np.ones(2, np.float32)), "b": "text"}, "text"):
        values = four_arrays(pair.source)
        values[place] = special
        results = step_of(pair, tuple(values))
        for index, (value, result) in enumerate(zip(values, results, strict=True)):
            if index != place:
                assert identical(pair.target.values(result), pair.source.values(value))
            elif isinstance(special, dict):
                assert pair.target.is_array(result["a"])
                assert result["b"] == "text"
            else:
                assert type(result) is type(special)
                assert np.array_equal(result, special)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_a_conjugate_tensor_keeps_its_values(target: str, place: int) -> None:
    pair = Pair("torch", target)
    values = four_arrays(pair.source)
    values[place] = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64).conj()
    result = step_of(pair, tuple(values))[place]
    assert pair.target.values(result).tolist() == [1 - 2j, 3 + 4j]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("target", ["torch", "jax"])
def test_an_array_of_another_byte_order_keeps_its_values(target: str, place: int) -> None:
    pair = Pair("numpy", target)
    values = four_arrays(pair.source)
    values[place] = np.array([1, 2], ">f4")
    result = step_of(pair, tuple(values))[place]
    assert pair.target.values(result).tolist() == [1, 2]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_a_deleted_array_is_named(target: str, place: int) -> None:
    values = four_arrays(LIBRARIES["jax"])
    values[place] = jnp.ones(2)
    values[place].delete()
    with pytest.raises(ConversionError) as caught:
        step_of(Pair("jax", target), tuple(values))
    assert str(caught.value).startswith(f"{ROOTS[place]}: the JAX array was deleted or donated (")


@pytest.mark.parametrize("place", range(1, 4))
@pytest.mark.parametrize("source", ["numpy", "torch"])
def test_an_integer_that_jax_cannot_hold_is_named(source: str, place: int) -> None:
    pair = Pair(source, "jax")
    values = four_arrays(pair.source)
    values[place] = pair.source.make(np.array([2**40, 0]))
    with pytest.raises(ConversionError, match=f"^{ROOTS[place]}: JAX cannot hold the int64 value"):
        step_of(pair, tuple(values))


def test_read_only_memory_of_the_environment_is_never_written() -> None:
    values = four_arrays(LIBRARIES["numpy"])
    for value in values:
        value.flags.writeable = False
    for result in step_of(Pair("numpy", "torch"), tuple(values)):
        result.fill_(0)
    assert values[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert values[2].tolist() == [True, False]


def test_an_empty_info_keeps_its_type(pair: Pair) -> None:
    class Told(ReplayVector):
        @override
        def step(self, actions: Array) -> tuple[Array, ...]:
            return *self.values, self.info

        info: Array = None

    bare: Array = Told(*four_arrays(pair.source))
    env = wrap(pair, bare)
    action = env.sample_action()
    for bare.info in (OrderedDict(), defaultdict(list), {}, None):
        found = env.step(action)[4]
        assert type(found) is type(bare.info)
        assert not found
