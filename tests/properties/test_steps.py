"""Properties of every step, for random results and spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.environments.bridges import AGENTS, bridge, counterpart, same, vector_bridge
from tests.environments.worlds import Echo, EchoVector, made
from tests.faults.worlds import Scripted, ScriptedVector
from tests.properties.plans import Array, build, check, plans
from tests.support import PAIRS, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

Tree = Any

# Gymnasium warns about samples of its own 0-d boxes
pytestmark = pytest.mark.filterwarnings("ignore:.*Casting input x to numpy array")

OFTEN = 20
"""Steps after which JAX has compiled the imports."""


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@given(data=st.data())
def test_a_single_step_equals_a_conversion(pair: Pair, data: st.DataObject) -> None:
    pair.require()
    obs_plan = data.draw(plans(pair.source))
    info_plan = {"a": data.draw(plans(pair.source)), "b": data.draw(plans(pair.source))}
    obs, info = build(obs_plan), build(info_plan)
    reward = pair.source.make(np.float32(0.5))
    steps = [lambda: (obs, reward, np.bool_(1), False, info)] * OFTEN
    env = Scripted(*steps, first=lambda: (None, {}))
    agent = bridge(pair, env, copy=data.draw(st.sampled_from([None, True])))
    agent.reset()
    action = agent.sample_action()
    for _ in range(data.draw(st.sampled_from([1, 2, OFTEN]))):
        seen, rewarded, terminated, truncated, informed = agent.step(action)
        check(seen, obs_plan, obs, pair.target)
        check(informed, info_plan, info, pair.target)
        assert (rewarded, terminated, truncated) == (0.5, True, False)
        assert type(rewarded) is float
        assert type(terminated) is type(truncated) is bool


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@given(data=st.data())
def test_a_vector_step_equals_a_conversion(pair: Pair, data: st.DataObject) -> None:
    pair.require()
    plan = [data.draw(plans(pair.source)) for _ in range(2)]
    parts = [Array(pair.source.name, np.arange(2, dtype=d), "C") for d in ("f4", "?", "?")]
    value = [build(part) for part in (plan[0], *parts, {"a": plan[1]})]
    wanted = [plan[0], *parts, {"a": plan[1]}]
    envs = ScriptedVector(*[lambda: tuple(value)] * OFTEN, first=lambda: (None, {}))
    agent = vector_bridge(pair, envs, copy=data.draw(st.sampled_from([None, True])))
    agent.reset()
    actions = agent.sample_action()
    for _ in range(data.draw(st.sampled_from([1, 2, OFTEN]))):
        step = agent.step(actions)
        for got, part, given_ in zip(step, wanted, value, strict=True):
            check(got, part, given_, pair.target)


# -- spaces ---------------------------------------------------------------------------------------

_SHAPES = st.sampled_from([(), (1,), (3,), (2, 3), (0, 2)])
_BOUNDS = st.integers(-8, 8)


@st.composite
def boxes(draw: st.DrawFn) -> spaces.Box:
    """Draw a Box whose bounds fit 32 bits, because agents may use no more."""
    dtype = np.dtype(
        draw(st.sampled_from(["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]))
    )
    low: float = draw(_BOUNDS) if dtype.kind != "u" else draw(st.integers(0, 8))
    high: float = low + draw(st.integers(0 if dtype.kind != "f" else 1, 8))
    if dtype.kind == "f" and draw(st.booleans()):
        low, high = draw(st.sampled_from([(-np.inf, np.inf), (low, np.inf), (-np.inf, high)]))
    make: Any = spaces.Box
    box: spaces.Box = make(low, high, draw(_SHAPES), dtype.type)
    return box


@st.composite
def discretes(draw: st.DrawFn) -> spaces.Discrete[Any]:
    dtype = draw(st.sampled_from([np.int8, np.int16, np.int32, np.int64]))
    return spaces.Discrete(draw(st.integers(1, 9)), start=draw(_BOUNDS), dtype=dtype)


@st.composite
def multi_discretes(draw: st.DrawFn) -> spaces.MultiDiscrete[Any]:
    counts = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    start = draw(st.lists(_BOUNDS, min_size=len(counts), max_size=len(counts)))
    return spaces.MultiDiscrete(
        counts, dtype=draw(st.sampled_from([np.int32, np.int64])), start=start
    )


FLAT: st.SearchStrategy[Any] = st.one_of(
    boxes(),
    discretes(),
    multi_discretes(),
    st.builds(spaces.MultiBinary, st.sampled_from([1, 4, (2, 3)])),
)
TEXTS: st.SearchStrategy[Any] = st.builds(
    spaces.Text, st.integers(1, 6), charset=st.sampled_from(["ab", "0123", "éß"])
)


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    few = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, min_size=1, max_size=3).map(
            spaces.Dict
        ),
        few.map(spaces.Tuple),
        few.map(spaces.OneOf),
        st.builds(spaces.Sequence, inner, stack=st.booleans()),
        st.builds(spaces.Graph, _graph_parts(), st.one_of(st.none(), _graph_parts())),
    )


def _graph_parts() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(spaces.Discrete, st.integers(1, 5)),
        st.sampled_from([spaces.Box(-1, 1, (2,)), spaces.Box(-1, 1, (2,), np.float64)]),
    )


SPACES = st.recursive(FLAT | TEXTS, _around, max_leaves=5)


def _in_32_bits(tree: Tree) -> Tree:
    """Return a sample rounded to 32 bits, so that no value is rounded twice."""
    if isinstance(tree, dict):
        return {key: _in_32_bits(value) for key, value in tree.items()}
    if isinstance(tree, tuple):
        parts = [_in_32_bits(part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, np.ndarray) and tree.dtype == np.float64:
        with np.errstate(over="ignore"):
            return tree.astype(np.float32).astype(np.float64)
    return tree


every_agent = pytest.mark.parametrize("pair", [Pair("numpy", name) for name in AGENTS], ids=repr)


@every_agent
@given(space=SPACES, seed=st.integers(0, 2**16))
def test_the_environment_receives_an_action_in_its_space(
    pair: Pair, space: spaces.Space[Any], seed: int
) -> None:
    pair.require()
    space.seed(seed)
    env = Echo(space)
    agent = bridge(pair, env)
    sample = _in_32_bits(space.sample())
    assume(space.contains(sample))
    for _ in range(2):
        agent.step(made(pair.target, sample))
        same(env.received, sample)
        assert space.contains(env.received)
    agent.step(agent.sample_action())
    assert space.contains(env.received)


@every_agent
@given(space=SPACES, seed=st.integers(0, 2**16))
def test_every_environment_of_a_vector_receives_an_action_in_its_space(
    pair: Pair, space: spaces.Space[Any], seed: int
) -> None:
    pair.require()
    space.seed(seed)
    envs = EchoVector(space)
    envs.action_space.seed(seed)
    agent = vector_bridge(pair, envs)
    sample = _in_32_bits(envs.action_space.sample())
    assume(envs.action_space.contains(sample))
    give: Callable[[], Tree]
    for give in (lambda: made(pair.target, sample), agent.sample_action):
        agent.step(give())
        assert envs.action_space.contains(envs.received)
        received = list(gym.vector.utils.iterate(envs.action_space, envs.received))
        assert len(received) == envs.num_envs
        assert all(space.contains(action) for action in received)


@every_agent
@given(space=SPACES, seed=st.integers(0, 2**16))
def test_observations_of_any_space_equal_a_conversion(
    pair: Pair, space: spaces.Space[Any], seed: int
) -> None:
    pair.require()
    bare, env = Echo(spaces.Discrete(2), space), Echo(spaces.Discrete(2), space)
    agent = bridge(pair, env)
    wanted, _ = bare.reset(seed=seed)
    seen, _ = agent.reset(seed=seed)
    counterpart(seen, wanted, pair.target)
