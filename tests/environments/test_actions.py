"""Actions reach the environment as its own `action_space.sample()` returns them."""

from __future__ import annotations

from enum import IntEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.testing.parallel_worlds import EchoParallel
from gymbridge_runtime.testing.spaces_table import SPACES, box_of
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from gymbridge import ConversionError, CopyRequiredError
from tests.environments.bridges import Value, bridge, same, vector_bridge
from tests.environments.worlds import Echo, EchoVector, made
from tests.libraries.jax import enable_x64
from tests.support import LIBRARIES, Host, Library, Pair, require

if TYPE_CHECKING:
    from collections.abc import Callable

    _Tuple: TypeAlias = spaces.Tuple[Any]
    _Discrete: TypeAlias = spaces.Discrete[Any]
else:  # before Gymnasium 1.4 they take no parameters
    _Tuple, _Discrete = spaces.Tuple, spaces.Discrete

# Gymnasium warns about samples of its own 0-d boxes
pytestmark = pytest.mark.filterwarnings("ignore:.*Casting input x to numpy array")

TORCH = Pair("numpy", "torch")


@pytest.fixture(params=SPACES)
def space(request: pytest.FixtureRequest) -> spaces.Space[Any]:
    found = SPACES[request.param]
    found.seed(7)
    return found


def _as_is(values: Host) -> Host:
    return values


def _preferred(values: Host) -> Host:
    """Return ``values`` in a dtype of 32 bits, as agents use."""
    return values.astype({"i": np.int32, "f": np.float32}.get(values.dtype.kind, values.dtype))


def _dressed(library: Library, tree: Value, dress: Callable[[Host], Host]) -> Value:
    """Return ``tree`` as an agent makes it: arrays for arrays, arrays for scalars."""
    if isinstance(tree, dict):
        return {key: _dressed(library, value, dress) for key, value in tree.items()}
    if isinstance(tree, spaces.GraphInstance):
        return spaces.GraphInstance(*(_dressed(library, part, dress) for part in tree))
    if isinstance(tree, tuple):
        return tuple(_dressed(library, part, dress) for part in tree)
    if isinstance(tree, (np.ndarray, np.generic)):
        return library.make(dress(np.asarray(tree)))
    return tree


def _narrowed(tree: Value) -> Value:
    """Return the sample rounded to 32 bits, so that no value is rounded twice."""
    if isinstance(tree, dict):
        return {key: _narrowed(value) for key, value in tree.items()}
    if isinstance(tree, spaces.GraphInstance):
        return spaces.GraphInstance(*(_narrowed(part) for part in tree))
    if isinstance(tree, tuple):
        return tuple(_narrowed(part) for part in tree)
    if isinstance(tree, np.ndarray) and tree.dtype == np.float64:
        return tree.astype(np.float32).astype(np.float64)
    return tree


def _received(pair: Pair, space: spaces.Space[Any], action: Value) -> Value:
    env = Echo(space)
    bridge(pair, env).step(action)
    return env.received


@pytest.mark.parametrize("dress", [_as_is, _preferred])
def test_actions_arrive_as_the_space_samples_them(
    pair: Pair, space: spaces.Space[Any], dress: Callable[[Host], Host]
) -> None:
    for _ in range(5):
        sample = _narrowed(space.sample())
        received = _received(pair, space, _dressed(pair.target, sample, dress))
        same(received, sample)
        assert space.contains(received)


@pytest.mark.parametrize("given", ["float32", "float64"])
def test_a_space_in_another_byte_order_takes_ordinary_actions(
    pair_of_any: Pair, given: str
) -> None:
    pair = pair_of_any
    action = pair.target.make(np.array([0.5, -0.25, 1], given))
    received = _received(pair, spaces.Box(-1, 1, (3,), np.dtype(">f4")), action)
    assert pair.source.values(received).tolist() == [0.5, -0.25, 1]
    wanted = ">f4" if pair.source.name == "numpy" else "float32"
    assert pair.source.dtype(received) == wanted


