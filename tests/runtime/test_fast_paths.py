"""Every rendered fast path gives the same results as the general path.

Two wrappers of one class stand side by side: one takes the rendered step, the other that of its
base class. For every value, both give the same value, dtype and shape, both share or both copy, and
both raise the same error.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from importlib import import_module
from itertools import product
from operator import le
from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.backends.jax import imports
from gymbridge_runtime.backends.jax.imports import IMPORTS
from gymbridge_runtime.backends.jax.packing import import_of
from gymbridge_runtime.core.converter import converter_to
from gymbridge_runtime.core.errors import REFUSED
from gymbridge_runtime.wrappers.batched import BatchedBridge
from gymbridge_runtime.wrappers.parallel import ParallelBridge
from gymbridge_runtime.wrappers.single import SingleBridge
from gymbridge_runtime.wrappers.vector import VectorBridge
from gymnasium import spaces
from typing_extensions import override

from tests.libraries.jax import jax
from tests.libraries.torch import torch
from tests.runtime.variants import NUMBERS, OBSERVATIONS, Make
from tests.support import LIBRARIES, PAIRS, Array, Host, Library, Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

# only the first path warns about an unconverted container
pytestmark = pytest.mark.filterwarnings("ignore::gymbridge.UnconvertedContainerWarning")

OFTEN = 3
"""Conversions after which JAX has compiled an import, in these tests."""


@pytest.fixture(autouse=True)
def compile_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile imports at once, with a function that compiles quickly."""
    if IMPORTS.sizes[0] > 100:  # there is space for 256
        IMPORTS._one.clear()
        IMPORTS._many.clear()
        IMPORTS._seen.clear()

    def unpacked(views: list[Host], device: object, *, wide: bool, packed: bool) -> Array:
        del packed
        return import_of(views, device, wide=wide, packed=False)

    monkeypatch.setattr(imports, "_OFTEN", OFTEN - 1)
    monkeypatch.setattr(imports, "import_of", unpacked)


# -- comparison ---------------------------------------------------------------------------------


