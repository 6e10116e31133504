"""Containers are rebuilt with converted leaves, by rules and the registry."""

from __future__ import annotations

import inspect
import sys
import types
import warnings
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Iterator, KeysView, Mapping
from dataclasses import InitVar, dataclass, field, make_dataclass
from itertools import count
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypedDict, TypeVar

import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from gymnasium import spaces
from typing_extensions import override

from gymbridge import NumpyToTorch, UnconvertedContainerWarning, register_container
from gymbridge.numpy_to_torch import numpy_to_torch
from tests.libraries.flax import FrozenDict
from tests.libraries.tensordict import TensorDict, tensorclass
from tests.libraries.torch import torch
from tests.runtime.replay import Replay
from tests.support import LIBRARIES, Array, Library, Pair, identical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = [
    pytest.mark.usefixtures("own_containers"),
    pytest.mark.filterwarnings("error::gymbridge.UnconvertedContainerWarning"),
]

T = TypeVar("T")


def leaf(library: Library, value: float = 1.0) -> Array:
    return library.make(np.array([value, 2.0], np.float32))


def leaves(library: Library) -> tuple[Array, Array]:
    return leaf(library, 3), leaf(library, 4)


# -- classes ----------------------------------------------------------------------------------


class Reading(TypedDict):
    speed: Array
    name: str


class Point(NamedTuple):
    x: Array
    y: Array = None


class Stamped(tuple[Array, ...]):
    stamp: str


class Two(tuple[Array, Array]):
    """A tuple with another constructor."""

    __slots__ = ()

    def __new__(cls, one: Array, other: Array) -> Two:
        return super().__new__(cls, (one, other))


class Attributes(dict[str, Array]):
    """A dictionary with attributes."""

    origin: str


class Namespace(dict[str, Array]):
    """A dictionary whose keys are its attributes."""

    goal: Array
    later: int

    def __init__(self, **values: Array) -> None:
        super().__init__(values)
        self.__dict__ = self


class Route(list[Array]):
    length: int


class ArraysOnly(dict[str, Array]):
    """A dictionary that checks its items."""

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        if not hasattr(value, "shape"):
            raise TypeError(f"{value!r} is no array")
        super().__setitem__(key, value)


