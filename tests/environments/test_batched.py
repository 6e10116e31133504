"""Batched environments: their results for agents, and the actions from agents."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.testing.worlds import EPISODE
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, TimeLimit

from gymbridge import ConversionError, CopyRequiredError
from gymbridge.testing import check_bridge
from tests.environments.bridges import Value, batched_bridge, counterpart, same, vector_bridge
from tests.environments.labs import DirectLab, ForeignBox, ManagerLab, Plain, Skill
from tests.environments.worlds import Told
from tests.libraries.pettingzoo import pettingzoo
from tests.libraries.torch import torch
from tests.support import LIBRARIES, Pair, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Host, Library

LABS: list[Callable[..., Value]] = [DirectLab, ManagerLab, Skill, Plain]
TORCH_TO_JAX, TORCH_TO_NUMPY = Pair("torch", "jax"), Pair("torch", "numpy")
NUMPY_TO_TORCH, JAX_TO_TORCH = Pair("numpy", "torch"), Pair("jax", "torch")


@pytest.fixture(autouse=True)
def libraries() -> None:
    for name in LIBRARIES:
        require(name)


def values(tree: Value, library: Library) -> Value:
    """Return a tree with its arrays copied to NumPy."""
    if isinstance(tree, (dict, tuple)):
        if isinstance(tree, dict):
            return {key: values(child, library) for key, child in tree.items()}
        return tuple(values(child, library) for child in tree)
    return library.values(tree) if library.is_array(tree) else tree


def host(library: Library, *shape: int, dtype: str = "float32") -> Host:
    stored = library.narrow.get(dtype, dtype)
    return np.full(shape, 0.5 if "float" in dtype else 1, stored)


def told(
    library: Library, *changes: tuple[int, Value], obs: Value = None, count: int | None = 4
) -> Value:
    """Return an environment for one step, with some values of the step changed."""
    shape = () if count is None else (count,)
    step: list[Value] = [library.make(np.zeros((*shape, 3), np.float32)) if obs is None else obs]
    step.append(library.make(np.ones(shape, np.float32)))
    step += [library.make(np.zeros(shape, np.bool_)), library.make(np.ones(shape, np.bool_)), {}]
    for place, value in changes:
        step[place] = value
    env: Value = Told(
        tuple(step),
        action_space=spaces.Box(-1, 1, (*shape, 2)),
        first=(library.make(np.zeros((*shape, 3), np.float32)), {}),
    )
    if count is not None:
        env.num_envs = count
    return env


def stepped(pair: Pair, env: Value, **options: object) -> Value:
    """Return the result of one step of a wrapper."""
    agent = batched_bridge(pair, env, **options)
    agent.reset()
    return agent.step(agent.sample_action())


# -- results for agents ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", LABS)
@pytest.mark.parametrize("count", [4, 1])
def test_every_result_is_an_array_of_the_agent(
    pair_of_any: Pair, make: Callable[..., Value], count: int
) -> None:
    pair = pair_of_any
    agent, bare = batched_bridge(pair, make(pair.source, count)), make(pair.source, count)
    counterpart(agent.reset(seed=3), bare.reset(seed=3), pair.target)
    for _ in range(3):
        got = agent.step(pair.target.make(host(pair.target, count, 2)))
        told = bare.step(pair.source.make(host(pair.source, count, 2)))
        counterpart(got[:4], told[:4], pair.target)
        assert [tuple(each.shape) for each in got[1:4]] == [(count,)] * 3
        assert [pair.target.dtype(each) for each in got[1:4]] == ["float32", "bool", "bool"]
        same(values(got[4], pair.target), values(told[4], pair.source))


def test_one_unbatched_environment_gives_arrays_without_axes(pair: Pair) -> None:
    made: Value = gym.make("CartPole-v1", max_episode_steps=2)
    agent = batched_bridge(pair, made)
    agent.reset(seed=1)
    for is_last in (False, True):
        obs, reward, terminated, truncated, info = agent.step(pair.target.make(np.int32(1)))
        assert tuple(obs.shape) == (4,)
        found = [pair.target.values(each) for each in (reward, terminated, truncated)]
        same(found, [np.array(1, found[0].dtype), np.array(False), np.array(is_last)])
        assert all(map(pair.target.is_array, (reward, terminated, truncated)))
        assert info == {}
    assert agent.spec.additional_wrappers[-1].name == type(agent).__name__


@pytest.mark.parametrize("make", LABS)
def test_later_steps_do_not_change_results(pair_of_any: Pair, make: Callable[..., Value]) -> None:
    pair = pair_of_any
    agent = batched_bridge(pair, make(pair.source))
    seen: list[Value] = [agent.reset()]
    for _ in range(5):
        seen.append(agent.step(agent.sample_action()))
        kept = values(seen[-1], pair.target)
        agent.step(agent.sample_action())
        same(values(seen[-1], pair.target), kept)


def test_copy_false_shares_memory_or_names_the_leaf(pair_of_any: Pair) -> None:
    pair = pair_of_any
    env = Skill(pair.source)
    agent = batched_bridge(pair, env, copy=False)
    action = pair.target.make(np.zeros((4, 2), np.float32))

    def reward() -> Value:
        agent.reset()
        return agent.step(action)[1]

    if pair.source.shares and pair.target.shares:
        assert pair.target.address(reward()) == pair.source.address(env.reward)
    else:
        with pytest.raises(CopyRequiredError, match=r"^(obs|action): "):
            reward()


def test_writing_into_results_does_not_change_the_environment(pair_of_any: Pair) -> None:
    pair = pair_of_any
    env = DirectLab(pair.source)
    agent = batched_bridge(pair, env)
    agent.reset()
    obs, _, terminated, _, info = agent.step(agent.sample_action())
    expected = values((env.terminated, env.extras), pair.source)
    obs.clear()
    info["log"].clear()
    info["mine"] = 1
    if pair.target.mutable and pair.source.name in {"numpy", "torch"}:  # others may be read-only
        terminated[...] = not pair.target.values(terminated).all()
    same(values((env.terminated, env.extras), pair.source), expected)


@pytest.mark.parametrize("dtype", ["int64", "float32", "uint8"])
def test_flags_of_numbers_become_bools(pair_of_any: Pair, dtype: str) -> None:
    pair = pair_of_any
    flags = pair.source.make(np.array([0, 1, 0, 2], pair.source.narrow.get(dtype, dtype)))
    step = stepped(pair, told(pair.source, (2, flags), (3, flags)))
    for found in step[2:4]:
        same(pair.target.values(found), np.array([False, True, False, True]))


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64])
@pytest.mark.parametrize("place", [2, 3])
def test_an_error_names_a_flag_without_values(place: int, dtype: Value) -> None:
    flags = torch.zeros(4, dtype=dtype, device="meta")
    name = ["terminated", "truncated"][place - 2]
    with pytest.raises(ConversionError, match=f"^{name}: PyTorch holds no values"):
        stepped(TORCH_TO_JAX, told(LIBRARIES["torch"], (place, flags)))


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16"])
def test_rewards_keep_their_dtype(pair_of_any: Pair, dtype: str) -> None:
    pair = pair_of_any
    rewards = np.array([0, 1, 0, 1], dtype)
    step = stepped(pair, told(pair.source, (1, pair.source.make(rewards))))
    same(pair.target.values(step[1]), rewards)


def test_float_dtype_casts_observations_and_rewards(pair_of_any: Pair) -> None:
    pair = pair_of_any
    step = stepped(pair, Skill(pair.source), float_dtype="float16")
    assert [pair.target.dtype(each) for each in step[:4]] == ["float16", "float16", "bool", "bool"]


def test_numbers_stand_for_all_worlds(pair_of_any: Pair) -> None:
    pair = pair_of_any
    step = stepped(pair, told(pair.source, (1, 0.5), (2, True), (3, np.bool_(False))))
    for found, number in zip(step[1:4], (0.5, True, False), strict=True):
        numbers = pair.target.values(found)
        assert pair.target.is_array(found)
        assert (numbers.shape, set(numbers.tolist())) == ((4,), {number})


@pytest.mark.parametrize("reward", [0, 1.0, True, 2**70, np.int64(1)])
def test_a_number_as_reward_has_the_dtype_of_floats(pair_of_any: Pair, reward: object) -> None:
    pair = pair_of_any
    for options, dtype in (({}, np.float64), ({"float_dtype": "float32"}, np.float32)):
        found = stepped(pair, told(pair.source, (1, reward)), **options)[1]
        counterpart(found, np.full(4, reward, dtype), pair.target)


def test_a_limit_of_steps_truncates_all_worlds(pair_of_any: Pair) -> None:
    pair = pair_of_any
    agent = batched_bridge(pair, TimeLimit(DirectLab(pair.source), 1))
    agent.reset()
    truncated = agent.step(agent.sample_action())[3]
    same(pair.target.values(truncated), np.ones(4, np.bool_))


def test_integers_are_checked_even_if_their_space_is_narrow() -> None:
    for obs, path in (
        ({"policy": LIBRARIES["torch"].make(np.full((4, 3), 2**40))}, r"obs\['policy'\]"),
        (LIBRARIES["torch"].make(np.full((4, 3), 2**40)), "obs"),
    ):
        env = told(LIBRARIES["torch"], obs=obs)
        env.observation_space = spaces.Box(0, 10, (4, 3), np.int64)
        with pytest.raises(ConversionError, match=rf"^{path}: JAX cannot hold the int64 value"):
            stepped(TORCH_TO_JAX, env)


def test_a_log_keeps_its_numbers_and_converts_its_arrays(pair_of_any: Pair) -> None:
    pair = pair_of_any
    agent = batched_bridge(pair, DirectLab(pair.source))
    agent.reset()
    infos = [agent.step(agent.sample_action())[4] for _ in range(4)]
    for steps, info in zip((1, 2, 4), (infos[0], infos[1], infos[3]), strict=True):
        log = info["log"]
        assert list(log) == ["mean", "rate", "resets"]
        assert pair.target.is_array(log["mean"])
        assert pair.target.values(log["mean"]) == np.float32(steps)
        assert (log["rate"], type(log["rate"])) == (steps / 2, float)
        assert (log["resets"], type(log["resets"])) == (steps, int)
    assert infos[2]["log"] == {}
    assert ["stale" in info for info in infos] == [False, True, True, True]
    assert pair.target.values(infos[3]["stale"]) == np.float32(2)


def test_final_observations_and_masks_keep_their_keys(pair_of_any: Pair) -> None:
    pair = pair_of_any
    info = {
        "final_observation": {"policy": pair.source.make(np.ones((4, 3), np.float32))},
        "_final_observation": pair.source.make(np.array([True, False, False, True])),
        "final_info": {"elapsed_steps": pair.source.make(np.ones(4, np.int32))},
        "_elapsed_steps": pair.source.make(np.ones(4, np.bool_)),
    }
    found = stepped(pair, told(pair.source, (4, info)))[4]
    counterpart(found, info, pair.target)


def test_check_bridge_compares_the_stand_ins(pair_of_any: Pair) -> None:
    for env in (DirectLab(pair_of_any.source), Skill(pair_of_any.source, 1)):
        assert check_bridge(batched_bridge(pair_of_any, env), steps=EPISODE) > 30


# -- actions for environments ---------------------------------------------------------------------


@pytest.mark.parametrize("make", LABS)
def test_actions_arrive_writable_in_the_dtype_of_the_space(
    pair_of_any: Pair, make: Callable[..., Value]
) -> None:
    """An environment may clip actions in place; the agent's array does not change."""
    pair = pair_of_any
    env = make(pair.source)
    agent = batched_bridge(pair, env)
    agent.reset()
    for dtype in ("float64", "float32"):
        numbers = host(pair.target, 4, 2, dtype=dtype)
        action = pair.target.make(numbers)
        agent.step(action)
        assert pair.source.is_array(env.received)
        same(env.seen, numbers.astype(np.float32))
        same(pair.target.values(action), numbers)


