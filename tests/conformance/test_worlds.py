"""The test environments of the suite behave as documented."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime.testing.making import echo, world
from gymbridge_runtime.testing.worlds import EPISODE, MOVE
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from tests.environments.bridges import counterpart
from tests.support import LIBRARIES, require

if TYPE_CHECKING:
    from tests.environments.bridges import Value

FORMS = ["single", "vector", "parallel", "batched"]
PUSH = np.array([0.5, -0.25], np.float32)


def named(library: str) -> str:
    return f"gymbridge_runtime.backends.{library}:{library.upper()}"


def pushes(env: Value, form: str) -> Value:
    """Return the action that moves every agent in the same way."""
    if form == "parallel":
        return dict.fromkeys(env.agents, PUSH)
    return np.stack([PUSH, PUSH]) if form in {"vector", "batched"} else PUSH


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_world_returns_the_same_values_in_every_library(name: str, form: str) -> None:
    require(name)
    bare: Value = world(named("numpy"), form)
    env: Value = world(named(name), form)
    assert env.reset(seed=3)[0].keys() == bare.reset(seed=3)[0].keys()
    for _ in range(2):
        action = pushes(bare, form)
        counterpart(env.step(action)[0], bare.step(action)[0], LIBRARIES[name])


@pytest.mark.parametrize("form", FORMS)
def test_a_world_starts_at_its_seed_and_moves_by_its_actions(form: str) -> None:
    env: Value = world(named("numpy"), form)

    def poses(obs: Value) -> Value:
        return obs["left"]["pose"] if form == "parallel" else obs["pose"]

    starts = [poses(env.reset(seed=seed)[0]).tolist() for seed in (1, 1, 2)]
    assert starts[0] == starts[1] != starts[2]
    np.testing.assert_array_equal(
        poses(env.step(pushes(env, form))[0]), np.float32(starts[2]) + PUSH
    )


def test_a_single_world_counts_down_and_fills_its_info() -> None:
    env: Value = world(named("numpy"), "single")
    steps = [(env.reset(seed=0)[0], None, False, False, env.reset(seed=0)[1])]
    while not steps[-1][2]:
        steps.append(env.step(PUSH))
    assert [step[1] for step in steps] == [None, 4.0, 3.0, 2.0, 1.0, 0.0]
    assert not any(step[3] for step in steps)
    for left, (obs, *_, info) in zip(range(EPISODE, -1, -1), steps, strict=True):
        assert env.observation_space.contains(obs)
        assert obs["left"].tolist() == [left]
        counts = (info["left"], info["mean"], info["odd"], info["text"])
        assert counts == (left, left / 2, left % 2 == 1, f"{left} left")
        assert [type(count) for count in counts] == [int, float, bool, str]
        assert info["nothing"] is None
        assert (info["array"].dtype, info["array"].shape) == (np.float32, (2, 3))
        assert (info["array"] == left).all()
        assert info["below"][0]["mask"].tolist() == [True, False]
        assert info["below"][1] == "text"


def test_a_vector_world_resets_within_a_step() -> None:
    env: Value = world(named("numpy"), "vector")
    obs, infos = env.reset(seed=0)
    assert infos == {}
    assert env.observation_space.contains(obs)
    assert env.single_observation_space.contains({key: obs[key][0] for key in obs})
    assert obs["left"].tolist() == [[EPISODE], [EPISODE - 2]]
    seen = [env.step(pushes(env, "vector")) for _ in range(EPISODE)]
    assert [step[2].tolist() for step in seen] == [
        [False, False],
        [False, False],
        [False, True],
        [False, False],
        [True, False],
    ]
    for obs, rewards, over, truncated, infos in seen:
        assert env.observation_space.contains(obs)
        np.testing.assert_array_equal(rewards, obs["pose"][:, 0])
        assert over.dtype == truncated.dtype == bool
        assert truncated.tolist() == [False, False]
        assert infos["_left"].dtype == bool
        assert infos["_left"].tolist() == [True, True]
        assert ("final_obs" in infos) == bool(over.any())
        for place in np.flatnonzero(over):
            assert infos["left"][place] == 0
            assert obs["left"][place].tolist() == [EPISODE]
            assert infos["_final_obs"].tolist() == over.tolist()
            assert infos["final_obs"].shape == (2,)
            final = infos["final_obs"][place]
            assert final["left"].tolist() == [0]
            np.testing.assert_array_equal(final["pose"], obs["pose"][place])
            assert infos["final_obs"][1 - place] is None


def test_a_parallel_world_has_a_late_agent_and_one_that_leaves_early() -> None:
    env: Value = world(named("numpy"), "parallel")
    obs, infos = env.reset(seed=0)
    lives = [[*obs]]
    assert all(env.observation_space(one).contains(obs[one]) for one in obs)
    for left in range(EPISODE - 1, -1, -1):
        living = [*env.agents]
        obs, rewards, over, truncated, infos = env.step(pushes(env, "parallel"))
        lives.append([*obs])
        assert rewards == dict.fromkeys(living, float(left))
        assert over == {one: left == 0 or (one, left) == ("left", EPISODE - 3) for one in living}
        assert truncated == dict.fromkeys(living, False)
        for one in living:
            assert env.observation_space(one).contains(obs[one])
            assert obs[one]["left"].tolist() == [left]
            assert infos[one] == {"text": one, "left": left, "odd": (EPISODE - left) % 2 == 1}
    assert lives == [
        *([["left", "right"]] * 3),
        ["left", "right", "late"],
        *([["right", "late"]] * 2),
    ]
    assert env.agents == []
    assert env.state().shape == (3, 2)
    assert env.action_space("late") == spaces.Box(-1, 1, (2,), np.float64)
    assert env.metadata == {"name": str(env)} == {"name": "ParallelWorld"}
    assert (env.render().shape, env.render().dtype) == ((2, 2, 3), np.uint8)
    assert env.action_space("left") == env.action_space("right") == MOVE


@pytest.mark.parametrize("form", FORMS)
def test_a_wide_action_leaves_the_observation_in_its_space(form: str) -> None:
    env: Value = world(named("numpy"), form)
    env.reset(seed=0)
    action = pushes(env, form)
    if form == "parallel":
        obs = env.step({agent: push.astype(np.float64) for agent, push in action.items()})[0]
        assert all(env.observation_space(agent).contains(seen) for agent, seen in obs.items())
    else:
        obs = env.step(action.astype(np.float64))[0]
        assert env.observation_space.contains(obs)
        assert obs["pose"].dtype == np.float32


@pytest.mark.parametrize("form", FORMS)
def test_writing_into_an_observation_does_not_change_a_world(form: str) -> None:
    poses: list[Value] = []
    for change in (0, 7):
        env: Value = world(named("numpy"), form)
        seen = env.reset(seed=0)[0]
        (seen["left"] if form == "parallel" else seen)["pose"][...] += change
        obs = env.step(pushes(env, form))[0]
        poses.append((obs["left"] if form == "parallel" else obs)["pose"])
    np.testing.assert_array_equal(*poses)


@pytest.mark.parametrize(
    "envs", [world(named("numpy"), "vector"), echo(MOVE, "vector")], ids=["world", "echo"]
)
def test_a_vector_world_knows_its_number_of_environments(envs: Value) -> None:
    assert isinstance(envs.num_envs, int)
    assert envs.single_action_space == MOVE
    assert envs.action_space == batch_space(MOVE, envs.num_envs)
    assert envs.observation_space == batch_space(envs.single_observation_space, envs.num_envs)


def test_a_vector_world_declares_its_autoreset_mode() -> None:
    envs: Value = world(named("numpy"), "vector")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_an_agent_without_an_action_stays_in_place() -> None:
    env: Value = world(named("numpy"), "parallel")
    before, _ = env.reset(seed=0)
    obs, *_ = env.step({"left": PUSH})
    assert obs["left"]["pose"].tolist() == (before["left"]["pose"] + PUSH).tolist()
    assert obs["right"]["pose"].tolist() == before["right"]["pose"].tolist()


def test_agents_of_a_world_have_separate_random_actions() -> None:
    env: Value = world(named("numpy"), "parallel")
    moves = [env.action_space(agent) for agent in ("left", "right")]
    for move in moves:
        move.seed(3)
    one, other = [move.sample().tolist() for move in moves]
    assert one == other, "a space that they had in common would have gone on"


@pytest.mark.parametrize("form", FORMS)
def test_an_echo_keeps_its_action(form: str) -> None:
    env: Value = echo(spaces.Discrete(3), form)
    assert env.received is None
    action = object()
    obs, rewards, terminations, truncations, infos = env.step(action)
    assert env.received is action
    assert infos == {}
    if form == "parallel":
        assert [*obs] == [*rewards] == [*terminations] == [*truncations] == ["one", "two"]
        assert all(env.observation_space(one).contains(obs[one]) for one in obs)
        assert set(rewards.values()) == {1.0}
        assert {*terminations.values(), *truncations.values()} == {False}
    else:
        assert env.observation_space.contains(obs)
        count = math.prod(np.shape(rewards))
        assert np.ravel(rewards).tolist() == [1.0] * count
        assert not np.any([terminations, truncations])
        assert np.asarray(terminations).dtype == np.asarray(truncations).dtype == bool
        assert np.shape(terminations) == np.shape(truncations) == np.shape(rewards)
