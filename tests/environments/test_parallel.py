"""Parallel environments: PettingZoo's own tests and environments, and rules of this form."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import ChainMap, defaultdict
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime.testing.parallel_worlds import EchoParallel, ParallelWorld
from gymnasium import spaces
from typing_extensions import override

from gymbridge import ConversionError, CopyRequiredError, register_container
from gymbridge.testing import check_bridge
from tests.environments.bridges import AGENTS, Value, counterpart, same
from tests.libraries.pettingzoo import pettingzoo, pettingzoo_test
from tests.libraries.torch import torch
from tests.support import Pair, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def parallel_bridge(pair: Pair, env: object, **options: object) -> Value:
    """Wrap a parallel environment of ``pair.source`` for agents of ``pair.target``."""
    name = f"{pair.source.name.title()}To{pair.target.name.title()}"
    return getattr(import_module("gymbridge.parallel"), name)(env, **options)


def there_and_back(env: object, library: str) -> Value:
    """Wrap an environment twice, from NumPy and back to NumPy."""
    there, back = Pair("numpy", library), Pair(library, "numpy")
    there.require()
    return parallel_bridge(back, parallel_bridge(there, env))


def example(name: str) -> Callable[[], Value]:
    """Return the constructor of an example environment of PettingZoo's tests."""
    module = import_module(f"pettingzoo.test.example_envs.{name}")
    make: Callable[[], Value] = module.parallel_env
    return make


TORCH = Pair("numpy", "torch")

GENERATED = "generated_agents_parallel_v0"
"""Agents appear and die in random steps."""
CUSTOM_IDS = "generated_agents_parallel_cust_agentid_v0"
"""The same, with agents that are tuples instead of text."""

REAL = {
    "classic/rps-v2": {},
    "butterfly/knights_archers_zombies-v11": {"max_cycles": 30},
    "butterfly/pistonball-v6": {"n_pistons": 3, "max_cycles": 6},
}


def real(name: str) -> Value:
    return pettingzoo.make("parallel", name, **REAL[name])


# -- PettingZoo's own tests -----------------------------------------------------------------------


@pytest.mark.parametrize("library", AGENTS)
@pytest.mark.parametrize("name", [GENERATED, CUSTOM_IDS])
def test_the_pettingzoo_api_test_passes(library: str, name: str) -> None:
    make = example(name)
    with warnings.catch_warnings():
        # the test warns about its own environments as well
        warnings.simplefilter("ignore", UserWarning)
        pettingzoo_test.parallel_api_test(there_and_back(make(), library), num_cycles=100)


@pytest.mark.parametrize("library", AGENTS)
@pytest.mark.parametrize("name", ["classic/rps-v2", "butterfly/knights_archers_zombies-v11"])
def test_the_pettingzoo_seed_test_passes(library: str, name: str) -> None:
    pettingzoo_test.parallel_seed_test(lambda: there_and_back(real(name), library), num_cycles=20)


# -- environments that people use -----------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_real_environments_behave_as_without_a_wrapper(pair: Pair, name: str) -> None:
    bare, agent = real(name), parallel_bridge(pair, real(name))
    got, wanted = agent.reset(seed=3), bare.reset(seed=3)
    counterpart(got, wanted, pair.target)
    for agents in (agent.agents, agent.possible_agents):
        assert agents == (bare.agents if agents is agent.agents else bare.possible_agents)
    for _ in range(5):
        if not bare.agents:
            break
        actions = {name: bare.action_space(name).sample() for name in bare.agents}
        made = {name: pair.target.make(np.asarray(action)) for name, action in actions.items()}
        obs, rewards, terminations, truncations, infos = agent.step(made)
        told = bare.step(actions)
        counterpart(obs, told[0], pair.target)
        assert type(rewards) is type(told[1])
        assert {name: type(reward) for name, reward in rewards.items()} == dict.fromkeys(
            rewards, float
        )
        assert rewards == told[1]
        same((terminations, truncations), (told[2], told[3]))
        counterpart(infos, told[4], pair.target)
        assert agent.agents == bare.agents
    for env in (agent, bare):
        env.close()


def test_state_returns_an_array_of_the_agent(pair: Pair) -> None:
    name = "butterfly/knights_archers_zombies-v11"
    bare, agent = real(name), parallel_bridge(pair, real(name))
    bare.reset(seed=1)
    agent.reset(seed=1)
    counterpart(agent.state(), bare.state(), pair.target)


def test_check_bridge_compares_every_agent(pair: Pair) -> None:
    assert check_bridge(parallel_bridge(pair, ParallelWorld()), steps=20) > 100
    assert check_bridge(parallel_bridge(pair, real("classic/rps-v2")), steps=8) > 30