@pytest.mark.parametrize("shape", [(4, 1), (4,)])
@pytest.mark.parametrize(
    "space", [spaces.MultiDiscrete([3] * 4), spaces.Discrete(3)], ids=["batched", "of one world"]
)
def test_discrete_actions_keep_their_shape(
    pair_of_any: Pair, shape: tuple[int, ...], space: spaces.Space[Any]
) -> None:
    pair = pair_of_any
    env = DirectLab(pair.source)
    env.action_space = space
    agent = batched_bridge(pair, env)
    agent.reset()
    agent.step(pair.target.make(np.ones(shape, np.int32)))
    assert env.seen.shape == shape
    assert env.seen.dtype == pair.source.narrow.get("int64", "int64")


@pytest.mark.parametrize("shape", [(1, 2), (2,)])
def test_one_world_keeps_the_batch_axis_of_an_action(
    pair_of_any: Pair, shape: tuple[int, ...]
) -> None:
    pair = pair_of_any
    env = Skill(pair.source, 1)
    agent = batched_bridge(pair, env)
    agent.reset()
    agent.step(pair.target.make(host(pair.target, *shape)))
    assert env.seen.shape == shape


def test_a_number_for_one_environment_of_numpy_is_a_number() -> None:
    seen: list[object] = []

    class Lake(Told):
        def step(self, action: Value) -> Value:
            seen.append(action)
            return super().step(action)

    step: Value = (np.int64(0), 0.0, False, False, {})
    env = Lake(step, action_space=spaces.Discrete(4), first=(np.int64(0), {}))
    agent = batched_bridge(NUMPY_TO_TORCH, env)
    agent.reset()
    agent.step(LIBRARIES["torch"].make(np.int64(3)))
    same(seen, [np.int64(3)])


