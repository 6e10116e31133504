"""What generated code does at once with an ordinary array is what the core does with any."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime import action_shortcuts
from gymbridge_runtime.arrays import ArrayImport
from gymbridge_runtime.backends.torch import TorchBackend
from gymbridge_runtime.converter import Conversions, Converter
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.known import load
from gymbridge_runtime.shortcuts import Shortcuts
from gymbridge_runtime.testing.base import outcome
from gymnasium import spaces
from typing_extensions import override

from tests.environments.bridges import Value, bridge, same, vector_bridge
from tests.environments.worlds import Echo, EchoVector
from tests.libraries.jax import jax, jnp
from tests.libraries.torch import torch
from tests.runtime.layouts import expose
from tests.support import LIBRARIES, PAIRS, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Host

BACKENDS = {name: load(f"gymbridge_runtime.backends.{name}:{name.upper()}") for name in LIBRARIES}
TO_NUMPY = [pair for pair in PAIRS if pair.target.name == "numpy"]

HOST: dict[str, Callable[[], Value]] = {
    "ordinary": lambda: np.linspace(0, 1, 6, dtype=np.float32),
    "ordinary, of two axes": lambda: np.arange(6.0).reshape(2, 3),
    "without axes": lambda: np.array(2.5, np.float32),
    "empty": lambda: np.zeros((0, 3), np.int16),
    "read-only": lambda: np.broadcast_to(np.float32(1), (6,)),
    "Fortran": lambda: expose("Fortran", 48).array,
    "between numbers": lambda: expose("between numbers", 48).array,
    "backwards": lambda: np.arange(6, dtype=np.float32)[::-1],
    "big-endian": lambda: np.arange(6, dtype=">f4"),
    "text": lambda: np.array(["a", "bc"]),
    "objects": lambda: np.array([np.arange(2), "a", None], object),
    "a record": lambda: np.zeros(2, [("a", "i4"), ("b", "f8")]),
    "a matrix": lambda: np.ones((2, 3), np.float32).view(np.matrix),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "a number": lambda: np.float64(0.1),
    "unsigned": lambda: np.arange(6, dtype=np.uint64),
}
TENSORS: dict[str, Callable[[], Value]] = {
    "ordinary": lambda: torch.linspace(0, 1, 6),
    "without axes": lambda: torch.tensor(2.5),
    "empty": lambda: torch.zeros(0, 3, dtype=torch.int16),
    "requires grad": lambda: torch.ones(6, requires_grad=True),
    "a parameter": lambda: torch.nn.Parameter(torch.ones(6)),
    "conjugate": lambda: torch.ones(6, dtype=torch.complex64).conj(),
    "negative": lambda: torch.ones(6, dtype=torch.complex64).conj().imag,
    "expanded": lambda: torch.ones(1).expand(6),
    "bfloat16": lambda: torch.ones(6, dtype=torch.bfloat16),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "meta": lambda: torch.ones(6, device="meta"),
}
VALUES = {"numpy": HOST, "torch": TENSORS}
AT_ONCE = ("numpy_to_torch", "torch_to_numpy")
"""The converters that do something at once."""


def converter(pair: str) -> Value:
    """Return the module of a converter, which nobody has given what it refuses at once."""
    module: Value = import_module(f"gymbridge.converters.{pair}")
    module._trusted = module._conversions.trusted()
    return module


def memory(array: Value) -> int:
    """Return where the memory of an array of NumPy or PyTorch begins."""
    return int(array.data_ptr() if torch.is_tensor(array) else array.ctypes.data)


def alike(found: Value, wanted: Value, value: Value) -> None:
    """Fail unless both are the same, and both or neither of them over the memory of ``value``."""
    if isinstance(wanted, Exception):
        assert (type(found), str(found)) == (type(wanted), str(wanted))
        assert type(found.__cause__) is type(wanted.__cause__)
        return
    same(found, wanted)
    if isinstance(wanted, (np.ndarray, torch.Tensor)) and isinstance(
        value, (np.ndarray, torch.Tensor)
    ):
        assert (memory(found) == memory(value)) is (memory(wanted) == memory(value))
    if isinstance(wanted, np.ndarray) and isinstance(found, np.ndarray):
        assert found.flags.writeable == wanted.flags.writeable
        assert found.strides == wanted.strides


def without_any(made: Callable[..., None]) -> Callable[..., None]:
    """Return what makes shortcuts between libraries that have none."""

    def make(self: Value, *given: Value) -> None:
        made(self, *given)
        self._exist = False

    return make


CONVERTED = [(pair, kind) for pair in AT_ONCE for kind in VALUES[pair.split("_")[0]]]


@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize(("pair", "kind"), CONVERTED)
def test_a_converter_does_what_the_core_does(
    pair: str, kind: str, copy: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = converter(pair)
    value = VALUES[pair.split("_", maxsplit=1)[0]][kind]()
    convert: Value = partial(getattr(module, pair), value, copy=copy)
    found = [outcome(convert), outcome(convert)]
    monkeypatch.setattr(Shortcuts, "__init__", without_any(Shortcuts.__init__))
    wanted = outcome(partial(Converter(module._conversions._target, copy=copy), value))
    for one in found:
        alike(one, wanted, value)


@pytest.mark.parametrize("copy", [None, True])
@pytest.mark.parametrize("pair", AT_ONCE)
def test_a_converter_looks_no_further_at_what_is_ordinary(
    pair: str, copy: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = converter(pair)
    value = VALUES[pair.split("_", maxsplit=1)[0]]["ordinary"]()
    wanted = getattr(module, pair)(value, copy=copy)
    for name in ("usual", "copying", "sharing"):
        monkeypatch.setattr(module._conversions, name, unwanted)
    monkeypatch.setattr(Converter, "collect", unwanted)
    alike(getattr(module, pair)(value, copy=copy), wanted, value)


@pytest.fixture
def viewed(monkeypatch: pytest.MonkeyPatch) -> list[Value]:
    """The tensors that PyTorch was asked to show, by whatever is made from now on."""
    given: list[Value] = []

    def counted(tensor: Value) -> Value:
        given.append(tensor)
        return tensor.numpy()

    monkeypatch.setattr(TorchBackend, "plain_view", lambda _: counted)
    return given


REFUSED = ["requires grad", "conjugate", "negative", "bfloat16", "meta"]


@pytest.mark.parametrize("copy", [None, True])
@pytest.mark.parametrize("kind", REFUSED)
def test_a_converter_asks_first_once_a_tensor_was_refused(
    kind: str, copy: bool | None, viewed: list[Value], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = converter("torch_to_numpy")
    conversions = Conversions(BACKENDS["torch"], BACKENDS["numpy"])
    trusted = conversions.trusted()
    for name, value in (
        ("_conversions", conversions),
        ("_trusted", trusted),
        ("_share", trusted.share),
    ):
        monkeypatch.setattr(module, name, value)
    special = TENSORS[kind]()
    outcome(partial(module.torch_to_numpy, special, copy=copy))
    assert viewed[0] is special
    viewed.clear()
    for _ in range(3):
        outcome(partial(module.torch_to_numpy, special, copy=copy))
    assert viewed == []
    same(module.torch_to_numpy(torch.ones(2), copy=copy), np.ones(2, np.float32))
    assert len(viewed) == 1


class Shown(gym.Env[Value, Value]):
    """Observes what it is told to."""

    action_space: spaces.Space[Value] = spaces.Discrete(2)
    observation_space: spaces.Space[Value] = spaces.Box(-9, 9, (6,))
    shown: Value = None

    @override
    def step(self, action: Value) -> Value:
        return self.shown, 1.0, False, False, {}


def unwanted(*values: object) -> object:
    raise AssertionError(f"{[type(value) for value in values]} took the long way")


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}, {"float_dtype": "f8"}])
@pytest.mark.parametrize("kind", TENSORS)
def test_a_step_shows_what_the_core_shows(
    kind: str, options: dict[str, Value], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = Shown()
    agent = bridge(Pair("torch", "numpy"), env, **options)
    env.shown = torch.ones(6)
    agent.step(0)  # from then on it is known what is ordinary
    env.shown = TENSORS[kind]()
    found = [outcome(lambda: agent.step(0)[0]), outcome(lambda: agent.step(0)[0])]
    monkeypatch.setattr(Shortcuts, "__init__", without_any(Shortcuts.__init__))
    slow = bridge(Pair("torch", "numpy"), env, **options)
    wanted = outcome(lambda: slow.step(0)[0])
    for one in found:
        alike(one, wanted, env.shown)


@pytest.mark.parametrize("kind", ["requires grad", "conjugate", "negative", "bfloat16"])
def test_a_step_asks_first_once_an_observation_was_refused(kind: str, viewed: list[Value]) -> None:
    env = Shown()
    agent = bridge(Pair("torch", "numpy"), env)
    special = TENSORS[kind]()
    env.shown = torch.ones(6)
    agent.step(0)
    env.shown = special
    agent.step(0)
    viewed.clear()
    for _ in range(3):
        agent.step(0)
    assert viewed == []
    env.shown = torch.ones(6)
    agent._traffic.observe = unwanted
    same(agent.step(0)[0], np.ones(6, np.float32))


@pytest.mark.parametrize("pair", [*TO_NUMPY, Pair("numpy", "torch")], ids=repr)
def test_a_step_asks_the_core_for_no_ordinary_observation(pair: Pair) -> None:
    env = Shown()
    agent = bridge(pair, env)
    env.shown = pair.source.make(np.arange(6, dtype=np.float32))
    wanted = agent.step(0)[0]
    agent._traffic.observe = unwanted
    same(agent.step(0)[0], wanted)


ACTIONS: dict[str, Callable[[Value], Value]] = {
    "ordinary": lambda action: action,
    "Fortran": np.asfortranarray,
    "strided": lambda action: np.repeat(action, 2, axis=-1)[..., ::2],
    "read-only": lambda action: np.broadcast_to(action, action.shape),
    "float64": lambda action: action.astype(np.float64),
    "int8": lambda action: action.astype(np.int8),
    "big-endian": lambda action: action.astype(">f4"),
    "an axis more": lambda action: action[None],
    "a number less": lambda action: action.ravel()[1:],
    "a list": lambda action: action.tolist(),
    "a matrix": lambda action: action.view(np.matrix) if action.ndim == 2 else action,
    "text": lambda action: np.full(action.shape, "a"),
    "objects": lambda action: action.astype(object),
    "a dict": lambda action: {"a": action},
}
TENSOR_ACTIONS: dict[str, Callable[[Value], Value]] = {
    "strided": lambda action: action.repeat_interleave(2, -1)[..., ::2] if action.ndim else action,
    "turned round": lambda action: action.mT.contiguous().mT if action.ndim == 2 else action,
    "requires grad": lambda action: action.float().clone().requires_grad_(),
    "a parameter": lambda action: torch.nn.Parameter(action.float()),
    "conjugate": lambda action: (action * 1j).conj(),
    "negative": lambda action: (action * 1j).conj().imag,
    "expanded": lambda action: action[..., :1].expand(action.shape) if action.ndim else action,
    "bfloat16": lambda action: action.bfloat16(),
    "sparse": lambda action: action.to_sparse(),
    "meta": lambda action: action.to("meta"),
}
NOTHING = object()
SPACES = {
    "box": spaces.Box(-4, 4, (4,), np.float32),
    "box of two axes": spaces.Box(-4, 4, (2, 4), np.float32),
    "flags": spaces.MultiBinary(4),
    "choices": spaces.MultiDiscrete([3, 4, 5, 2]),
    "one choice": spaces.Discrete(3),
    "empty": spaces.Box(-4, 4, (0,), np.float32),
}


class OwnBox(spaces.Box):
    """A space of a user's own, whose samples nobody knows."""

    @override
    def sample(self, mask: None = None, probability: None = None) -> Value:
        return super().sample(mask, probability)


