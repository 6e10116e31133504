"""A wrapper refuses an environment of another form and names the right wrapper."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium as gym
import pytest

import gymbridge
from gymbridge import vector
from tests.libraries.pettingzoo import pettingzoo
from tests.libraries.torch import torch
from tests.support import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.environments.bridges import Value


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


@pytest.mark.parametrize("package", ["gymbridge", "gymbridge.vector"])
def test_an_object_of_no_form_is_refused_by_gymnasium(package: str) -> None:
    require("torch")
    wrap: Callable[[object], object] = import_module(package).NumpyToTorch
    with pytest.raises(TypeError, match=r"^Expected env to be a `gymnasium\."):
        wrap("CartPole-v1")


def test_array_conversion_names_its_own_wrappers() -> None:
    with pytest.raises(TypeError, match=r"from gymbridge\.vector import ArrayConversion`"):
        gymbridge.ArrayConversion(several(), "numpy", "array_api_strict")
    with pytest.raises(TypeError, match="from gymbridge import ArrayConversion`"):
        vector.ArrayConversion(single(), "numpy", "array_api_strict")
