"""Wrappers among Gymnasium's own wrappers and tools."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from typing_extensions import override

from tests.environments.bridges import AGENTS, Value, bridge, counterpart, same, vector_bridge
from tests.environments.worlds import Countdown, Echo
from tests.support import Pair, require, run_python

if TYPE_CHECKING:
    from pathlib import Path


def _cartpoles(count: int = 2) -> SyncVectorEnv:
    return SyncVectorEnv([partial(gym.make, "CartPole-v1")] * count)


# -- the checker ----------------------------------------------------------------------------------


class _Faulty(gym.Env[Any, Any]):
    """Returns observations outside its space."""

    observation_space = spaces.Box(-1, 1, (2,))
    action_space = spaces.Discrete(2)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.full(3, 9, np.float32), {}

    @override
    def step(self, action: Value) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.full(3, 9, np.float32), 0.0, False, False, {}


CHECKED = ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1"]
_ADVICE = [
    *("is different from the unwrapped version", "is probably too", "symmetric and normalized"),
    *("Casting input x to numpy array", "should be an int or np.int64, actual type"),
]
check = pytest.mark.filterwarnings(*(f"ignore:.*{advice}" for advice in _ADVICE))


def _unchecked(name: str) -> Value:
    return gym.make(name, disable_env_checker=True).unwrapped


@check
@pytest.mark.parametrize("name", CHECKED)
def test_check_env_passes_a_wrapper_for_jax(name: str) -> None:
    """`check_env` converts environments whose metadata says that they return JAX arrays."""
    require("jax")
    check_env(_unchecked(name), skip_render_check=True)
    check_env(bridge(Pair("numpy", "jax"), _unchecked(name)), skip_render_check=True)


@check
@pytest.mark.parametrize("name", CHECKED)
@pytest.mark.parametrize("library", AGENTS)
def test_check_env_passes_wrappers_that_return_to_numpy(library: str, name: str) -> None:
    require(library)
    there = bridge(Pair("numpy", library), _unchecked(name))
    there.metadata = {**there.metadata, library: True}
    check_env(bridge(Pair(library, "numpy"), there), skip_render_check=True)


@check
@pytest.mark.parametrize("name", ["phys2d/CartPole-v1", "phys2d/Pendulum-v0"])
def test_check_env_passes_jax_environments_for_numpy(name: str) -> None:
    require("jax")
    require("flax")
    env = _unchecked(name)
    check_env(env, skip_render_check=True)
    check_env(bridge(Pair("jax", "numpy"), env), skip_render_check=True)


@check
def test_check_env_still_finds_faults_of_an_environment() -> None:
    require("torch")
    there = bridge(Pair("numpy", "torch"), _Faulty())
    agent = bridge(Pair("torch", "numpy"), there)
    with pytest.raises(AssertionError, match="observation"):
        check_env(agent, skip_render_check=True)


# -- wrappers inside ------------------------------------------------------------------------------


def _autoreset(env: Value) -> Value:
    return gym.wrappers.Autoreset(env)


def _time_limit(env: Value) -> Value:
    return gym.wrappers.TimeLimit(env, 3)


def _stacked(env: Value) -> Value:
    return gym.wrappers.FrameStackObservation(env, 3)


def _normalized(env: Value) -> Value:
    return gym.wrappers.NormalizeObservation(env)


def _normalized_reward(env: Value) -> Value:
    return gym.wrappers.NormalizeReward(env)


def _rescaled(env: Value) -> Value:
    return gym.wrappers.DtypeObservation(env, np.float64)


def _time_aware(env: Value) -> Value:
    return gym.wrappers.TimeAwareObservation(env, flatten=False)


def _delayed(env: Value) -> Value:
    return gym.wrappers.DelayObservation(env, delay=1)


def _sticky(env: Value) -> Value:
    return gym.wrappers.StickyAction(env, 0.5)


def _filtered(env: Value) -> Value:
    return gym.wrappers.FilterObservation(gym.wrappers.TimeAwareObservation(env, False), ["obs"])


INSIDE = [
    *(_autoreset, _time_limit, _stacked, _normalized, _normalized_reward, _rescaled),
    *(_time_aware, _delayed, _sticky, _filtered),
]


@pytest.mark.parametrize("inside", INSIDE)
def test_gymnasium_wrappers_work_inside(pair: Pair, inside: Value) -> None:
    bare = inside(gym.make("CartPole-v1"))
    agent = bridge(pair, inside(gym.make("CartPole-v1")))
    counterpart(agent.reset(seed=0), bare.reset(seed=0), pair.target)
    for _ in range(4):
        wanted = bare.step(np.int64(1))
        got = agent.step(pair.target.make(np.array(1, np.int32)))
        counterpart(got[0], wanted[0], pair.target)
        same(got[1:4], (float(wanted[1]), *wanted[2:4]))
        counterpart(got[4], wanted[4], pair.target)
        if wanted[2] or wanted[3]:
            break


def test_rendered_frames_can_be_observations(pair: Pair) -> None:
    def made() -> Value:
        env = gym.make("CartPole-v1", render_mode="rgb_array")
        return gym.wrappers.AddRenderObservation(env, render_only=False)

    bare = made()
    agent = bridge(pair, made())
    counterpart(agent.reset(seed=0), bare.reset(seed=0), pair.target)
    got, wanted = agent.step(pair.target.make(np.array(1))), bare.step(np.int64(1))
    counterpart(got[0], wanted[0], pair.target)


def test_videos_are_recorded_inside_and_outside(pair: Pair, tmp_path: Path) -> None:
    require("moviepy")

    def recorded(env: Value, folder: str) -> Value:
        return gym.wrappers.RecordVideo(
            env, str(tmp_path / folder), episode_trigger=lambda _: True, disable_logger=True
        )

    def made() -> Value:
        return gym.make("CartPole-v1", render_mode="rgb_array")

    inside = bridge(pair, recorded(made(), "inside"))
    outside = recorded(bridge(pair, made()), "outside")
    for folder, agent in (("inside", inside), ("outside", outside)):
        agent.reset(seed=0)
        for _ in range(3):
            agent.step(pair.target.make(np.array(1)))
        agent.close()
        assert [file.suffix for file in (tmp_path / folder).iterdir()] == [".mp4"]


# -- wrappers outside -----------------------------------------------------------------------------


def test_observations_can_be_transformed_outside(pair: Pair) -> None:
    agent: Any = gym.wrappers.TransformObservation(
        bridge(pair, gym.make("CartPole-v1")), lambda obs: obs * 2, None
    )
    bare = gym.make("CartPole-v1").reset(seed=0)[0]
    counterpart(agent.reset(seed=0)[0], bare * 2, pair.target)


def test_observations_of_vectors_can_be_transformed_outside(pair: Pair) -> None:
    agent: Any = gym.wrappers.vector.TransformObservation(
        vector_bridge(pair, _cartpoles()), lambda obs: obs * 2
    )
    bare = _cartpoles().reset(seed=0)[0]
    counterpart(agent.reset(seed=0)[0], bare * 2, pair.target)


def test_an_episode_can_be_limited_and_begin_again_outside(pair: Pair) -> None:
    agent: Any = gym.wrappers.Autoreset(gym.wrappers.TimeLimit(bridge(pair, Countdown(9)), 2))
    agent.reset()
    ended = [agent.step(pair.target.make(np.array(0)))[3] for _ in range(6)]
    assert ended == [False, True, False, False, True, False]


# -- rendering ------------------------------------------------------------------------------------


def test_rendered_frames_stay_numpy_arrays(pair: Pair) -> None:
    agent = bridge(pair, gym.make("CartPole-v1", render_mode="rgb_array"))
    agent.reset(seed=0)
    frame = agent.render()
    assert type(frame) is np.ndarray
    assert (frame.dtype, frame.shape) == (np.dtype(np.uint8), (400, 600, 3))
    assert len(np.unique(frame)) > 1
    same(frame, agent.unwrapped.render())
    agent.close()


def test_a_frame_with_negative_strides_is_rendered(pair: Pair) -> None:
    """MuJoCo's frames are upside down in memory, and PyTorch's own import aborts the process."""
    require("mujoco")
    output = run_python(
        f"""\