def test_arguments_of_reset_arrive_as_arrays_of_the_environment(pair_of_any: Pair) -> None:
    pair = pair_of_any
    worlds = pair.target.make(np.array([1, 3], np.int32))
    skill, plain = Skill(pair.source), Plain(pair.source)
    batched_bridge(pair, skill).reset(seed=[1, 2], options={"env_idx": worlds, "reconfigure": True})
    assert skill.asked["seed"] == [1, 2]
    assert skill.asked["options"]["reconfigure"] is True
    batched_bridge(pair, plain).reset(env_ids=worlds)
    for found in (skill.asked["options"]["env_idx"], plain.asked["env_ids"]):
        assert pair.source.is_array(found)
        same(pair.source.values(found), np.array([1, 3], np.int32))
    assert plain.asked["seed"] is None


def test_reset_may_take_no_arguments() -> None:
    class Bare:
        def reset(self) -> Value:
            return np.zeros(3, np.float32), {}

        def step(self, action: Value) -> Value:
            return action, 1.0, False, False, {}

    agent = batched_bridge(NUMPY_TO_TORCH, Bare())
    obs, _ = agent.reset()
    assert LIBRARIES["torch"].is_array(obs)
    same(LIBRARIES["torch"].values(agent.step(obs + 1)[0]), np.ones(3, np.float32))
    agent.close()
    assert agent.spec is None


