"""Environments that keep what they return, and write into it later.

Each pattern was found in real environments, or is a way in which Python, NumPy or PyTorch lets
somebody reach the memory of a returned array.
"""

from __future__ import annotations

import ctypes
import mmap
import types
import weakref
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.lib.stride_tricks import as_strided
from torch.utils.dlpack import from_dlpack
from typing_extensions import override

from tests.libraries.torch import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tests.support import Array, Host

Memory: TypeAlias = "Callable[[], Host | None]"
"""Returns the memory of the environment; None if it is gone."""


class Kept(NamedTuple):
    """A returned value, and the way in which the environment can reach its memory later."""

    returned: Array
    memory: Memory


class Give(Protocol):
    """Makes the next value of an environment, filled with ``number``."""

    def __call__(self, number: int) -> Kept: ...


Pattern: TypeAlias = "Callable[[tuple[int, ...], str], Give]"
"""Starts an environment with arrays of one shape and dtype."""


class Point(NamedTuple):
    position: Array


@dataclass
class State:
    position: Array


class Owner:
    """An object with memory that NumPy does not own, as in C extensions."""

    def __init__(self, memory: Host) -> None:
        self.__array_interface__ = memory.__array_interface__
        self.memory = memory


def _made(make: Callable[[Host], Kept]) -> Pattern:
    """Return a pattern of an environment that makes a new array in every step."""

    def pattern(shape: tuple[int, ...], dtype: str) -> Give:
        return lambda number: make(np.full(shape, number, dtype))

    return pattern


def _reused(show: Callable[[Host], Array]) -> Pattern:
    """Return a pattern of an environment that writes into the same memory in every step."""

    def pattern(shape: tuple[int, ...], dtype: str) -> Give:
        memory = np.zeros((2, *shape), dtype)

        def give(number: int) -> Kept:
            memory[...] = number
            return Kept(show(memory[1]), lambda: memory)

        return give

    return pattern


def _same(show: Callable[[Host], Array]) -> Pattern:
    """Return a pattern of an environment that returns the same object in every step."""

    def pattern(shape: tuple[int, ...], dtype: str) -> Give:
        memory = np.zeros(shape, dtype)
        shown = show(memory)

        def give(number: int) -> Kept:
            memory[...] = number
            return Kept(shown, lambda: memory)

        return give

    return pattern


def _over(buffer_of: Callable[[int], Array]) -> Pattern:
    """Return a pattern of arrays over memory that NumPy did not allocate."""

    def pattern(shape: tuple[int, ...], dtype: str) -> Give:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        buffer = buffer_of(size)

        def view() -> Host:
            found: Host = np.frombuffer(buffer, np.uint8)[:size].view(dtype).reshape(shape)
            return found

        def give(number: int) -> Kept:
            view()[...] = number
            return Kept(view(), view)

        return give

    return pattern


def _memory_map(shape: tuple[int, ...], dtype: str) -> Give:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    file = mmap.mmap(-1, size)

    def view() -> Host:
        return np.ndarray.view(np.frombuffer(file, dtype).reshape(shape), np.memmap)

    def give(number: int) -> Kept:
        view()[...] = number
        return Kept(view(), view)

    return give


def _object_array(array: Host) -> Array:
    objects = np.empty(1, object)
    objects[0] = array
    return objects


def _through_memoryview(array: Array) -> Kept:
    kept = memoryview(array)
    return Kept(array, lambda: np.asarray(kept))


def _through_view(array: Host) -> Kept:
    kept = array[...]
    return Kept(array, lambda: kept)


def _through_other_view(array: Host) -> Kept:
    kept = array[...]
    return Kept(array[...], lambda: kept)


def _through_flat(array: Host) -> Kept:
    kept = array.flat
    return Kept(array, lambda: kept.base)


def _through_ctypes(array: Host) -> Kept:
    kept: Array = array.ctypes
    return Kept(array, lambda: kept._arr)


def _through_tensor(array: Host) -> Kept:
    kept = torch.from_numpy(array)
    return Kept(array, kept.numpy)


def _through_closure(array: Host) -> Kept:
    return Kept(array, lambda: array)


def _through_weak_reference(array: Host) -> Kept:
    return Kept(array, weakref.ref(array))


def _view_of_weak_reference(array: Host) -> Kept:
    return Kept(array[...], weakref.ref(array))


def _through_weak_values(array: Host) -> Kept:
    kept = weakref.WeakValueDictionary({"a": array})
    return Kept(array, lambda: kept.get("a"))


def _keep(array: Host) -> Generator[Host]:
    while True:
        yield array


def _through_generator(array: Host) -> Kept:
    kept = _keep(array)
    next(kept)
    return Kept(array, lambda: next(kept))


def _through_default_argument(array: Host) -> Kept:
    def held(array: Host = array) -> Host:
        return array

    return Kept(array, held)


def _through_partial(array: Host) -> Kept:
    return Kept(array, partial(np.asarray, array))