@pytest.mark.parametrize("dress", [_as_is, _preferred])
def test_vector_actions_arrive_as_the_space_samples_them(
    pair: Pair, space: spaces.Space[Any], dress: Callable[[Host], Host]
) -> None:
    """Spaces that cannot be batched become tuples with one action per environment."""
    envs = EchoVector(space)
    agent = vector_bridge(pair, envs)
    sample = _narrowed(envs.action_space.sample())
    agent.step(_dressed(pair.target, sample, dress))
    same(envs.received, sample)
    assert envs.action_space.contains(envs.received)
    for action in gym.vector.utils.iterate(envs.action_space, envs.received):
        assert space.contains(action)


def test_sample_action_returns_the_agents_arrays_and_fits_the_space(
    pair: Pair, space: spaces.Space[Any]
) -> None:
    env = Echo(space)
    agent = bridge(pair, env)
    action = agent.sample_action()
    leaves = [leaf for leaf in _leaves(action) if not isinstance(leaf, str) and leaf is not None]
    assert all(pair.target.is_array(leaf) for leaf in leaves)
    agent.step(action)
    assert space.contains(env.received)


def test_sample_action_of_a_vector_fits_the_batched_space(
    pair: Pair, space: spaces.Space[Any]
) -> None:
    envs = EchoVector(space)
    agent = vector_bridge(pair, envs)
    agent.step(agent.sample_action())
    assert envs.action_space.contains(envs.received)


_FLAT = st.sampled_from([name for name in SPACES if "nesting" not in name]).map(SPACES.__getitem__)


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, min_size=1, max_size=3).map(
            spaces.Dict
        ),
        st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple),
        st.lists(inner, min_size=1, max_size=3).map(spaces.OneOf),
        st.builds(spaces.Sequence, inner, stack=st.booleans()),
    )


@settings(max_examples=50, deadline=None, derandomize=True)
@given(space=st.recursive(_FLAT, _around, max_leaves=6))
def test_nested_spaces_take_nested_actions(space: spaces.Space[Any]) -> None:
    pair = TORCH
    pair.require()
    sample = _narrowed(space.sample())
    received = _received(pair, space, _dressed(pair.target, sample, _preferred))
    same(received, sample)
    assert space.contains(received)


def _leaves(tree: Value) -> list[Any]:
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in _leaves(value)]
    if isinstance(tree, tuple):
        return [leaf for value in tree for leaf in _leaves(value)]
    return [tree]


# -- single numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "bool"])
def test_an_array_with_one_integer_is_a_discrete_action(
    pair: Pair, shape: tuple[int, ...], dtype: str
) -> None:
    action = pair.target.make(np.ones(shape, dtype))
    same(_received(pair, spaces.Discrete(3), action), np.int64(1))


@pytest.mark.parametrize(
    ("start", "dtype", "action"),
    [(253, "uint8", 253), (253, "uint8", 255), (120, "int8", 127), (2**63 - 5, "int64", 2**63 - 5)],
)
def test_a_discrete_space_may_exceed_its_dtype(
    pair: Pair, start: int, dtype: str, action: int
) -> None:
    # Gymnasium makes such a space; its samples wrap around
    space = spaces.Discrete(10, start=start, dtype=np.dtype(dtype).type)
    with enable_x64(True):
        made = pair.target.make(np.array(action, dtype))
        same(_received(pair, space, made), np.dtype(dtype).type(action))


@pytest.mark.parametrize(
    "action", [2, np.int32(2), np.array(2), np.array([2], np.uint8), np.uint8(2)]
)
def test_python_and_numpy_numbers_are_discrete_actions(pair: Pair, action: object) -> None:
    same(_received(pair, spaces.Discrete(3), action), np.int64(2))


def test_a_member_of_an_int_enum_is_a_discrete_action(pair: Pair) -> None:
    class Move(IntEnum):
        LEFT = 0
        RIGHT = 1

    same(_received(pair, spaces.Discrete(2), Move.RIGHT), np.int64(1))


def test_a_space_that_gymnasium_cannot_sample_takes_a_number(pair: Pair) -> None:
    space = spaces.Box(0, 2**63, (), np.uint64)
    with pytest.raises(ValueError, match="high - low"):
        space.sample()
    same(_received(pair, space, pair.target.make(np.array(5))), np.uint64(5))