def described(value: Array) -> object:
    """Return a description of a result: types, keys, dtypes, shapes and bits."""
    if isinstance(value, Mapping):
        return type(value), [(key, described(one)) for key, one in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [*map(described, value)]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return type(value), value.shape, [*map(described, value.flat)]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, value.tobytes()
    library = library_of(value)
    if library is None or not is_dense(value):
        return type(value), repr(value)
    values = library.values(value)
    return type(value), values.dtype, values.shape, values.tobytes(), placement(value)


def library_of(value: Array) -> Library | None:
    is_key = "key" in str(getattr(value, "dtype", ""))
    found = [one for one in LIBRARIES.values() if one.is_array(value) and not is_key]
    return found[0] if found else None


def is_dense(value: Array) -> bool:
    if isinstance(value, torch.Tensor):
        return value.layout is torch.strided and value.device.type != "meta"
    return not (isinstance(value, jax.Array) and value.is_deleted())


def placement(value: Array) -> object:
    if isinstance(value, torch.Tensor):
        return value.device, value.requires_grad, value.is_conj(), value.is_neg()
    if isinstance(value, jax.Array):
        return value.sharding, value.committed, value.weak_type
    return None


def arrays_of(tree: Array) -> Iterator[Array]:
    """Return the arrays in a tree that have memory."""
    if isinstance(tree, Mapping):
        tree = [*tree.values()]
    if isinstance(tree, np.ndarray) and tree.dtype == object:
        tree = [*tree.flat]
    if isinstance(tree, (list, tuple)):
        for one in tree:
            yield from arrays_of(one)
    elif isinstance(tree, np.ndarray) or (library_of(tree) is not None and is_dense(tree)):
        yield tree


def address(array: Array) -> int:
    if isinstance(array, np.ndarray):
        return array.ctypes.data
    library = library_of(array)
    assert library is not None
    return library.address(array)


def is_usual(library: Library, array: Array) -> bool:
    """Tell whether an array takes the fast path."""
    if not isinstance(array, np.ndarray):
        return library.is_array(array)
    is_plain = library.is_array(array) and array.flags.carray and array.dtype.isnative
    return is_plain and array.dtype.char in "?bhilBHILefdFD"


class Outcome(NamedTuple):
    """The result of a call, or its error."""

    result: Array
    error: tuple[type[Exception], str] | None

    def described(self) -> object:
        return self.error or described(self.result)


def outcome(act: Callable[..., Array], *arguments: Array, **options: Array) -> Outcome:
    try:
        return Outcome(act(*arguments, **options), None)
    except REFUSED as error:  # the other path must raise the same error
        return Outcome(None, (type(error), str(error)))


class Setting(NamedTuple):
    """The arguments of both wrappers, and the settings during their steps."""

    options: dict[str, Array]
    context: Callable[[], AbstractContextManager[object]] = nullcontext


def x64() -> AbstractContextManager[object]:
    context: AbstractContextManager[object] = jax.enable_x64(True)
    return context


SETTINGS: dict[str, Setting] = {
    "as it comes": Setting({}),
    "copy=True": Setting({"copy": True}),
    "copy=False": Setting({"copy": False}),
    "float_dtype": Setting({"float_dtype": "float16"}),
    "device": Setting({"device": "cpu"}),
    "x64": Setting({}, x64),
}


def settings_of(pair: Pair) -> dict[str, Setting]:
    """Return the settings that matter for a pair."""
    without = {"numpy": {"device"}, "torch": set(), "jax": {"copy=True"}, "mlx": {"device"}}
    left_out: set[str] = {*without[pair.target.name]}
    if "jax" not in {pair.source.name, pair.target.name}:
        left_out.add("x64")
    return {name: one for name, one in SETTINGS.items() if name not in left_out}


# -- environments -----------------------------------------------------------------------------


class Source:
    """Makes values, records their addresses, and overwrites the values that it keeps.

    Args:
        library: The library of the environment's arrays.
        make: Makes the value under test; the other values take the fast path.
        place: The position of the value among the results.
    """

    def __init__(self, library: Library, make: Make, place: int) -> None:
        self.library, self.make, self.place = library, make, place
        self.usual = OBSERVATIONS[library.name]["usual"]
        self.kept: list[Host] = []
        self.addresses: set[int] = set()
        self.is_usual = True
        """Whether all results were arrays of the fast path, or dictionaries of them."""

    def new(self, make: Make | None = None) -> Array:
        value = (make or self.make)(self._keep)
        self.addresses.update(map(address, arrays_of(value)))
        leaves = [*value.values()] if type(value) is dict else [value]
        self.is_usual &= bool(leaves) and all(is_usual(self.library, leaf) for leaf in leaves)
        return value

    def _keep(self, memory: Host) -> Host:
        self.kept.append(memory)
        return memory

    def access(self, array: Array) -> tuple[bool, bool]:
        """Tell whether an array has the address of a returned one, and whether it is read-only."""
        is_read_only = isinstance(array, np.ndarray) and not array.flags.writeable
        return address(array) in self.addresses, is_read_only

    def overwrite(self) -> None:
        for memory in self.kept:
            memory[...] = "x" if memory.dtype.kind == "U" else 77
        self.kept.clear()
        self.addresses.clear()


class SingleSource(gym.Env["Array", "Array"]):
    observation_space = spaces.Box(-np.inf, np.inf, (2, 3))
    action_space = spaces.Box(-1, 1, (2,))

    source: Source

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return 0, {}

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        return self.source.new(), 1.0, False, False, {}


class InfoSource(SingleSource):
    """The value is in the info; the observation takes the fast path."""

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        info = {"speed": 2.5, "x": self.source.new(), "lives": 3, "mission": "go"}
        return self.source.new(self.source.usual), 1.0, False, False, info


class NumberSource(SingleSource):
    """The value is the reward, or one of the flags."""

    @override
    def step(self, action: Array) -> Array:
        results: list[Array] = [1.0, False, False]
        results[self.source.place] = self.source.new()
        return self.source.new(self.source.usual), *results, {}


class VectorSource(gym.vector.VectorEnv["Array", "Array", "Array"]):
    """The value is one of the results."""

    source: Source

    def __init__(self) -> None:
        self.num_envs = 2
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (3,))
        self.observation_space = spaces.Box(-np.inf, np.inf, (2, 3))
        self.single_action_space = spaces.Box(-1, 1, ())
        self.action_space = spaces.Box(-1, 1, (2,))

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return 0, {}

    @override
    def step(self, actions: Array) -> Array:
        usual, new = self.source.usual, self.source.new
        results = [new() if place == self.source.place else new(usual) for place in range(4)]
        return *results, {}


