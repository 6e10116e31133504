"""What generated code does at once with an ordinary array is what the core does with any."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.testing.base import outcome
from gymnasium import spaces
from typing_extensions import override

from tests.environments.bridges import Value, bridge, same, vector_bridge
from tests.environments.worlds import Echo, EchoVector
from tests.libraries.torch import torch
from tests.runtime.layouts import expose
from tests.support import PAIRS, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

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
AT_ONCE = {"numpy_to_torch": "_share", "torch_to_numpy": "_conversions.view"}
"""The converters that do something at once, and what they call it."""


def converter(pair: str) -> Value:
    """Return the module of a converter, which nobody has given what it refuses at once."""
    module = import_module(f"gymbridge.converters.{pair}")
    module._conversions.expect_ordinary()
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
    monkeypatch.setattr(f"gymbridge.converters.{pair}.{AT_ONCE[pair]}", None)
    for one in found:
        alike(one, outcome(convert), value)


@pytest.mark.parametrize("copy", [None, True])
@pytest.mark.parametrize("pair", AT_ONCE)
def test_a_converter_asks_the_core_for_nothing_ordinary(
    pair: str, copy: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = converter(pair)
    value = VALUES[pair.split("_", maxsplit=1)[0]]["ordinary"]()
    wanted = getattr(module, pair)(value, copy=copy)
    for name in ("usual", "copying", "sharing"):
        monkeypatch.setattr(module._conversions, name, unwanted)
    alike(getattr(module, pair)(value, copy=copy), wanted, value)


@pytest.mark.parametrize("kind", ["requires grad", "conjugate", "bfloat16"])
def test_a_converter_leaves_tensors_to_the_core_once_one_was_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = converter("torch_to_numpy")
    attempts: list[Value] = []
    view = module._conversions.view

    def counted(value: Value) -> Value:
        attempts.append(value)
        return view(value)

    monkeypatch.setattr(module._conversions, "view", counted)
    for _ in range(3):
        module.torch_to_numpy(TENSORS[kind]())
    same(module.torch_to_numpy(torch.ones(2)), np.ones(2, np.float32))
    assert len(attempts) == 1


class Shown(gym.Env[Value, Value]):
    """Observes what it is told to."""

    action_space: spaces.Space[Value] = spaces.Discrete(2)
    observation_space: spaces.Space[Value] = spaces.Box(-9, 9, (6,))
    shown: Value = None

    @override
    def step(self, action: Value) -> Value:
        return self.shown, 1.0, False, False, {}


def unwanted(value: object) -> object:
    raise AssertionError(f"{type(value)} took the long way")


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}, {"float_dtype": "f8"}])
@pytest.mark.parametrize("kind", TENSORS)
def test_a_step_shows_what_the_core_shows(kind: str, options: dict[str, Value]) -> None:
    env = Shown()
    agent = bridge(Pair("torch", "numpy"), env, **options)
    env.shown = torch.ones(6)
    agent.step(0)  # from then on it is known what is ordinary
    env.shown = TENSORS[kind]()
    found = [outcome(lambda: agent.step(0)[0]), outcome(lambda: agent.step(0)[0])]
    agent._traffic.share = None
    for one in found:
        alike(one, outcome(lambda: agent.step(0)[0]), env.shown)


def test_a_step_leaves_observations_to_the_core_once_one_was_refused() -> None:
    env = Shown()
    agent = bridge(Pair("torch", "numpy"), env)
    env.shown = torch.ones(6)
    agent.step(0)
    share, attempts = agent._traffic.share, []

    def counted(value: Value) -> Value:
        attempts.append(value)
        return share(value)

    agent._traffic.share = counted
    env.shown = torch.ones(6, requires_grad=True)
    for _ in range(3):
        same(agent.step(0)[0], np.ones(6, np.float32))
    assert len(attempts) == 1


@pytest.mark.parametrize("pair", TO_NUMPY, ids=repr)
def test_a_step_asks_the_core_for_no_ordinary_observation(pair: Pair) -> None:
    env = Shown()
    agent = bridge(pair, env)
    env.shown = pair.source.make(np.arange(6, dtype=np.float32))
    wanted = agent.step(0)[0]
    if agent._traffic.share is None:
        assert pair.source.name == "mlx"  # it has no call that is good enough
        return
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


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}])
@pytest.mark.parametrize("form", ["single", "vector"])
@pytest.mark.parametrize("pair", TO_NUMPY, ids=repr)
def test_an_action_is_what_the_core_makes_of_it(
    pair: Pair, form: str, options: dict[str, Value]
) -> None:
    for name, space in {**SPACES, "own": OwnBox(-4, 4, (4,), np.float32)}.items():
        env: Value = Echo(space) if form == "single" else EchoVector(space)
        agent = (bridge if form == "single" else vector_bridge)(pair, env, **options)
        env.action_space.seed(3)
        sample = np.asarray(env.action_space.sample())
        outcome(partial(agent.step, sample))
        for kind, given in ACTIONS.items():
            action = given(sample)
            wanted = outcome(partial(agent._traffic.act, action))
            refused = outcome(partial(agent.step, action))
            found = refused if isinstance(refused, Exception) else env.received
            assert type(found) is type(wanted), (name, kind)
            if isinstance(wanted, Exception):
                assert str(found) == str(wanted), (name, kind)
            else:
                same(found, wanted)


@pytest.mark.parametrize("form", ["single", "vector"])
@pytest.mark.parametrize("pair", TO_NUMPY, ids=repr)
def test_an_environment_owns_an_action_that_was_made_at_once(pair: Pair, form: str) -> None:
    env: Value = Echo(SPACES["box"]) if form == "single" else EchoVector(SPACES["box"])
    agent = (bridge if form == "single" else vector_bridge)(pair, env)
    action = np.asarray(env.action_space.sample())
    agent.step(action)
    agent._traffic.act = unwanted
    agent.step(action)
    before = action.copy()
    action.fill(3)
    np.testing.assert_array_equal(pair.source.values(env.received), before)
