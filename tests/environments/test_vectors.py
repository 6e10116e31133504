"""Vector environments: autoreset, final observations, masks, seeds, options and reused buffers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from typing_extensions import override

from gymbridge import ConversionError
from tests.environments.bridges import Value, bridge, counterpart, same, vector_bridge
from tests.environments.worlds import Countdown, Echo, EchoVector, made
from tests.support import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTHS = (1, 3, 2)


def _countdowns(mode: AutoresetMode, *, structured: bool, copy: bool = True) -> SyncVectorEnv:
    return SyncVectorEnv(
        [partial(Countdown, length, structured=structured) for length in LENGTHS],
        autoreset_mode=mode,
        copy=copy,
    )


# -- autoreset ------------------------------------------------------------------------------------


@pytest.mark.parametrize("structured", [False, True], ids=["arrays", "dicts"])
@pytest.mark.parametrize("mode", AutoresetMode)
def test_all_results_are_converted_in_every_autoreset_mode(
    pair: Pair, mode: AutoresetMode, structured: bool
) -> None:
    """This includes `final_obs`, `final_info`, masks, strings, enums and objects."""
    bare = _countdowns(mode, structured=structured)
    agent = vector_bridge(pair, _countdowns(mode, structured=structured))
    counterpart(agent.reset(seed=1), bare.reset(seed=1), pair.target)
    ended = np.zeros(3, np.bool_)
    for _ in range(6):
        if mode is AutoresetMode.DISABLED and ended.any():
            options = {"reset_mask": ended}
            wanted = bare.reset(options=dict(options))
            got = agent.reset(options={"reset_mask": pair.target.make(ended)})
            counterpart(got, wanted, pair.target)
        step = bare.step(np.zeros(3, np.int64))
        counterpart(agent.step(pair.target.make(np.zeros(3, np.int32))), step, pair.target)
        ended = step[2] | step[3]
        if mode is AutoresetMode.SAME_STEP:
            assert ("final_obs" in step[4]) == ended.any()


def test_final_observations_become_the_agents_arrays(pair: Pair) -> None:
    agent = vector_bridge(pair, _countdowns(AutoresetMode.SAME_STEP, structured=False))
    agent.reset()
    infos = agent.step(agent.sample_action())[4]
    assert infos["final_obs"].dtype == object
    assert pair.target.is_array(infos["final_obs"][0])
    assert infos["final_obs"][1] is None
    assert pair.target.is_array(infos["_final_obs"])
    assert pair.target.is_array(infos["final_info"]["left"])
    assert infos["final_info"]["text"][0] == "left 0"


# -- rewards and flags ----------------------------------------------------------------------------


def test_rewards_and_flags_become_the_agents_arrays(pair_of_any: Pair) -> None:
    pair = pair_of_any
    envs = _Told(pair, np.ones(3, np.float32))
    obs, rewards, terminations, truncations, infos = vector_bridge(pair, envs).step(None)
    for got, wanted in [
        (obs, np.ones((3, 2), np.float32)),
        (rewards, np.ones(3, np.float32)),
        (terminations, np.array([True, False, False])),
        (truncations, np.array([False, True, False])),
        (infos, {"n": np.arange(3, dtype=np.int32), "text": "x"}),
    ]:
        counterpart(got, wanted, pair.target)


def test_float_dtype_casts_rewards(pair_of_any: Pair) -> None:
    told = _Told(pair_of_any, np.array([1.0, 2.0, 3.0]))
    agent = vector_bridge(pair_of_any, told, float_dtype="float16")
    agent.reset()
    for _ in range(20):  # enough steps for a compiled import
        obs, rewards, terminations, _, infos = agent.step(agent.sample_action())
        library = pair_of_any.target
        assert library.dtype(obs) == library.dtype(rewards) == "float16"
        assert library.values(rewards).tolist() == [1, 2, 3]
        assert library.dtype(terminations) == "bool"
        assert library.dtype(infos["n"]) == "int32"


@pytest.mark.parametrize(
    "rewards",
    [np.ones((3, 2)), [1.0, 2.0, 3.0], {"red": np.ones(3), "blue": np.zeros(3)}],
    ids=["matrix", "list", "dict"],
)
def test_rewards_of_several_objectives_become_trees(pair: Pair, rewards: Value) -> None:
    got = vector_bridge(pair, _Told(pair, rewards)).step(None)[1]
    counterpart(got, rewards, pair.target)


class _Told(EchoVector):
    """Vector environments of any library with given rewards."""

    def __init__(self, pair: Pair, rewards: Value) -> None:
        super().__init__(spaces.Discrete(2))
        self._library = pair.source
        self._rewards = rewards

    @override
    def reset(self, *, seed: Value = None, options: Value = None) -> Value:
        return made(self._library, super().reset(seed=seed, options=options))

    @override
    def step(self, actions: Value) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        step = (
            np.ones((3, 2), np.float32),
            self._rewards,
            np.array([True, False, False]),
            np.array([False, True, False]),
            {"n": np.arange(3, dtype=np.int32), "text": "x"},
        )
        told: tuple[Any, Any, Any, Any, dict[str, Any]] = made(self._library, step)
        return told


# -- reset ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, 4, [1, 2, 3], [5, None, 6]], ids=str)
def test_seeds_pass_unchanged(pair: Pair, seed: Value) -> None:
    envs = EchoVector(spaces.Discrete(2))
    vector_bridge(pair, envs).reset(seed=seed)
    assert envs.seed is seed


def test_a_list_of_seeds_seeds_each_environment(pair: Pair) -> None:
    def cartpoles() -> SyncVectorEnv:
        return SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 3)

    agent = vector_bridge(pair, cartpoles())
    counterpart(agent.reset(seed=[7, 8, 7]), cartpoles().reset(seed=[7, 8, 7]), pair.target)
    obs = pair.target.values(agent.reset(seed=[7, 8, 7])[0])
    np.testing.assert_array_equal(obs[0], obs[2])


def test_reset_options_are_converted_and_the_agents_do_not_change(pair: Pair) -> None:
    envs = EchoVector(spaces.Discrete(2))
    mask = pair.target.make(np.array([True, False, True]))
    given = {"reset_mask": mask, "level": 3}
    vector_bridge(pair, envs).reset(options=given)
    same(envs.options, {"reset_mask": np.array([True, False, True]), "level": 3})
    envs.options.pop("reset_mask")
    assert given["reset_mask"] is mask


# -- reused buffers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrap",
    [lambda envs: envs, RecordEpisodeStatistics],
    ids=["bare", "below another wrapper"],
)
@pytest.mark.parametrize(
    ("structured", "copy"),
    [(False, False), (True, False), (False, 0), (False, None), (False, np.False_)],
    ids=["arrays", "dicts", "told by a number", "told by nothing", "told by NumPy"],
)
def test_observations_from_reused_buffers_never_change(
    pair: Pair, structured: bool, copy: bool, wrap: Callable[[Any], Any]
) -> None:
    envs = wrap(_countdowns(AutoresetMode.NEXT_STEP, structured=structured, copy=copy))
    agent = vector_bridge(pair, envs)
    kept, values = [], []
    for step in range(6):
        obs = agent.step(agent.sample_action())[0] if step else agent.reset()[0]
        pose = obs["pose"] if structured else obs
        kept.append(pose)
        values.append(pair.target.values(pose))
    for pose, value in zip(kept, values, strict=True):
        np.testing.assert_array_equal(pair.target.values(pose), value)
    assert len({value.tobytes() for value in values}) > 1


class _Buffers(EchoVector):
    """Returns everything in reused buffers, as ``copy=False`` does."""

    copy = False

    def __init__(self) -> None:
        super().__init__(spaces.Discrete(2))
        self._rewards = np.zeros(3)
        self._ended = np.zeros(3, np.bool_)
        self._told: Value = {"energy": np.zeros((3, 2), np.float32), "_energy": np.ones(3, bool)}

    @override
    def step(self, actions: Value) -> Value:
        self._rewards += 1
        np.logical_not(self._ended, out=self._ended)
        self._told["energy"] += 1
        return super().step(actions)[0], self._rewards, self._ended, self._ended, self._told


def test_results_from_reused_buffers_never_change(pair: Pair) -> None:
    agent = vector_bridge(pair, _Buffers())
    agent.reset()
    steps = [agent.step(agent.sample_action()) for _ in range(4)]
    for number, (_, rewards, terminated, truncated, infos) in enumerate(steps, 1):
        energy = pair.target.values(infos["energy"])
        assert pair.target.values(rewards).tolist() == [number] * 3
        assert pair.target.values(terminated).tolist() == [number % 2 == 1] * 3
        assert pair.target.values(truncated).tolist() == [number % 2 == 1] * 3
        assert energy.tolist() == [[number] * 2] * 3


@pytest.mark.parametrize("place", [1, 2, 3])
def test_an_error_names_the_result(pair: Pair, place: int) -> None:
    class Large(EchoVector):
        @override
        def step(self, actions: Value) -> Value:
            step = list(super().step(actions))
            step[place] = [2**70]
            return tuple(step)

    agent = vector_bridge(pair, Large(spaces.Discrete(2)))
    agent.reset()
    with pytest.raises(ConversionError) as caught:
        agent.step(agent.sample_action())
    assert caught.value.path == ("", "reward[0]", "terminated[0]", "truncated[0]")[place]


def test_copy_false_shares_the_buffers() -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    agent = vector_bridge(
        pair, _countdowns(AutoresetMode.NEXT_STEP, structured=False, copy=False), copy=False
    )
    first = agent.reset()[0]
    second = agent.step(agent.sample_action())[0]
    assert pair.target.address(first) == pair.target.address(second)


@pytest.mark.parametrize("structured", [False, True])
def test_copy_true_copies_everything(structured: bool) -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    obs, *others = np.zeros((3, 2), np.float32), np.zeros(3), np.zeros(3, bool), np.zeros(3, bool)
    speeds = np.zeros(3)

    class Keeping(EchoVector):
        @override
        def step(self, actions: Value) -> Value:
            return {"a": obs} if structured else obs, *others, {"speed": speeds}

    agent = vector_bridge(pair, Keeping(spaces.Discrete(2)), copy=True)
    for _ in range(2):
        seen, *results, infos = agent.step(agent.sample_action())
        found = [seen["a"] if structured else seen, *results, infos["speed"]]
        for result, array in zip(found, [obs, *others, speeds], strict=True):
            assert pair.target.address(result) != pair.source.address(array)
            np.testing.assert_array_equal(pair.target.values(result), array)


@pytest.mark.parametrize("keeps", [False, True], ids=["fresh", "kept"])
def test_fresh_observations_are_shared_and_kept_ones_are_copied(keeps: bool) -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    envs = EchoVector(spaces.Discrete(2))
    space = _Noting(keeps=keeps)
    envs.observation_space = space
    agent = vector_bridge(pair, envs)
    seen = [agent.reset()[0], agent.step(agent.sample_action())[0]]
    shared = [pair.target.address(obs) for obs in seen] == space.addresses
    assert shared is not keeps


class _Noting(spaces.Space[Any]):
    """Samples new arrays and records their addresses."""

    def __init__(self, *, keeps: bool) -> None:
        super().__init__((3, 2), np.float32)
        self.addresses: list[int] = []
        self._keeps = keeps
        self._kept: list[Value] = []

    @override
    def sample(self, mask: Value = None, probability: Value = None) -> Value:
        array = np.zeros((3, 2), np.float32)
        self.addresses.append(array.ctypes.data)
        if self._keeps:
            self._kept.append(array)
        return array


# -- statistics -----------------------------------------------------------------------------------


def _statistics(agent: Value, steps: int = 5) -> list[Any]:
    agent.reset(seed=0)
    found = []
    for _ in range(steps):
        infos = agent.step(agent.sample_action())[4]
        if "episode" in infos:
            found.append(
                {key: infos["episode"][key] for key in ("r", "l", "_r") if key in infos["episode"]}
            )
    return found


def test_episode_statistics_recorded_inside_become_the_agents_arrays(pair: Pair) -> None:
    bare = RecordEpisodeStatistics(_countdowns(AutoresetMode.NEXT_STEP, structured=False))
    inside = RecordEpisodeStatistics(_countdowns(AutoresetMode.NEXT_STEP, structured=False))
    wanted = _statistics(_Sampling(bare))
    assert wanted
    counterpart(_statistics(vector_bridge(pair, inside)), wanted, pair.target)


class _Sampling:
    """Vector environments without a wrapper that take random actions like wrapped ones."""

    def __init__(self, envs: Value) -> None:
        self.reset = envs.reset
        self.step = envs.step
        self.sample_action = envs.action_space.sample


def test_episode_statistics_can_be_recorded_outside() -> None:
    """JAX only: Gymnasium adds rewards to NumPy arrays in place, which tensors refuse."""
    pair = Pair("numpy", "jax")
    pair.require()
    bare = RecordEpisodeStatistics(_countdowns(AutoresetMode.NEXT_STEP, structured=False))
    wrapped = vector_bridge(pair, _countdowns(AutoresetMode.NEXT_STEP, structured=False))
    outside = RecordEpisodeStatistics(wrapped)
    bare.reset(seed=0)
    outside.reset(seed=0)
    ended = 0
    for _ in range(5):
        wanted = bare.step(np.zeros(3, np.int64))[4]
        got = outside.step(wrapped.sample_action())[4]
        assert ("episode" in got) == ("episode" in wanted)
        if "episode" in wanted:
            ended += 1
            for key in ("r", "l"):
                np.testing.assert_array_equal(
                    np.asarray(got["episode"][key]), np.asarray(wanted["episode"][key])
                )
    assert ended


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
def test_episode_statistics_of_one_environment_become_the_agents_arrays(
    pair: Pair, outside: bool
) -> None:
    record: Any = gym.wrappers.RecordEpisodeStatistics
    agent: Value
    if outside:
        inner = bridge(pair, Countdown(2))
        agent = record(inner)
    else:
        inner = agent = bridge(pair, record(Countdown(2)))
    agent.reset()
    agent.step(inner.sample_action())
    info = agent.step(inner.sample_action())[4]
    assert float(info["episode"]["r"]) == 1.0
    assert int(info["episode"]["l"]) == 2
    assert pair.target.is_array(info["episode"]["r"]) != outside


# -- actions --------------------------------------------------------------------------------------


def _itself(env: Echo) -> Echo:
    return env


def test_each_environment_receives_its_own_action(pair: Pair) -> None:
    space = spaces.Dict(a=spaces.Discrete(5), say=spaces.Text(3))
    echoes = [Echo(space) for _ in range(3)]
    agent = vector_bridge(pair, SyncVectorEnv([partial(_itself, echo) for echo in echoes]))
    agent.reset()
    agent.step({"a": pair.target.make(np.array([4, 2, 0], np.int32)), "say": ("a", "b", "c")})
    same(
        [echo.received for echo in echoes],
        [
            {"a": np.int64(4), "say": "a"},
            {"a": np.int64(2), "say": "b"},
            {"a": np.int64(0), "say": "c"},
        ],
    )
