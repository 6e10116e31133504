"""Every environment of Gymnasium, with and without a wrapper, compared leaf by leaf."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest

from tests.environments.bridges import Value, bridge, counterpart, same, vector_bridge
from tests.environments.worlds import made
from tests.support import Pair, require

pytestmark = [
    # Gymnasium warns about its own ids, versions and 0-d samples
    pytest.mark.filterwarnings("ignore:.*is out of date"),
    pytest.mark.filterwarnings("ignore:.*deprecated"),
    # SWIG aborts the process if the first import of Box2D must not warn
    pytest.mark.filterwarnings("ignore:builtin type .* has no __module__"),
    pytest.mark.filterwarnings("ignore:.*is missing AutoresetMode metadata"),
    pytest.mark.filterwarnings("ignore:.*Casting input x to numpy array"),
]

NEEDS = {
    "classic_control": ["pygame"],
    "toy_text": ["pygame"],
    "box2d": ["Box2D", "pygame"],
    "mujoco": ["mujoco"],
    "phys2d": ["jax", "flax"],
    "tabular": ["jax", "flax"],
}
"""The modules that each family needs."""

WITHOUT_ITS_LIBRARY = "Pusher-v4"
"""It needs a MuJoCo before version 3, which no extra installs."""


class _Kind(NamedTuple):
    id: str
    family: str

    @property
    def source(self) -> str:
        return "jax" if self.family in {"phys2d", "tabular"} else "numpy"

    @property
    def steps(self) -> int:
        """A cheap number: JAX's environments are not compiled."""
        return 2 if self.source == "jax" else 8

    def require(self) -> None:
        for module in NEEDS[self.family]:
            require(module)


def _kinds() -> list[_Kind]:
    """Return the ids that Gymnasium registers, without removed versions, which raise."""
    own = "gymnasium.envs."
    return [
        _Kind(spec.id, spec.entry_point.removeprefix(own).partition(".")[0])
        for spec in gym.registry.values()
        if isinstance(spec.entry_point, str)
        and spec.entry_point.startswith(own)
        and spec.id != WITHOUT_ITS_LIBRARY
    ]


KINDS = _kinds()
SINGLE = [
    (kind, agent)
    for kind in KINDS
    for agent in ("torch", "jax", "numpy")
    if agent != kind.source and not (agent == "numpy" and kind.source == "numpy")
]
NATIVE = [
    (kind, agent) for kind, agent in SINGLE if gym.registry[kind.id].vector_entry_point is not None
]


def test_every_family_of_gymnasium_environments_is_tested() -> None:
    assert {kind.family for kind in KINDS} == NEEDS.keys()
    assert len(KINDS) > 40


def test_the_environment_that_is_left_out_cannot_be_made() -> None:
    require("mujoco")
    with pytest.raises(ImportError, match="only supported on `mujoco<3`"):
        gym.make(WITHOUT_ITS_LIBRARY)


class _Episode(NamedTuple):
    """An episode without a wrapper."""

    actions: list[Any]
    reset: Value
    steps: list[Any]
    closed: bool = True


@cache
def _single(kind: _Kind) -> _Episode:
    env = gym.make(kind.id)
    env.action_space.seed(5)
    reset = _kept(env.reset(seed=5))
    actions, steps = [], []
    for _ in range(kind.steps):
        actions.append(env.action_space.sample())
        steps.append(_kept(env.step(actions[-1])))
        if steps[-1][2] or steps[-1][3]:
            break
    env.close()
    return _Episode(actions, reset, steps)


@cache
def _vector(kind: _Kind, mode: str) -> _Episode:
    envs = gym.make_vec(kind.id, 2, vectorization_mode=mode)
    envs.action_space.seed(5)
    reset = _kept(envs.reset(seed=5))
    actions, steps = [], []
    for _ in range(kind.steps):
        actions.append(envs.action_space.sample())
        steps.append(_kept(envs.step(actions[-1])))
    envs.close()
    return _Episode(actions, reset, steps, envs.closed)


def _kept(tree: Value) -> Value:
    """Return a copy of ``tree``: environments may change it later."""
    if isinstance(tree, dict):
        return {key: _kept(value) for key, value in tree.items()}
    if isinstance(tree, tuple) and not hasattr(tree, "_fields"):
        return tuple(map(_kept, tree))
    return tree.copy() if isinstance(tree, np.ndarray) else tree


def _name(value: object) -> str:
    return value.id if isinstance(value, _Kind) else str(value)


@pytest.mark.parametrize(("kind", "agent"), SINGLE, ids=_name)
def test_a_wrapped_environment_returns_the_same_values(kind: _Kind, agent: str) -> None:
    kind.require()
    pair = Pair(kind.source, agent)
    pair.require()
    bare = _single(kind)
    env = bridge(pair, gym.make(kind.id))
    counterpart(env.reset(seed=5), bare.reset, pair.target)
    for action, step in zip(bare.actions, bare.steps, strict=True):
        obs, reward, terminated, truncated, info = env.step(made(pair.target, action))
        counterpart(obs, step[0], pair.target)
        same((reward, terminated, truncated), (float(step[1]), bool(step[2]), bool(step[3])))
        counterpart(info, step[4], pair.target)
    env.close()
    env.close()


@pytest.mark.parametrize("agent", [pytest.param("torch", marks=pytest.mark.slow), "jax"])
@pytest.mark.parametrize("kind", KINDS, ids=_name)
def test_wrapped_vectors_return_the_same_values(kind: _Kind, agent: str) -> None:
    """Gymnasium's vectors batch with NumPy, whatever library their environments use."""
    kind.require()
    _compare_vectors(kind, Pair("numpy", agent), "sync")


@pytest.mark.parametrize(("kind", "agent"), NATIVE, ids=_name)
def test_wrapped_native_vectors_return_the_same_values(kind: _Kind, agent: str) -> None:
    kind.require()
    _compare_vectors(kind, Pair(kind.source, agent), "vector_entry_point")


def _compare_vectors(kind: _Kind, pair: Pair, mode: str) -> None:
    pair.require()
    bare = _vector(kind, mode)
    envs = vector_bridge(pair, gym.make_vec(kind.id, 2, vectorization_mode=mode))
    counterpart(envs.reset(seed=5), bare.reset, pair.target)
    for actions, step in zip(bare.actions, bare.steps, strict=True):
        counterpart(envs.step(made(pair.target, actions)), step, pair.target)
    envs.close()
    envs.close()
    assert envs.closed is bare.closed
