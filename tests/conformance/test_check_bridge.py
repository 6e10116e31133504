"""`check_bridge` reports faults of a wrapper or its environment with their place."""

from __future__ import annotations

import threading
from collections import UserList
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.testing.check import agent_action, rounded
from gymbridge_runtime.testing.parallel_worlds import ParallelWorld
from gymbridge_runtime.testing.side import Side
from gymbridge_runtime.testing.worlds import World, WorldVector
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from typing_extensions import override

from gymbridge import NumpyToTorch, batched, vector
from gymbridge.testing import BridgeMismatchError, check_bridge
from tests.environments.bridges import Value
from tests.libraries.torch import torch
from tests.support import require, run_python

if TYPE_CHECKING:
    from collections.abc import Callable


def problem(env: object, **options: Value) -> BridgeMismatchError:
    with pytest.raises(BridgeMismatchError) as caught:
        check_bridge(env, **options)
    return caught.value


@pytest.mark.parametrize(
    "make",
    [
        partial(gym.make, "CartPole-v1"),
        partial(gym.make, "FrozenLake-v1"),
        partial(gym.make, "Pendulum-v1"),
        partial(gym.make, "Blackjack-v1"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"copy": True}, {"float_dtype": "float16"}])
def test_gymnasium_environments_pass(make: Callable[[], Value], options: dict[str, Value]) -> None:
    assert check_bridge(NumpyToTorch(make(), **options), steps=60) > 300


def test_gymnasium_vector_environments_pass() -> None:
    envs = vector.NumpyToTorch(SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 3))
    assert check_bridge(envs, steps=60) > 300


def test_the_given_environment_is_not_stepped() -> None:
    bare: Value = gym.make("CartPole-v1")
    agent = NumpyToTorch(bare)
    agent.reset(seed=1)
    before = np.array(bare.unwrapped.state)
    check_bridge(agent)
    np.testing.assert_array_equal(bare.unwrapped.state, before)


def test_an_environment_that_cannot_be_copied_needs_make() -> None:
    make = partial(AsyncVectorEnv, [partial(gym.make, "CartPole-v1")] * 2, context="spawn")
    envs = make()
    agent = vector.NumpyToTorch(envs)
    with pytest.raises(TypeError, match=r"^AsyncVectorEnv cannot be deep-copied; pass make="):
        check_bridge(agent)
    assert check_bridge(agent, make=make, steps=3) > 10
    agent.close()


def test_an_error_raised_by_make_passes_unchanged() -> None:
    def fail() -> object:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match=r"^mine$"):
        check_bridge(NumpyToTorch(gym.make("CartPole-v1")), make=fail)


@pytest.mark.parametrize("env", [gym.make("CartPole-v1"), WorldVector(), 3])
def test_an_object_that_is_no_wrapper_is_refused(env: object) -> None:
    with pytest.raises(TypeError, match="is no wrapper of gymbridge; wrap the environment first"):
        check_bridge(env)


# -- wrappers that do something wrong -------------------------------------------------------------


class Wrong(NumpyToTorch[Value, Value]):
    """Changes one result of a step."""

    def spoil(self, step: list[Value]) -> None:
        raise NotImplementedError

    @override
    def step(self, action: Value) -> Value:
        step = list(super().step(action))
        self.spoil(step)
        return tuple(step)


def wrong(spoil: Callable[[list[Value]], None], env: object = None) -> Wrong:
    kind = type("Spoilt", (Wrong,), {"spoil": lambda _, step: spoil(step)})
    made: Wrong = kind(env or World())
    return made


def replace(place: int, value: object) -> Callable[[list[Value]], None]:
    def spoil(step: list[Value]) -> None:
        step[place] = value

    return spoil


def in_info(key: str, value: object) -> Callable[[list[Value]], None]:
    def spoil(step: list[Value]) -> None:
        step[4] = {**step[4], key: value}

    return spoil


def in_obs(change: Callable[[Value], Value]) -> Callable[[list[Value]], None]:
    def spoil(step: list[Value]) -> None:
        step[0] = {**step[0], "pose": change(step[0]["pose"])}

    return spoil