def test_discrete_actions_work_as_dictionary_keys(pair: Pair) -> None:
    received = _received(pair, spaces.Discrete(3), pair.target.make(np.array(1)))
    assert {1: "right"}[received] == "right"


@pytest.mark.parametrize("dtype", ["int8", "int64"])
def test_edge_links_of_a_graph_get_the_dtype_that_gymnasium_samples(pair: Pair, dtype: str) -> None:
    space = spaces.Graph(spaces.Discrete(2), spaces.Discrete(3))
    nodes, edges = pair.target.make(np.array([0, 1])), pair.target.make(np.array([2]))
    links = pair.target.make(np.array([[0, 1]], dtype))
    received = _received(pair, space, spaces.GraphInstance(nodes, edges, links))
    same(received.edge_links, np.array([[0, 1]], np.int32))
    assert space.contains(received)


def test_edge_links_of_a_graph_may_be_a_list(pair: Pair) -> None:
    space = spaces.Graph(spaces.Discrete(2), None)
    nodes = pair.target.make(np.array([0, 1]))
    links: Value = [[0, 1], [1, 0]]
    received = _received(pair, space, spaces.GraphInstance(nodes, None, links))
    same(received.edge_links, np.array([[0, 1], [1, 0]], np.int32))


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_a_float_that_does_not_fit_becomes_infinite_without_a_warning(
    pair: Pair, shape: tuple[int, ...]
) -> None:
    for number in (1e300, -1e300, 1e-310):
        with np.errstate(over="ignore"):
            action = pair.target.make(np.full(shape, number))
        space = spaces.Box(-np.inf, np.inf, shape, np.float32)
        with np.errstate(all="raise"):  # some users set this globally
            received = _received(pair, space, action)
        wanted = np.inf * np.sign(number) if abs(number) > 1 else 0
        same(received, np.full(shape, wanted, np.float32))


# -- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [(), (1,), (1, 1)])
def test_axes_of_length_one_are_added_and_dropped(pair: Pair, given: tuple[int, ...]) -> None:
    space = spaces.Box(-1, 1, (1,))
    same(_received(pair, space, pair.target.make(np.zeros(given, np.float32))), np.zeros(1, "f"))


def test_a_column_of_actions_becomes_a_vector_of_actions(pair: Pair) -> None:
    envs = EchoVector(spaces.Discrete(3))
    vector_bridge(pair, envs).step(pair.target.make(np.array([[0], [2], [1]], np.int32)))
    same(envs.received, np.array([0, 2, 1]))


def test_an_action_of_the_wrong_shape_reaches_the_environment(pair: Pair) -> None:
    received = _received(pair, spaces.Box(-1, 1, (2,)), pair.target.make(np.zeros(3, np.float32)))
    same(received, np.zeros(3, np.float32))


# -- lists ----------------------------------------------------------------------------------------

LISTS: list[tuple[spaces.Space[Any], Any, Any]] = [
    (box_of(np.float32, 2), [0.5, 1], np.array([0.5, 1], np.float32)),
    (box_of(np.int8, 2), (3, True), np.array([3, 1], np.int8)),
    (spaces.MultiDiscrete([3, 3]), [1, 2], np.array([1, 2])),
    (spaces.MultiBinary(2), [True, False], np.array([1, 0], np.int8)),
    (spaces.Box(-1, 1, (2, 1)), [[0.5], (1,)], np.array([[0.5], [1]], np.float32)),
    (spaces.Dict(a=spaces.MultiBinary(1)), {"a": [1]}, {"a": np.ones(1, np.int8)}),
    (spaces.Sequence(spaces.Discrete(3), stack=True), [2, 0], np.array([2, 0])),
]


@pytest.mark.parametrize("of_arrays", [False, True])
@pytest.mark.parametrize(("space", "action", "received"), LISTS)
def test_a_list_of_numbers_or_arrays_becomes_one_array(
    pair: Pair, space: spaces.Space[Any], action: Value, received: Value, of_arrays: bool
) -> None:
    given = made(pair.target, action) if of_arrays else action
    same(_received(pair, space, given), received)