import gymnasium as gym
import gymbridge
env = gymbridge.NumpyTo{pair.target.name.title()}(
    gym.make("HalfCheetah-v5", render_mode="rgb_array", width=64, height=48)
)
env.reset(seed=0)
env.step(env.sample_action())
frame = env.render()
print(type(frame).__name__, frame.dtype, frame.shape, bool(frame.any()))
env.close()
""",
        MUJOCO_GL=os.environ.get("MUJOCO_GL", "egl"),
    )
    assert output == "ndarray uint8 (48, 64, 3) True\n"


def test_vectors_render_every_environment(pair: Pair) -> None:
    envs = SyncVectorEnv([partial(gym.make, "CartPole-v1", render_mode="rgb_array")] * 2)
    agent = vector_bridge(pair, envs)
    agent.reset()
    frames = agent.render()
    assert [type(frame) for frame in frames] == [np.ndarray, np.ndarray]
    for frame, one in zip(frames, envs.envs, strict=True):
        same(frame, one.render())
    assert agent.render_mode == "rgb_array"
    agent.close()


# -- attributes -----------------------------------------------------------------------------------


def test_a_wrapper_has_the_attributes_of_its_environment(pair: Pair) -> None:
    env = gym.make("CartPole-v1")
    agent = bridge(pair, env)
    assert agent.env is env
    assert agent.unwrapped is env.unwrapped
    assert agent.action_space is env.action_space
    assert agent.observation_space is env.observation_space
    assert agent.render_mode is env.render_mode
    assert repr(agent) == f"<NumpyTo{pair.target.name.title()}{env}>"
    agent.reset(seed=3)
    assert agent.np_random is env.unwrapped.np_random
    assert agent.np_random_seed == 3


def test_environment_attributes_can_be_read_and_set(pair: Pair) -> None:
    agent = bridge(pair, gym.make("CartPole-v1"))
    assert agent.has_wrapper_attr("gravity")
    assert agent.get_wrapper_attr("gravity") == 9.8
    agent.set_wrapper_attr("gravity", 1.6)
    assert agent.unwrapped.gravity == 1.6
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        agent.get_wrapper_attr("nothing")


def test_a_vector_wrapper_has_the_attributes_of_its_environment(pair: Pair) -> None:
    envs = _cartpoles(3)
    agent = vector_bridge(pair, envs)
    assert agent.env is envs
    assert agent.unwrapped is envs
    assert agent.num_envs == 3
    for name in ("action_space", "observation_space", "single_action_space"):
        assert getattr(agent, name) is getattr(envs, name), name
    assert repr(agent) == f"<NumpyTo{pair.target.name.title()}, {envs}>"


def test_methods_of_the_environments_can_be_called_through_a_vector_wrapper(pair: Pair) -> None:
    for envs in (_cartpoles(), gym.wrappers.vector.RecordEpisodeStatistics(_cartpoles())):
        agent = vector_bridge(pair, envs)
        agent.reset(seed=1)
        assert agent.get_attr("gravity") == (9.8, 9.8)
        agent.set_attr("gravity", [1.0, 2.0])
        assert agent.get_attr("gravity") == (1.0, 2.0)
        assert agent.call("has_wrapper_attr", "gravity") == (True, True)
        first, _ = agent.call("reset", seed=5)
        same(first, gym.make("CartPole-v1").reset(seed=5))


@pytest.mark.parametrize("times", [1, 2])
def test_close_closes_the_environment_and_may_be_called_twice(pair: Pair, times: int) -> None:
    closed = []

    class Door(Echo):
        @override
        def close(self) -> None:
            closed.append(self)

    agent = bridge(pair, Door(spaces.Discrete(2)))
    envs = vector_bridge(pair, SyncVectorEnv([lambda: Door(spaces.Discrete(2))]))
    for _ in range(times):
        agent.close()
        envs.close()
    assert len(closed) == times + 1  # vector environments close only once
    assert envs.closed


def test_wrappers_are_context_managers(pair: Pair) -> None:
    closed = []

    class Door(Echo):
        @override
        def close(self) -> None:
            closed.append(True)

    with bridge(pair, Door(spaces.Discrete(2))) as agent:
        agent.reset()
    assert closed == [True]


def test_spaces_may_be_set_on_the_wrapper(pair: Pair) -> None:
    agent = bridge(pair, gym.make("CartPole-v1"))
    narrowed = spaces.Discrete(1, start=1)
    agent.action_space = narrowed
    assert agent.action_space is narrowed
    same(pair.target.values(agent.sample_action()).item(), 1)


@pytest.mark.parametrize("wrap", [bridge, vector_bridge])
def test_metadata_names_the_library_of_the_agent(wrap: Value) -> None:
    """Gymnasium's key is "jax"; the other metadata stays."""
    require("torch")
    require("jax")
    env: Any = _cartpoles() if wrap is vector_bridge else gym.make("CartPole-v1")
    before = dict(env.metadata)
    torch = wrap(Pair("numpy", "torch"), env)
    jax = wrap(Pair("torch", "jax"), torch)
    back = wrap(Pair("jax", "numpy"), jax)
    assert torch.metadata is env.metadata
    assert jax.metadata == {**before, "jax": True}
    assert back.metadata == before
    assert env.metadata == before