def actions_of(pair: Pair, sample: Host) -> dict[str, Value]:
    """Return what an agent may give for ``sample``, and what it had better not."""
    given: dict[str, Value] = {kind: make(sample) for kind, make in ACTIONS.items()}
    if pair.target.name == "numpy":
        return given
    own = {kind: made(pair, action) for kind, action in given.items()}
    if pair.target.name == "torch":
        own |= {kind: make(pair.target.make(sample)) for kind, make in TENSOR_ACTIONS.items()}
    return own | {"of NumPy": sample}


def made(pair: Pair, action: Value) -> Value:
    """Return an array of the agent's library where it has one for ``action``."""
    numbers = isinstance(action, np.ndarray) and action.dtype.kind in "?biuf"
    return pair.target.make(action.astype(action.dtype.newbyteorder("="))) if numbers else action


def made_for(pair: Pair, form: str, space: spaces.Space[Value], **options: Value) -> Value:
    env: Value = Echo(space) if form == "single" else EchoVector(space)
    return env, (bridge if form == "single" else vector_bridge)(pair, env, **options)


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}])
@pytest.mark.parametrize("form", ["single", "vector"])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_an_action_is_what_the_core_makes_of_it(
    pair: Pair, form: str, options: dict[str, Value], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, space in {**SPACES, "own": OwnBox(-4, 4, (4,), np.float32)}.items():
        env, agent = made_for(pair, form, space, **options)
        env.action_space.seed(3)
        sample = np.asarray(env.action_space.sample())
        for kind, action in actions_of(pair, sample).items():
            env, agent = made_for(pair, form, space, **options)
            outcome(partial(agent.step, made(pair, sample)))
            with monkeypatch.context() as patched:
                patched.setattr(action_shortcuts, "_exists", lambda *_: False)
                _, slow = made_for(pair, form, space, **options)
                wanted = outcome(partial(slow._traffic.act, action))
            for _ in "12":  # before and after one was refused
                env.received = NOTHING
                step = outcome(partial(agent.step, action))
                found = step if env.received is NOTHING else env.received
                assert type(found) is type(wanted), (name, kind)
                if isinstance(wanted, Exception):
                    assert str(found) == str(wanted), (name, kind)
                else:
                    same(found, wanted)


@pytest.mark.parametrize("form", ["single", "vector"])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_an_environment_owns_an_action_that_was_made_at_once(pair: Pair, form: str) -> None:
    env, agent = made_for(pair, form, SPACES["box"])
    action = pair.target.make(np.asarray(env.action_space.sample()))
    agent.step(action)
    agent._traffic.act = unwanted
    agent.step(action)
    before = pair.target.values(action)
    if pair.target.mutable:
        action[:] = 3
    np.testing.assert_array_equal(pair.source.values(env.received), before)
    if pair.source.mutable:
        before = pair.target.values(action)
        env.received[:] = 4
        np.testing.assert_array_equal(pair.target.values(action), before)


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("form", ["single", "vector"])
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.target.name == "torch"], ids=repr)
def test_a_step_asks_first_once_an_action_was_refused(
    pair: Pair, form: str, kind: str, viewed: list[Value]
) -> None:
    env, agent = made_for(pair, form, SPACES["box"])
    sample = torch.as_tensor(env.action_space.sample())
    special = TENSOR_ACTIONS[kind](sample)
    agent.step(sample)
    outcome(partial(agent.step, special))
    viewed.clear()
    for _ in range(3):
        outcome(partial(agent.step, special))
    assert viewed == []
    agent._traffic.act = unwanted
    agent.step(sample)
    same(env.received, pair.source.make(sample.numpy()))


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("form", ["single", "vector"])
def test_an_action_arrives_whatever_jax_is_told_in_between(form: str) -> None:
    pair = Pair("jax", "numpy")
    env, agent = made_for(pair, form, SPACES["box"])
    action = np.asarray(env.action_space.sample())
    agent.step(action)
    agent._traffic.act = unwanted
    for disabled in (False, True, True, False):
        with jax.disable_jit(disabled):  # nothing is compiled then, and NumPy's array comes back
            agent.step(action)
        assert pair.source.is_array(env.received)
        np.testing.assert_array_equal(np.asarray(env.received), action)


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("form", ["single", "vector"])
@pytest.mark.parametrize("agents", ["numpy", "torch"])
def test_an_action_that_jax_is_told_to_refuse_is_named_each_time(agents: str, form: str) -> None:
    pair = Pair("jax", agents)
    env, agent = made_for(pair, form, SPACES["box"])
    sample = np.asarray(env.action_space.sample())
    for action in (pair.target.make(sample), sample) * 2:
        with jax.transfer_guard("disallow_explicit"):
            for _ in range(3):
                with pytest.raises(ConversionError, match=r"^action: JAX could not make the array"):
                    agent.step(action)
        agent.step(action)
        np.testing.assert_array_equal(np.asarray(env.received), sample)


