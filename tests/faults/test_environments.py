"""Faulty environments: errors pass or get a path, and the wrapper stays usable."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from typing_extensions import override

from gymbridge import ConversionError
from tests.environments.bridges import AGENTS, bridge, counterpart, vector_bridge
from tests.faults.worlds import Scripted, ScriptedVector, Value, fine, fine_vector
from tests.libraries.jax import jnp
from tests.libraries.torch import torch
from tests.support import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Library

FINE: dict[str, Callable[[], Value]] = {"single": fine, "vector": fine_vector}
FORMS = list(FINE)


class BrokenError(Exception):
    """An error that no library knows."""


class Stopped(BaseException):
    """An error that is no `Exception`, as `KeyboardInterrupt`."""


@pytest.fixture(params=AGENTS)
def pair(request: pytest.FixtureRequest) -> Pair:
    """Pairs from NumPy to every other library."""
    found = Pair("numpy", request.param)
    found.require()
    return found


class Stage:
    """A wrapped environment, single or vector, and the results of a correct step."""

    def __init__(self, pair: Pair, form: str, *steps: Callable[[], Value], **first: Value) -> None:
        self.library: Library = pair.target
        self.env: Value
        self.agent: Value
        if form == "single":
            self.env = Scripted(*steps, **first)
            self.agent = bridge(pair, self.env)
        else:
            self.env = ScriptedVector(*steps, **first)
            self.agent = vector_bridge(pair, self.env)
        self.form = form

    def step(self) -> Value:
        return self.agent.step(self.agent.sample_action())

    def goes_on(self) -> None:
        """Fail unless the next step is correct."""
        for _ in range(2):
            obs, reward, terminated, truncated, info = self.step()
            bare = FINE[self.form]()
            counterpart([obs, info], [bare[0], bare[4]], self.library)
            if self.form == "single":
                assert (reward, terminated, truncated) == bare[1:4]
            else:
                counterpart([reward, terminated, truncated], list(bare[1:4]), self.library)


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def fail() -> NoReturn:
        raise error

    return fail


class TestErrorsOfAnEnvironment:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("kind", [BrokenError, OSError, StopIteration, TypeError, Stopped])
    def test_an_error_in_step_passes_unchanged(
        self, pair: Pair, kind: type[BaseException], form: str
    ) -> None:
        error = kind("the motor is on fire")
        stage = Stage(pair, form, FINE[form], raising(error))
        stage.step()
        with pytest.raises(kind) as caught:
            stage.step()
        assert caught.value is error
        assert error.__cause__ is None
        assert error.__context__ is None
        assert error.args == ("the motor is on fire",)
        assert stage.env.taken == 2
        stage.goes_on()

    @pytest.mark.parametrize("form", FORMS)
    def test_an_error_in_reset_passes_unchanged(self, pair: Pair, form: str) -> None:
        error = BrokenError("no such level")
        stage = Stage(pair, form, first=raising(error))
        with pytest.raises(BrokenError) as caught:
            stage.agent.reset(seed=1, options={"level": np.ones(2)})
        assert caught.value is error
        stage.goes_on()

    @pytest.mark.parametrize("method", ["render", "close"])
    def test_an_error_elsewhere_passes_unchanged(
        self, pair: Pair, method: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        error = BrokenError("no screen")
        stage = Stage(pair, "single")
        monkeypatch.setattr(stage.env, method, raising(error))
        with pytest.raises(BrokenError) as caught:
            getattr(stage.agent, method)()
        assert caught.value is error
        stage.goes_on()

    def test_an_error_of_one_environment_in_a_vector_passes_unchanged(self, pair: Pair) -> None:
        error = BrokenError("one of them")
        envs = SyncVectorEnv([Scripted, lambda: Scripted(raising(error))])
        agent = vector_bridge(pair, envs)
        agent.reset()
        with pytest.raises(BrokenError) as caught:
            agent.step(agent.sample_action())
        assert caught.value is error
        obs = agent.step(agent.sample_action())[0]
        counterpart(obs, np.stack([np.arange(3, dtype=np.float32)] * 2), pair.target)
        agent.close()


def with_(form: str, place: int, value: Callable[[], Value]) -> Callable[[], Value]:
    """Return a step that has ``value()`` at one of its five places."""

    def step() -> Value:
        told = list(FINE[form]())
        told[place] = value()
        return tuple(told)

    return step


def _deleted() -> Value:
    array = jnp.ones(2)
    array.delete()
    return array


def _circular() -> Value:
    array = np.empty(1, object)
    array[0] = array
    return array


PLACES = {"obs": 0, "reward": 1, "info": 4}
TOO_MANY_BITS = 2**80
HOPELESS: dict[str, tuple[Callable[[], Value], str, str]] = {
    "an integer of too many bits": (
        lambda: TOO_MANY_BITS,
        "",
        f"the int {TOO_MANY_BITS} does not fit int64",
    ),
    "one of them deep down": (
        lambda: {"a": [1, {"b": (np.ones(2), TOO_MANY_BITS)}]},
        "['a'][1]['b'][1]",
        f"the int {TOO_MANY_BITS} does not fit int64",
    ),
    "a tensor without values": (
        lambda: [torch.ones(2, device="meta")],
        "[0]",
        "PyTorch holds no values in a tensor on the device 'meta'",
    ),
    "an array that was deleted": (
        lambda: {1: _deleted()},
        "[1]",
        "the JAX array was deleted or donated",
    ),
    "an array that contains itself": (
        _circular,
        "[0]",
        "the ndarray contains itself",
    ),
}


CASES = [
    (what, place)
    for what, (_, _, problem) in HOPELESS.items()
    for place in PLACES
    if place != "info" or not problem.startswith("the int ")  # an info keeps it
]


class TestValuesThatCannotBeConverted:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize(("what", "place"), CASES)
    def test_the_error_has_a_path(self, pair: Pair, what: str, place: str, form: str) -> None:
        make, path, problem = HOPELESS[what]
        inside = {"below": make()} if place == "info" else make()
        stage = Stage(pair, form, with_(form, PLACES[place], lambda: inside))
        if place == "reward" and form == "single" and not path:
            assert stage.step()[1] == float(TOO_MANY_BITS)
            return
        if what == "a tensor without values" and pair.target.name == "torch":
            assert stage.step()  # an array of the target is not converted
            return
        if what == "an array that was deleted" and pair.target.name == "jax":
            assert stage.step()
            return
        with pytest.raises(ConversionError) as caught:
            stage.step()
        error = caught.value
        assert error.problem == problem
        root = "info['below']" if place == "info" else place
        assert error.path.startswith(root + path)
        assert stage.env.taken == 1, "an environment must not be stepped again to explain an error"
        stage.goes_on()

    @pytest.mark.parametrize("form", FORMS)
    def test_the_value_is_not_kept_alive(self, pair: Pair, form: str) -> None:
        held = np.ones(1000)
        gone = weakref.ref(held)
        told = {"fine": held, "hopeless": TOO_MANY_BITS}
        stage = Stage(pair, form, with_(form, 0, lambda: told))
        with pytest.raises(ConversionError):
            stage.step()
        stage.env._steps = ()
        told.clear()
        del held
        gc.collect()
        assert gone() is None

    @pytest.mark.parametrize("form", FORMS)
    def test_the_error_in_reset_has_a_path(self, pair: Pair, form: str) -> None:
        stage = Stage(pair, form, first=lambda: ({"seed": [TOO_MANY_BITS]}, {}))
        with pytest.raises(ConversionError) as caught:
            stage.agent.reset()
        assert caught.value.path == "obs['seed'][0]"
        stage.goes_on()

    @pytest.mark.parametrize("form", FORMS)
    def test_an_action_is_refused_before_the_environment_steps(self, pair: Pair, form: str) -> None:
        stage = Stage(pair, form)
        with pytest.raises(ConversionError) as caught:
            stage.agent.step({"turn": [TOO_MANY_BITS]})
        assert caught.value.path == "action['turn'][0]"
        assert stage.env.taken == 0
        stage.goes_on()


class Rubbish:
    def __repr__(self) -> str:
        return "rubbish"


RUBBISH: dict[str, Callable[[], Value]] = {
    "nothing": lambda: None,
    "a word": lambda: "rubbish",
    "bytes": lambda: b"rubbish",
    "an object": Rubbish,
    "a type": lambda: Rubbish,
    "a function": lambda: len,
    "a set": lambda: {1, "two", 3.0},
    "a range": lambda: range(3),
    "words": lambda: np.array(["rub", "bish"]),
    "dates": lambda: np.array(["2026-11-18"], "datetime64[D]"),
    "records": lambda: np.zeros(2, [("a", "f4"), ("b", "U3")]),
    "an empty list": list,
    "an empty array of objects": lambda: np.empty((0, 2), object),
}


class TestWrongResults:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("place", [0, 1, 2, 3, 4])
    @pytest.mark.parametrize("what", RUBBISH)
    def test_a_wrong_value_passes_unchanged(
        self, pair: Pair, what: str, place: int, form: str
    ) -> None:
        value = RUBBISH[what]()
        stage = Stage(pair, form, with_(form, place, lambda: value))
        got = stage.step()[place]
        if what in {"an empty list", "an empty array of objects"}:
            assert type(got) is type(value)
            assert len(got) == 0
        elif isinstance(value, np.ndarray):  # the test holds the array, so it is copied
            assert got.dtype == value.dtype
            assert got.tolist() == value.tolist()
            assert not np.shares_memory(got, value)
        else:
            assert got is value
        stage.goes_on()

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize(
        ("told", "message"),
        [
            ((), "not enough values to unpack"),
            ((1, 2, 3, 4), "not enough values to unpack"),
            ((1, 2, 3, 4, 5, 6), "too many values to unpack"),
            (None, "cannot unpack non-iterable NoneType object"),
            (Rubbish(), "cannot unpack non-iterable Rubbish object"),
        ],
        ids=repr,
    )
    def test_a_step_that_is_no_tuple_is_pythons_error(
        self, pair: Pair, told: Value, message: str, form: str
    ) -> None:
        stage = Stage(pair, form, lambda: told)
        with pytest.raises((TypeError, ValueError), match=message):
            stage.step()
        stage.goes_on()

    @pytest.mark.parametrize("form", FORMS)
    def test_a_reset_that_is_no_tuple_is_pythons_error(self, pair: Pair, form: str) -> None:
        stage = Stage(pair, form, first=lambda: None)
        with pytest.raises(TypeError, match="cannot unpack non-iterable NoneType"):
            stage.agent.reset()
        stage.goes_on()


CHANGES: list[Callable[[], Value]] = [
    lambda: np.arange(3, dtype=np.float32),
    lambda: np.arange(3, dtype=np.float64) / 3,
    lambda: np.arange(6, dtype=np.uint8).reshape(2, 3),
    lambda: np.zeros((0, 3), np.int16),
    lambda: np.array(1.5, np.float16),
    lambda: {"a": np.ones(2, np.float32), "b": "text"},
    lambda: (np.int32(4), [np.array([True, False])]),
    lambda: np.arange(6, dtype=np.float32).reshape(2, 3)[::-1, ::-1],
    lambda: np.arange(3, dtype=">i4"),
    lambda: np.float64(0.1),
    lambda: np.arange(12, dtype=np.int64)[::4],
    lambda: "lost",
    lambda: np.asfortranarray(np.arange(6, dtype=np.complex64).reshape(2, 3)),
]
"""Observations that differ from step to step."""


def swapped_to_native(bare: Value) -> Value:
    """Return ``bare`` in native byte order."""
    if isinstance(bare, np.ndarray):
        return bare.astype(bare.dtype.newbyteorder("="))
    return bare


@pytest.mark.parametrize("form", FORMS)
def test_observations_may_change_shape_dtype_and_structure(pair: Pair, form: str) -> None:
    """Two rounds, so that fast paths are taken again after other values."""
    told = [change for change in CHANGES for _ in range(3)] * 2
    stage = Stage(pair, form, *[with_(form, 0, change) for change in told])
    for change in told:
        counterpart(stage.step()[0], swapped_to_native(change()), pair.target)
    stage.goes_on()


def test_infos_may_change_in_every_step(pair: Pair) -> None:
    told = [change for change in CHANGES for _ in range(3)] * 2

    def info_with(change: Callable[[], Value]) -> Callable[[], Value]:
        return with_("single", 4, lambda: {"x": change()})

    stage = Stage(pair, "single", *map(info_with, told))
    for change in told:
        counterpart(stage.step()[4], {"x": swapped_to_native(change())}, pair.target)
    stage.goes_on()


class Reusing(gym.Env[Any, Any]):
    """Writes every result into the same arrays."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Dict(
            a=gym.spaces.Box(0, 99, (3,), np.float32), b=gym.spaces.Box(0, 99, (2,), np.float64)
        )
        self.action_space = gym.spaces.Discrete(2)
        self._obs: dict[str, Value] = {"a": np.zeros(3, np.float32), "b": np.zeros(2, np.float64)}
        self._info: dict[str, Value] = {
            "count": np.zeros(2, np.int32),
            "flag": np.zeros((), np.bool_),
        }
        self._reward = np.zeros(1)
        self.count = 0

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Value:
        return self._obs, self._info

    @override
    def step(self, action: Value) -> Value:
        self.count += 1
        for array in (*self._obs.values(), *self._info.values(), self._reward):
            array[...] = self.count
        return self._obs, self._reward, False, False, self._info