# -- attributes and spaces ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tree",
    [lambda array: array, lambda array: {"policy": array}],
    ids=["an array", "a dictionary"],
)
def test_later_changes_do_not_reach_current_observations(
    pair_of_any: Pair, tree: Callable[[Value], Value]
) -> None:
    class Keeps(ManagerLab):
        def __init__(self, library: Library) -> None:
            super().__init__(library)
            self.kept = tree(library.make(np.ones((4, 3), np.float32)))

        def get_observations(self) -> Value:
            return self.kept

    pair = pair_of_any
    lab = Keeps(pair.source)
    agent = batched_bridge(pair, lab)
    agent.reset()
    found = agent.get_observations()
    if pair.source.mutable:
        array = lab.kept["policy"] if isinstance(lab.kept, dict) else lab.kept
        array[...] = 7
    same(values(found, pair.target), tree(np.ones((4, 3), np.float32)))


def test_the_number_of_worlds_is_read_again_at_reset() -> None:
    agent = batched_bridge(NUMPY_TO_TORCH, told(LIBRARIES["numpy"], (1, 1.0), count=4))
    agent.reset()
    assert agent.step(agent.sample_action())[1].shape == (4,)
    agent.env = told(LIBRARIES["numpy"], (1, 1.0), count=2)
    agent.reset()
    assert agent.step(agent.sample_action())[1].shape == (2,)