@pytest.mark.parametrize("actions", [[2, 0, 1], (2, 0, 1), [np.int64(2), 0, np.array(1)]])
def test_a_list_with_one_action_per_environment_becomes_one_array(
    pair: Pair, actions: Value
) -> None:
    envs = EchoVector(spaces.Discrete(3))
    vector_bridge(pair, envs).step(actions)
    same(envs.received, np.array([2, 0, 1]))


def test_copy_false_keeps_a_list() -> None:
    env = Echo(spaces.Box(-1, 1, (2,)))
    part = np.array(0.5)
    bridge(TORCH, env, copy=False).step([LIBRARIES["torch"].make(0.5), part])
    assert env.received[1] is part


@pytest.mark.parametrize(
    "action",
    [["left", "right"], [None], [[1.0], [1.0, 2.0]], [1.5, 2j], [[[[1.0]]]], []],
    ids=["text", "nothing", "ragged", "complex", "too deep", "empty"],
)
def test_a_list_of_other_values_stays_a_list(pair: Pair, action: list[Any]) -> None:
    assert isinstance(_received(pair, spaces.Box(-1, 1, (2,)), action), list)


def test_a_list_that_contains_itself_is_an_error(pair: Pair) -> None:
    action: list[Any] = []
    action.append(action)
    with pytest.raises(ConversionError, match=r"^action\[0\].* contains itself"):
        _received(pair, spaces.Box(-1, 1, (2,)), action)


MIXED: list[tuple[str, ...]] = [("float32", "int64"), ("int8", "uint64"), ("bool", "float32")]


@pytest.mark.parametrize("dtypes", MIXED)
def test_a_list_of_arrays_with_different_dtypes_is_cast_one_by_one(
    pair: Pair, dtypes: tuple[str, ...]
) -> None:
    parts = [pair.target.make(np.ones((), dtype)) for dtype in dtypes]
    received = _received(pair, spaces.Box(-9, 9, (2,)), parts)
    same(received, np.ones(2, np.float32))
    whole = all(np.dtype(dtype).kind in "iub" for dtype in dtypes)
    received = _received(pair, spaces.MultiDiscrete([3, 3]), parts)
    assert isinstance(received, np.ndarray if whole else list)
    if whole:
        same(received, np.ones(2, np.int64))


def test_a_list_of_dtypes_that_numpy_does_not_promote_is_cast_one_by_one() -> None:
    require("torch")
    import torch

    parts = [torch.tensor(1, dtype=torch.bfloat16), torch.tensor(2, dtype=torch.float16), 3]
    same(_received(TORCH, box_of(np.float32, 3), parts), np.array([1, 2, 3], np.float32))
    assert isinstance(_received(TORCH, spaces.MultiDiscrete([4, 4, 4]), parts), list)


class Unreadable(dict[str, Any]):
    """A dictionary that cannot be read."""

    @override
    def values(self) -> Any:
        raise OSError("out of reach")


@pytest.mark.parametrize(
    "space", [spaces.Discrete(3), spaces.Box(0, 1, (2,)), spaces.Dict(a=spaces.Discrete(3))]
)
def test_an_unreadable_action_is_an_error_with_a_path(pair: Pair, space: spaces.Space[Any]) -> None:
    problem = "the Unreadable could not be read: out of reach"
    for action, path in [(Unreadable(a=1), ""), ({"b": Unreadable(a=1)}, "['b']")]:
        with pytest.raises(ConversionError) as caught:
            _received(pair, space, action)
        assert (caught.value.path, caught.value.problem) == (f"action{path}", problem)


# -- actions outside the rules --------------------------------------------------------------------


class Compass(spaces.Space[Any]):
    """A space of a user's own."""

    def __init__(self) -> None:
        super().__init__((2,), np.float64)

    @override
    def sample(self, mask: Any = None, probability: Any = None) -> Value:
        return np.zeros(2)

    @override
    def contains(self, x: Value) -> bool:
        return True


class Tilted(spaces.Box):
    """A subclass of a Gymnasium space with inherited samples."""

    tilt = 0.5


class Row(_Tuple):
    """A subclass of a space with parts."""


class Turn(_Discrete):
    """A subclass of a space of single numbers."""


class Slanted(Tilted):
    """A subclass with samples of its own."""

    @override
    def sample(self, mask: Any = None, probability: Any = None) -> Value:
        return ("slanted", super().sample(mask))