class VectorInfoSource(VectorSource):
    """The value is in the infos."""

    @override
    def step(self, actions: Array) -> Array:
        usual, new = self.source.usual, self.source.new
        infos = {"x": new(), "time": np.float64(0.5)}
        return *[new(usual) for _ in range(4)], infos


@cache
def flags_of(library: Library) -> tuple[Array, Array]:
    """Return the same two flags every time: a result might reuse the memory of freed ones."""
    return library.make(np.array([True, False])), library.make(np.array([False, False]))


class BatchedSource(gym.Env["Array", "Array"]):
    """The value is one of the results of an environment with two worlds."""

    observation_space = VectorSource().observation_space
    action_space = VectorSource().action_space
    num_envs = 2

    source: Source

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return 0, {}

    @override
    def step(self, action: Array) -> Array:
        usual, new = self.source.usual, self.source.new
        place = self.source.place
        results = [new() if at == place else new(usual) for at in range(2)]
        flags = [*flags_of(self.source.library)]
        if place > 1:
            flags[place - 2] = new()
        return *results, *flags, {}


class BatchedInfoSource(BatchedSource):
    """The value is in the info."""

    @override
    def step(self, action: Array) -> Array:
        info = {"x": self.source.new(), "time": 0.5, "lives": 3}
        return *super().step(action)[:4], info


class ParallelSource:
    """The value is the observation of one of two agents."""

    source: Source

    def __init__(self) -> None:
        self.metadata = {"name": "source"}
        self.possible_agents = self.agents = ["one", "two"]

    def observation_space(self, agent: str) -> gym.Space[Array]:
        del agent
        return SingleSource.observation_space

    def action_space(self, agent: str) -> gym.Space[Array]:
        del agent
        return SingleSource.action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        del seed, options
        return {}, {}

    def step(self, actions: dict[str, Array]) -> tuple[dict[str, Array], ...]:
        del actions
        flags = {"one": False, "two": True}
        obs = {"one": self.source.new(self.source.usual), "two": self.source.new()}
        return obs, {"one": 1.0, "two": 2.0}, flags, dict(flags), {"one": {}, "two": {}}


class Form(NamedTuple):
    """A form: its wrappers, the general path of its step, and an environment."""

    module: str
    step: Callable[[Array, Array], Array]
    environment: Callable[[], Array]


FORMS: dict[str, Form] = {
    "single": Form("gymbridge", SingleBridge.step, SingleSource),
    "info": Form("gymbridge", SingleBridge.step, InfoSource),
    "number": Form("gymbridge", SingleBridge.step, NumberSource),
    "vector": Form("gymbridge.vector", VectorBridge.step, VectorSource),
    "vector info": Form("gymbridge.vector", VectorBridge.step, VectorInfoSource),
    "parallel": Form("gymbridge.parallel", ParallelBridge.step, ParallelSource),
    "batched": Form("gymbridge.batched", BatchedBridge.step, BatchedSource),
    "batched info": Form("gymbridge.batched", BatchedBridge.step, BatchedInfoSource),
}


class Side(NamedTuple):
    """A wrapper and its environment."""

    wrapper: Array
    env: Array


@cache
def sides(form: str, pair: Pair, setting: str) -> tuple[Side, Side]:
    """Return two wrappers of a class, reused for all values so that lasting effects show."""
    module = import_module(FORMS[form].module)
    wrap = getattr(module, f"{pair.source.name.title()}To{pair.target.name.title()}")

    def side() -> Side:
        env = FORMS[form].environment()
        wrapper = wrap(env, **SETTINGS[setting].options)
        wrapper.reset()
        return Side(wrapper, env)

    return side(), side()


def hold_together(form: str, pair: Pair, setting: str, make: Make, place: int = 0) -> None:
    """Compare the rendered step with the general one, several times.

    Args:
        form: The wrappers and the environment.
        pair: The libraries.
        setting: The arguments of the wrappers.
        make: Makes the value that the environment returns.
        place: Its position among the results.
    """
    fast, general = sides(form, pair, setting)
    ours = fast.env.source = Source(pair.source, make, place)
    theirs = general.env.source = Source(pair.source, make, place)
    action = fast.wrapper.sample_action()
    for turn in range(OFTEN):
        one = outcome(fast.wrapper.step, action)
        other = outcome(FORMS[form].step, general.wrapper, action)
        assert one.described() == other.described(), (setting, turn)
        # JAX shares aligned memory; a reward that is no number may be a view or a copy
        if pair.target.name != "jax" and form != "number":
            shared = [ours.access(array) for array in arrays_of(one.result)]
            as_much = [theirs.access(array) for array in arrays_of(other.result)]
            # values off the fast path may be copied more often
            less = all(map(le, shared, as_much))
            assert shared == as_much or (less and not ours.is_usual), (setting, turn)
        ours.overwrite()
        theirs.overwrite()
        assert one.described() == other.described(), (setting, turn)


