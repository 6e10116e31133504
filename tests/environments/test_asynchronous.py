"""The two halves of a step: send the actions, and wait for the results."""

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

from gymbridge import vector
from tests.environments.bridges import Value, counterpart, same, vector_bridge
from tests.environments.worlds import EchoVector
from tests.support import Pair, require, run_python

if TYPE_CHECKING:
    from collections.abc import Callable


class Halves(EchoVector):
    """Steps in two halves without processes, and reuses its buffers."""

    def __init__(self) -> None:
        super().__init__(spaces.Box(-9, 9, (2,)))
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.timeouts: list[object] = []
        self._seen = np.zeros((3, 2), np.float32)

    @override
    def step(self, actions: Value) -> Value:
        self.received = actions
        self._seen += 1
        flags = np.zeros(3, np.bool_)
        return self._seen, np.ones(3), flags, flags, {"n": np.arange(3), "text": "x"}

    def step_async(self, actions: Value) -> None:
        self._step = self.step(actions)

    def step_wait(self, timeout: float | None = None) -> Value:
        self.timeouts.append(timeout)
        return self._step

    def reset_async(self, seed: Value = None, options: Value = None) -> None:
        self.seed, self.options = seed, options

    def reset_wait(self, timeout: float | None = None) -> Value:
        self.timeouts.append(timeout)
        return self._seen, {"n": np.arange(3)}

    def call(self, name: str, *args: object, **kwargs: object) -> tuple[object, ...]:
        return name, args, kwargs

    call_async = call

    def call_wait(self, timeout: float | None = None) -> tuple[object, ...]:
        return "waited", timeout

    def get_attr(self, name: str) -> tuple[object, ...]:
        return (name,) * 3

    def set_attr(self, name: str, values: object) -> None:
        self.attribute = name, values


def test_both_halves_convert_like_a_step(pair: Pair) -> None:
    envs, bare = Halves(), Halves()
    agent = vector_bridge(pair, envs)
    agent.reset_async(seed=[1, 2, 3], options={"mask": pair.target.make(np.ones(3, np.bool_))})
    same(envs.options, {"mask": np.ones(3, np.bool_)})
    assert envs.seed == [1, 2, 3]
    bare.reset_async()
    counterpart(agent.reset_wait(2.5), bare.reset_wait(), pair.target)
    actions = np.full((3, 2), 0.5)
    assert agent.step_async(pair.target.make(actions)) is None
    same(envs.received, actions.astype(np.float32))
    bare.step_async(actions)
    counterpart(agent.step_wait(timeout=3), bare.step_wait(), pair.target)
    assert envs.timeouts == [2.5, 3]


def test_results_of_a_wait_never_change(pair: Pair) -> None:
    agent = vector_bridge(pair, Halves())
    agent.reset_async()
    kept = [agent.reset_wait()[0]]
    for _ in range(4):
        agent.step_async(agent.sample_action())
        kept.append(agent.step_wait()[0])
    for number, obs in enumerate(kept):
        assert pair.target.values(obs).tolist() == [[number] * 2] * 3


def test_environments_may_write_into_sent_actions(pair: Pair) -> None:
    envs = Halves()
    agent = vector_bridge(pair, envs)
    actions = pair.target.make(np.ones((3, 2), np.float32))
    agent.step_async(actions)
    envs.received *= 2
    assert pair.target.values(actions).tolist() == [[1, 1]] * 3


def test_fresh_arrays_from_a_wait_are_shared() -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    addresses = []

    class Fresh(Halves):
        @override
        def step_wait(self, timeout: float | None = None) -> Value:
            obs = np.zeros((3, 2), np.float32)
            addresses.append(obs.ctypes.data)
            return obs, *self._step[1:]

    agent = vector_bridge(pair, Fresh())
    agent.step_async(agent.sample_action())
    assert [pair.target.address(agent.step_wait()[0])] == addresses


@pytest.mark.parametrize(
    "wrap", [lambda envs: envs, RecordEpisodeStatistics], ids=["bare", "below"]
)
def test_calls_and_attributes_pass_unchanged(wrap: Callable[[Value], Value]) -> None:
    envs = Halves()
    agent: Any = vector.NumpyToTorch(wrap(envs))
    assert agent.call("render", 1, a=2) == ("render", (1,), {"a": 2})
    assert agent.call_async("render") is None
    assert agent.call_wait(5) == ("waited", 5)
    assert agent.get_attr("x") == ("x",) * 3
    agent.set_attr("x", [1, 2, 3])
    assert envs.attribute == ("x", [1, 2, 3])


