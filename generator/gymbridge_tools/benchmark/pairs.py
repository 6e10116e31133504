"""The ordered pairs of libraries, and their converters and wrappers."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym
import jax.numpy as jnp
import numpy as np
import torch
from gymnasium.wrappers import array_conversion as gymnasiums
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from gymbridge_runtime.types import AnyType

TITLES = {"numpy": "NumPy", "torch": "PyTorch", "jax": "JAX"}
NAMESPACES: dict[str, ModuleType] = {"numpy": np, "torch": torch, "jax": jnp}


class Pair(NamedTuple):
    """From the library of an environment to the library of its agent."""

    source: str
    target: str

    @property
    def name(self) -> str:
        """The name of the converter: ``numpy_to_torch``."""
        return f"{self.source}_to_{self.target}"

    @property
    def back(self) -> Pair:
        """The other direction, for actions."""
        return Pair(self.target, self.source)

    @property
    def title(self) -> str:
        """The name for readers: ``NumPy → PyTorch``."""
        return f"{TITLES[self.source]} → {TITLES[self.target]}"

    @override
    def __str__(self) -> str:
        return self.title

    @property
    def class_name(self) -> str:
        """The name of the wrapper: ``NumpyToTorch``."""
        return f"{self.source.title()}To{self.target.title()}"

    def converter(self) -> Callable[..., object]:
        """Return gymbridge's function."""
        convert: Callable[..., object] = getattr(import_module(f"gymbridge.{self.name}"), self.name)
        return convert

    def gymnasiums_converter(self) -> Callable[..., object]:
        """Return Gymnasium's general function with the target of the pair."""
        namespace = gymnasiums.module_namespace(NAMESPACES[self.target])
        return partial(gymnasiums.array_conversion, xp=namespace)

    def wrapper(self, env: AnyType, **options: AnyType) -> AnyType:
        """Wrap one environment, a vector of them, or a batched one, with gymbridge."""
        package = "gymbridge.batched" if hasattr(env, "num_envs") else "gymbridge"
        if isinstance(env, gym.vector.VectorEnv):
            package = "gymbridge.vector"
        return getattr(import_module(package), self.class_name)(env, **options)

    def gymnasiums_wrapper(
        self, env: AnyType, device: object = None, env_device: object = None
    ) -> AnyType:
        """Wrap with Gymnasium's class for the pair, or with its general one."""
        vector = isinstance(env, gym.vector.VectorEnv)
        package: AnyType = gym.wrappers.vector if vector else gym.wrappers
        if self.class_name in package.__all__ and env_device is None:
            own = getattr(package, self.class_name)
            return own(env) if device is None else own(env, device)
        general = import_module(f"{package.__name__}.array_conversion").ArrayConversion
        libraries = NAMESPACES[self.source], NAMESPACES[self.target]
        return general(env, *libraries, env_device=env_device, target_device=device)


PAIRS = {pair.name: pair for pair in (Pair(*two) for two in permutations(TITLES, 2))}
"""All pairs by name."""
