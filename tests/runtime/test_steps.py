"""Steps of vector environments: four ordinary arrays go together, anything else one by one."""

from __future__ import annotations

from collections import OrderedDict, defaultdict

import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from typing_extensions import override

from gymbridge.vector import (
    JaxToNumpy,
    JaxToTorch,
    NumpyToJax,
    NumpyToTorch,
    TorchToJax,
    TorchToNumpy,
)
from tests.libraries.jax import jnp
from tests.libraries.torch import torch
from tests.runtime.replay import ReplayVector
from tests.support import LIBRARIES, PAIRS, Array, Library, Pair, identical

BRIDGES: dict[str, Array] = {
    "numpy_to_torch": NumpyToTorch,
    "numpy_to_jax": NumpyToJax,
    "torch_to_numpy": TorchToNumpy,
    "torch_to_jax": TorchToJax,
    "jax_to_numpy": JaxToNumpy,
    "jax_to_torch": JaxToTorch,
}
BRIDGED = [pair for pair in PAIRS if pair.name in BRIDGES]


def step_of(pair: Pair, values: tuple[Array, ...]) -> tuple[Array, ...]:
    """Let an environment return ``values`` often enough for every short way to be taken."""
    env = BRIDGES[pair.name](ReplayVector(*values))
    action = env.sample_action()
    for _ in range(20):
        assert env.step(action)[4] == {}
    return tuple(env.step(action)[:4])


def ordinary(library: Library) -> list[Array]:
    return [
        library.make(np.arange(6, dtype=np.float32).reshape(2, 3)),
        library.make(np.array([0.5, 1.5], np.float32)),
        library.make(np.array([True, False])),
        library.make(np.array([False, False])),
    ]


@pytest.mark.parametrize("pair", BRIDGED, ids=repr)
def test_four_ordinary_arrays_arrive(pair: Pair) -> None:
    values = ordinary(pair.source)
    for value, result in zip(values, step_of(pair, tuple(values)), strict=True):
        assert pair.target.is_array(result)
        assert identical(pair.target.values(result), pair.source.values(value))


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("pair", BRIDGED, ids=repr)
def test_one_that_is_no_array_does_not_keep_the_others_from_arriving(
    pair: Pair, place: int
) -> None:
    text = np.array(["one", "two"])
    for special in (text, {"a": pair.source.make(np.ones(2, np.float32)), "b": "text"}, "text"):
        values = ordinary(pair.source)
        values[place] = special
        results = step_of(pair, tuple(values))
        for index, (value, result) in enumerate(zip(values, results, strict=True)):
            if index != place:
                assert identical(pair.target.values(result), pair.source.values(value))
            elif isinstance(special, dict):
                assert pair.target.is_array(result["a"])
                assert result["b"] == "text"
            else:
                assert result is special


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_a_tensor_that_is_conjugate_in_name_only_arrives_as_it_is_meant(
    target: str, place: int
) -> None:
    pair = Pair("torch", target)
    values = ordinary(pair.source)
    values[place] = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64).conj()
    result = step_of(pair, tuple(values))[place]
    assert pair.target.values(result).tolist() == [1 - 2j, 3 + 4j]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("target", ["torch", "jax"])
def test_an_array_of_another_byte_order_arrives_with_its_values(target: str, place: int) -> None:
    pair = Pair("numpy", target)
    values = ordinary(pair.source)
    values[place] = np.array([1, 2], ">f4")
    result = step_of(pair, tuple(values))[place]
    assert pair.target.values(result).tolist() == [1, 2]


ROOTS = ["obs", "reward", "terminated", "truncated"]


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_an_array_that_was_deleted_is_named(target: str, place: int) -> None:
    values = ordinary(LIBRARIES["jax"])
    values[place] = jnp.ones(2)
    values[place].delete()
    with pytest.raises(ConversionError) as caught:
        step_of(Pair("jax", target), tuple(values))
    assert str(caught.value).startswith(f"{ROOTS[place]}: the JAX array was deleted or donated (")


@pytest.mark.parametrize("place", range(1, 4))
@pytest.mark.parametrize("source", ["numpy", "torch"])
def test_an_integer_that_jax_cannot_hold_is_named(source: str, place: int) -> None:
    pair = Pair(source, "jax")
    values = ordinary(pair.source)
    values[place] = pair.source.make(np.array([2**40, 0]))
    with pytest.raises(ConversionError, match=f"^{ROOTS[place]}: JAX cannot hold the int64 value"):
        step_of(pair, tuple(values))


def test_read_only_memory_of_the_environment_is_never_written() -> None:
    values = ordinary(LIBRARIES["numpy"])
    for value in values:
        value.flags.writeable = False
    for result in step_of(Pair("numpy", "torch"), tuple(values)):
        result.fill_(0)
    assert values[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert values[2].tolist() == [True, False]


@pytest.mark.parametrize("pair", BRIDGED, ids=repr)
def test_an_info_without_anything_in_it_stays_what_it_is(pair: Pair) -> None:
    class Told(ReplayVector):
        @override
        def step(self, actions: Array) -> tuple[Array, ...]:
            return *self.values, self.info

        info: Array = None

    bare: Array = Told(*ordinary(pair.source))
    env = BRIDGES[pair.name](bare)
    action = env.sample_action()
    for bare.info in (OrderedDict(), defaultdict(list), {}, None):
        found = env.step(action)[4]
        assert type(found) is type(bare.info)
        assert not found