def test_calls_stop_at_the_wrapped_vector_environment() -> None:
    """ManiSkill's vector environment unwraps to a single environment."""

    class Unwraps(Halves):
        @property
        @override
        def unwrapped(self) -> Value:
            return gym.make("CartPole-v1").unwrapped

    agent = vector.NumpyToTorch(Unwraps())
    assert agent.get_attr("x") == ("x",) * 3
    assert agent.call("x") == ("x", (), {})


METHODS: dict[str, Callable[[Any], object]] = {
    "step_async": lambda agent: agent.step_async(agent.sample_action()),
    "step_wait": lambda agent: agent.step_wait(),
    "reset_async": lambda agent: agent.reset_async(),
    "reset_wait": lambda agent: agent.reset_wait(),
    "call_async": lambda agent: agent.call_async("render"),
    "call_wait": lambda agent: agent.call_wait(),
}


@pytest.mark.parametrize("name", METHODS)
def test_errors_of_environments_without_halves_name_async_vector_env(name: str) -> None:
    agent = vector.NumpyToTorch(SyncVectorEnv([partial(gym.make, "CartPole-v1")]))
    words = f"^SyncVectorEnv has no method '{name}'; AsyncVectorEnv has it$"
    with pytest.raises(AttributeError, match=words):
        METHODS[name](agent)


@pytest.mark.parametrize("name", [name for name in METHODS if "call" not in name])
def test_no_wrapper_in_between_is_skipped(name: str) -> None:
    """A skipped wrapper would record nothing."""
    agent = vector.NumpyToTorch(RecordEpisodeStatistics(Halves()))
    words = f"^RecordEpisodeStatistics hides the method '{name}' of Halves; wrap the Halves with"
    with pytest.raises(AttributeError, match=words):
        METHODS[name](agent)


def test_wrappers_of_both_directions_pass_both_halves_on() -> None:
    agent = vector.TorchToNumpy(vector.NumpyToTorch(Halves()))
    agent.reset_async()
    same(agent.reset_wait()[0], np.zeros((3, 2), np.float32))
    agent.step_async(np.zeros((3, 2), np.float32))
    same(agent.step_wait()[0], np.ones((3, 2), np.float32))


_PROCESSES = """\
import gymnasium as gym
import numpy as np
from gymnasium.error import NoAsyncCallError
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import gymbridge.vector
from tests.environments.bridges import counterpart
from tests.support import LIBRARIES

if __name__ == "__main__":
    library = LIBRARIES["{library}"]
    makers = [lambda: gym.make("CartPole-v1")] * 2
    mode = AutoresetMode.DISABLED
    envs = AsyncVectorEnv(makers, context="spawn", copy=False, autoreset_mode=mode)
    agent, bare = gymbridge.vector.{wrapper}(envs), SyncVectorEnv(makers, autoreset_mode=mode)
    agent.reset_async(seed=[1, 2])
    counterpart(agent.reset_wait(timeout=60), bare.reset(seed=[1, 2]), library)
    ended = 0
    for number in range(40):
        actions = np.array([1, number % 2])
        agent.step_async(library.make(actions))
        if number == 3:
            try:
                agent.reset_async()
            except gym.error.AlreadyPendingCallError:
                ended += 1
        wanted = bare.step(actions)
        counterpart(agent.step_wait(timeout=60), wanted, library)
        done = wanted[2] | wanted[3]
        if done.any():
            ended += 1
            agent.reset_async(options={{"reset_mask": library.make(done)}})
            counterpart(agent.reset_wait(), bare.reset(options={{"reset_mask": done}}), library)
    assert ended > 1
    try:
        agent.step_wait()
    except NoAsyncCallError:
        ended = 0
    assert not ended
    agent.call_async("get_wrapper_attr", "x_threshold")
    assert agent.call_wait(60) == agent.get_attr("x_threshold") == (2.4, 2.4)
    agent.close()
    print("done")
"""


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_workers_and_the_agent_work_at_the_same_time(library: str) -> None:
    require(library)
    code = _PROCESSES.format(wrapper=f"NumpyTo{library.title()}", library=library)
    assert run_python(code) == "done\n"