# -- what agents may do ---------------------------------------------------------------------------


def test_agents_come_and_go(pair: Pair) -> None:
    agent = parallel_bridge(pair, ParallelWorld())
    obs, _ = agent.reset(seed=0)
    assert list(obs) == agent.agents == ["left", "right"]
    assert agent.num_agents == 2
    assert agent.max_num_agents == 3
    lives: list[list[str]] = []
    while agent.agents:
        obs, rewards, terminations, truncations, infos = agent.step(agent.sample_action())
        lives.append(list(obs))
        for told in (rewards, terminations, truncations, infos):
            assert list(told) == list(obs)
        counterpart(
            agent.observation_space("late"), ParallelWorld().observation_space(""), pair.target
        )
    assert lives == [
        ["left", "right"],
        ["left", "right"],
        ["left", "right", "late"],
        ["right", "late"],
        ["right", "late"],
    ]


def test_every_agent_may_have_its_own_action_space(pair: Pair) -> None:
    class Mixed(EchoParallel):
        @override
        def action_space(self, agent: str) -> spaces.Space[Value]:
            return {"one": spaces.Discrete(3), "two": spaces.Box(-1, 1, (2,), np.float64)}[agent]

    env = Mixed(spaces.Discrete(2))
    agent = parallel_bridge(pair, env)
    one, two = pair.target.make(np.array([2])), pair.target.make(np.zeros(2, np.float32))
    agent.step({"one": one, "two": two})
    same(env.received, {"one": np.int64(2), "two": np.zeros(2)})
    agent.step({"two": two})  # some may have nothing to do
    same(env.received, {"two": np.zeros(2)})


def test_actions_that_are_no_dictionary_reach_the_environment(pair: Pair) -> None:
    env = EchoParallel(spaces.Discrete(2))
    parallel_bridge(pair, env).step([pair.target.make(np.array(1, np.int32)), 3, None])
    same(env.received, [np.array(1, np.int32), np.array(3), None])


def test_an_error_names_the_agent() -> None:
    pair = Pair("numpy", "jax")
    pair.require()

    class Huge(ParallelWorld):
        @override
        def step(self, actions: Value) -> Value:
            obs, rewards, *rest = super().step(actions)
            return obs, {**rewards, "right": np.full(2, 2**40)}, *rest

    agent = parallel_bridge(pair, Huge())
    agent.reset()
    with pytest.raises(ConversionError, match=r"^reward\['right'\]: JAX cannot hold the int64"):
        agent.step(agent.sample_action())
    refusing = parallel_bridge(pair, ParallelWorld(), copy=False)
    with pytest.raises(CopyRequiredError, match=r"^obs\['left'\]\['pose'\]: JAX arrays never"):
        refusing.reset()


class Scores(Mapping[str, Value]):
    """A mapping that is registered as a container."""

    def __init__(self, scores: dict[str, Value]) -> None:
        self.scores = scores

    @override
    def __getitem__(self, agent: str) -> Value:
        return self.scores[agent]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    @override
    def __len__(self) -> int:
        return len(self.scores)


@pytest.mark.parametrize(
    "make",
    [
        lambda scores: defaultdict(float, scores),
        lambda scores: ChainMap({}, scores),
        lambda scores: ChainMap(*({agent: scores[agent]} for agent in scores)),
        Scores,
    ],
    ids=["a default dictionary", "a chain", "a chain of one each", "a registered mapping"],
)
def test_rewards_may_be_any_mapping(make: Callable[[Value], Value]) -> None:
    class Told(ParallelWorld):
        @override
        def step(self, actions: Value) -> Value:
            obs, rewards, *rest = super().step(actions)
            told.append(dict(rewards))
            return obs, make({agent: np.float32(one) for agent, one in rewards.items()}), *rest

    made: Value = Scores
    told: list[Value] = []
    register_container(Scores, lambda one: ([one.scores], None), lambda _, held: made(*held))
    agent = parallel_bridge(TORCH, Told())
    agent.reset()
    rewards = agent.step(agent.sample_action())[1]
    assert dict(rewards) == told[0]
    assert {type(reward) for reward in rewards.values()} == {float}