class OwnRow(Row):
    """A space with parts and samples of its own."""

    @override
    def sample(self, mask: Any = None, probability: Any = None) -> Value:
        return [*super().sample(mask)]


class OwnMany(spaces.Sequence):
    """A space of sequences with samples of its own."""

    @override
    def sample(self, mask: Any = None, probability: Any = None) -> Value:
        return [*super().sample(mask)]


def test_actions_of_a_custom_space_keep_their_structure_and_dtypes(pair: Pair) -> None:
    action = {"north": pair.target.make(np.array([1, 2], np.int16)), "why": "so"}
    same(_received(pair, Compass(), action), {"north": np.array([1, 2], np.int16), "why": "so"})


SUBCLASSES: list[tuple[spaces.Space[Any], Host, Value]] = [
    (Tilted(-1, 1, (2,), np.float64), np.array([0, 1], np.float32), np.array([0.0, 1.0])),
    (Turn(3), np.array(1, np.int32), np.int64(1)),
    (Row([Turn(3)]), np.array(1, np.int32), (np.int64(1),)),
    (Slanted(-1, 1, (2,), np.float64), np.zeros(2, np.float32), np.zeros(2, np.float32)),
    (OwnRow([Turn(3)]), np.array(1, np.int32), (np.array(1, np.int32),)),
    (OwnMany(Turn(3)), np.array(1, np.int32), (np.array(1, np.int32),)),
]


@pytest.mark.parametrize(("space", "values", "wanted"), SUBCLASSES)
def test_a_subclass_counts_as_its_base_unless_it_overrides_sample(
    pair: Pair, space: spaces.Space[Any], values: Host, wanted: Value
) -> None:
    action: Value = pair.target.make(values)
    received = _received(pair, space, (action,) if isinstance(wanted, tuple) else action)
    same(received, wanted)
    assert space.contains(received) or isinstance(space, Slanted)


def test_custom_spaces_can_be_parts_of_other_spaces(pair: Pair) -> None:
    space = spaces.Dict(own=Compass(), turn=spaces.Discrete(3))
    action = {"own": pair.target.make(np.ones(2, np.float32)), "turn": pair.target.make(1)}
    same(_received(pair, space, action), {"own": np.ones(2, np.float32), "turn": np.int64(1)})


def test_a_dictionary_arrives_in_the_order_of_the_space(pair: Pair) -> None:
    space = spaces.Dict({"b": spaces.Discrete(3), "a": spaces.Discrete(4)})
    action = {name: pair.target.make(np.array(1, np.int32)) for name in ("a", "b")}
    for agent_s in (action, {name: action[name] for name in ("b", "a")}):
        assert list(_received(pair, space, agent_s)) == list(space.sample())


OUTSIDE: list[tuple[spaces.Space[Any], Any, Any]] = [
    (spaces.Discrete(3), np.array([1, 2], np.int32), np.array([1, 2], np.int32)),
    (spaces.Discrete(3), np.array(7, np.int32), np.int64(7)),
    (spaces.Discrete(3, dtype=np.int8), np.array(300, np.int32), np.array(300, np.int32)),
    (box_of(np.int8, 1), np.array([300], np.int32), np.array([300], np.int32)),
    (box_of(np.int32, 2), np.array([1.5, 2], np.float32), np.array([1.5, 2], np.float32)),
    (box_of(np.float32, 2), np.array([1j, 2], np.complex64), np.array([1j, 2], np.complex64)),
    (spaces.Box(-9, 9, (2, 3)), np.ones((3, 2), "f"), np.ones((3, 2), "f")),
    (spaces.Box(-9, 9, (6,)), np.ones((3, 2), "f"), np.ones((3, 2), "f")),
    (spaces.MultiBinary(2), {"a": np.ones(2, np.int8)}, {"a": np.ones(2, np.int8)}),
    (
        spaces.Dict(a=spaces.Discrete(2)),
        {"a": np.array(1, "i"), "b": np.ones(1, "f")},
        {"a": np.array(1, "i"), "b": np.ones(1, "f")},
    ),
    (spaces.Dict(a=spaces.Discrete(2)), {"b": np.ones(1, "f")}, {"b": np.ones(1, "f")}),
    (spaces.Dict(a=spaces.Discrete(2)), np.ones(1, "f"), np.ones(1, "f")),
    (spaces.Tuple([spaces.Discrete(2)]), (np.ones(2, "f"),) * 2, (np.ones(2, "f"),) * 2),
    (spaces.Sequence(spaces.Discrete(2)), np.ones(2, np.int8), np.ones(2, np.int8)),
    (spaces.OneOf([spaces.Discrete(2)]), (np.array(5, "i"), "x"), (np.array(5, "i"), "x")),
    (spaces.OneOf([spaces.Discrete(2)]), (), ()),
    (spaces.OneOf([spaces.Discrete(2)]), "left", "left"),
    (spaces.Graph(spaces.Discrete(2), None), (np.ones(2, "f"),), (np.ones(2, "f"),)),
    (spaces.Discrete(3), None, None),
    (spaces.Discrete(3), "left", "left"),
    (spaces.Text(3), np.ones(2, "f"), np.ones(2, "f")),
]