@pytest.mark.parametrize(
    ("spoil", "path", "words"),
    [
        (in_obs(lambda pose: pose.numpy()), "obs['pose']", "an array of PyTorch"),
        (in_obs(lambda pose: pose.double()), "obs['pose']", "float32 of shape (2,)"),
        (in_obs(lambda pose: pose[None]), "obs['pose']", "float32 of shape (1, 2)"),
        (in_obs(lambda pose: pose + 1), "obs['pose']", "expected array(["),
        (replace(0, {}), "obs", "the parts ['pose']['left']"),
        (replace(0, []), "obs", "a dict, found []"),
        (replace(1, torch.tensor(4.0)), "reward", "expected 4.0, found tensor(4.)"),
        (replace(1, 3.0), "reward", "expected 4.0, found 3.0"),
        (replace(1, 4), "reward", "expected 4.0, found 4"),
        (replace(2, np.bool_(False)), "terminated", "expected False"),
        (replace(3, True), "truncated", "expected False, found True"),
        (in_info("odd", torch.tensor(False)), "info['odd']", "expected False"),
        (in_info("text", "other"), "info['text']", "expected '4 left', found 'other'"),
        (in_info("nothing", ()), "info['nothing']", "expected None"),
        (in_info("nothing", "x" * 80), "info['nothing']", f"found '{'x' * 59}…"),
        (in_info("left", 4), "info['left']", "an array of PyTorch of int64, found int"),
        (in_info("left", torch.tensor(4.0)), "info['left']", "int64 of shape ()"),
        (in_info("below", ({}, "text")), "info['below']", "a list"),
        (in_info("below", [{"mask": True}, "text"]), "info['below'][0]['mask']", "of bool"),
        (in_info("new", None), "info", "['new']"),
    ],
)
def test_a_wrong_step_result_is_reported_with_its_path(
    spoil: Callable[[list[Value]], None], path: str, words: str
) -> None:
    error = problem(wrong(spoil))
    assert str(error).startswith("step 1:\n  ")
    (difference,) = error.differences
    assert difference.path == path
    assert words in str(difference)


def test_a_wrong_reset_is_reported_with_its_step() -> None:
    class Spoilt(NumpyToTorch[Value, Value]):
        resets = 0

        @override
        def reset(self, *, seed: int | None = None, options: Value = None) -> Value:
            obs, info = super().reset(seed=seed, options=options)
            self.resets += 1
            return obs, {**info, "nothing": None if self.resets == 1 else "something"}

    error = problem(Spoilt(World()))
    assert str(error).startswith("the reset before step 6:\n  info['nothing']: expected None")


def test_the_same_seed_gives_the_same_actions() -> None:
    class Recording(World):
        def __init__(self) -> None:
            super().__init__()
            self.actions: list[list[float]] = []

        @override
        def step(self, action: Value) -> Value:
            self.actions.append(action.tolist())
            return super().step(action)

    def actions(seed: int) -> list[list[float]]:
        made: list[Recording] = []

        def make() -> Recording:
            made.append(Recording())
            return made[-1]

        env: Value = Recording()
        check_bridge(NumpyToTorch(env), make=make, steps=4, seed=seed)
        (again,) = made
        return again.actions

    assert actions(1) == actions(1) != actions(2)
    assert len({*map(tuple, actions(1))}) == 4, "one for each step"


def test_the_number_of_compared_leaves_is_returned() -> None:
    world: Value = World()
    of_info, of_obs, of_numbers, of_action = 8, 2, 3, 1
    after_reset = of_obs + of_info  # compared again one step later
    after_step = of_obs + of_numbers + of_info + of_action
    assert check_bridge(NumpyToTorch(world), steps=1) == 2 * after_reset + after_step


def test_a_wrong_first_reset_is_reported() -> None:
    class Spoilt(NumpyToTorch[Value, Value]):
        @override
        def reset(self, *, seed: int | None = None, options: Value = None) -> Value:
            return super().reset(seed=seed, options=options)[0], {}

    assert str(problem(Spoilt(World()), seed=3)).startswith("reset(seed=3):\n  info: expected ")


def test_actions_are_made_of_the_agents_arrays() -> None:
    require("torch")
    library = Side(load("gymbridge_runtime.backends.torch:TORCH"))
    sample = {"a": (np.float32(1), np.ones(2)), "say": "text"}
    action: Value = agent_action(library, sample)
    assert list(action) == ["a", "say"]
    assert type(action["a"]) is tuple
    assert [part.tolist() for part in action["a"] if torch.is_tensor(part)] == [1, [1, 1]]
    assert action["say"] == "text"


def test_actions_are_rounded_to_the_dtypes_of_the_library() -> None:
    require("jax")
    library = Side(load("gymbridge_runtime.backends.jax:JAX"))
    there: Value = rounded((np.float64(0.1), {"b": np.array([0.1])}), library)
    assert there[0] == there[1]["b"][0] == np.float64(np.float32(0.1))
    assert there[0].dtype == there[1]["b"].dtype == np.float64