def test_environments_without_metadata_can_be_wrapped(pair: Pair) -> None:
    env = gym.make("CartPole-v1").unwrapped
    env.metadata = cast("Any", None)
    agent = bridge(pair, env)
    assert (agent.metadata or {}).get("jax", False) is (pair.target.name == "jax")
    agent.reset(seed=0)


# -- environments that want a number, not an array ------------------------------------------------


TAXI = max(name for name in gym.registry if name.startswith("Taxi-"))
"""The newest version, which depends on Gymnasium."""


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", TAXI])
def test_environments_that_use_the_action_as_a_key_work(pair: Pair, name: str) -> None:
    bare = gym.make(name)
    agent = bridge(pair, gym.make(name))
    counterpart(agent.reset(seed=0), bare.reset(seed=0), pair.target)
    for action in (1, 2, 1):
        got = agent.step(pair.target.make(np.array(action, np.int32)))
        wanted = bare.step(action)
        counterpart(got[0], wanted[0], pair.target)
        same(got[1:4], (float(wanted[1]), *wanted[2:4]))
        if wanted[2]:
            break


# -- stacking -------------------------------------------------------------------------------------


def test_two_wrappers_can_be_stacked() -> None:
    require("torch")
    require("jax")
    inner, outer = Pair("numpy", "torch"), Pair("torch", "jax")
    bare = gym.make("Pendulum-v1")
    agent = bridge(outer, bridge(inner, gym.make("Pendulum-v1")))
    counterpart(agent.reset(seed=0), bare.reset(seed=0), outer.target)
    for _ in range(3):
        action = agent.sample_action()
        wanted = bare.step(outer.target.values(action))
        got = agent.step(action)
        counterpart(got[0], wanted[0], outer.target)
        same(got[1:4], (float(wanted[1]), *wanted[2:4]))


def test_two_vector_wrappers_can_be_stacked() -> None:
    require("torch")
    require("jax")
    inner, outer = Pair("numpy", "torch"), Pair("torch", "jax")
    bare = _cartpoles()
    agent = vector_bridge(outer, vector_bridge(inner, _cartpoles()))
    counterpart(agent.reset(seed=0), bare.reset(seed=0), outer.target)
    for _ in range(3):
        action = agent.sample_action()
        counterpart(agent.step(action), bare.step(outer.target.values(action)), outer.target)


def test_a_stack_that_returns_to_numpy_behaves_like_the_environment() -> None:
    for library in AGENTS:
        require(library)
        bare = gym.make("CartPole-v1")
        there = bridge(Pair("numpy", library), gym.make("CartPole-v1"))
        back = bridge(Pair(library, "numpy"), there)
        same(back.reset(seed=0), bare.reset(seed=0))
        for _ in range(5):
            same(back.step(np.int64(1)), bare.step(np.int64(1)))