def _through_container(array: Host) -> Kept:
    kept = deque([array])
    return Kept(array, lambda: kept[0])


def _through_the_attributes_of_an_object(array: Host) -> Kept:
    kept = types.SimpleNamespace(position=array)
    return Kept(vars(kept), lambda: kept.position)


def _in_kept(container: Callable[[Host], Array]) -> Pattern:
    """Return a pattern of a new array in a new container; the environment keeps the container."""

    def make(array: Host) -> Kept:
        return _keeping_container(container(array))

    return _made(make)


def _through_view_of_objects(array: Host) -> Kept:
    kept = _object_array(array)
    return Kept(kept[:], lambda: kept[0])


def _through_objects_within_objects(array: Host) -> Kept:
    kept = _object_array(array)
    return Kept({"a": _object_array(kept.reshape(1, 1))}, lambda: kept[0])


def _keeping_container(kept: Array) -> Kept:
    return Kept(kept, lambda: _first_leaf(kept))


def _first_leaf(tree: Array) -> Host:
    while not isinstance(tree, np.ndarray) or tree.dtype == object:
        if isinstance(tree, dict):
            tree = next(iter(tree.values()))
        elif isinstance(tree, State):
            tree = tree.position
        else:
            tree = tree[0]
    return tree


_CONTAINERS: dict[str, Callable[[Host], Array]] = {
    "dict": lambda array: {"a": array},
    "list": lambda array: [array],
    "tuple": lambda array: (array,),
    "named tuple": Point,
    "dataclass": State,
    "object array": _object_array,
    "dict in a dict": lambda array: {"a": {"b": array}},
}

NUMPY_PATTERNS: dict[str, Pattern] = {
    "state updated in place": _same(lambda memory: memory),
    "view of a buffer": _reused(lambda memory: memory),
    "reshaped buffer": _same(lambda memory: memory.reshape(memory.shape)),
    "strided view of a buffer": _reused(as_strided),
    **{f"the same {name}": _same(show) for name, show in _CONTAINERS.items()},
    **{f"a new {name} of a kept array": _reused(show) for name, show in _CONTAINERS.items()},
    **{f"a kept {name} of a new array": _in_kept(show) for name, show in _CONTAINERS.items()},
    "attributes of an object": _made(_through_the_attributes_of_an_object),
    "ctypes": _over(lambda size: (ctypes.c_char * size)()),
    "bytearray": _over(bytearray),
    "anonymous memory map": _over(lambda size: mmap.mmap(-1, size)),
    "memory map": _memory_map,
    "memory of an extension": _reused(lambda memory: np.asarray(Owner(memory))),
    "memory of a tensor": _reused(lambda memory: torch.from_numpy(memory).numpy()),
    "memory over DLPack": _reused(lambda memory: np.from_dlpack(torch.from_numpy(memory))),
    "kept through a memoryview": _made(_through_memoryview),
    "kept through a view": _made(_through_view),
    "view of a base that another view reaches": _made(_through_other_view),
    "kept through a view of an object array": _made(_through_view_of_objects),
    "kept through a view of an object array in another": _made(_through_objects_within_objects),
    "kept through an iterator": _made(_through_flat),
    "kept through ctypes": _made(_through_ctypes),
    "kept through a tensor": _made(_through_tensor),
    "kept through a closure": _made(_through_closure),
    "kept through a weak reference": _made(_through_weak_reference),
    "view of a base with a weak reference": _made(_view_of_weak_reference),
    "kept through weak values": _made(_through_weak_values),
    "kept through a generator": _made(_through_generator),
    "kept through a default argument": _made(_through_default_argument),
    "kept through a partial function": _made(_through_partial),
    "kept in a container": _made(_through_container),
}
"""Patterns of NumPy environments."""


def _tensors(show: Callable[[Array], Array]) -> Pattern:
    """Return a pattern of tensors over memory that the environment writes into in every step."""

    def pattern(shape: tuple[int, ...], dtype: str) -> Give:
        memory = torch.zeros((2, *shape), dtype=getattr(torch, dtype))

        def give(number: int) -> Kept:
            memory.fill_(number)
            return Kept(show(memory[1]), memory.numpy)

        return give

    return pattern


def _same_tensor(shape: tuple[int, ...], dtype: str) -> Give:
    state = torch.zeros(shape, dtype=getattr(torch, dtype))

    def give(number: int) -> Kept:
        return Kept(state.fill_(number), state.numpy)

    return give


def _tensor_that_numpy_reaches(shape: tuple[int, ...], dtype: str) -> Give:
    def give(number: int) -> Kept:
        tensor = torch.full(shape, number, dtype=getattr(torch, dtype))
        kept = tensor.numpy()
        return Kept(tensor, lambda: kept)

    return give


def _tensor_over_a_storage(tensor: Array) -> Array:
    storage = tensor.untyped_storage()
    place = tensor.storage_offset(), tensor.shape, tensor.stride()
    return torch.empty(0, dtype=tensor.dtype).set_(storage, *place)


