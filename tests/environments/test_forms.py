"""A wrapper refuses an environment of another form or library, and names the right wrapper."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.testing.parallel_worlds import ParallelWorld
from gymnasium import spaces
from typing_extensions import override

import gymbridge
from gymbridge import vector
from tests.environments.bridges import Value, bridge, counterpart, vector_bridge
from tests.environments.test_asynchronous import Halves
from tests.environments.worlds import Echo
from tests.libraries.pettingzoo import pettingzoo
from tests.libraries.torch import torch
from tests.support import LIBRARIES, Library, Pair, require

if TYPE_CHECKING:
    from collections.abc import Callable


def single() -> Value:
    return gym.make("CartPole-v1")


def several() -> Value:
    return gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")


def agents() -> Value:
    require("pettingzoo")
    return pettingzoo.make("parallel", "classic/rps-v2")


def turns() -> Value:
    require("pettingzoo")
    return pettingzoo.make("aec", "classic/rps-v2")


MAKERS = {"single": single, "vector": several, "parallel": agents, "turn-based": turns}
PACKAGES = {"single": "gymbridge", "vector": "gymbridge.vector", "parallel": "gymbridge.parallel"}
MISTAKES = [(taken, given) for taken in PACKAGES for given in MAKERS if taken != given]


@pytest.mark.parametrize(("taken", "given"), MISTAKES)
def test_an_environment_of_another_form_is_an_error_that_names_the_wrapper(
    taken: str, given: str
) -> None:
    require("torch")
    if taken == "parallel":
        require("pettingzoo")
    wrap: Callable[[object], object] = import_module(PACKAGES[taken]).NumpyToTorch
    env = MAKERS[given]()
    with pytest.raises(TypeError, match=f"^this NumpyToTorch takes {taken} environm") as caught:
        wrap(env)
    env.close()
    mistake, _, said = str(caught.value).partition("; take ")
    assert mistake.endswith(f", and {type(env).__name__} is {given}")
    expected = {
        **{form: f"from {package} import NumpyToTorch`" for form, package in PACKAGES.items()},
        "turn-based": "pettingzoo.utils.aec_to_parallel(env)`, whose agents all act at once",
    }
    assert said.endswith(expected[given])


def test_a_turn_based_environment_works_after_conversion_to_parallel() -> None:
    require("torch")
    wrap = import_module("gymbridge.parallel").NumpyToTorch
    require("pettingzoo")
    env = wrap(pettingzoo.utils.aec_to_parallel(turns()))
    env.reset(seed=0)
    observed = env.step(env.sample_action())[0]
    assert all(isinstance(seen, torch.Tensor) for seen in observed.values())


@pytest.mark.needs("gymnasium>=1.4")  # older ones raise AssertionError
@pytest.mark.parametrize("package", ["gymbridge", "gymbridge.vector"])
def test_gymnasium_refuses_objects_of_no_form(package: str) -> None:
    require("torch")
    wrap: Callable[[object], object] = import_module(package).NumpyToTorch
    with pytest.raises(TypeError, match=r"^Expected env to be a `gymnasium\."):
        wrap("CartPole-v1")


def test_array_conversion_names_its_own_wrappers() -> None:
    with pytest.raises(TypeError, match=r"from gymbridge\.vector import ArrayConversion`"):
        gymbridge.ArrayConversion(several(), "numpy", "array_api_strict")
    with pytest.raises(TypeError, match="from gymbridge import ArrayConversion`"):
        vector.ArrayConversion(single(), "numpy", "array_api_strict")


# -- the library ----------------------------------------------------------------------------------


class Worlds(Echo):
    """Returns the given values in every reset and step."""

    def __init__(self, obs: Value, info: Value = None) -> None:
        super().__init__(spaces.Discrete(2))
        self._told = obs, info or {}

    @override
    def reset(self, *, seed: int | None = None, options: Value = None) -> Value:
        return self._told

    @override
    def step(self, action: Value) -> Value:
        return self._told[0], 0.0, False, False, self._told[1]


def others(pair: Pair) -> list[Library]:
    """Return the libraries outside ``pair``."""
    for name in ("numpy", "torch", "jax", "mlx"):
        require(name)
    known = ("numpy", "torch", "jax", "mlx")
    return [LIBRARIES[name] for name in known if name not in (pair.source.name, pair.target.name)]


def test_the_error_names_the_wrapper_for_the_observed_library(pair_of_any: Pair) -> None:
    pair = pair_of_any
    for other in others(pair):
        array = other.make(np.ones(2, np.float32))
        for obs in (array, {"goal": ("text", 1, array)}, [np.float32(1), array]):
            agent = bridge(pair, Worlds(obs))
            name = type(agent).__name__
            with pytest.raises(TypeError) as caught:
                agent.reset()
            right = f"{other.name.title()}To{pair.target.name.title()}"
            assert str(caught.value).startswith(f"this {name} takes environments of ")
            assert str(caught.value).endswith(f"; take {right}")
            assert bridge(Pair(other.name, pair.target.name), Worlds(obs)).reset()


def test_the_library_of_a_vector_environment_is_checked(pair: Pair) -> None:
    back = Pair(pair.target.name, "torch" if pair.target.name != "torch" else "jax")
    back.require()
    agent = vector_bridge(back, several())
    words = f"; take NumpyTo{back.target.name.title()}$"
    with pytest.raises(TypeError, match=words):
        agent.reset()
    agent = vector_bridge(back, Halves())
    agent.reset_async()
    with pytest.raises(TypeError, match=words):
        agent.reset_wait()


def test_the_library_of_a_parallel_environment_is_checked(pair: Pair) -> None:
    require("pettingzoo")
    target = "torch" if pair.target.name != "torch" else "jax"
    name = f"{pair.target.name.title()}To{target.title()}"
    wrap: Callable[[object], Value] = getattr(import_module("gymbridge.parallel"), name)
    with pytest.raises(TypeError, match=f"; take NumpyTo{target.title()}$"):
        wrap(ParallelWorld()).reset()


def test_observations_without_foreign_arrays_are_accepted(pair_of_any: Pair) -> None:
    """Mixed libraries, the agent's own, empty arrays, scalars and text pass; infos are ignored."""
    pair = pair_of_any
    for other in others(pair):
        array = other.make(np.ones(2, np.float32))
        own = pair.source.make(np.ones(2, np.float32))
        fine: list[Value] = [
            {"a": array, "b": own},
            pair.target.make(np.ones(2, np.float32)),
            other.make(np.ones((0, 3), np.float32)),
            np.float32(1),
            np.array(["a", "b"]),
            "text",
            None,
        ]
        for obs in fine:
            seen, _ = bridge(pair, Worlds(obs, {"x": array})).reset()
            counterpart(seen, obs, pair.target)


def test_steps_may_return_arrays_of_any_library(pair: Pair) -> None:
    """Only resets are checked, because a check would slow down every step."""
    back = Pair(pair.target.name, "torch" if pair.target.name != "torch" else "jax")
    back.require()
    agent = bridge(back, Echo(spaces.Discrete(2)))
    assert back.target.is_array(agent.step(agent.sample_action())[0])


def test_array_conversion_takes_environments_of_any_library() -> None:
    require("torch")
    agent = gymbridge.ArrayConversion(single(), "array_api_strict", "torch")
    assert isinstance(agent.reset()[0], torch.Tensor)
    agents = vector.ArrayConversion(several(), "array_api_strict", "torch")
    assert isinstance(agents.reset()[0], torch.Tensor)