class Fixed(Mapping[str, Array]):
    """A mapping that only its constructor fills."""

    def __init__(self, values: Mapping[str, Array]) -> None:
        self._values = dict(values)

    @override
    def __getitem__(self, key: str) -> Array:
        return self._values[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    @override
    def __len__(self) -> int:
        return len(self._values)


class Copied(Fixed):
    """A mapping with `__copy__` that takes new items."""

    def __setitem__(self, key: str, value: Array) -> None:
        self._values[key] = value

    def __copy__(self) -> Copied:
        return Copied(self._values)


class OneStore(Copied):
    """A mapping whose copies share one storage."""

    @override
    def __copy__(self) -> OneStore:
        other = OneStore({})
        other._values = self._values
        return other


class Casting(dict[str, Array]):
    """A dictionary that changes its items."""

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        super().__setitem__(key, repr(value))


class Lazy(dict[str, Array]):
    """A dictionary of functions; `values` returns their results."""

    @override
    def values(self) -> Array:
        return [make() for make in super().values()]


class Selfsame(dict[str, Array]):
    """A dictionary whose copy is itself."""

    def __copy__(self) -> Selfsame:
        return self


class Empty(dict[str, Array]):
    """A dictionary whose copy is empty."""

    def __copy__(self) -> Empty:
        return Empty()


class Closing(dict[str, Array]):
    """A dictionary with `__del__`: a copy would release the resource twice."""

    def __del__(self) -> None:
        pass


class Batch:
    """A user's own class, unknown until it is registered."""

    def __init__(self, arrays: Sequence[Array], name: str) -> None:
        self.arrays = arrays
        self.name = name


class NamedBatch(Batch):
    """A subclass of a registered class."""


@dataclass
class State:
    position: Array
    name: str = "state"
    steps: int = field(default=0, init=False)
    kind: ClassVar[str] = "kind"


@dataclass(frozen=True)
class Frozen:
    position: Array
    doubled: InitVar[bool] = False

    def __post_init__(self, doubled: bool) -> None:
        if doubled:
            raise AssertionError("hooks do not run again")


@dataclass(slots=True)
class Slotted:
    position: Array
    missing: Array = field(init=False)


@dataclass(frozen=True, slots=True)
class FrozenSlotted:
    position: Array


@dataclass
class Inherited(State):
    velocity: Array = None


@dataclass(kw_only=True)
class Boxed(Generic[T]):
    position: T
    cache: Array = field(default=None, init=False, repr=False, compare=False)


# -- every kind -------------------------------------------------------------------------------


class Kind(NamedTuple):
    """How to make a container of two leaves and read them."""

    make: Callable[[Array, Array], Array]
    read: Callable[[Array], tuple[Array, Array]]


def by_key(kind: Callable[[dict[str, Array]], Array]) -> Kind:
    return Kind(lambda one, two: kind({"b": one, "a": two}), lambda it: (it["b"], it["a"]))


def by_index(kind: Callable[[list[Array]], Array]) -> Kind:
    return Kind(lambda one, two: kind([one, two]), lambda it: (it[0], it[1]))


def by_field(kind: Callable[..., Array]) -> Kind:
    def make(one: Array, two: Array) -> Array:
        return kind(position=[one, two])

    return Kind(make, lambda it: (it.position[0], it.position[1]))


def object_array(one: Array, two: Array) -> Array:
    array = np.empty((2, 1), object)
    array[0, 0], array[1, 0] = one, two
    return array


KINDS: dict[str, Kind] = {
    "dict": by_key(dict),
    "OrderedDict": by_key(OrderedDict),
    "defaultdict": by_key(lambda items: defaultdict(list, items)),
    "Counter": by_key(Counter),
    "UserDict": by_key(UserDict),
    "MappingProxyType": by_key(types.MappingProxyType),
    "ChainMap": by_key(ChainMap),
    "a subclass of dict": by_key(Attributes),
    "a dict that checks": by_key(ArraysOnly),
    "a dict that copies to an empty one": by_key(Empty),
    "a dict of attributes": by_key(lambda items: Namespace(**items)),
    "a mapping with __copy__": by_key(Copied),
    "FrozenDict": by_key(FrozenDict),
    "list": by_index(list),
    "tuple": by_index(tuple),
    "deque": by_index(deque),
    "a subclass of list": by_index(Route),
    "a subclass of tuple": by_index(Stamped),
    "a tuple with a constructor": by_index(lambda items: Two(*items)),
    "named tuple": by_index(lambda items: Point(*items)),
    "dataclass": by_field(State),
    "frozen dataclass": by_field(Frozen),
    "slotted dataclass": by_field(Slotted),
    "frozen, slotted dataclass": by_field(FrozenSlotted),
    "derived dataclass": by_field(Inherited),
    "generic dataclass": by_field(Boxed),
    "object array": Kind(object_array, lambda it: (it[0, 0], it[1, 0])),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every known container, one after the other."""
    return KINDS[request.param]


def test_a_container_keeps_its_type_and_gets_converted_leaves(pair: Pair, kind: Kind) -> None:
    value = kind.make(*leaves(pair.source))
    result = pair.convert({"inside": [value]})["inside"][0]
    assert type(result) is type(value)
    assert result is not value
    for converted, expected in zip(kind.read(result), (3, 4), strict=True):
        assert pair.target.is_array(converted)
        assert pair.target.values(converted).tolist() == [expected, 2]


@pytest.mark.parametrize("copies", [None, True])
def test_the_container_of_the_environment_does_not_change(kind: Kind, copies: bool | None) -> None:
    pair = Pair("torch", "numpy")
    first, second = leaves(pair.source)
    before = pair.source.values(first)
    value = kind.make(first, second)
    pair.convert(value, copy=copies)
    pair.convert([value], copy=copies)
    held, other = kind.read(value)
    assert held is first
    assert other is second
    assert identical(pair.source.values(held), before)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "a dict that checks"])
def test_400_levels_are_converted(name: str) -> None:
    make, read = KINDS[name]
    tree: Array = np.full(2, 3.0)
    for _ in range(400):
        tree = make(tree, None)
    result = Pair("numpy", "torch").convert(tree)
    for _ in range(400):
        result, none = read(result)
        assert none is None
    assert torch.equal(result, torch.full((2,), 3.0, dtype=torch.float64))


@pytest.fixture
def short_stack() -> Iterator[None]:
    """Lower the recursion limit, so that small trees reach it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("short_stack")
@pytest.mark.parametrize("inside", [np.ones(1), 2**80], ids=["array", "not convertible"])
@pytest.mark.parametrize("name", ["list", "ChainMap", "OrderedDict", "slotted dataclass"])
def test_every_depth_is_converted_or_a_conversion_error(name: str, inside: Array) -> None:
    make, read = KINDS[name]
    problems: set[str] = set()
    for depth in range(150):
        tree = inside
        for _ in range(depth):
            tree = make(tree, None)
        try:
            result = Pair("numpy", "torch").convert(tree)
        except ConversionError as error:
            problems.add(error.problem[:30])
            continue
        for _ in range(depth):
            result, _ = read(result)
        assert result.tolist() == [1]
    refused = set() if isinstance(inside, np.ndarray) else {"the int 1208925819614629174706"[:30]}
    assert problems == {"the containers are nested too "} | refused


def test_nesting_beyond_the_stack_is_an_error_with_advice() -> None:
    tree: list[Array] = [np.ones(1)]
    for _ in range(100_000):
        tree = [tree]
    with pytest.raises(ConversionError) as caught:
        Pair("numpy", "torch").convert({"info": tree})
    assert caught.value.problem == "the containers are nested too deeply"
    assert caught.value.advice == "flatten them first"
    assert caught.value.path.startswith("value['info'][0][0]")


# -- attributes and other state ---------------------------------------------------------------


def test_keys_of_any_kind_keep_their_order(pair: Pair) -> None:
    keys = ["z", 7, None, (1, "two"), 2.5, b"bytes", frozenset({1}), int, True, "a"]
    result = pair.convert({key: leaf(pair.source, i) for i, key in enumerate(keys)})
    assert type(result) is dict
    assert list(result) == keys
    for i, value in enumerate(result.values()):
        assert pair.target.values(value).tolist() == [i, 2]


def test_a_defaultdict_keeps_its_factory(pair: Pair) -> None:
    value = defaultdict(list, {"a": [leaf(pair.source)]})
    result = pair.convert(value)
    assert result["new"] == []
    assert "new" not in value


def test_a_counter_keeps_counting(pair: Pair) -> None:
    result = pair.convert(Counter("abca"))
    assert list(result) == ["a", "b", "c"]
    assert int(result["a"]) == 2
    assert result["missing"] == 0


def test_a_deque_keeps_its_limit(pair: Pair) -> None:
    result = pair.convert(deque([*leaves(pair.source)], maxlen=2))
    assert result.maxlen == 2
    result.append(leaf(pair.target, 5))
    assert pair.target.values(result[0]).tolist() == [4, 2]


def test_a_typed_dict_is_a_dict(pair: Pair) -> None:
    result = pair.convert(Reading(speed=leaf(pair.source), name="wind"))
    assert type(result) is dict
    assert pair.target.is_array(result["speed"])
    assert result["name"] == "wind"


def test_a_chain_map_stays_a_chain_map(pair: Pair) -> None:
    hidden = leaf(pair.source, 7)
    value = ChainMap({"a": leaf(pair.source, 5)}, {"a": hidden, "b": (leaf(pair.source),)})
    result = pair.convert(value)
    assert [list(one) for one in result.maps] == [["a"], ["a", "b"]]
    assert pair.target.values(result["a"]).tolist() == [5, 2]
    assert pair.target.values(result.parents["a"]).tolist() == [7, 2]
    assert pair.target.is_array(result["b"][0])
    assert value.maps[1]["a"] is hidden


def test_attributes_of_a_container_are_kept(pair: Pair) -> None:
    attributed = Attributes(goal=leaf(pair.source))
    attributed.origin = "north"
    stamped = Stamped((leaf(pair.source),))
    stamped.stamp = "now"
    route = Route([leaf(pair.source)])
    route.length = 7
    result = pair.convert([attributed, stamped, route])
    assert [result[0].origin, result[1].stamp, result[2].length] == ["north", "now", 7]


def test_attributes_that_are_keys_are_converted(pair: Pair) -> None:
    value = Namespace(goal=leaf(pair.source), name="north")
    result = pair.convert({"a": value})["a"]
    assert result.goal is result["goal"]
    assert pair.target.is_array(result.goal)
    result.later = 1
    assert result["later"] == 1
    assert list(value) == ["goal", "name"]
    assert pair.source.is_array(value.goal)


def test_a_dataclass_keeps_fields_that_its_constructor_does_not_take(
    pair: Pair,
) -> None:
    value = State(leaf(pair.source), "falcon")
    value.steps = 3
    vars(value)["note"] = "remember"
    result = pair.convert(value)
    assert result.name == "falcon"
    assert pair.target.values(result.steps).tolist() == 3
    assert vars(result)["note"] == "remember"


def test_an_unset_dataclass_field_stays_unset(pair: Pair) -> None:
    result = pair.convert(Slotted(leaf(pair.source)))
    assert pair.target.is_array(result.position)
    assert not hasattr(result, "missing")


def test_a_dataclass_type_stays_itself(pair: Pair) -> None:
    assert pair.convert({"kind": State})["kind"] is State


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,)])
def test_an_object_array_keeps_its_shape(pair: Pair, shape: tuple[int, ...]) -> None:
    value = np.empty(shape, object)
    for index in np.ndindex(shape):
        value[index] = {"x": leaf(pair.source, 3)}
    result = pair.convert({"a": value})["a"]
    assert type(result) is np.ndarray
    assert (result.dtype, result.shape) == (value.dtype, shape)
    assert all(pair.target.is_array(one["x"]) for one in result.flat)
    assert all(pair.source.is_array(one["x"]) for one in value.flat)