@pytest.mark.parametrize("form", ["single", "vector"])
def test_an_action_that_no_memory_holds_is_named(form: str) -> None:
    vast: dict[str, Value] = {
        "numpy": np.broadcast_to(np.float32(1), (1 << 50,)),
        "torch": torch.ones(1).expand(1 << 50),
    }
    for pair in (Pair("torch", "numpy"), Pair("numpy", "torch")):
        _, agent = made_for(pair, form, SPACES["box"])
        for _ in "123":
            with pytest.raises(
                ConversionError, match=r"^action: .*[Uu]nable to allocate"
            ) as caught:
                agent.step(vast[pair.target.name])
            assert isinstance(caught.value.__cause__, MemoryError)


# -- the four arrays of a vector environment's step -------------------------------------------

FOUR: dict[str, Callable[[], Value]] = {
    "ordinary": lambda: jnp.linspace(0, 1, 3),
    "of two axes": lambda: jnp.arange(6.0).reshape(3, 2),
    "flags": lambda: jnp.arange(3) > 1,
    "bfloat16": lambda: jnp.ones(3, jnp.bfloat16),
    "float8": lambda: jnp.ones(3, jnp.float8_e4m3fn),
    "deleted": lambda: deleted(jnp.ones(3)),
    "a key": lambda: jax.random.key(3),
    "of NumPy": lambda: np.ones(3),
    "a dict": lambda: {"a": jnp.ones(3), "b": "text"},
    "nothing": lambda: None,
    "a number": lambda: 2.5,
    "a list": lambda: [1.0, 2.0, 3.0],
}


