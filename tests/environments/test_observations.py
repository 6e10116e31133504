"""Observations, rewards, flags, infos and options of single environments."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from weakref import WeakSet

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.core import tree
from gymbridge_runtime.testing.parallel_worlds import ParallelWorld
from gymnasium import spaces
from typing_extensions import override

from gymbridge import ConversionError, CopyRequiredError
from tests.environments.bridges import Value, bridge, counterpart, same, vector_bridge
from tests.environments.worlds import Echo, EchoVector, Told, made
from tests.support import LIBRARIES, Library, Pair, require

if TYPE_CHECKING:
    from collections.abc import Iterator

STILL = np.zeros(2, np.float32)


def _step(pair: Pair, *told: Value, **options: Value) -> Value:
    agent = bridge(pair, Told(told), **options)
    agent.reset()
    return agent.step(agent.sample_action())


# -- observations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-1, 1, (3,), np.float32),
        spaces.Box(-1, 1, (2, 2), np.float64),
        spaces.Box(0, 255, (4, 4, 3), np.uint8),
        spaces.Box(-1, 1, ()),
        spaces.Discrete(3),
        spaces.MultiDiscrete(np.array([[2, 3], [4, 5]])),
        spaces.MultiBinary((2, 2)),
        spaces.Text(5),
        spaces.Dict(image=spaces.Box(0, 255, (2, 2), np.uint8), mission=spaces.Text(5)),
        spaces.Tuple([spaces.Discrete(2), spaces.Box(-1, 1, (2,))]),
        spaces.Sequence(spaces.Box(-1, 1, (2,))),
        spaces.Sequence(spaces.Box(-1, 1, (2,)), stack=True),
        spaces.Graph(spaces.Box(-1, 1, (2,)), spaces.Discrete(3)),
        spaces.OneOf([spaces.Discrete(2), spaces.Box(-1, 1, (2,))]),
    ],
    ids=repr,
)
def test_observations_of_every_space_become_the_agents_arrays(
    pair: Pair, space: spaces.Space[Any]
) -> None:
    bare = Echo(spaces.Discrete(2), space)
    agent = bridge(pair, Echo(spaces.Discrete(2), space))
    seen, wanted = [agent.reset(seed=3)[0]], []
    seen += [agent.step(agent.sample_action())[0] for _ in range(3)]
    wanted.append(bare.reset(seed=3)[0])
    wanted += [bare.step(0)[0] for _ in range(3)]
    counterpart(seen, wanted, pair.target)


def test_a_mirrored_image_is_converted(pair: Pair) -> None:
    frame = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)[..., ::-1]
    counterpart(_step(pair, frame, 0.0, False, False, {})[0], frame, pair.target)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_a_field_of_a_structured_array_is_converted(pair: Pair, length: int) -> None:
    rows = np.ones(length, [("speed", "f4"), ("gear", "u1")])
    counterpart(_step(pair, rows["speed"], 0.0, False, False, {})[0], rows["speed"], pair.target)


def test_ranges_and_unreadable_mappings_in_infos_stay_themselves(pair: Pair) -> None:
    class Closed(Mapping[str, object]):
        def __getitem__(self, key: str) -> NoReturn:
            raise OSError("the file is closed")

        def __iter__(self) -> Iterator[str]:
            return iter("a")

        def __len__(self) -> int:
            return 1

    told = {"range": range(10**12), "closed": Closed()}
    info = _step(pair, STILL, 0.0, False, False, told)[4]
    assert info["range"] is told["range"]
    assert info["closed"] is told["closed"]


def test_wide_integers_in_a_dictionary_are_never_narrowed() -> None:
    """JAX compiles the import after some steps."""
    pair = Pair("numpy", "jax")
    pair.require()
    space = spaces.Dict(a=spaces.Box(-(2**62), 2**62, (2,), np.int64))
    told: list[Value] = [({"a": np.full(2, 5)}, 0.0, False, False, {})] * 20
    wide: Value = ({"a": np.full(2, 2**40)}, 0.0, False, False, {})
    agent = bridge(pair, Told(*told, wide, observation_space=space))
    agent.reset()
    for _ in told:
        agent.step(agent.sample_action())
    with pytest.raises(ConversionError, match=r"^obs\['a'\]: JAX cannot hold the int64 value"):
        agent.step(agent.sample_action())


def test_a_read_only_observation_is_never_written() -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    seen = _step(pair, frozen, 0.0, False, False, {})[0]
    seen += 1
    np.testing.assert_array_equal(frozen, np.arange(3.0))


class Fresh(gym.Env[Any, Any]):
    """Returns new arrays and records their addresses."""

    observation_space = spaces.Box(0, 9, (3,), np.float64)
    action_space = spaces.Discrete(4)

    def __init__(self, *, keeps: bool) -> None:
        self.addresses: list[int] = []
        self._keeps = keeps
        self._kept: Value = None

    def _new(self) -> Value:
        array = np.arange(3.0)
        self.addresses.append(array.ctypes.data)
        if self._keeps:
            self._kept = array
        return array

    @override
    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Value:
        return self._new(), {}

    @override
    def step(self, action: Value) -> Value:
        return self._new(), 0.0, False, False, {}


@pytest.mark.parametrize("keeps", [False, True], ids=["fresh", "kept"])
def test_a_fresh_observation_is_shared_and_a_kept_one_is_copied(
    keeps: bool,
) -> None:
    pair = Pair("numpy", "torch")
    pair.require()
    env = Fresh(keeps=keeps)
    agent = bridge(pair, env)
    seen = [agent.reset()[0], *[agent.step(agent.sample_action())[0] for _ in range(3)]]
    shared = [pair.target.address(obs) for obs in seen] == env.addresses
    assert shared is not keeps


def test_jax_observations_do_not_change_when_the_environment_writes() -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    fresh = np.zeros(100_000, np.float32)
    seen = _step(pair, fresh, 0.0, False, False, {})[0]
    fresh[:] = 7
    assert not pair.target.values(seen).any()


def test_writing_into_a_tensor_does_not_change_a_jax_array() -> None:
    pair = Pair("jax", "torch")
    pair.require()
    frozen = pair.source.make(np.zeros(3, np.float32))
    seen = _step(pair, frozen, 0.0, False, False, {"same": frozen})
    seen[0].fill_(7)
    seen[4]["same"].fill_(7)
    np.testing.assert_array_equal(pair.source.values(frozen), np.zeros(3))


@pytest.mark.parametrize("copy", [None, True])
def test_an_observation_does_not_change_when_the_environment_overwrites_its_buffer(
    pair: Pair, copy: bool | None
) -> None:
    reused = np.zeros(3, np.float32)
    agent = bridge(pair, Told((reused, 0.0, False, False, {})), copy=copy)
    agent.reset()
    seen = agent.step(agent.sample_action())[0]
    reused[:] = 7
    assert not pair.target.values(seen).any()


def test_copy_false_names_the_leaf_that_cannot_be_shared() -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    obs = {"goal": [np.zeros(2, np.float32)]}
    agent = bridge(pair, Told((obs, 0.0, False, False, {})), copy=False)
    with pytest.raises(CopyRequiredError, match=r"^obs\['goal'\]\[0\]: JAX arrays never change"):
        agent.step(agent.sample_action())


def test_an_invalid_copy_argument_is_refused_at_construction(pair: Pair) -> None:
    with pytest.raises(TypeError, match="copy='never' is none of None, True and False"):
        bridge(pair, Echo(spaces.Discrete(2)), copy="never")


WIDE = spaces.Box(-(2**62), 2**62, (2,), np.int64)


def _of_wide(env: Value) -> Value:
    env.observation_space = spaces.Dict(a=spaces.Tuple([WIDE, WIDE]))
    return env


@pytest.mark.parametrize("where", ["obs", "info"])
def test_an_integer_that_jax_cannot_hold_is_an_error_with_a_path(where: str) -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    small = {"a": (np.array([1, 2]), np.array([3, 4]))}
    large = {"a": (np.array([1, 2]), np.array([3, 2**40]))}
    told = (large, 0.0, False, False, {}) if where == "obs" else (small, 0.0, False, False, large)
    agent = bridge(pair, _of_wide(Told(told)))
    with pytest.raises(ConversionError) as caught:
        agent.step(agent.sample_action())
    assert str(caught.value).startswith(
        f"{where}['a'][1]: JAX cannot hold the int64 value 1099511627776 with x64 off"
    )


def test_integers_that_fit_reach_jax_in_every_dtype() -> None:
    pair = Pair("numpy", "jax")
    pair.require()
    obs = {"a": (np.array([1, -2]), np.array([2**31 - 1, -(2**31)]))}
    agent = bridge(pair, _of_wide(Told((obs, 0.0, False, False, obs))))
    got = agent.step(agent.sample_action())
    counterpart(got[0], obs, pair.target)
    counterpart(got[4], obs, pair.target)


@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_unusual_tensors_arrive_with_their_values(target: str) -> None:
    """Tensors that require grad, are conjugate, negative, strided or broadcast, or of bfloat16."""
    pair = Pair("torch", target)
    pair.require()
    import torch

    complex_ = torch.tensor([1 + 2j, 3 - 4j])
    tensors = {
        "history": (torch.arange(3.0, requires_grad=True) * 2, np.array([0, 2, 4], np.float32)),
        "conjugated": (complex_.conj(), np.array([1 - 2j, 3 + 4j], np.complex64)),
        "negated": (complex_.conj().imag, np.array([-2, 4], np.float32)),
        "strided": (torch.arange(6)[::2], np.array([0, 2, 4], np.int64)),
        "transposed": (
            torch.arange(6.0).reshape(2, 3).T,
            np.arange(6.0, dtype="f").reshape(2, 3).T,
        ),
        "broadcast": (torch.ones(1).expand(3), np.ones(3, np.float32)),
    }
    assert tensors["negated"][0].is_neg()
    told = {name: tensor for name, (tensor, _) in tensors.items()}
    wanted = {name: array for name, (_, array) in tensors.items()}
    got = _step(pair, told, 0.0, False, False, told)
    counterpart(got[0], wanted, pair.target)
    counterpart(got[4], wanted, pair.target)
    half = _step(pair, torch.tensor([0.5], dtype=torch.bfloat16), 0.0, False, False, {})[0]
    assert pair.target.dtype(half) == "bfloat16"
    assert float(half[0]) == 0.5


def test_jax_keys_pass_unchanged() -> None:
    pair = Pair("jax", "torch")
    pair.require()
    import jax

    key = jax.random.key(0)
    assert _step(pair, jax.numpy.zeros(2), 0.0, False, False, {"key": key})[4]["key"] is key


@pytest.mark.parametrize("value", [2**63, -(2**64), 2**127 + 1, 1 << 19_999], ids=int.bit_length)
def test_integers_beyond_64_bits_stay_themselves_in_infos_with_one_warning(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, value: int
) -> None:
    class Seed(int):
        pass

    monkeypatch.setattr(tree, "_warned", WeakSet[type[object]]())
    info = {"seed": value, "deep": [1, (value, np.ones(2))], "own": Seed(value)}
    with pytest.warns(RuntimeWarning, match="does not fit int64") as caught:
        seen = [_step(pair, STILL, 0.0, False, False, info)[4] for _ in range(3)]
    assert [f"an int of {value.bit_length()} bits" in str(one.message) for one in caught] == [
        True
    ] * 2
    for got in seen:
        assert got["seed"] == got["deep"][1][0] == got["own"] == value
        assert type(got["seed"]) is int
        assert type(got["own"]) is Seed
        assert pair.target.is_array(got["deep"][0])
        assert pair.target.is_array(got["deep"][1][1])


def test_integers_beyond_64_bits_stay_themselves_in_the_infos_of_other_forms(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("pettingzoo")
    monkeypatch.setattr(tree, "_warned", WeakSet([int]))

    class Large(EchoVector):
        @override
        def reset(self, *, seed: Value = None, options: Value = None) -> Value:
            return super().reset()[0], {"seed": (2**80, 1)}

    class Larger(ParallelWorld):
        @override
        def reset(self, seed: int | None = None, options: Value = None) -> Value:
            obs, infos = super().reset(seed, options)
            return obs, {agent: {"seed": (2**80, 1)} for agent in infos}

    agent = vector_bridge(pair, Large(spaces.Discrete(2)))
    infos = agent.reset()[1]
    assert infos["seed"][0] == 2**80
    assert pair.target.is_array(infos["seed"][1])
    agents = getattr(import_module("gymbridge.parallel"), type(agent).__name__)(Larger())
    assert {info["seed"][0] for info in agents.reset()[1].values()} == {2**80}


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_float_dtype_casts_observations_and_not_infos(pair: Pair, name: str) -> None:
    obs = {"pose": np.ones(2, np.float64), "count": np.ones(2, np.int32)}
    got, _, _, _, info = _step(
        pair, obs, 0.0, False, False, {"force": np.ones(2, np.float32)}, float_dtype=name
    )
    assert pair.target.dtype(got["pose"]) == name
    assert pair.target.dtype(got["count"]) == "int32"
    assert pair.target.dtype(info["force"]) == "float32"


def test_float_dtype_must_be_floating(pair: Pair) -> None:
    with pytest.raises(ValueError, match="float_dtype='int32' is no floating-point dtype"):
        bridge(pair, Told(), float_dtype="int32")


@pytest.mark.parametrize(
    ("pair", "name"),
    [
        (Pair("numpy", "torch"), "longdouble"),
        (Pair("numpy", "torch"), "float8_e3m4"),
        (Pair("numpy", "jax"), "float6_e2m3fn"),
    ],
    ids=repr,
)
def test_float_dtype_must_exist_in_the_library(pair: Pair, name: str) -> None:
    pair.require()
    with pytest.raises(ValueError, match=f"^float_dtype='{name}': .* has no such dtype$"):
        bridge(pair, Told(), float_dtype=name)


class Mood(IntEnum):
    CALM = 1


@dataclasses.dataclass
class Contact:
    where: Value
    name: str


class Pose(NamedTuple):
    position: Value
    label: str


RUBBISH: dict[str, Any] = {
    "None": None,
    "str": "go left",
    "np.str_": np.str_("go"),
    "bytes": b"\0\1",
    "bool": True,
    "np.bool_": np.bool_(True),
    "int": 3,
    "time stamp": 1_790_000_000.123456,
    "complex": 1 + 2j,
    "enum": Mood.CALM,
    "set": {1, 2},
    "range": range(3),
    "datetime": np.datetime64("2026-11-18T12:00"),
    "array of strings": np.array(["a", "bc"]),
    "array of dates": np.array(["2026-11-18"], "M8[D]"),
    "structured array": np.zeros(2, [("x", "f4"), ("n", "i4")]),
    "array of objects": np.array([None, "a", {"b": 1}, np.zeros(2, "f")], object),
    "keys that are no strings": {1: np.zeros(2, "f"), (2, 3): "x", Mood.CALM: 1.5},
    "empty": {"a": {}, "b": [], "c": (), "d": np.zeros((0, 2), "f")},
    "big-endian": np.array([1, 2], ">f4"),
    "OrderedDict": OrderedDict(a=np.ones(1, "f")),
    "named tuple": Pose(np.ones(2, "f"), "here"),
}
"""Values that environments put into infos, and sometimes into observations."""


@pytest.mark.parametrize("what", RUBBISH)
def test_infos_and_observations_may_hold_any_value(pair: Pair, what: str) -> None:
    value = RUBBISH[what]
    obs, _, _, _, info = _step(pair, {"o": value}, 0.0, False, False, {"i": {"j": value}})
    if pair.target.name == "jax" and what == "time stamp":
        value = float(np.float32(value))
    expected = value.astype("<f4") if what == "big-endian" else value
    counterpart(obs, {"o": expected}, pair.target)
    counterpart(info, {"i": {"j": expected}}, pair.target)


def test_unknown_objects_functions_and_generators_pass_unchanged(pair: Pair) -> None:
    things: list[Any] = [object(), iter([1]), (n for n in "ab"), len, gym, type, Ellipsis]
    info = _step(pair, STILL, 0.0, False, False, {"things": things})[4]
    assert all(got is thing for got, thing in zip(info["things"], things, strict=True))
    assert next(info["things"][1]) == 1


def test_a_defaultdict_keeps_its_factory(pair: Pair) -> None:
    counts = defaultdict(list, a=[np.ones(1, np.float32)])
    info = _step(pair, STILL, 0.0, False, False, {"counts": counts})[4]
    assert type(info["counts"]) is defaultdict
    assert info["counts"].default_factory is list
    assert pair.target.is_array(info["counts"]["a"][0])


def test_an_empty_info_keeps_its_type(pair: Pair) -> None:
    info = _step(pair, STILL, 0.0, False, False, defaultdict(list))[4]
    assert type(info) is defaultdict
    assert info.default_factory is list
    assert info == {}


def test_dataclasses_are_containers_and_the_original_does_not_change(pair: Pair) -> None:
    contact = Contact(np.ones(2, np.float32), "foot")
    info = _step(pair, STILL, 0.0, False, False, {"contact": contact})[4]
    assert pair.target.is_array(info["contact"].where)
    assert info["contact"].name == "foot"
    assert type(contact.where) is np.ndarray


# -- reward and flags -----------------------------------------------------------------------------


@pytest.mark.parametrize("source", LIBRARIES)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "bool", "uint8"])
def test_a_reward_of_any_library_becomes_a_float(
    source: str, shape: tuple[int, ...], dtype: str
) -> None:
    pair = Pair(source, "torch" if source != "torch" else "jax")
    pair.require()
    array = pair.source.make(np.ones(shape, dtype))
    _, reward, terminated, truncated, _ = _step(pair, STILL, array, array, array, {})
    same((reward, terminated, truncated), (1.0, True, True))


@pytest.mark.parametrize(
    "reward",
    [1, 1.0, True, np.float32(1), np.float64(1), np.int8(1), np.bool_(True), np.uint8(1)],
    ids=lambda reward: type(reward).__name__ + " " + type(reward).__module__,
)
def test_a_numeric_reward_becomes_a_float(pair: Pair, reward: Value) -> None:
    _, got, terminated, truncated, _ = _step(pair, STILL, reward, reward, reward, {})
    same((got, terminated, truncated), (1.0, True, True))


@pytest.mark.parametrize("reward", [Decimal("1.5"), Fraction(3, 2)], ids=repr)
def test_a_decimal_or_fraction_reward_becomes_a_float(pair: Pair, reward: Value) -> None:
    _, got, terminated, truncated, _ = _step(pair, STILL, reward, reward, reward * 0, {})
    same((got, terminated, truncated), (1.5, True, False))


@pytest.mark.parametrize("place", [1, 2, 3])
def test_an_unreadable_reward_or_flag_is_named(place: int) -> None:
    pair = Pair("torch", "numpy")
    pair.require()
    import torch

    step: list[Value] = [torch.zeros(2), 0.0, False, False, {}]
    step[place] = torch.ones((), device="meta")
    root = ["obs", "reward", "terminated", "truncated"][place]
    with pytest.raises(ConversionError, match=f"^{root}: PyTorch holds no values"):
        _step(pair, *step)


class Silent:
    """An array whose numbers cannot be read."""

    def __array_namespace__(self) -> None:
        return


class Letters(Silent):
    """An array of one letter."""

    def __array__(self, dtype: Value = None, copy: Value = None) -> Value:
        return np.array(["x"])


@pytest.mark.parametrize(("reward", "words"), [(Silent(), "shown"), (Letters(), "no dtype for")])
def test_a_reward_without_a_number_is_named(reward: Value, words: str) -> None:
    place = type(reward).__name__
    with pytest.raises(ConversionError, match=rf"^reward: .*{words}.* \(.*{place}\); ") as caught:
        _step(Pair("numpy", "jax"), STILL, reward, False, False, {})
    assert caught.value.path == "reward"


@pytest.mark.parametrize("reward", [10**400, Fraction(10**400), Decimal("sNaN")], ids=type)
def test_a_reward_that_is_too_large_for_a_float_is_named(pair: Pair, reward: Value) -> None:
    with pytest.raises(ConversionError, match=r"^reward: Python makes no float of it: ") as caught:
        _step(pair, STILL, reward, False, False, {})
    assert caught.value.path == "reward"
    assert type(reward).__name__ in caught.value.subject
    assert isinstance(caught.value.__cause__, (ArithmeticError, ValueError))


class Failing(float):
    """A number whose conversion raises."""

    def __float__(self) -> float:
        raise LookupError("no number today")


def test_a_reward_whose_class_raises_is_named(pair: Pair) -> None:
    with pytest.raises(
        ConversionError, match=r"^reward: Python makes .*: no number today"
    ) as caught:
        _step(pair, STILL, Failing(2), False, False, {})
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_timedelta_is_no_number(pair: Pair) -> None:
    span = np.timedelta64(5, "s")
    assert _step(pair, STILL, span, False, False, {})[1] is span


def test_rewards_with_gradient_history_or_bfloat16_become_floats() -> None:
    pair = Pair("torch", "numpy")
    pair.require()
    import torch

    for reward in (torch.ones((), requires_grad=True) * 2, torch.tensor(2, dtype=torch.bfloat16)):
        same(_step(pair, torch.zeros(2), reward, False, False, {})[1], 2.0)


@pytest.mark.parametrize(
    "reward",
    [
        np.array([1.0, -1.0]),
        np.ones((2, 1), np.float32),
        [1.0, 2.0],
        {"red": 1.0, "blue": np.array([2.0, 3.0])},
        (np.float32(1), 2.0),
        np.array([1 + 2j], np.complex64),
    ],
    ids=["array", "matrix", "list", "dict", "tuple", "complex"],
)
def test_rewards_of_several_objectives_or_agents_become_trees(pair: Pair, reward: Value) -> None:
    got = _step(pair, STILL, reward, False, False, {})[1]
    counterpart(got, reward, pair.target)


def test_flags_of_several_agents_become_trees(pair: Pair) -> None:
    flags = {"red": True, "blue": np.array([True, False])}
    _, _, terminated, truncated, _ = _step(pair, STILL, 0.0, flags, flags, {})
    counterpart(terminated, flags, pair.target)
    counterpart(truncated, flags, pair.target)


def test_a_masked_reward_keeps_its_mask(pair: Pair) -> None:
    reward = np.ma.masked_array([1.0], mask=[True])
    got = _step(pair, STILL, reward, False, False, {})[1]
    assert type(got) is np.ma.MaskedArray
    assert got.mask.tolist() == [True]


@pytest.mark.parametrize("reward", [None, "much"])
def test_a_reward_that_is_no_number_passes_unchanged(pair: Pair, reward: Value) -> None:
    assert _step(pair, STILL, reward, None, None, {})[1:4] == (reward, None, None)


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -0.0, 0.1, 1e300])
def test_a_reward_keeps_its_value(pair: Pair, reward: float) -> None:
    for given in (reward, np.float64(reward), np.array(reward)):
        np.testing.assert_equal(_step(pair, STILL, given, False, False, {})[1], reward)


# -- faulty environments --------------------------------------------------------------------------


class Undeclared(gym.Env[Any, Any]):
    """An environment without spaces, as many first attempts."""

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        return np.zeros(2, np.float32), {}

    @override
    def step(self, action: Value) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return np.asarray(action), 1.0, False, False, {"type": type(action).__name__}


class Unsaid(Undeclared):
    """An environment whose spaces are None."""

    observation_space: Any = None
    action_space: Any = None


@pytest.mark.parametrize("kind", [Undeclared, Unsaid])
def test_an_environment_without_spaces_can_be_stepped(pair: Pair, kind: type[Undeclared]) -> None:
    agent = bridge(pair, kind())
    counterpart(agent.reset()[0], np.zeros(2, np.float32), pair.target)
    obs, *_, info = agent.step(pair.target.make(np.array([1, 2], np.int16)))
    counterpart(obs, np.array([1, 2], np.int16), pair.target)
    assert info == {"type": "ndarray"}


def test_an_environment_that_returns_only_none_works(pair: Pair) -> None:
    assert _step(pair, None, None, None, None, None) == (None,) * 5


def test_a_step_with_too_few_values_is_an_error(pair: Pair) -> None:
    with pytest.raises(ValueError, match="not enough values to unpack"):
        _step(pair, STILL, 0.0, False)


def test_errors_of_an_environment_pass_unchanged(pair: Pair) -> None:
    agent = bridge(pair, gym.make("CartPole-v1"))
    with pytest.raises(gym.error.ResetNeeded):
        agent.step(agent.sample_action())


# -- reset ----------------------------------------------------------------------------------------


def test_reset_options_are_converted_and_numbers_stay_numbers(pair: Pair) -> None:
    env = Echo(spaces.Discrete(2))
    given = {"start": pair.target.make(np.ones(2, np.float32)), "level": 3, "name": "x", "p": 0.5}
    bridge(pair, env).reset(options=given)
    same(env.options, {"start": np.ones(2, np.float32), "level": 3, "name": "x", "p": 0.5})
    assert pair.target.is_array(given["start"])


def test_the_environment_cannot_write_into_the_agents_options(pair: Pair) -> None:
    env = Echo(spaces.Discrete(2))
    start = pair.target.make(np.ones(2, np.float32))
    bridge(pair, env).reset(options={"start": start})
    env.options["start"][:] = 7
    np.testing.assert_array_equal(pair.target.values(start), np.ones(2))


def test_without_options_the_environment_gets_none(pair: Pair) -> None:
    env = Echo(spaces.Discrete(2))
    bridge(pair, env).reset()
    assert env.options is None


def test_the_same_seed_gives_the_same_episode(pair: Pair) -> None:
    agent = bridge(pair, gym.make("CartPole-v1"))
    same(agent.reset(seed=5), agent.reset(seed=5))


# -- all pairs ------------------------------------------------------------------------------------


def test_every_pair_converts_observations_and_infos(pair_of_any: Pair) -> None:
    pair = pair_of_any
    bare = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": (np.ones((), np.int32), "text")}
    told = made(pair.source, bare)
    obs, reward, terminated, truncated, info = _step(
        pair, told, pair.source.make(np.float32(0.5)), False, True, {"x": told, "y": None}
    )
    counterpart(obs, bare, pair.target)
    counterpart(info, {"x": bare, "y": None}, pair.target)
    same((reward, terminated, truncated), (0.5, False, True))


def test_arrays_of_a_third_library_in_infos_are_converted(library: Library) -> None:
    pair = Pair("numpy", "torch" if library.name != "torch" else "jax")
    pair.require()
    told = {"x": library.make(np.ones(2, np.float32))}
    counterpart(_step(pair, STILL, 0.0, False, False, told)[4], {"x": np.ones(2, "f")}, pair.target)