@pytest.mark.parametrize("empty", [{}, [], (), deque(), OrderedDict(), Route(), Fixed({})])
def test_an_empty_container_stays_empty(pair: Pair, empty: Array) -> None:
    result = pair.convert({"a": empty})["a"]
    assert type(result) is type(empty)
    assert len(result) == 0


def test_a_container_in_two_places_is_converted_twice(pair: Pair) -> None:
    shared = [leaf(pair.source)]
    result = pair.convert({"one": shared, "other": shared, "both": [shared, shared]})
    found = [result["one"], result["other"], *result["both"]]
    assert all(pair.target.is_array(one[0]) for one in found)
    assert len({*map(id, found)}) == 4


def test_ten_thousand_leaves_are_converted(pair: Pair) -> None:
    values = [pair.source.make(np.full(2, i, np.float32)) for i in range(10_000)]
    result = pair.convert({"all": values, "text": "kept"})
    assert result["text"] == "kept"
    assert len(result["all"]) == 10_000
    for i in (0, 1, 4_999, 9_999):
        assert pair.target.values(result["all"][i]).tolist() == [i, i]


def test_changes_to_a_result_do_not_reach_the_environment(pair: Pair) -> None:
    tree: dict[str, Array] = {"list": [leaf(pair.source)], "dict": {}, "text": "kept"}
    result = pair.convert(tree)
    result["list"].append("new")
    result["dict"]["new"] = 1
    result["text"] = "changed"
    assert len(tree["list"]) == 1
    assert tree["dict"] == {}
    assert tree["text"] == "kept"