def test_attributes_of_a_plain_class_are_found() -> None:
    lab = Plain(LIBRARIES["torch"])
    agent = batched_bridge(TORCH_TO_JAX, lab)
    assert agent.get_wrapper_attr("is_closed") is False
    assert agent.get_wrapper_attr("device") == agent.device
    assert agent.has_wrapper_attr("is_closed")
    assert not agent.has_wrapper_attr("elsewhere")
    with pytest.raises(AttributeError, match=r"^Plain has no attribute 'elsewhere'$"):
        agent.get_wrapper_attr("elsewhere")


def test_a_configuration_with_spaces_passes_unchanged() -> None:
    lab = ManagerLab(LIBRARIES["numpy"])
    cfg: Value = SimpleNamespace(spaces={"policy": 3})
    lab.cfg = cfg
    assert batched_bridge(NUMPY_TO_TORCH, lab).cfg is cfg


def test_attributes_pass_through_wrappers_of_gymnasium(pair_of_any: Pair) -> None:
    pair = pair_of_any
    lab = ManagerLab(pair.source)
    agent = batched_bridge(pair, OrderEnforcing(TimeLimit(lab, 9)))
    assert (agent.num_envs, agent.max_episode_length, agent.is_vector_env) == (4, 7, True)
    assert agent.cfg is lab.cfg
    assert agent.unwrapped is lab
    assert agent.single_action_space is lab.single_action_space
    assert agent.single_observation_space is lab.single_observation_space
    assert agent.observation_space is lab.observation_space
    assert agent.state_space is None
    counterpart(agent.get_observations(), lab.groups(), pair.target)
    assert not hasattr(agent, "extras"), "it would be arrays of the environment"
    for name in ("num_envs", "cfg", "state_space", "episode_length_buf"):
        assert not hasattr(batched_bridge(NUMPY_TO_TORCH, gym.make("CartPole-v1")), name)


def test_attributes_pass_through_wrappers_of_gymbridge() -> None:
    lab = ManagerLab(LIBRARIES["torch"])
    inner = batched_bridge(TORCH_TO_JAX, lab)
    agent = batched_bridge(JAX_TO_TORCH, inner)
    assert agent.num_envs == 4
    assert LIBRARIES["torch"].is_array(agent.get_observations()["policy"])
    agent.episode_length_buf = LIBRARIES["torch"].make(np.arange(4))
    same(LIBRARIES["torch"].values(lab.episode_length_buf), np.arange(4))
    same(LIBRARIES["torch"].values(agent.episode_length_buf), np.arange(4, dtype=np.int32))


@pytest.mark.parametrize("way", ["assigned", "set_wrapper_attr"])
def test_an_assigned_buffer_keeps_the_dtype_and_the_library(pair_of_any: Pair, way: str) -> None:
    pair = pair_of_any
    lab = DirectLab(pair.source)
    dtype = pair.source.dtype(lab.episode_length_buf)
    agent = batched_bridge(pair, OrderEnforcing(lab))
    numbers = pair.target.make(np.array([3, 1, 4, 1], np.int32))
    if way == "assigned":
        agent.episode_length_buf = numbers
    else:
        agent.set_wrapper_attr("episode_length_buf", numbers)
    assert pair.source.is_array(lab.episode_length_buf)
    expected = np.array([3, 1, 4, 1], dtype)
    same(pair.source.values(lab.episode_length_buf), expected)
    if pair.target.mutable:
        numbers[...] = 0
        same(pair.source.values(lab.episode_length_buf), expected)
    counterpart(agent.episode_length_buf, lab.episode_length_buf, pair.target)