@pytest.mark.parametrize(("space", "action", "received"), OUTSIDE)
def test_actions_outside_the_space_are_converted_without_a_cast(
    pair: Pair, space: spaces.Space[Any], action: Value, received: Value
) -> None:
    same(_received(pair, space, made(pair.target, action)), received)


CASTS = {"torch": ".long()", "jax": ".astype(int)", "mlx": ".astype(mx.int32)"}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_floats_are_no_choice_and_the_error_says_how_to_make_integers(
    pair: Pair, shape: tuple[int, ...], dtype: str
) -> None:
    words = f"the action is {dtype} of shape {shape}; the space takes integers: "
    words += f"use `{CASTS[pair.target.name]}`"
    action = pair.target.make(np.ones(shape, dtype))
    for space in (spaces.Discrete(3), spaces.MultiDiscrete([2, 2, 2])):
        with pytest.raises(ConversionError) as caught:
            _received(pair, space, action)
        assert str(caught.value) == f"action: {words}"
    with pytest.raises(ConversionError) as caught:
        _received(pair, spaces.Dict(a=spaces.Tuple([spaces.Discrete(2)])), {"a": (action,)})
    assert str(caught.value) == f"action['a'][0]: {words}"


def test_floats_are_no_choices_of_vector_and_parallel_environments(pair: Pair) -> None:
    agent = vector_bridge(pair, EchoVector(spaces.Discrete(3)))
    agent.reset()
    words = r"^action: the action is float32 of shape \(3,\); the space takes integers: use `"
    with pytest.raises(ConversionError, match=words):
        agent.step(pair.target.make(np.ones(3, np.float32)))
    require("pettingzoo")
    package = import_module("gymbridge.parallel")
    agents = getattr(package, type(agent).__name__)(EchoParallel(spaces.Discrete(3)))
    words = r"^action\['[a-z0-9_]+'\]: the action is float32 of shape \(\); the space takes inte"
    floats = {agent: pair.target.make(np.ones((), np.float32)) for agent in agents.agents}
    with pytest.raises(ConversionError, match=words):
        agents.step(floats)


def test_an_action_that_cannot_be_converted_is_named() -> None:
    require("torch")
    import torch

    space = spaces.Dict(a=spaces.Tuple([spaces.Discrete(2), box_of(np.float32, 2)]))
    action = {"a": (torch.tensor(1), torch.zeros(2, device="meta"))}
    with pytest.raises(ConversionError, match=r"^action\['a'\]\[1\]: PyTorch holds no values"):
        _received(TORCH, space, action)


BELOW: list[tuple[spaces.Space[Any], Callable[[Any], Any], str]] = [
    (spaces.Box(-1, 1, (2,)), lambda bad: [1.0, bad], r"action\[1\]"),
    (spaces.Box(-1, 1, (2, 1)), lambda bad: [[1.0], [bad]], r"action\[1\]\[0\]"),
    (spaces.OneOf([spaces.Discrete(2)]), lambda bad: (bad, 1), r"action\[0\]"),
    (spaces.Tuple([spaces.Box(-1, 1, (2,))]), lambda bad: ([1.0, bad],), r"action\[0\]\[1\]"),
]