def test_a_step_with_too_few_values_is_reported() -> None:
    class Short(NumpyToTorch[Value, Value]):
        @override
        def step(self, action: Value) -> Value:
            return super().step(action)[:4]

    (difference,) = problem(Short(World())).differences
    assert str(difference).startswith("the result: expected 5 values, found ({'pose': tensor(")


class Told(World):
    """Returns the same info in every step."""

    def __init__(self, told: object) -> None:
        super().__init__()
        self.told = told

    @override
    def step(self, action: object) -> Value:
        return *super().step(action)[:4], {"told": self.told}


OBJECTS = np.array([np.arange(3), "text"], object)


@pytest.mark.parametrize(
    ("found", "path", "words"),
    [
        (np.array([torch.arange(3), "other"], object), "info['told'][1]", "expected 'text'"),
        (np.array([np.arange(3), "text"], object), "info['told'][0]", "an array of PyTorch"),
        (OBJECTS[:1], "info['told']", "shape (2,), on cpu, found numpy.ndarray"),
        (["text"], "info['told']", "found list"),
    ],
)
def test_elements_of_object_arrays_are_compared(found: object, path: str, words: str) -> None:
    told: Value = Told(OBJECTS)
    assert check_bridge(NumpyToTorch(told)) > 0
    (difference,) = problem(wrong(in_info("told", found), told)).differences
    assert difference.path == path
    assert words in str(difference)


class Rough(World):
    """Returns NumPy rewards and flags, and truncates after three steps."""

    reward: Value = np.float32(0.5)

    @override
    def step(self, action: object) -> Value:
        obs, *_, info = super().step(action)
        return obs, self.reward, np.bool_(False), np.bool_(info["left"] == 2), info


@pytest.mark.parametrize("place", [1, 2, 3])
def test_numpy_rewards_and_flags_must_become_python_values(place: int) -> None:
    rough: Value = Rough()
    assert check_bridge(NumpyToTorch(rough)) > 0
    (difference,) = problem(wrong(replace(place, torch.zeros(())), rough)).differences
    expected = {1: "reward: expected 0.5", 2: "terminated: expected False"}
    assert str(difference).startswith(expected.get(place, "truncated: expected False"))


def test_a_truncated_episode_is_reset() -> None:
    class Spoilt(NumpyToTorch[Value, Value]):
        resets = 0

        @override
        def reset(self, *, seed: int | None = None, options: Value = None) -> Value:
            self.resets += 1
            obs, info = super().reset(seed=seed, options=options)
            return (obs, info) if self.resets == 1 else (obs, {})

    rough: Value = Rough()
    assert str(problem(Spoilt(rough))).startswith("the reset before step 4:\n  info: ")


def test_a_reward_with_two_numbers_is_compared_as_an_array() -> None:
    rough: Value = Rough()
    rough.reward = np.ones(2, np.float32)
    assert check_bridge(NumpyToTorch(rough)) > 0


def test_a_wrong_vector_result_is_reported() -> None:
    class Doubles(vector.NumpyToTorch[Value, Value]):
        @override
        def step(self, actions: Value, env_id: Value = None) -> Value:
            obs, rewards, *rest = super().step(actions, env_id)
            return obs, rewards.double(), *rest

    worlds: Value = WorldVector()
    (difference,) = problem(Doubles(worlds)).differences
    assert str(difference).startswith("reward: expected float32 of shape (2,), found float64")


class Rewarded(World):
    """Returns None as reward, as unfinished environments do."""

    @override
    def step(self, action: object) -> Value:
        obs, _, *rest = super().step(action)
        return obs, None, *rest


def test_a_reward_that_is_no_number_must_stay_itself() -> None:
    rewarded: Value = Rewarded()
    assert check_bridge(NumpyToTorch(rewarded)) > 0
    (difference,) = problem(wrong(replace(1, 0.0), rewarded)).differences
    assert str(difference) == "reward: expected None, found 0.0"


@pytest.mark.parametrize("unknown", ["agents", "possible_agents"])
def test_agents_may_become_known_after_reset(unknown: str) -> None:
    require("pettingzoo")
    from gymbridge.parallel import NumpyToTorch as ParallelNumpyToTorch

    class Later(ParallelWorld):
        @override
        def reset(self, seed: int | None = None, options: Value = None) -> Value:
            self.agents = []
            self.possible_agents = ["left", "right", "late"]
            return super().reset(seed, options)

    world: Value = Later()
    delattr(world, unknown)
    assert check_bridge(ParallelNumpyToTorch(world)) > 100