class TestReusedBuffers:
    @pytest.mark.parametrize("copy", [None, True])
    def test_earlier_results_do_not_change(self, pair: Pair, copy: bool | None) -> None:
        agent = bridge(pair, Reusing(), copy=copy)
        agent.reset()
        seen = [agent.step(agent.sample_action()) for _ in range(40)]
        values = pair.target.values
        for number, (obs, reward, _, _, info) in enumerate(seen, start=1):
            assert values(obs["a"]).tolist() == [number] * 3
            assert values(obs["b"]).tolist() == [number] * 2
            assert values(info["count"]).tolist() == [number] * 2
            assert values(info["flag"])
            assert reward == number


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_an_environment_that_fails_in_autoreset_can_be_reset_again(
    pair: Pair, mode: AutoresetMode
) -> None:
    error = BrokenError("no next level")

    def ends() -> Value:
        return np.arange(3, dtype=np.float32), 1.0, True, False, {}

    resets = [0]

    def first() -> Value:
        resets[0] += 1
        if resets[0] == 2:
            raise error
        return np.arange(3, dtype=np.float32), {}

    envs = SyncVectorEnv([lambda: Scripted(ends, first=first)], autoreset_mode=mode)
    agent = vector_bridge(pair, envs)
    agent.reset()
    action = agent.sample_action()

    def next_episode() -> None:
        agent.step(action)
        if mode is AutoresetMode.DISABLED:
            agent.reset(options={"reset_mask": np.array([True])})
        agent.step(action)

    with pytest.raises(BrokenError) as caught:
        next_episode()
    assert caught.value is error
    obs, _ = agent.reset()
    counterpart(obs, np.arange(3, dtype=np.float32)[None], pair.target)