def test_a_buffer_of_integers_takes_no_fractions() -> None:
    agent = batched_bridge(TORCH_TO_NUMPY, DirectLab(LIBRARIES["torch"]))
    with pytest.raises(ConversionError, match=r"^episode_length_buf: the environment keeps int"):
        agent.episode_length_buf = np.full(4, 0.5)


def test_a_buffer_keeps_its_shape() -> None:
    lab = DirectLab(LIBRARIES["torch"])
    agent = batched_bridge(TORCH_TO_NUMPY, lab)
    agent.episode_length_buf = np.array(3)
    same(LIBRARIES["torch"].values(lab.episode_length_buf), np.full(4, 3))
    with pytest.raises(ValueError, match="could not be broadcast"):
        agent.episode_length_buf = np.zeros(2)


def test_foreign_spaces_become_those_of_gymnasium(pair_of_any: Pair) -> None:
    pair = pair_of_any
    env = Plain(pair.source)
    agent = batched_bridge(pair, env)
    low = np.broadcast_to(np.array([-1, -0.5], np.float32), (4, 2))
    assert agent.action_space == spaces.Box(low, np.full((4, 2), 0.5, np.float32), (4, 2))
    assert agent.action_space is agent.action_space, "it is seeded"
    actor, critic = (spaces.Box(-np.inf, np.inf, (4, width)) for width in (3, 2))
    assert agent.observation_space == spaces.Dict(actor=actor, critic=critic)
    agent.action_space.seed(3)
    first = agent.sample_action()
    agent.action_space.seed(3)
    assert pair.target.is_array(first)
    same(pair.target.values(first), pair.target.values(agent.sample_action()))
    agent.action_space = spaces.Discrete(3)
    assert agent.action_space == spaces.Discrete(3)
    assert agent.metadata.get("render_modes") == ["rgb_array"]
    assert agent.unwrapped is env
    agent.close()
    assert env.is_closed
    assert isinstance(agent, gym.Wrapper)


def test_a_foreign_space_of_integers_may_have_no_bounds() -> None:
    env = Plain(LIBRARIES["numpy"])
    env.action_space = ForeignBox((4,), "int64")
    agent = batched_bridge(NUMPY_TO_TORCH, env)
    limits = np.iinfo(np.int64)
    assert agent.action_space == spaces.Box(limits.min, limits.max, (4,), np.int64)
    env.action_space = ForeignBox((2, 2), "uint8", low=(1, -np.inf), high=9)
    low = np.array([[1, 0], [1, 0]], np.uint8)
    assert agent.action_space == spaces.Box(low, np.full((2, 2), 9, np.uint8), dtype=np.uint8)


def test_a_foreign_space_may_hold_tensors() -> None:
    env = Plain(LIBRARIES["torch"])
    low = torch.full((4, 2), -0.5, requires_grad=True)
    env.action_space = ForeignBox((4, 2), torch.float32, low=low, high=torch.ones(2))
    agent = batched_bridge(TORCH_TO_NUMPY, env)
    assert agent.action_space == spaces.Box(-0.5, 1, (4, 2))


def test_an_unknown_space_stays_itself() -> None:
    env = Plain(LIBRARIES["numpy"])
    odd: Value = object()
    env.action_space = odd
    agent = batched_bridge(NUMPY_TO_TORCH, env)
    assert agent.action_space is odd
    agent.reset()
    agent.step(LIBRARIES["torch"].make(np.zeros(3)))
    same(env.seen, np.zeros(3))


@pytest.mark.parametrize(
    ("pair", "device"),
    [(TORCH_TO_JAX, "cpu:0"), (JAX_TO_TORCH, "None"), (TORCH_TO_NUMPY, "None")],
    ids=repr,
)
def test_a_wrapper_has_the_device_of_its_environment(pair: Pair, device: str) -> None:
    agent = batched_bridge(pair, DirectLab(pair.source))
    found = agent.device
    assert (str(found) if found is None else f"{found.platform}:{found.id}") == device
    assert batched_bridge(JAX_TO_TORCH, DirectLab(pair.source), device="cpu").device.type == "cpu"


