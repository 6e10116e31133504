"""`copied` copies every array in a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime.testing.copies import copied

from tests.libraries.jax import jax
from tests.libraries.torch import torch
from tests.support import LIBRARIES, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.environments.bridges import Value


def in_objects(array: Value) -> Value:
    objects = np.empty(2, object)
    objects[0] = array
    return objects


PLACES: list[tuple[Callable[[Value], Value], Callable[[Value], Value]]] = [
    (lambda array: array, lambda value: value),
    (lambda array: ["text", array], lambda value: value[1]),
    (lambda array: {"a": (array, None)}, lambda value: value["a"][0]),
    (in_objects, lambda value: value[0]),
]


@pytest.mark.parametrize(("put", "get"), PLACES, ids=["alone", "list", "dict", "objects"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_arrays_in_all_containers_are_copied(
    name: str, put: Callable[[Value], Value], get: Callable[[Value], Value]
) -> None:
    require(name)
    library = LIBRARIES[name]
    array = library.make(np.arange(3.0, dtype=np.float32))
    found = get(copied(put(array)))
    assert found is not array
    assert library.is_array(found)
    assert library.address(found) != library.address(array)
    assert library.values(found).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("put", "get"), PLACES, ids=["alone", "list", "dict", "objects"])
def test_a_tensor_with_gradient_history_is_copied(
    put: Callable[[Value], Value], get: Callable[[Value], Value]
) -> None:
    array = torch.ones(3, requires_grad=True) * 2
    found = get(copied(put(array)))
    assert found.tolist() == [2, 2, 2]
    assert found.data_ptr() != array.data_ptr()


def test_a_container_that_contains_itself_is_copied() -> None:
    cycle: list[Value] = [torch.ones(3, requires_grad=True) * 2]
    cycle.append(cycle)
    found = copied(cycle)
    assert found is not cycle
    assert found[1] is found


def test_jax_keys_are_copied_by_python() -> None:
    require("jax")
    key = jax.random.key(3)
    assert copied({"key": key})["key"] == key