def test_agents_without_a_reward_are_reported() -> None:
    require("pettingzoo")
    from gymbridge.parallel import NumpyToTorch as ParallelNumpyToTorch

    class Forgetful(ParallelNumpyToTorch[Value, Value, Value]):
        @override
        def step(self, actions: Value) -> Value:
            obs, rewards, *rest = super().step(actions)
            del rewards["right"]
            return obs, rewards, *rest

    parallel: Value = ParallelWorld()
    (difference,) = problem(Forgetful(parallel)).differences
    assert (
        str(difference) == "reward: expected the parts ['left']['right'], found the parts ['left']"
    )


@pytest.mark.parametrize(("count", "end"), [(20, "found int"), (30, "\n  and 10 more")])
def test_a_long_list_of_differences_is_shortened(count: int, end: str) -> None:
    numbers = {f"n{place}": 0 for place in range(count)}

    def spoil(step: list[Value]) -> None:
        step[4] = numbers

    class Many(World):
        @override
        def step(self, action: object) -> Value:
            return *super().step(action)[:4], numbers

    error = problem(wrong(spoil, Many()))
    assert len(error.differences) == count
    assert str(error).endswith(end)


def test_a_wrong_action_is_reported() -> None:
    class Deaf(NumpyToTorch[Value, Value]):
        @override
        def step(self, action: Value) -> Value:
            return super().step(action * 0)

    error = problem(Deaf(World()))
    assert str(error).startswith("what the environment received in step 1:\n  action: expected ")


def test_an_observation_that_changes_one_step_later_is_reported() -> None:
    class Reuses(gym.Wrapper[Value, Value, Value, Value]):
        """Returns the same buffer in every step."""

        buffer: Value = None

        @override
        def step(self, action: Value) -> Value:
            obs, *rest = super().step(action)
            if self.buffer is None:
                self.buffer = obs["pose"]
            self.buffer[...] = obs["pose"]
            return {**obs, "pose": self.buffer}, *rest

    error = problem(NumpyToTorch(Reuses(World()), copy=False))
    assert str(error).startswith(
        "what was returned before step 2, and changed since:\n  obs['pose']"
    )
    assert check_bridge(NumpyToTorch(Reuses(World()))) > 0


def test_an_observation_that_changes_two_steps_later_is_reported() -> None:
    class Alternates(gym.Wrapper[Value, Value, Value, Value]):
        """Returns two buffers alternately."""

        def __init__(self, env: Value) -> None:
            super().__init__(env)
            self.buffers = [np.zeros(2, np.float32), np.zeros(2, np.float32)]

        @override
        def step(self, action: Value) -> Value:
            obs, *rest = super().step(action)
            self.buffers.reverse()
            self.buffers[0][...] = obs["pose"]
            return {**obs, "pose": self.buffers[0]}, *rest

    error = problem(NumpyToTorch(Alternates(World()), copy=False))
    assert str(error).startswith("what was returned in step 1, and changed later:\n  obs['pose']")
    assert check_bridge(NumpyToTorch(Alternates(World()))) > 0


def test_random_environments_pass() -> None:
    class Noise(World):
        @override
        def step(self, action: object) -> Value:
            step: Value = super().step(action)
            obs, *rest, info = step
            noise = np.random.default_rng().random(2, np.float32)
            return {**obs, "pose": noise}, *rest, {**info, "noise": noise}

    noise: Value = Noise()
    assert check_bridge(NumpyToTorch(noise)) > 0


def test_an_environment_needs_no_close() -> None:
    class Bare:
        action_space = gym.spaces.Box(-1, 1, (2,))

        def reset(self, **_seed: object) -> Value:
            return np.zeros(2, np.float32), {}

        def step(self, action: Value) -> Value:
            return action, 1, False, False, {}

    bare: Value = Bare()
    assert check_bridge(batched.NumpyToTorch(bare)) > 0


def test_environments_that_report_the_time_pass() -> None:
    timed = RecordEpisodeStatistics(gym.make("CartPole-v1"))
    assert check_bridge(NumpyToTorch(timed), steps=100) > 0


def test_values_false_compares_everything_but_values() -> None:
    other = wrong(in_obs(lambda pose: pose + 1))
    assert problem(other).differences[0].path == "obs['pose']"
    assert check_bridge(other, values=False) > 0
    assert problem(wrong(in_obs(lambda pose: pose.double())), values=False).differences