@pytest.mark.parametrize("place", [2, 3])
def test_a_flag_that_cannot_be_read_names_the_agent(place: int) -> None:
    class Told(ParallelWorld):
        @override
        def step(self, actions: Value) -> Value:
            step: list[Value] = [*super().step(actions)]
            step[place] = {**step[place], "right": torch.ones((), device="meta")}
            return tuple(step)

    agent = parallel_bridge(Pair("torch", "numpy"), Told())
    agent.reset()
    root = ["obs", "reward", "terminated", "truncated"][place]
    with pytest.raises(ConversionError, match=rf"^{root}\['right'\]: PyTorch holds no values"):
        agent.step(agent.sample_action())


def test_an_action_that_cannot_be_converted_names_the_agent() -> None:
    agent = parallel_bridge(TORCH, EchoParallel(spaces.Dict(a=spaces.Box(-1, 1, (2,)))))
    with pytest.raises(ConversionError, match=r"^action\['two'\]\['a'\]: PyTorch holds no values"):
        agent.step({"two": {"a": torch.zeros(2, device="meta")}})
    with pytest.raises(ConversionError, match=r"^action\[0\]: PyTorch holds no values"):
        agent.step([torch.zeros(2, device="meta")])


class Counts(EchoParallel):
    """Every agent observes one number."""

    def __init__(self, space: spaces.Space[Value], number: int) -> None:
        super().__init__(spaces.Discrete(2))
        self.space = space
        self.number = number

    @override
    def observation_space(self, agent: str) -> spaces.Space[Value]:
        return self.space

    def reset(self, **_given: object) -> Value:
        return {agent: np.array([self.number]) for agent in self.agents}, {}


@pytest.mark.parametrize("known", [True, False], ids=["agents known", "agents unknown"])
def test_integers_without_bounds_are_checked(known: bool) -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    env = Counts(spaces.Box(0, 2**62, (1,), np.int64), 2**40)
    if not known:  # an environment need not know agents that appear later
        del env.possible_agents
    with pytest.raises(ConversionError, match=r"^obs\['one'\]: JAX cannot hold the int64"):
        parallel_bridge(pair, env).reset()


def test_integers_of_an_undeclared_agent_are_checked() -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    env = Counts(spaces.MultiDiscrete([9]), 2**40)
    env.possible_agents = []
    with pytest.raises(ConversionError, match=r"^obs\['one'\]: JAX cannot hold the int64"):
        parallel_bridge(pair, env).reset()


def test_float_dtype_casts_rewards_of_several_objectives(pair: Pair) -> None:
    class Objectives(ParallelWorld):
        @override
        def step(self, actions: Value) -> Value:
            obs, rewards, *flags, infos = super().step(actions)
            vectors = {agent: np.array([1.0, 2.0]) for agent in rewards}
            return obs, vectors, *flags, {agent: {"n": np.ones(2, np.float32)} for agent in infos}

    agent = parallel_bridge(pair, Objectives(), float_dtype="float16")
    agent.reset()
    _, rewards, _, _, infos = agent.step(agent.sample_action())
    for reward in rewards.values():
        assert pair.target.dtype(reward) == "float16"
        assert pair.target.values(reward).tolist() == [1, 2]
    assert {pair.target.dtype(info["n"]) for info in infos.values()} == {"float32"}


def test_rewards_of_several_objectives_become_arrays(pair: Pair) -> None:
    class Many(ParallelWorld):
        @override
        def step(self, actions: Value) -> Value:
            obs, rewards, *rest = super().step(actions)
            vectors: Value = defaultdict(list, {name: np.ones(3, np.float32) for name in rewards})
            return obs, vectors, *rest

    agent = parallel_bridge(pair, Many())
    agent.reset()
    _, rewards, *_ = agent.step(agent.sample_action())
    assert type(rewards) is defaultdict
    assert rewards.default_factory is list
    counterpart(dict(rewards), dict.fromkeys(rewards, np.ones(3, np.float32)), pair.target)


class Rewards(ParallelWorld):
    """Returns the given rewards instead of a dictionary."""

    def __init__(self, rewards: object) -> None:
        super().__init__()
        self.rewards = rewards

    @override
    def step(self, actions: Value) -> Value:
        obs, _, *rest = super().step(actions)
        return obs, self.rewards, *rest


def test_a_result_that_is_none_instead_of_a_dictionary_stays_none(pair: Pair) -> None:
    agent = parallel_bridge(pair, Rewards(None))
    agent.reset()
    assert agent.step(agent.sample_action())[1] is None


def test_an_error_in_a_result_that_is_no_dictionary_names_the_result() -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    agent = parallel_bridge(pair, Rewards(np.full(2, 2**40)))
    agent.reset()
    with pytest.raises(ConversionError, match=r"^reward: JAX cannot hold the int64"):
        agent.step(agent.sample_action())


# -- the wrapper as an environment ----------------------------------------------------------------