# -- unknown classes ----------------------------------------------------------------------------


def items_of(value: Array) -> list[Array]:
    """Return the items of a container by the methods of its base class."""
    if isinstance(value, dict):
        return [*dict.values(value)]
    return [*value.values()] if isinstance(value, Mapping) else [*value]


def test_a_dictionary_that_makes_its_values_stays_as_it_is() -> None:
    functions = {"a": lambda: np.ones(2), "b": lambda: "text"}
    value = Lazy(functions)
    with warnings.catch_warnings(action="ignore"):  # it may warn that it cannot copy the class
        numpy_to_torch({"inside": value})
    assert list(value.items()) == list(functions.items())


UNKNOWN: dict[str, Callable[[Array], Array]] = {
    "a mapping without __copy__": lambda array: Fixed({"a": array}),
    "a sequence": lambda array: UserList([array]),
    "a dict that copies to itself": lambda array: Selfsame(a=array),
    "a dict that changes its items": lambda array: Casting(a=array),
    "a mapping whose copies share its storage": lambda array: OneStore({"a": array}),
    "a dict that releases something": lambda array: Closing(a=array),
}


@pytest.mark.parametrize("copies", [None, True, False])
@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_container_stays_itself(name: str, copies: bool | None) -> None:
    pair = Pair("torch", "numpy")
    array = leaf(pair.source)
    value = UNKNOWN[name](array)
    with pytest.warns(UnconvertedContainerWarning):
        result = pair.convert({"inside": value, "beside": leaf(pair.source)}, copy=copies)
    assert result["inside"] is value
    assert all(held is array for held in items_of(value))
    assert pair.target.is_array(result["beside"])


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_container_with_arrays_gives_one_warning_per_type(name: str) -> None:
    pair = Pair("numpy", "torch")
    value = UNKNOWN[name](leaf(pair.source))
    kind = type(value)
    with pytest.warns(UnconvertedContainerWarning) as caught:
        pair.convert([value, value])
    pair.convert(value)  # a second warning would be an error
    Pair("numpy", "jax").convert(value)
    (warning,) = caught
    assert warning.filename.endswith("support.py"), "the code that calls gymbridge"
    assert str(warning.message) == (
        f"{kind.__module__}.{kind.__qualname__} holds arrays that are not converted, because "
        "gymbridge does not know how to build another one; register it with "
        f"gymbridge.register_container({kind.__qualname__}, ...)"
    )