TORCH_PATTERNS: dict[str, Pattern] = {
    "state updated in place": _same_tensor,
    "view of a buffer": _tensors(lambda tensor: tensor),
    "detached buffer": _tensors(lambda tensor: tensor.detach()),
    "another tensor over the storage": _tensors(_tensor_over_a_storage),
    "tensor from NumPy's memory": _reused(torch.from_numpy),
    "tensor over DLPack": _reused(from_dlpack),
    "tensor by asarray": _reused(torch.asarray),
    "new tensor that NumPy reaches": _tensor_that_numpy_reaches,
    "new dict of a buffer": _tensors(lambda tensor: {"a": tensor}),
    "new list of a buffer": _tensors(lambda tensor: [tensor]),
}
"""Patterns of PyTorch environments."""


# -- environments -----------------------------------------------------------------------------

OVERWRITTEN = 77
"""The number that environments overwrite their memory with."""

_ACTIONS = spaces.Discrete(2)
_SPACE: gym.Space[Array] = spaces.Box(-np.inf, np.inf, (2, 3))


class Keeping:
    """The base of all forms: overwrites the memory of earlier results.

    Args:
        pattern: How they return arrays.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.gives: dict[str, Give] = {}
        self.memories: list[Memory] = []
        self.number = 0

    def begin(self) -> None:
        """Overwrite earlier results, and count the step."""
        self.number += 1
        for find in self.memories:
            memory = find()
            if memory is not None:
                memory[...] = ~memory if memory.dtype == bool else OVERWRITTEN
        self.memories.clear()

    def new(self, name: str, shape: tuple[int, ...] = (2, 3), dtype: str = "float32") -> Array:
        """Return a value filled with the number of the step; its memory stays reachable."""
        if name not in self.gives:
            self.gives[name] = self.pattern(shape, dtype)
        # flags are False in every second step
        returned, memory = self.gives[name](self.number % 2 if dtype == "bool" else self.number)
        self.memories.append(memory)
        return returned


class KeepingSingle(gym.Env["Array", "Array"]):
    """A single environment with arrays in observations and infos."""

    observation_space = _SPACE
    action_space = _ACTIONS

    def __init__(self, pattern: Pattern) -> None:
        self.keeping = Keeping(pattern)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        self.keeping.begin()
        return self.keeping.new("obs"), {"x": self.keeping.new("info")}

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        self.keeping.begin()
        info = {"x": self.keeping.new("info")} if self.keeping.number % 2 else {}
        return self.keeping.new("obs"), 0.0, False, False, info


class KeepingVector(gym.vector.VectorEnv["Array", "Array", "Array"]):
    """A vector of two environments, with buffers for rewards and flags too."""

    def __init__(self, pattern: Pattern) -> None:
        self.keeping = Keeping(pattern)
        self.num_envs = 2
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (3,))
        self.observation_space = _SPACE
        self.single_action_space = _ACTIONS
        self.action_space = spaces.MultiDiscrete([2, 2])

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        self.keeping.begin()
        return self.keeping.new("obs"), {"x": self.keeping.new("info")}

    @override
    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Array]]:
        self.keeping.begin()
        info = {"x": self.keeping.new("info")} if self.keeping.number % 2 else {}
        return (
            self.keeping.new("obs"),
            self.keeping.new("rewards", (2,), "float32"),
            self.keeping.new("terminations", (2,), "bool"),
            self.keeping.new("truncations", (2,), "bool"),
            info,
        )


class KeepingParallel:
    """A parallel environment with two agents."""

    def __init__(self, pattern: Pattern) -> None:
        self.keeping = Keeping(pattern)
        self.metadata = {"name": "keeping"}
        self.agents = self.possible_agents = ["one", "two"]

    @property
    def unwrapped(self) -> KeepingParallel:
        return self

    def observation_space(self, agent: str) -> gym.Space[Array]:
        del agent
        return _SPACE

    def action_space(self, agent: str) -> gym.Space[Array]:
        del agent
        return _ACTIONS

    def reset(
        self, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        del seed, options
        self.keeping.begin()
        return self._obs(), {}

    def step(self, actions: dict[str, Array]) -> tuple[Array, ...]:
        del actions
        self.keeping.begin()
        infos = {agent: {"x": self.keeping.new(f"info {agent}")} for agent in self.agents}
        rewards = dict.fromkeys(self.agents, 0.0)
        flags = dict.fromkeys(self.agents, False)
        return self._obs(), rewards, flags, dict(flags), infos

    def _obs(self) -> dict[str, Array]:
        return {agent: self.keeping.new(f"obs {agent}") for agent in self.agents}

    def state(self) -> Array:
        return self.keeping.new("state")


FORMS: dict[str, Callable[[Pattern], Array]] = {
    "single": KeepingSingle,
    "vector": KeepingVector,
    "parallel": KeepingParallel,
}
"""The environment of each form."""