@pytest.mark.parametrize(("space", "action", "place"), BELOW)
def test_an_item_of_a_list_that_cannot_be_converted_is_named(
    space: spaces.Space[Any], action: Callable[[Any], Any], place: str
) -> None:
    require("torch")
    import torch

    bad = torch.zeros((), device="meta")
    words = rf"^{place}: PyTorch holds no values .*\(torch.Tensor of float32, shape \(\), on meta\)"
    with pytest.raises(ConversionError, match=words):
        _received(TORCH, space, action(bad))


NO_MEMORY: dict[str, tuple[spaces.Space[Any], str]] = {
    "Discrete": (spaces.Discrete(2), "int32"),
    "Box": (spaces.Box(-1, 1, (2,)), "float32"),
    "MultiBinary": (spaces.MultiBinary(2), "int8"),
}


@pytest.mark.parametrize("kind", NO_MEMORY)
def test_a_meta_tensor_is_refused_as_an_action(kind: str) -> None:
    require("torch")
    import torch

    space, dtype = NO_MEMORY[kind]
    for action in (
        torch.zeros(space.shape or (), dtype=getattr(torch, dtype), device="meta"),
        torch.zeros(space.shape or (1,), dtype=getattr(torch, dtype)).to_sparse(),
    ):
        with pytest.raises(ConversionError, match=r"^action: PyTorch (holds no|cannot show)"):
            _received(TORCH, space, action)


@pytest.mark.parametrize("kind", NO_MEMORY)
def test_a_deleted_array_is_refused_as_an_action(kind: str) -> None:
    require("jax")
    import jax.numpy as jnp

    space, dtype = NO_MEMORY[kind]
    action = jnp.zeros(space.shape or (), dtype) + 0
    action.delete()
    with pytest.raises(ConversionError, match=r"^action: the JAX array was deleted"):
        _received(Pair("numpy", "jax"), space, action)


def test_actions_may_be_arrays_of_a_third_library() -> None:
    require("array_api_strict")
    require("torch")
    import array_api_strict

    box = array_api_strict.asarray([0.5, 1.0], dtype=array_api_strict.float32)
    number = array_api_strict.asarray(2)
    same(_received(TORCH, spaces.Box(-1, 1, (2,), np.float64), box), np.array([0.5, 1.0]))
    same(_received(TORCH, spaces.Discrete(3), number), np.int64(2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_transposed_action_arrives_in_c_order(dtype: str) -> None:
    require("torch")
    import torch

    action = torch.arange(6, dtype=getattr(torch, dtype)).reshape(3, 2).T
    received = _received(TORCH, spaces.Box(-9, 9, (2, 3), np.float32), action)
    same(received, np.array([[0, 2, 4], [1, 3, 5]], np.float32))
    assert received.flags.c_contiguous


# -- ownership ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["Box of float32", "MultiDiscrete", "MultiBinary", "Dict", "Tuple"]
)
def test_an_environment_that_writes_into_its_action_does_not_change_the_agents(
    pair: Pair, kind: str
) -> None:
    space = SPACES[kind]
    action = _dressed(pair.target, space.sample(), _as_is)
    arrays = [leaf for leaf in _leaves(action) if pair.target.is_array(leaf)]
    before = [pair.target.values(array) for array in arrays]
    env = Echo(space)
    bridge(pair, env).step(action)
    for received in _leaves(env.received):
        if isinstance(received, np.ndarray):
            assert received.flags.writeable
            received[...] = 77
    for array, values in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(pair.target.values(array), values)


def test_an_action_outside_the_space_is_copied_too(pair: Pair) -> None:
    action = pair.target.make(np.zeros(3, np.float32))
    env = Echo(spaces.Box(-1, 1, (2,)))
    bridge(pair, env).step(action)
    env.received[:] = 77
    np.testing.assert_array_equal(pair.target.values(action), np.zeros(3))


def test_copy_false_shares_the_action() -> None:
    pair = TORCH
    pair.require()
    env = Echo(spaces.Box(-1, 1, (2,)))
    action = pair.target.make(np.zeros(2, np.float32))
    bridge(pair, env, copy=False).step(action)
    assert env.received.ctypes.data == pair.target.address(action)


def test_copy_false_refuses_to_cast_an_action() -> None:
    pair = TORCH
    pair.require()
    agent = bridge(pair, Echo(spaces.Box(-1, 1, (2,), np.float64)), copy=False)
    with pytest.raises(
        CopyRequiredError,
        match=r"^action: float32 would have to be cast to float64 "
        r"\(torch.Tensor of float32, shape \(2,\), on cpu\); ",
    ):
        agent.step(pair.target.make(np.zeros(2, np.float32)))


def test_copy_false_refuses_a_conjugate_tensor() -> None:
    require("torch")
    import torch

    env = Echo(spaces.Box(-9, 9, (2,)))
    agent = bridge(TORCH, env, copy=False)
    ordinary = torch.ones(2)
    agent.step(ordinary)
    assert env.received.ctypes.data == ordinary.data_ptr()
    for _ in range(2):
        with pytest.raises(CopyRequiredError, match=r"^action: the array had to be copied to be"):
            agent.step(torch.tensor([1 + 2j, 3 + 4j]).conj().imag)


# -- PyTorch --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["Box of float32", "Box of float64", "Box of float64 without dimensions"]
)
def test_a_tensor_that_requires_grad_is_detached(kind: str) -> None:
    require("torch")
    import torch

    space = SPACES[kind]
    sample = _narrowed(space.sample())
    action = torch.tensor(sample, dtype=torch.float32, requires_grad=True) * 1
    assert action.grad_fn is not None
    same(_received(TORCH, space, action), sample)