OF_OBSERVATIONS = [
    *("single", "info", "vector", "vector info", "parallel", "batched", "batched info"),
]


def cases(values: dict[str, dict[str, Make]], forms: list[str]) -> list[Array]:
    """Return every test value of a pair, in every form."""
    return [
        pytest.param(pair, form, variant, id=f"{pair}-{form}-{variant}")
        for pair in PAIRS
        for form in forms
        for variant in values[pair.source.name]
    ]


def times(library: Library) -> int:
    """Return the number of repetitions of a conversion to a library."""
    return OFTEN if library.name == "jax" else 1


@pytest.mark.parametrize(("pair", "form", "variant"), cases(OBSERVATIONS, OF_OBSERVATIONS))
def test_observations_agree_on_both_paths(pair: Pair, form: str, variant: str) -> None:
    make = OBSERVATIONS[pair.source.name][variant]
    for setting in settings_of(pair):
        with SETTINGS[setting].context():
            hold_together(form, pair, setting, make)


@pytest.mark.parametrize(("pair", "form", "variant"), cases(NUMBERS, ["number"]))
def test_single_rewards_and_flags_agree_on_both_paths(pair: Pair, form: str, variant: str) -> None:
    for place in range(3):
        hold_together(form, pair, "as it comes", NUMBERS[pair.source.name][variant], place)


@pytest.mark.parametrize(("pair", "form", "variant"), cases(NUMBERS, ["vector", "batched"]))
def test_vector_rewards_and_flags_agree_on_both_paths(pair: Pair, form: str, variant: str) -> None:
    for place in range(1, 4):
        for setting in ("as it comes", "float_dtype", "copy=False"):
            hold_together(form, pair, setting, NUMBERS[pair.source.name][variant], place)


# -- actions ----------------------------------------------------------------------------------


ACTION_SPACES: dict[str, gym.Space[Array]] = {
    "Box": spaces.Box(-100, 100, (2, 3)),
    "Box of float64": spaces.Box(-100, 100, (2, 3), np.float64),
    "Box of bytes": spaces.Box(0, 255, (2, 3), np.uint8),
    "Box of one number": spaces.Box(-100, 100, (1,)),
    "Box without axes": spaces.Box(-100, 100, ()),
    "Discrete": spaces.Discrete(5),
    "Discrete from -1": spaces.Discrete(5, start=-1),
    "Discrete with many numbers": spaces.Discrete(300),
    "MultiDiscrete": spaces.MultiDiscrete(np.full((2, 3), 9)),
    "MultiBinary": spaces.MultiBinary([2, 3]),
    "Dict": spaces.Dict(a=spaces.Box(-100, 100, (2, 3)), b=spaces.Discrete(5)),
    "Text": spaces.Text(9),
}


class Receiving(gym.Env["Array", "Array"]):
    """Keeps its action."""

    observation_space = spaces.Discrete(2)
    received: Array = None

    def __init__(self, space: gym.Space[Array]) -> None:
        self.action_space = space

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return 0, {}

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        self.received = action
        return 0, 0.0, False, False, {}


class ReceivingVector(gym.vector.VectorEnv["Array", "Array", "Array"]):
    """Keeps its actions."""

    received: Array = None

    def __init__(self, space: gym.Space[Array]) -> None:
        self.num_envs = 2
        self.single_observation_space = self.single_action_space = spaces.Discrete(2)
        self.observation_space = spaces.MultiDiscrete([2, 2])
        self.action_space = space

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return 0, {}

    @override
    def step(self, actions: Array) -> Array:
        self.received = actions
        return 0, 0, 0, 0, {}


class ReceivingBatched(Receiving):
    """Keeps the actions of two worlds."""

    num_envs = 2