# -- errors, pickles ------------------------------------------------------------------------------


def test_errors_for_other_forms_name_the_right_wrapper() -> None:
    several = partial(gym.make_vec, "CartPole-v1", num_envs=2, vectorization_mode="sync")
    cases: list[tuple[Callable[[], Value], str]] = [
        (several, r"VectorEnv is vector; take .* gymbridge\.vector import NumpyToTorch`"),
        (
            lambda: pettingzoo.make("parallel", "classic/rps-v2"),
            r"is parallel; take .* gymbridge\.parallel import NumpyToTorch`",
        ),
        (lambda: pettingzoo.make("aec", "classic/rps-v2"), "is turn-based; take .*aec_to_parallel"),
        (
            lambda: "CartPole-v1",
            r"^this NumpyToTorch takes batched environments, and 'CartPole-v1' is none; make the",
        ),
        (lambda: Skill, r"and <class '.*Skill'> is none; make the environment first"),
    ]
    for make, said in cases:
        with pytest.raises(TypeError, match=said):
            batched_bridge(NUMPY_TO_TORCH, make())


def test_errors_of_other_forms_name_the_batched_wrapper() -> None:
    said = r"is batched; take .* gymbridge\.batched import NumpyToTorch`"
    for env in (DirectLab(LIBRARIES["numpy"]), Plain(LIBRARIES["numpy"])):
        with pytest.raises(TypeError, match=said):
            vector_bridge(NUMPY_TO_TORCH, OrderEnforcing(env) if isinstance(env, gym.Env) else env)
    single: Value = Plain(LIBRARIES["numpy"])
    from gymbridge import NumpyToTorch

    with pytest.raises(TypeError, match=said):
        NumpyToTorch(single)
    lab: Value = DirectLab(LIBRARIES["numpy"])
    agent: Value = NumpyToTorch(lab)
    assert agent.reset()[0].keys() == {"policy", "critic"}


def test_a_step_with_one_flag_is_refused(pair_of_any: Pair) -> None:
    pair = pair_of_any

    class Joined(Skill):
        def step(self, action: Value) -> Value:
            obs, reward, terminated, _, info = super().step(action)
            return obs, reward, terminated, info

    agent = batched_bridge(pair, Joined(pair.source))
    agent.reset()
    with pytest.raises(TypeError, match=r"^Joined\.step returned 4 values, .*; wrap the environm"):
        agent.step(agent.sample_action())


@pytest.mark.parametrize("travel", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_wrappers_pickle_and_copy(pair_of_any: Pair, travel: Callable[[Value], Value]) -> None:
    pair = pair_of_any
    for env in (CountingLab(pair.source.name), gym.make("CartPole-v1")):
        if isinstance(env, gym.Wrapper) and pair.source.name != "numpy":
            continue
        agent = batched_bridge(pair, env, copy=True)
        agent.reset(seed=1)
        action = agent.sample_action()
        agent.step(action)
        again = travel(agent)
        assert again is not agent
        assert again.action_space == agent.action_space
        got, wanted = again.step(action), agent.step(action)
        same(values(got, pair.target), values(wanted, pair.target))


class CountingLab:
    """A plain class whose pickle needs no arrays."""

    num_envs = 4

    def __init__(self, library: str) -> None:
        self.library = library
        self.action_space = spaces.Box(-1, 1, (4, 2))
        self.steps = 0

    def made(self, numbers: Host) -> Value:
        """Return an array of the library."""
        return LIBRARIES[self.library].make(numbers)

    def reset(self, *, seed: int | None = None, options: Value = None) -> Value:
        """Start an episode."""
        del seed, options
        self.steps = 0
        return self.made(np.zeros((4, 3), np.float32)), {}

    def step(self, action: Value) -> Value:
        """Count."""
        del action
        self.steps += 1
        flags = np.arange(4) == self.steps
        rewards = np.full(4, self.steps, np.float32)
        obs = np.full((4, 3), self.steps, np.float32)
        return self.made(obs), self.made(rewards), self.made(flags), self.made(~flags), {}