def test_every_unknown_container_type_has_its_own_warning() -> None:
    with pytest.warns(UnconvertedContainerWarning) as caught:
        Pair("numpy", "torch").convert([Fixed({"a": np.ones(1)}), UserList([np.ones(1)])])
    assert [str(one.message).split(" ")[0].rpartition(".")[2] for one in caught] == [
        "Fixed",
        "UserList",
    ]


def test_a_wrapper_warns_about_an_unknown_container() -> None:
    env = NumpyToTorch(Replay(spaces.Discrete(2), 0, {"held": Fixed({"a": np.ones(1)})}))
    with pytest.warns(UnconvertedContainerWarning, match="Fixed holds arrays") as caught:
        env.reset()
    assert caught[0].filename == __file__, "the code that calls gymbridge"
    env.step(torch.tensor(1))  # a second warning would be an error


class Unreadable(Mapping[str, Array]):
    """A mapping that cannot be read."""

    @override
    def __getitem__(self, key: str) -> Array:
        raise OSError("the file is closed")

    @override
    def __iter__(self) -> Iterator[str]:
        return iter("a")

    @override
    def __len__(self) -> int:
        return 1


class Endless(Mapping[str, Array]):
    """A mapping with endless items."""

    @override
    def __getitem__(self, key: str) -> Array:
        return key

    @override
    def __iter__(self) -> Iterator[str]:
        return map(str, count())

    @override
    def __len__(self) -> int:
        return 3