RECEIVING: dict[str, tuple[str, Callable[[Array, Array], Array], type[Array]]] = {
    "single": ("gymbridge", SingleBridge.step, Receiving),
    "vector": ("gymbridge.vector", VectorBridge.step, ReceivingVector),
    "batched": ("gymbridge.batched", BatchedBridge.step, ReceivingBatched),
}


@cache
def receiving(form: str, pair: Pair, space: str, setting: str) -> tuple[Side, Side]:
    """Return two wrappers around environments that keep their actions."""
    module, _, make = RECEIVING[form]
    name = f"{pair.source.name.title()}To{pair.target.name.title()}"

    def side() -> Side:
        env = make(ACTION_SPACES[space])
        wrapper = getattr(import_module(module), name)(env, **SETTINGS[setting].options)
        wrapper.reset()
        return Side(wrapper, env)

    return side(), side()


def actions_of(library: Library) -> list[Array]:
    """Return the actions that agents of a library pass."""
    values = [variant(lambda memory: memory) for variant in OBSERVATIONS[library.name].values()]
    values += [variant(lambda memory: memory) for variant in NUMBERS[library.name].values()]
    for dtype in ("int64", "int32", "uint8", "float32", "float16", "bool"):
        values += [library.make(np.array(number, dtype)) for number in (0, 1, 4, 5, 200)]
        values += [library.make(np.array([number], dtype)) for number in (1, 200)]
    return values


@pytest.mark.parametrize("space", ACTION_SPACES)
@pytest.mark.parametrize("form", RECEIVING)
def test_actions_agree_on_both_paths(pair: Pair, form: str, space: str) -> None:
    for setting in {"as it comes", "copy=False", "x64"} & {*settings_of(pair)}:
        with SETTINGS[setting].context():
            for action in actions_of(pair.target):
                for _ in range(times(pair.source)):
                    hold_action(form, pair, space, setting, action)


def hold_action(form: str, pair: Pair, space: str, setting: str, action: Array) -> None:
    fast, general = receiving(form, pair, space, setting)
    fast.env.received = general.env.received = None
    one = outcome(fast.wrapper.step, action)
    other = outcome(RECEIVING[form][1], general.wrapper, action)
    assert one.error == other.error, (setting, action)
    ours, theirs = fast.env.received, general.env.received
    assert described(ours) == described(theirs), (setting, action)
    held = {*map(address, arrays_of(action))}
    shared = [address(array) in held for array in arrays_of(ours)]
    assert shared == [address(array) in held for array in arrays_of(theirs)], (setting, action)
    assert setting == "copy=False" or not any(shared) or not is_writable(action), (setting, action)


def is_writable(action: Array) -> bool:
    """Tell whether an environment could write into a shared action."""
    return all(isinstance(array, (np.ndarray, torch.Tensor)) for array in arrays_of(action))


# -- converters -------------------------------------------------------------------------------


@pytest.mark.parametrize(("pair", "form", "variant"), cases(OBSERVATIONS, ["converter"]))
def test_converters_agree_on_both_paths(pair: Pair, form: str, variant: str) -> None:
    module = import_module(f"gymbridge.{form}s.{pair.name}")
    fast = getattr(module, pair.name)
    target = load(f"gymbridge_runtime.backends.{pair.target.name}:{pair.target.name.upper()}")
    contexts = [nullcontext, x64] if "jax" in pair.name else [nullcontext]
    for options, context in product(options_of(pair), contexts):
        general = converter_to(target, options.get("device"), options["copy"])
        for _ in range(times(pair.target)):
            source = Source(pair.source, OBSERVATIONS[pair.source.name][variant], 0)
            value = source.new()
            with context():
                one, other = outcome(fast, value, **options), outcome(general, value)
            assert one.described() == other.described(), (options, context)
            if pair.target.name != "jax":
                shared = [*map(source.access, arrays_of(one.result))]
                assert shared == [*map(source.access, arrays_of(other.result))], (options, context)
            source.overwrite()
            assert one.described() == other.described(), (options, context)


def options_of(pair: Pair) -> list[dict[str, Array]]:
    """Return the options of the converter of a pair."""
    options: list[dict[str, Array]] = [{"copy": copy} for copy in (None, True, False)]
    if pair.target.name in {"torch", "jax"}:
        options += [{**one, "device": "cpu"} for one in options]
    return options