def test_a_wrapper_is_a_pettingzoo_parallel_environment(pair: Pair) -> None:
    bare = example(GENERATED)()
    agent = parallel_bridge(pair, bare)
    assert isinstance(agent, pettingzoo.ParallelEnv)
    assert agent.unwrapped is bare
    assert agent.metadata is bare.metadata
    assert agent.max_cycles == bare.max_cycles  # unknown attributes are passed on
    assert str(agent) == "generated_agents_parallel_v0"
    assert repr(agent) == f"<{type(agent).__name__}<generated_agents_parallel_v0>>"
    with pytest.raises(AttributeError, match="_hidden"):
        _ = agent._hidden
    aec = pettingzoo.utils.parallel_to_aec(there_and_back(ParallelWorld(), pair.target.name))
    aec.reset(seed=0)
    assert aec.agent_selection == "left"


def test_render_and_close_reach_the_environment(pair: Pair) -> None:
    class Closes(ParallelWorld):
        closed = False

        @override
        def close(self) -> None:
            self.closed = True

    env = Closes()
    agent = parallel_bridge(pair, env)
    assert type(agent.render()) is np.ndarray
    agent.close()
    assert env.closed


@pytest.mark.parametrize(
    "travel", [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy], ids=["pickle", "copy"]
)
def test_a_restored_wrapper_continues_the_episode(
    pair: Pair, travel: Callable[[Value], Value]
) -> None:
    agent = parallel_bridge(pair, ParallelWorld(), copy=True, float_dtype="float16")
    agent.reset(seed=1)
    agent.step(agent.sample_action())
    restored = travel(agent)
    assert restored.unwrapped is not agent.unwrapped
    actions = {name: pair.target.make(np.full(2, 0.5)) for name in agent.agents}
    same(restored.step(actions)[1:], agent.step(actions)[1:])
    for one, other in zip(restored.state(), agent.state(), strict=True):
        assert np.array_equal(pair.target.values(one), pair.target.values(other))
    assert pair.target.dtype(restored.reset()[0]["left"]["pose"]) == "float16"


def test_reset_options_are_converted_and_seeds_are_passed_on(pair: Pair) -> None:
    class Told(ParallelWorld):
        told: Value = None

        @override
        def reset(self, seed: int | None = None, options: Value = None) -> Value:
            self.told = (seed, options)
            return super().reset(seed, options)

    env = Told()
    agent = parallel_bridge(pair, env)
    agent.reset(3, {"start": pair.target.make(np.ones(2, np.float32)), "n": 1})
    seed, options = env.told
    assert seed == 3
    same(options, {"start": np.ones(2, np.float32), "n": 1})


def test_arrays_go_to_the_named_device() -> None:
    require("jax")
    import jax

    agent = parallel_bridge(Pair("numpy", "jax"), ParallelWorld(), device="cpu:0")
    assert agent.device == jax.devices()[0]
    obs, _ = agent.reset(seed=0)
    assert obs["left"]["pose"].devices() == agent.state().devices() == {jax.devices()[0]}
    assert parallel_bridge(
        TORCH, ParallelWorld(), device=torch.device("cpu")
    ).device == torch.device("cpu")
    with pytest.raises(ConversionError, match=r"device 'meta' has no memory to hold values"):
        parallel_bridge(TORCH, ParallelWorld(), device="meta")
    with pytest.raises(ConversionError, match=r"device 'meta' has no memory to hold values"):
        parallel_bridge(Pair("torch", "jax"), ParallelWorld(), env_device="meta")


class Living(EchoParallel):
    """Has spaces only for living agents, or for none."""

    known: Value = None

    @override
    def action_space(self, agent: str) -> Value:
        return self.known(self, agent)


def of_the_living(env: Value, agent: str) -> Value:
    return {name: EchoParallel.action_space(env, name) for name in env.agents}[agent]


def refused(env: Value, agent: str) -> Value:
    raise NotImplementedError


@pytest.mark.parametrize(
    "known", [of_the_living, refused, lambda *_: None], ids=["living", "refused", "none"]
)
def test_actions_of_an_agent_without_a_space_reach_the_environment(known: Value) -> None:
    env: Value = Living(spaces.Box(-1, 1, (2,)))
    env.known = known
    agent = parallel_bridge(Pair("numpy", "torch"), env)
    name = env.agents[0]
    agent.step({name: torch.ones(2), "nobody": torch.ones(3)})
    assert isinstance(env.received["nobody"], np.ndarray)
    np.testing.assert_array_equal(env.received["nobody"], np.ones(3, np.float32))