def deleted(array: Value) -> Value:
    array.delete()
    return array


class Four(EchoVector):
    """Returns the four that it is told to."""

    four: tuple[Value, ...] = ()

    @override
    def step(self, actions: Value) -> Value:
        return *self.four, {}


def one_by_one(traffic: Value, *four: Value) -> tuple[Value, ...]:
    """Convert the four values of a vector step each by itself, on the long way."""
    roots = ("reward", "terminated", "truncated")
    ways = [traffic._observations, *(traffic._to_agent(root, traffic.device) for root in roots)]
    return tuple(way.one_by_one(value) for way, value in zip(ways, four, strict=True))


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}, {"float_dtype": "f8"}])
@pytest.mark.parametrize("place", range(4))
def test_a_vector_step_returns_what_the_core_does(
    place: int, options: dict[str, Value], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, make in FOUR.items():
        env = Four(SPACES["one choice"])
        agent = vector_bridge(Pair("jax", "torch"), env, **options)
        for four in ([FOUR["ordinary"]() for _ in range(4)], [FOUR["flags"]() for _ in range(4)]):
            env.four = tuple(four)
            outcome(partial(agent.step, None))
            four[place] = make()
            env.four = tuple(four)
            for _ in "12":
                found = outcome(partial(agent.step, None))
                with monkeypatch.context() as patched:
                    patched.setattr(Shortcuts, "__init__", without_any(Shortcuts.__init__))
                    slow = vector_bridge(Pair("jax", "torch"), env, **options)
                    wanted: Value = outcome(partial(one_by_one, slow._traffic, *env.four))
                if isinstance(wanted, Exception):
                    assert (type(found), str(found)) == (type(wanted), str(wanted)), kind
                else:
                    same(found, (*wanted, {}))


def test_four_ordinary_arrays_are_copied_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    env = Four(SPACES["one choice"])
    agent = vector_bridge(Pair("jax", "torch"), env)
    env.four = tuple(FOUR[kind]() for kind in ("of two axes", "ordinary", "flags", "flags"))
    agent.step(None)
    monkeypatch.setattr(ArrayImport, "convert", unwanted)
    four = agent.step(None)[:4]
    for found, array in zip(four, env.four, strict=True):
        same(found, torch.from_numpy(np.array(array)))
        found.zero_()  # nobody else's memory
    assert all(np.array(array).any() for array in env.four)