@pytest.mark.parametrize(
    "value",
    [
        Fixed({"name": "none"}),
        UserList([1, "text"]),
        range(10**12),
        bytearray(1 << 20),
        memoryview(b"bytes"),
        Unreadable(),
        Endless(),
        spaces.Dict(a=spaces.Discrete(2)),
        sys.version_info,
        {1, 2},
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_unknown_container_without_arrays_gives_no_warning(pair: Pair, value: object) -> None:
    for copies in (None, True):
        result = pair.convert({"inside": value, "beside": leaf(pair.source)}, copy=copies)
        assert result["inside"] is value or result["inside"] == value
        assert pair.target.is_array(result["beside"])


class Lost(UserDict[str, Array]):
    """A known mapping that cannot be read."""

    @override
    def keys(self) -> KeysView[str]:
        raise OSError("the file is closed")


def test_an_unreadable_container_is_an_error(pair: Pair) -> None:
    with pytest.raises(ConversionError) as caught:
        pair.convert([{"a": Lost(a=1)}])
    assert str(caught.value) == (
        "value[0]['a']: the Lost could not be read: the file is closed; correct it, or take it "
        "out of the tree"
    )
    assert isinstance(caught.value.__cause__, OSError)


# -- the registry -----------------------------------------------------------------------------


def register_batch() -> None:
    register_container(
        Batch,
        flatten=lambda batch: (batch.arrays, (type(batch), batch.name)),
        unflatten=lambda known, children: known[0](children, known[1]),
    )


@pytest.mark.parametrize("kind", [Batch, NamedBatch])
def test_a_registered_class_and_its_subclasses_are_converted(pair: Pair, kind: type[Batch]) -> None:
    register_batch()
    held = [*leaves(pair.source)]
    value = kind(held, "first")
    result = pair.convert({"batch": value})["batch"]
    assert type(result) is kind
    assert result.name == "first"
    assert [pair.target.values(one).tolist() for one in result.arrays] == [[3, 2], [4, 2]]
    assert value.arrays is held
    assert all(map(pair.source.is_array, held))


def test_a_class_may_be_registered_after_its_first_conversion(pair: Pair) -> None:
    value = Batch([leaf(pair.source)], "first")
    assert pair.convert([value])[0] is value
    register_batch()
    assert pair.target.is_array(pair.convert([value])[0].arrays[0])


def test_a_registration_overrides_every_rule(pair: Pair) -> None:
    register_container(
        Attributes,
        flatten=lambda value: ([value["a"]], None),
        unflatten=lambda _, children: Attributes(registered=children[0]),
    )
    result = pair.convert([Attributes(a=leaf(pair.source))])[0]
    assert list(result) == ["registered"]


def test_an_error_in_a_registered_class_has_a_path(pair: Pair) -> None:
    register_batch()
    with pytest.raises(ConversionError, match=r"^value\['batch'\]\[1\]: the int"):
        pair.convert({"batch": Batch([leaf(pair.source), 2**80], "first")})


def test_an_error_in_flatten_is_a_conversion_error() -> None:
    def fail(_: Batch) -> Array:
        raise RuntimeError("out of order")

    register_container(Batch, fail, lambda _, children: Batch(children, "again"))
    with pytest.raises(ConversionError, match=r"^value\[0\]: the Batch could not be read: out of"):
        Pair("numpy", "torch").convert([Batch([], "first")])


def test_an_error_in_unflatten_is_raised_with_its_path() -> None:
    def fail(*_: Array) -> Batch:
        raise RuntimeError("it holds no tensors")

    register_container(Batch, lambda batch: (batch.arrays, None), fail)
    match = r"^value\['a'\]\[1\]: no other Batch could be built: it holds no tensors; correct the"
    for _ in range(2):
        with pytest.raises(ConversionError, match=match) as caught:
            Pair("numpy", "torch").convert({"a": [1, Batch([np.ones(1)], "first")]})
        assert isinstance(caught.value.__cause__, RuntimeError)


def test_warnings_that_are_errors_stay_warnings() -> None:
    class Unknown(UserList[Array]):
        """A sequence that gymbridge cannot build."""

    with warnings.catch_warnings(action="error"):
        for _ in range(2):
            with pytest.raises(UnconvertedContainerWarning, match="Unknown holds arrays"):
                Pair("numpy", "torch").convert([Unknown([np.ones(1)])])


def test_a_registered_class_may_be_an_observation_and_an_action() -> None:
    register_batch()
    inner = Replay(
        spaces.Discrete(2), Batch([np.ones(2)], "obs"), {}, spaces.Space[Array]((), None)
    )
    env = NumpyToTorch[Array, Array](inner)
    for obs in (env.reset()[0], env.step(Batch([torch.ones(2)], "action"))[0]):
        assert type(obs) is Batch
        assert type(obs.arrays[0]) is torch.Tensor
    assert inner.actions[0].name == "action"
    assert type(inner.actions[0].arrays[0]) is np.ndarray


class TestTensorDicts:
    def test_tensordicts_share_their_tensors_with_pytorch(self) -> None:
        value = TensorDict({"a": torch.ones(2, 3), "b": {"c": torch.ones(2)}}, batch_size=[2])
        result = Pair("numpy", "torch").convert({"obs": value})["obs"]
        assert type(result) is TensorDict
        assert result is not value
        assert result.batch_size == value.batch_size
        assert result["b", "c"].data_ptr() == value["b", "c"].data_ptr()

    def test_copy_true_copies_tensordicts(self) -> None:
        value = TensorDict({"a": torch.ones(2, 3), "b": {"c": torch.ones(2)}}, batch_size=[2])
        result = Pair("numpy", "torch").convert(value, copy=True)
        result["b", "c"].zero_()
        result["a"].zero_()
        assert (value["b", "c"] == 1).all()
        assert (value["a"] == 1).all()

    @pytest.mark.parametrize("target", ["numpy", "jax", "mlx"])
    def test_tensordicts_become_dictionaries_for_other_libraries(self, target: str) -> None:
        pair = Pair("torch", target)
        pair.require()
        value = TensorDict({"a": torch.ones(2, 3), "b": {"c": torch.ones(2)}}, batch_size=[2])
        result = pair.convert({"obs": value})["obs"]
        assert type(result) is type(result["b"]) is dict
        assert pair.target.values(result["a"]).tolist() == [[1, 1, 1], [1, 1, 1]]
        assert pair.target.is_array(result["b"]["c"])
        assert torch.equal(value["a"], torch.ones(2, 3))

    @pytest.mark.parametrize("copies", [None, True])
    @pytest.mark.parametrize("target", ["numpy", "torch"])
    def test_tensorclasses_stay_themselves(self, target: str, copies: bool | None) -> None:
        # tensorclasses look like dataclasses and keep their fields in a TensorDict
        made: Array = tensorclass(make_dataclass("Made", [("a", torch.Tensor)]))
        value = made(a=torch.ones(3), batch_size=[3])
        source = "numpy" if target == "torch" else "torch"
        assert Pair(source, target).convert([value], copy=copies)[0] is value
        assert value[0].a.item() == value.a[0].item() == 1


# -- cycles -----------------------------------------------------------------------------------


def cycles() -> dict[str, tuple[Array, str]]:
    in_list: list[Array] = ["text"]
    in_list.append(in_list)
    in_dict: dict[str, Array] = {}
    in_dict["self"] = [in_dict]
    in_deque: deque[Array] = deque()
    in_deque.append(in_deque)
    in_tuple: tuple[list[Array]] = ([],)
    in_tuple[0].append(in_tuple)
    in_state = State(None)
    in_state.position = in_state
    in_objects = np.empty(1, object)
    in_objects[0] = in_objects
    return {
        "list": (in_list, "[1]"),
        "dict": (in_dict, "['self'][0]"),
        "deque": (in_deque, "[0]"),
        "tuple": (in_tuple, "[0][0]"),
        "dataclass": (in_state, ".position"),
        "object array": (in_objects, "[0]"),
    }


@pytest.mark.parametrize("name", cycles())
def test_a_container_that_contains_itself_is_an_error(pair: Pair, name: str) -> None:
    value, step = cycles()[name]
    for tree, before in ((value, "value"), ({"a": [value]}, "value['a'][0]")):
        with pytest.raises(ConversionError) as caught:
            pair.convert(tree)
        assert caught.value.path == before + step
        assert caught.value.problem == f"the {type(value).__name__} contains itself"
        assert caught.value.advice == "break the cycle first"


class Recursive(UserDict[str, Array]):
    """A mapping with endless recursion in its methods."""

    @override
    def keys(self) -> KeysView[str]:
        return self.keys()


def test_a_container_with_endless_recursion_is_an_error(pair: Pair) -> None:
    with pytest.raises(ConversionError, match="nested too deeply"):
        pair.convert([Recursive(a=1)])


def test_any_number_of_types_is_converted() -> None:
    pair = Pair("torch", "numpy")
    for i in range(1100):
        kind: Array = make_dataclass(f"State{i}", ["position"])
        result = pair.convert(
            {"state": kind(leaf(LIBRARIES["numpy"])), "list": [leaf(pair.source)]}
        )
        assert type(result["state"]) is kind
        assert pair.target.is_array(result["state"].position)
        assert pair.target.is_array(result["list"][0])