def test_check_bridge_works_without_pytest() -> None:
    code = """
import sys
sys.modules["pytest"] = None
import gymnasium as gym
from gymbridge import NumpyToTorch
from gymbridge.testing import check_bridge
print(check_bridge(NumpyToTorch(gym.make("CartPole-v1"))) > 100)
"""
    assert run_python(code) == "True\n"


class Odd(gym.Env[Value, Value]):
    """Returns the given reward, flag and info."""

    observation_space: gym.Space[Value] = gym.spaces.Box(-1, 1, (2,))
    action_space: gym.Space[Value] = gym.spaces.Discrete(3)

    def __init__(
        self, reward: Value = 0.0, over: Value = False, info: Callable[[], Value] = dict
    ) -> None:
        self.reward, self.over, self.info = reward, over, info
        self.done: list[str] = []

    @override
    def reset(self, *, seed: int | None = None, options: Value = None) -> Value:
        self.done.append("reset")
        return np.zeros(2, np.float32), {}

    @override
    def step(self, action: Value) -> Value:
        self.done.append("step")
        return np.zeros(2, np.float32), self.reward, self.over, False, {"told": self.info()}

    @override
    def close(self) -> None:
        self.done.append("close")


@pytest.mark.parametrize(
    "reward",
    [float("nan"), np.float64("nan"), Decimal("1.5"), Fraction(1, 2), 2**80, np.complex64(1)],
    ids=["nan", "nan of NumPy", "decimal", "fraction", "large", "complex"],
)
def test_rewards_of_every_number_type_pass(reward: object) -> None:
    assert check_bridge(NumpyToTorch(Odd(reward)), steps=3) > 10


class Thing:
    """An object without a value to compare."""


class Unlike:
    """An object that is not equal to itself."""

    @override
    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = object.__hash__


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(slots=True)
class InSlots:
    array: Value


@pytest.mark.parametrize(
    "info",
    [
        Thing,
        np.random.default_rng,
        threading.Lock,
        lambda: (number for number in "123"),
        lambda: np.datetime64("NaT"),
        lambda: Decimal("nan"),
        lambda: {float("nan")},
        lambda: SimpleNamespace(array=np.ones(2)),
        lambda: UserList(["text"]),
        lambda: np,
        lambda: Colour.RED,
        lambda: int,
        lambda: InSlots(np.ones(2)),
    ],
    ids=[
        *(
            "thing",
            "generator of numbers",
            "lock",
            "generator",
            "no time",
            "no decimal",
            "no number",
        ),
        *("namespace", "list", "module", "member", "class", "slots"),
    ],
)
def test_unknown_objects_in_infos_pass(info: Callable[[], object]) -> None:
    assert check_bridge(NumpyToTorch(Odd(info=info)), steps=3) > 10


@pytest.mark.parametrize(
    ("one", "other"), [(Colour.RED, Colour.BLUE), (int, float), (Unlike(), Unlike()), ("a", "b")]
)
def test_different_objects_are_reported(one: object, other: object) -> None:
    error = problem(wrong(replace(4, {"told": other}), Odd(info=lambda: one)))
    assert error.differences[0].path == "info['told']"


def test_an_unset_dataclass_field_is_ignored() -> None:
    def unfinished() -> InSlots:
        return object.__new__(InSlots)

    assert check_bridge(NumpyToTorch(Odd(info=unfinished)), steps=3) > 10


@pytest.mark.parametrize(
    ("over", "ends"),
    [
        (np.array([False, False]), False),
        (np.array([False, True]), True),
        ([False, False], False),
        ({"a": False, "b": [True]}, True),
    ],
)
def test_an_episode_ends_when_any_flag_is_true(over: object, ends: bool) -> None:
    made: list[Odd] = []

    def make() -> Odd:
        made.append(Odd(over=over))
        return made[-1]

    check_bridge(NumpyToTorch(make()), make=make, steps=4)
    _, again = made
    assert again.done.count("reset") == (3 if ends else 1)
    assert again.done[-1] == "close"


def test_the_environment_is_closed_after_a_difference() -> None:
    made: list[Odd] = []

    def make() -> Odd:
        made.append(Odd())
        return made[-1]

    problem(wrong(replace(1, 4.0), make()), make=make)
    assert ["close" in each.done for each in made] == [False, True]


@pytest.mark.parametrize("mode", AutoresetMode)
def test_vector_environments_pass_in_every_autoreset_mode(mode: AutoresetMode) -> None:
    make = partial(SyncVectorEnv, [partial(gym.make, "CartPole-v1")] * 2, autoreset_mode=mode)
    assert check_bridge(vector.NumpyToTorch(make()), steps=80) > 600