def test_a_bfloat16_action_becomes_what_the_space_holds() -> None:
    require("torch")
    import torch

    action = torch.tensor([0.5, -1.0], dtype=torch.bfloat16)
    received = _received(TORCH, spaces.Box(-1, 1, (2,)), action)
    same(received, np.array([0.5, -1.0], np.float32))


def test_samples_and_the_argmax_of_a_policy_are_actions() -> None:
    require("torch")
    import torch

    logits = torch.zeros(3, requires_grad=True)
    drawn = torch.multinomial(logits.softmax(0), 1)
    for action in (drawn, logits.argmax()):
        assert spaces.Discrete(3).contains(_received(TORCH, spaces.Discrete(3), action))


# -- JAX ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int4", "uint4", "int2"])
def test_integers_of_less_than_a_byte_are_cast(dtype: str) -> None:
    require("jax")
    import jax.numpy as jnp

    pair, one = Pair("numpy", "jax"), jnp.array(1, dtype)
    same(_received(pair, spaces.Discrete(3), one), np.int64(1))
    same(
        _received(pair, spaces.Discrete(65), one), np.int64(1)
    )  # more numbers than are made in advance
    two = jnp.array([1, 0], dtype)
    same(_received(pair, spaces.MultiDiscrete([3, 3]), two), np.array([1, 0]))
    same(_received(pair, spaces.Box(-8, 8, (2,), np.float32), two), np.array([1, 0], np.float32))


# -- environments of other libraries --------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target"), [("jax", "torch"), ("jax", "numpy"), ("torch", "jax"), ("torch", "numpy")]
)
@pytest.mark.parametrize(
    "kind",
    [
        "Box of float32",
        "Box of float64",
        "Discrete",
        "MultiBinary",
        "MultiDiscrete",
        "Dict",
        "Tuple",
        "Graph",
    ],
)
def test_environments_of_every_library_receive_their_own_arrays(
    source: str, target: str, kind: str
) -> None:
    """The structure, shapes and dtypes of a sample, the arrays of the environment's library."""
    pair = Pair(source, target)
    pair.require()
    space = SPACES[kind]
    sample = _narrowed(space.sample())
    received = _received(pair, space, _dressed(pair.target, sample, _preferred))
    expected = _dressed(LIBRARIES[source], sample, _as_is)
    same(received, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transposed_actions_arrive_in_row_major_order(pair: Pair, dtype: str) -> None:
    env = Echo(spaces.Box(-9, 9, (3, 2), np.dtype(dtype).type))
    agent = bridge(pair, env)
    agent.reset()
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    agent.step(pair.target.make(values).T)
    same(env.received, values.T.astype(dtype))
    assert env.received.flags.c_contiguous
