"""Containers keep their type, their keys and their order, and their leaves are converted."""

from __future__ import annotations

import copy
import dataclasses
import pathlib
import sys
import time
import types
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Iterator, KeysView, Mapping
from dataclasses import InitVar, dataclass, field
from itertools import count, repeat
from typing import ClassVar, Generic, NamedTuple, Self, TypedDict, TypeVar, cast
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from gymbridge_runtime.backend import load
from gymbridge_runtime.converter import Converter
from gymnasium import spaces
from typing_extensions import override

from tests.libraries.tensordict import TensorDict, tensorclass
from tests.libraries.torch import torch
from tests.support import LIBRARIES, PAIRS, Array, Library, Pair, identical

T = TypeVar("T")


def leaf(library: Library, value: float = 1.0) -> Array:
    return library.make(np.array([value, 2.0], np.float32))


class Reading(TypedDict):
    speed: Array
    name: str


class Point(NamedTuple):
    x: Array
    y: Array = None


class Stamped(tuple[Array, ...]):
    stamp: str


class Two(tuple[Array, Array]):
    """A tuple whose constructor does not take what tuples take."""

    __slots__ = ()

    def __new__(cls, one: Array, other: Array) -> Two:
        return super().__new__(cls, (one, other))


class Shown(tuple[Array, ...]):
    """A tuple that shows Python's numbers for NumPy's, whatever else it holds."""

    def __new__(cls, items: Array) -> Self:
        return super().__new__(cls, items)

    @override
    def __iter__(self) -> Iterator[Array]:
        held = super().__iter__()
        return iter([item.item() if hasattr(item, "item") else item for item in held])


class Attributes(dict[str, Array]):
    """A dictionary with attributes besides."""

    origin: str

    def __getattr__(self, name: str) -> Array:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error


class Namespace(dict[str, Array]):
    """A dictionary whose keys are its attributes, as many projects have one."""

    goal: Array
    later: int

    def __init__(self, **values: Array) -> None:
        super().__init__(values)
        self.__dict__ = self


class Path(list[Array]):
    length: int


class ArraysOnly(dict[str, Array]):
    """A dictionary that looks at what it is given."""

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


class Measured(Fixed):
    """A mapping that knows something besides, of which its copies are not told."""

    def __init__(self, items: dict[str, Array], unit: str = "m") -> None:
        super().__init__(items)
        self.unit = unit


class Recorded(Fixed):
    """A mapping with more than its constructor is told of by a dictionary."""

    def __init__(self, items: Mapping[str, Array], units: Array = None, log: Array = None) -> None:
        super().__init__(items)
        self.units = dict(units or {})
        self.log = [] if log is None else log


class DeepRecorded(Recorded):
    """The same, which shows the mappings in it anew each time."""

    @override
    def __getitem__(self, key: str) -> Array:
        found = super().__getitem__(key)
        return DeepRecorded(found) if isinstance(found, Mapping) else found


class Deep(Fixed):
    """A mapping that shows the mappings in it as its like, made anew each time, and copies itself.

    Flax has one of this kind.
    """

    @override
    def __getitem__(self, key: str) -> Array:
        found = super().__getitem__(key)
        return Deep(found) if isinstance(found, Mapping) else found

    def copy(self) -> Deep:
        return Deep(self._values)


class Stubborn(Mapping[str, Array]):
    """A mapping of which nobody can make another: what it holds is held by something else."""

    def __init__(self) -> None:
        self.store = types.SimpleNamespace(held={"a": np.ones(2, np.float32)})

    @override
    def __getitem__(self, key: str) -> Array:
        return self.store.held[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.store.held)

    @override
    def __len__(self) -> int:
        return len(self.store.held)


class Uncopied(Stubborn):
    """The same, of which there is no copy either."""

    def __deepcopy__(self, memo: dict[int, object]) -> Uncopied:
        raise RuntimeError("there is only one")


class OneStore(Fixed):
    """A mapping whose copies are all in the same memory."""

    def __setitem__(self, key: str, value: Array) -> None:
        self._values[key] = value

    def copy(self) -> OneStore:
        return copy.copy(self)


class Casting(dict[str, Array]):
    """A dictionary that makes something else of what it is given."""

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        super().__setitem__(key, repr(value))


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
    inside: T
    cache: Array = field(default=None, init=False, repr=False, compare=False)


@dataclass
class Own:
    """A dataclass that copies to itself."""

    position: Array

    def __copy__(self) -> Own:
        return self


@dataclass
class Model(dict[str, Array]):
    """A dataclass some of whose fields are its items, as of models that return many arrays."""

    x: Array
    extra: Array = None

    def __post_init__(self) -> None:
        self["x"] = self.x


@dataclass
class Listed(list[Array]):
    """A dataclass that is a list besides."""

    extra: Array


class TestMappings:
    def test_keep_keys_of_any_kind_in_their_order(self, pair: Pair) -> None:
        keys = ["z", 7, None, (1, "two"), 2.5, b"bytes", frozenset({1}), int, True, "a"]
        result = pair.convert({key: leaf(pair.source, i) for i, key in enumerate(keys)})
        assert type(result) is dict
        assert list(result) == keys
        for i, value in enumerate(result.values()):
            assert pair.target.is_array(value)
            assert pair.target.values(value).tolist() == [i, 2]

    def test_of_every_kind_keep_their_type(self, pair: Pair) -> None:
        for kind in (dict, OrderedDict, UserDict, Fixed, types.MappingProxyType, ArraysOnly):
            filled = {"b": leaf(pair.source, 3), "a": leaf(pair.source, 4)}
            value: Mapping[str, Array] = kind(filled)
            result = pair.convert([value])[0]
            assert type(result) is kind
            assert list(result) == ["b", "a"]
            assert all(pair.target.is_array(one) for one in result.values()), kind
            assert pair.target.values(result["b"]).tolist() == [3, 2]
            assert value["b"] is filled["b"]

    def test_keep_the_factory_of_their_defaults(self, pair: Pair) -> None:
        value = defaultdict(list, {"a": [leaf(pair.source)]})
        result = pair.convert(value)
        assert type(result) is defaultdict
        assert result["new"] == []
        assert pair.target.is_array(result["a"][0])
        assert "new" not in value

    def test_of_counts_keep_counting(self, pair: Pair) -> None:
        result = pair.convert(Counter("abca"))
        assert type(result) is Counter
        assert list(result) == ["a", "b", "c"]
        assert pair.target.is_array(result["a"])
        assert int(result["a"]) == 2
        assert result["missing"] == 0

    def test_with_typed_keys_are_plain_dictionaries(self, pair: Pair) -> None:
        result = pair.convert(Reading(speed=leaf(pair.source), name="wind"))
        assert type(result) is dict
        assert pair.target.is_array(result["speed"])
        assert result["name"] == "wind"

    def test_keep_attributes_of_their_own(self, pair: Pair) -> None:
        value = Attributes(goal=leaf(pair.source))
        vars(value)["origin"] = "north"
        result = pair.convert(value)
        assert type(result) is Attributes
        assert vars(result) == {"origin": "north"}
        assert pair.target.is_array(result.goal)
        assert pair.source.is_array(value.goal)

    def test_whose_keys_are_attributes_have_them_converted_alike(self, pair: Pair) -> None:
        value = Namespace(goal=leaf(pair.source), name="north")
        result = pair.convert({"a": value})["a"]
        assert type(result) is Namespace
        assert pair.target.is_array(result.goal)
        assert result.goal is result["goal"]
        result.later = 1
        assert result["later"] == 1
        assert list(value) == ["goal", "name"]
        assert pair.source.is_array(value.goal)

    def test_that_never_change_and_show_others_anew_are_made_again(self, pair: Pair) -> None:
        value = Deep({"a": {"b": {"c": leaf(pair.source, 5)}, "d": "text"}})
        result = pair.convert(value)
        assert type(result) is Deep
        assert pair.target.values(result["a"]["b"]["c"]).tolist() == [5, 2]
        assert result["a"]["d"] == "text"
        assert pair.source.is_array(value["a"]["b"]["c"])

    def test_of_weak_keys_are_containers(self, pair: Pair) -> None:
        result = pair.convert(WeakKeyDictionary({pair: leaf(pair.source)}))
        assert type(result) is WeakKeyDictionary
        assert pair.target.is_array(result[pair])

    def test_of_weak_values_hold_none_of_their_own(self, pair: Pair) -> None:
        array = leaf(LIBRARIES["numpy"])
        value = WeakValueDictionary({"a": array})
        assert pair.convert([value])[0] is value
        assert value["a"] is array

    def test_that_only_look_into_others_come_out_with_the_same_look(self, pair: Pair) -> None:
        value = ChainMap({"a": leaf(pair.source, 5)}, {"a": leaf(pair.source), "b": "text"})
        result = pair.convert(value)
        assert type(result) is ChainMap
        assert pair.target.values(result["a"]).tolist() == [5, 2]
        assert result["b"] == "text"
        assert pair.source.is_array(value["a"])

    def test_that_only_look_into_others_share_none_of_them(self, pair: Pair) -> None:
        hidden = leaf(pair.source, 7)
        value = ChainMap({"a": leaf(pair.source, 5)}, {"a": hidden, "b": (leaf(pair.source),)})
        result = pair.convert(value, copy=True)
        assert [list(one) for one in result.maps] == [["a"], ["a", "b"]]
        assert pair.target.values(result.parents["a"]).tolist() == [7, 2]
        assert pair.target.is_array(result.parents["b"][0])
        assert value.maps[1]["a"] is hidden
        with pytest.raises(ConversionError, match=r"value\.maps\[1\]\['c'\]: the int"):
            pair.convert(ChainMap({}, {"c": 2**80}))

    def test_that_cannot_be_made_again_are_left_as_they_are(self, pair: Pair) -> None:
        value = Stubborn()
        result = pair.convert({"inside": value, "beside": leaf(pair.source)})
        assert result["inside"] is value
        assert pair.target.is_array(result["beside"])

    def test_that_make_something_else_of_what_they_are_given_are_made_past_that(
        self, pair: Pair
    ) -> None:
        casting = Casting(a=leaf(pair.source))
        result: Array = pair.convert([casting])[0]
        assert type(result) is Casting
        assert pair.target.is_array(result["a"])
        assert pair.source.is_array(casting["a"])

    def test_that_cannot_be_made_again_share_nothing_where_copies_are_asked_for(
        self, pair: Pair
    ) -> None:
        held = Stubborn()
        backend = load(f"gymbridge_runtime.backends.{pair.target.name}:{pair.target.name.upper()}")
        for convert in (Converter(backend, copy=True), Converter(backend, promised_new=False)):
            for depth in (1, 20):
                _, found = depth_of(convert(nested(depth, held)))
                assert type(found) is Stubborn
                found["a"][:] = 7
                assert held["a"].tolist() == [1, 1]

    def test_that_hold_nothing_to_copy_are_left_as_they_are(self, pair: Pair) -> None:
        value = Uncopied()
        value.store.held = {"name": "nothing"}
        assert pair.convert([value], copy=True)[0] is value

    def test_that_hold_nothing_that_changes_are_left_as_they_are(self, pair: Pair) -> None:
        # nobody can make another one, nor copy these
        @dataclass
        class ToldError(Exception):
            words: str

        for value in (sys.version_info, sys.flags, ToldError("so")):
            for depth in (0, 1, 20):
                _, found = depth_of(pair.convert(nested(depth, value), copy=True))
                assert found is value

    def test_that_can_be_neither_made_again_nor_copied_are_errors_then(self, pair: Pair) -> None:
        for depth in (1, 20):
            with pytest.raises(ConversionError) as caught:
                pair.convert(nested(depth, {"one": Uncopied()}), copy=True)
            assert caught.value.path == "value" + "[0]" * depth + "['one']"
            assert str(caught.value.__cause__) == "there is only one"
            assert caught.value.problem == (
                "the Uncopied can neither be made again nor copied: there is only one"
            )

    def test_that_share_what_they_hold_with_their_copies_are_never_written_into(
        self, pair: Pair
    ) -> None:
        array = leaf(pair.source)
        value = OneStore({"a": array})
        result: Array = pair.convert(value)
        assert type(result) is OneStore
        assert pair.target.is_array(result["a"])
        assert value["a"] is array

    def test_of_a_user_s_own_are_copied_once(self, pair: Pair) -> None:
        copies: list[object] = []

        class Watched(dict[str, Array]):
            def __copy__(self) -> Watched:
                copies.append(self)
                return Watched(self)

        result = pair.convert({"a": Watched(x=leaf(pair.source)), "b": leaf(pair.source)})
        assert type(result["a"]) is Watched
        assert pair.target.is_array(result["a"]["x"])
        assert len(copies) == 1

    def test_of_the_standard_library_have_attributes_converted(self, pair: Pair) -> None:
        first = leaf(pair.source)
        value = OrderedDict(a=first, b=leaf(pair.source, 2))
        vars(value).update(first=first, unit="m")
        result: Array = pair.convert({"ordered": value})["ordered"]
        assert type(result) is OrderedDict
        attributes = vars(result)
        assert attributes["first"] is result["a"]
        assert attributes["unit"] == "m"
        assert vars(value)["first"] is first

    def test_that_copy_more_than_they_hold_are_what_their_copy_is(self, pair: Pair) -> None:
        registered: list[object] = []

        class Registered(dict[str, Array]):
            def __copy__(self) -> Registered:
                registered.append(Registered(self))
                return cast("Registered", registered[-1])

        result = pair.convert([Registered(x=leaf(pair.source))])[0]
        assert pair.target.is_array(result["x"])
        assert any(result is one for one in registered)

    @pytest.mark.parametrize("base", [dict, OrderedDict, UserDict, list, deque, ChainMap])
    def test_whose_copy_does_not_hold_the_same_are_converted_too(
        self, pair: Pair, base: type[Array]
    ) -> None:
        def deep(self: Array) -> Array:
            return copy.deepcopy(self)

        def empty(self: Array) -> Array:
            return type(self)()

        for copied in (deep, empty):
            kind: Array = type("Copied", (base,), {"__copy__": copied})
            key: Array = 0 if base in {list, deque} else "x"
            value = kind([leaf(pair.source)] if key == 0 else {key: leaf(pair.source, 3)})
            for tree in (value, [value]):
                result: Array = pair.convert(tree)
                result = result if tree is value else result[0]
                assert type(result) is kind
                assert result is not value
                assert len(result) == 1
                assert pair.target.is_array(result[key])
            assert pair.source.is_array(value[key])

    def test_without_a_copy_of_their_own_keep_plain_attributes(self, pair: Pair) -> None:
        held = Measured({"a": pair.source.make([1, 2])}, unit="km")
        result: Array = pair.convert(held)
        assert type(result) is Measured
        assert (result.unit, held.unit) == ("km", "km")
        assert pair.target.is_array(result["a"])
        assert pair.source.is_array(held["a"])

    def test_without_a_copy_of_their_own_keep_whatever_else_they_know(self, pair: Pair) -> None:
        log = ["start"]
        for kind in (Recorded, DeepRecorded):
            inside = {"b": leaf(pair.source)}
            held = kind({"a": leaf(pair.source), "inside": inside}, {"a": "m/s"}, log)
            result: Array = pair.convert({"record": held})["record"]
            assert type(result) is kind
            assert (result.units, result.log) == ({"a": "m/s"}, log)
            assert pair.target.is_array(result["a"])
            assert pair.target.is_array(result["inside"]["b"])
            assert pair.source.is_array(held["a"])
            assert pair.source.is_array(inside["b"])

    def test_that_are_read_only_know_what_is_missing_as_those_behind_them(self, pair: Pair) -> None:
        behind: Array = defaultdict(list, a=leaf(pair.source))
        result: Array = pair.convert(types.MappingProxyType(behind))
        assert type(result) is types.MappingProxyType
        assert pair.target.is_array(result["a"])
        assert result["missing"] == []
        assert list(behind) == ["a"]

    def test_without_anything_to_convert_are_themselves_if_they_cannot_be_copied(
        self, pair: Pair
    ) -> None:
        space = spaces.Dict(a=spaces.Discrete(2))
        result: Array = pair.convert({"space": space, "array": pair.source.make([1])})
        assert result["space"] is space


class TestSequences:
    def test_keep_type_and_order(self, pair: Pair) -> None:
        for kind in (list, tuple, deque):
            result = pair.convert(kind([leaf(pair.source, 1), "text", leaf(pair.source, 3)]))
            assert type(result) is kind
            assert pair.target.values(result[0]).tolist() == [1, 2]
            assert result[1] == "text"
            assert pair.target.values(result[2]).tolist() == [3, 2]

    def test_keep_the_limit_of_their_length(self, pair: Pair) -> None:
        value = deque([leaf(pair.source), leaf(pair.source, 3)], maxlen=2)
        result = pair.convert(value)
        assert result.maxlen == 2
        assert len(result) == len(value) == 2
        assert pair.target.values(result[1]).tolist() == [3, 2]

    def test_with_named_items_keep_the_names(self, pair: Pair) -> None:
        result = pair.convert(Point(leaf(pair.source), [leaf(pair.source, 3)]))
        assert type(result) is Point
        assert pair.target.is_array(result.x)
        assert pair.target.values(result.y[0]).tolist() == [3, 2]

    def test_derived_from_tuples_keep_what_they_know_besides(self, pair: Pair) -> None:
        value = Stamped((leaf(pair.source),))
        value.stamp = "now"
        result = pair.convert([value])[0]
        assert type(result) is Stamped
        assert result.stamp == "now"
        assert pair.target.is_array(result[0])

    def test_that_show_something_else_than_they_hold_are_left_as_they_are(self, pair: Pair) -> None:
        shown = Shown([np.float32(3)])
        result: Array = pair.convert({"shown": shown, "array": pair.source.make([1])})
        assert type(result["shown"]) is Shown
        (held,) = tuple.__iter__(result["shown"])
        assert pair.target.is_array(held) or held is tuple.__getitem__(shown, 0)

    def test_derived_from_tuples_may_have_constructors_of_their_own(self, pair: Pair) -> None:
        result = pair.convert(Two(leaf(pair.source), leaf(pair.source, 3)))
        assert type(result) is Two
        assert pair.target.values(result[1]).tolist() == [3, 2]

    def test_written_in_c_keep_what_they_know_besides(self, pair: Pair) -> None:
        now, here = time.localtime(0), pathlib.Path.cwd().stat()
        for value, besides in ((now, ("tm_zone", "tm_gmtoff")), (here, ("st_mtime", "st_blksize"))):
            result = pair.convert([value])[0]
            assert type(result) is type(value)
            assert [int(item) for item in result] == list(value)
            assert pair.target.is_array(result[0])
            for name in besides:
                assert getattr(result, name) == getattr(value, name)

    def test_derived_from_lists_keep_what_they_know_besides(self, pair: Pair) -> None:
        value = Path([leaf(pair.source)])
        value.length = 7
        result = pair.convert(value)
        assert type(result) is Path
        assert result.length == 7
        assert pair.target.is_array(result[0])
        assert pair.source.is_array(value[0])

    def test_that_only_look_like_lists_are_left_as_they_are(self, pair: Pair) -> None:
        value = UserList([leaf(pair.source)])
        assert pair.convert({"a": value})["a"] is value

    @pytest.mark.parametrize("empty", [{}, [], (), deque(), OrderedDict()])
    def test_may_be_empty(self, pair: Pair, empty: object) -> None:
        result = pair.convert({"a": empty})["a"]
        assert result == empty
        assert type(result) is type(empty)


class TestDataclasses:
    def test_of_every_kind_keep_type_and_fields(self, pair: Pair) -> None:
        for kind in (State, Frozen, Slotted, FrozenSlotted, Inherited, Boxed):
            name = "inside" if kind is Boxed else "position"
            value = cast("object", kind(**{name: leaf(pair.source, 3)}))
            result = pair.convert({"state": value})["state"]
            assert type(result) is kind
            assert result is not value
            assert pair.target.values(getattr(result, name)).tolist() == [3, 2]
            assert pair.source.is_array(getattr(value, name))

    def test_keep_fields_that_their_constructor_does_not_take(self, pair: Pair) -> None:
        value = State(leaf(pair.source), "falcon")
        value.steps = 3
        result = pair.convert(value)
        assert result.name == "falcon"
        assert pair.target.is_array(result.steps)
        assert int(result.steps) == 3

    def test_keep_attributes_that_are_no_fields(self, pair: Pair) -> None:
        value = State(leaf(pair.source))
        vars(value)["note"] = "remember"
        assert vars(pair.convert(value))["note"] == "remember"

    def test_may_have_fields_that_were_never_set(self, pair: Pair) -> None:
        result = pair.convert(Slotted(leaf(pair.source)))
        assert pair.target.is_array(result.position)
        assert not hasattr(result, "missing")

    def test_do_not_run_their_hooks_again(self, pair: Pair) -> None:
        assert pair.target.is_array(pair.convert(Frozen(leaf(pair.source))).position)

    def test_that_copy_to_themselves_are_made_again_all_the_same(self, pair: Pair) -> None:
        value = Own(leaf(pair.source))
        result: Array = pair.convert([value])[0]
        assert type(result) is Own
        assert pair.target.is_array(result.position)
        assert pair.source.is_array(value.position)

    @pytest.mark.parametrize("depth", [1, 20])
    def test_that_are_containers_as_well_have_both_converted(self, pair: Pair, depth: int) -> None:
        array, other = leaf(pair.source, 3), leaf(pair.source, 4)
        named = Model(array, extra=other)
        listed = Listed(extra=other)
        listed.append(array)
        for value in (named, listed):
            _, made = depth_of(pair.convert(nested(depth, value)))
            assert type(made) is type(value)
            assert pair.target.values(made.extra).tolist() == [4, 2]
            assert pair.target.is_array(made.extra)
            assert value.extra is other
        items: Array = pair.convert(listed)
        assert pair.target.values(items[0]).tolist() == [3, 2]
        assert listed[0] is array
        model: Array = pair.convert(named)
        assert pair.target.is_array(model["x"])
        assert model.x is model["x"]
        assert named.x is named["x"] is array

    def test_that_are_containers_as_well_say_where_their_fields_are(self, pair: Pair) -> None:
        with pytest.raises(ConversionError, match=r"^value\[0\]\.extra: the int"):
            pair.convert([Listed(extra=2**80)])
        listed = Listed(extra=1)
        listed.append(2**80)
        with pytest.raises(ConversionError, match=r"^value\[0\]\[0\]: the int"):
            pair.convert([listed])

    def test_themselves_are_no_instances(self, pair: Pair) -> None:
        assert pair.convert({"kind": State})["kind"] is State


class TestTensorDicts:
    def test_towards_pytorch_get_tensors_that_are_shared(self) -> None:
        value = TensorDict({"a": torch.ones(2, 3), "b": {"c": torch.ones(2)}}, batch_size=[2])
        result = Pair("numpy", "torch").convert({"obs": value})["obs"]
        assert type(result) is TensorDict
        assert result.batch_size == value.batch_size
        assert result["b", "c"].data_ptr() == value["b", "c"].data_ptr()

    def test_towards_pytorch_can_be_copied(self) -> None:
        value = TensorDict({"a": torch.ones(2, 3), "b": {"c": torch.ones(2)}}, batch_size=[2])
        result = Pair("numpy", "torch").convert(value, copy=True)
        assert type(result) is TensorDict
        assert result.batch_size == value.batch_size
        result["b", "c"].zero_()
        result["a"].zero_()
        assert (value["b", "c"] == 1).all()
        assert (value["a"] == 1).all()

    @pytest.mark.parametrize("pair", [Pair("torch", "numpy"), Pair("torch", "jax")], ids=repr)
    def test_that_cannot_hold_other_arrays_are_left_as_they_are(self, pair: Pair) -> None:
        value = TensorDict({"a": torch.ones(2, 3)}, batch_size=[2])
        assert pair.convert({"obs": value})["obs"] is value
        assert torch.equal(value["a"], torch.ones(2, 3))


@pytest.mark.parametrize("source", ["torch", "numpy"])
@pytest.mark.parametrize("copies", [None, True])
def test_tensorclasses_are_left_as_they_are_or_copied_whole(
    source: str, copies: bool | None
) -> None:
    """They look like dataclasses, and keep what is in their fields elsewhere."""
    made: Array = tensorclass(
        dataclasses.make_dataclass("Made", [("a", torch.Tensor), ("name", str, "none")])
    )
    value = made(a=torch.ones(3), name="some", batch_size=[3])
    target = "numpy" if source == "torch" else "torch"
    result: Array = Pair(source, target).convert({"state": value}, copy=copies)["state"]
    assert (result is value) is not copies
    value.a.zero_()
    kept = [0, 0, 0] if copies is None else [1, 1, 1]
    assert result.a.tolist() == result.clone().a.tolist() == kept
    assert result[0].a.item() == kept[0]
    assert result.name == "some"
    result.a = torch.full((3,), 5.0)
    assert result.clone().a.tolist() == [5, 5, 5]


def nested(depth: int, inside: Array) -> list[Array]:
    tree = [inside]
    for _ in range(depth - 1):
        tree = [tree]
    return tree


def depth_of(tree: Array) -> tuple[int, Array]:
    depth = 0
    while type(tree) is list:
        (tree,) = tree
        depth += 1
    return depth, tree


def arrives_whole(pair: Pair, depth: int) -> None:
    found, inside = depth_of(pair.convert(nested(depth, leaf(pair.source, 3))))
    assert found == depth
    assert pair.target.is_array(inside)
    assert pair.target.values(inside).tolist() == [3, 2]


class TestBigTrees:
    def test_of_ten_thousand_leaves_arrive_whole(self, pair: Pair) -> None:
        leaves = [pair.source.make(np.full(2, i, np.float32)) for i in range(10_000)]
        result = pair.convert({"all": leaves, "text": "kept"})
        assert result["text"] == "kept"
        assert len(result["all"]) == 10_000
        for i in (0, 1, 4_999, 9_999):
            assert pair.target.is_array(result["all"][i])
            assert pair.target.values(result["all"][i]).tolist() == [i, i]

    @pytest.mark.parametrize("depth", [1, 9, 10, 11, 48, 900, 10_000])
    def test_of_any_depth_arrive_whole(self, pair: Pair, depth: int) -> None:
        arrives_whole(pair, depth)

    @pytest.mark.parametrize("target", ["torch", "jax"])  # one by one, and all at once
    def test_of_any_depth_there_may_be_arrive_whole(self, target: str) -> None:
        arrives_whole(Pair("numpy", target), 100_000)

    def test_of_mixed_containers_arrive_whole_far_below(self, pair: Pair) -> None:
        objects = np.empty(2, object)
        objects[:] = [leaf(pair.source, 4), None]
        below = {
            "named": Point(leaf(pair.source)),
            "state": State(leaf(pair.source)),
            "queue": deque([leaf(pair.source)], maxlen=3),
            "objects": objects,
            "checked": ArraysOnly(),
            "text": "kept",
            "number": 3,
        }
        cast("ArraysOnly", below["checked"])["a"] = leaf(pair.source)
        _, result = depth_of(pair.convert(nested(60, below)))
        assert list(result) == list(below)
        assert type(result["named"]) is Point
        assert pair.target.is_array(result["named"].x)
        assert type(result["state"]) is State
        assert pair.target.is_array(result["state"].position)
        assert result["queue"].maxlen == 3
        assert pair.target.is_array(result["queue"][0])
        assert pair.target.values(result["objects"][0]).tolist() == [4, 2]
        assert result["objects"][1] is None
        assert type(result["checked"]) is ArraysOnly
        assert pair.target.is_array(result["checked"]["a"])
        assert result["text"] == "kept"
        assert int(result["number"]) == 3

    def test_that_share_their_branches_are_walked_once_far_below(self, pair: Pair) -> None:
        tree: Array = [leaf(pair.source, 5)]
        for _ in range(20):  # a million leaves by the number of ways to the one there is
            tree = [tree, {"one": tree}]
        for _ in range(40):
            tree = {"only": tree}
        result = pair.convert(tree)
        for _ in range(40):
            result = result["only"]
        assert len(result) == 2
        assert result[1]["one"] is result[0]
        while len(result) == 2:
            result = result[1]["one"]
        assert pair.target.values(result[0]).tolist() == [5, 2]

    def test_that_share_many_branches_are_walked_a_bounded_number_of_times(
        self, pair: Pair
    ) -> None:
        seen = []

        class Watched(dict[str, Array]):
            @override
            def items(self) -> Array:
                seen.append(self)
                return super().items()

        tree: Array = Watched(a=leaf(pair.source))
        for _ in range(9):
            tree = [tree] * 5
        result = pair.convert(tree)
        for _ in range(9):
            assert len(result) == 5
            result = result[-1]
        assert pair.target.is_array(result["a"])
        assert len(seen) < 5**7  # of 5**9 ways there

    def test_double_without_end(self, pair: Pair) -> None:
        tree: Array = [leaf(pair.source, 6)]
        for _ in range(60):
            tree = [tree, tree]
        result = pair.convert(tree)
        for _ in range(60):
            assert len(result) == 2
            result = result[0]
        assert pair.target.values(result[0]).tolist() == [6, 2]


class Endless(Mapping[str, Array]):
    """A mapping that never stops showing what it holds."""

    def __getitem__(self, key: str) -> Array:
        return key

    def __iter__(self) -> Iterator[str]:
        return map(str, count())

    def __len__(self) -> int:
        return 3


class EndlessList(list[Array]):
    """A list that never stops showing what it holds."""

    @override
    def __iter__(self) -> Iterator[Array]:
        return repeat(self[0])


class Unreadable(UserDict[str, Array]):
    """A mapping whose storage is gone."""

    @override
    def keys(self) -> KeysView[str]:
        raise OSError("the file is closed")


class TestContainersThatCannotBeRead:
    @pytest.mark.parametrize("depth", [0, 30])
    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            (Endless(), "Endless could not be read: it says that it holds 3, and shows more"),
            (EndlessList([1]), "EndlessList could not be read: it says that it holds 1, and"),
            (Unreadable(a=1), "Unreadable could not be read: the file is closed"),
        ],
        ids=["endless mapping", "endless list", "unreadable"],
    )
    def test_are_errors_that_say_where_and_why(
        self, pair: Pair, value: object, reason: str, depth: int
    ) -> None:
        tree: object = {"a": value}
        for _ in range(depth):
            tree = [tree]
        with pytest.raises(ConversionError) as caught:
            pair.convert(tree)
        steps = "[0]" * depth + "['a']"
        assert str(caught.value).startswith(f"value{steps}: the {reason}")
        assert str(caught.value).endswith("; mend it, or take it out of what is converted")
        assert caught.value.__cause__ is not None


class TestCycles:
    def test_are_errors_that_say_where(self, pair: Pair) -> None:
        in_list: list[object] = ["text"]
        in_list.append(in_list)
        in_dict: dict[str, object] = {}
        in_dict["self"] = [in_dict]
        in_deque: deque[object] = deque()
        in_deque.append(in_deque)
        in_tuple: tuple[list[object]] = ([],)
        in_tuple[0].append(in_tuple)
        in_state = State(None)
        in_state.position = in_state
        in_objects = np.empty(1, object)
        in_objects[0] = in_objects
        for value, step in (
            (in_list, "[1][1][1]"),
            (in_dict, "['self'][0]['self'][0]"),
            (in_deque, "[0][0][0]"),
            (in_tuple, "[0][0][0]"),
            (in_state, ".position.position"),
            (in_objects, "[0][0][0]"),
        ):
            with pytest.raises(ConversionError, match=r"contains itself.*; break the cycle first"):
                pair.convert({"a": value})
            with pytest.raises(ConversionError) as caught:
                pair.convert(value)
            assert caught.value.path.startswith(f"value{step}")
            assert len(str(caught.value)) < 400

    def test_are_not_seen_where_one_container_is_in_two_places(self, pair: Pair) -> None:
        shared = [leaf(pair.source)]
        tree = nested(60, {"one": shared, "other": shared, "both": [shared, shared]})
        _, result = depth_of(pair.convert(tree))
        assert pair.target.is_array(result["one"][0])
        assert pair.target.is_array(result["other"][0])
        assert pair.target.is_array(result["both"][1][0])


def test_what_is_converted_is_never_changed(pair: Pair) -> None:
    inside = leaf(pair.source)
    tree: dict[str, Array] = {
        "list": [inside],
        "tuple": (inside,),
        "state": State(inside),
        "deque": deque([inside]),
    }
    before = pair.source.values(inside)
    pair.convert(tree, copy=True)
    pair.convert(tree)
    assert tree["list"][0] is inside
    assert tree["tuple"][0] is inside
    assert tree["state"].position is inside
    assert tree["deque"][0] is inside
    assert identical(pair.source.values(inside), before)


def test_containers_are_new_so_that_neither_side_changes_the_other_s(pair: Pair) -> None:
    tree: dict[str, object] = {"list": [leaf(pair.source)], "dict": {}, "text": "kept"}
    result = pair.convert(tree)
    result["list"].append("new")
    result["dict"]["new"] = 1
    result["text"] = "changed"
    assert len(cast("list[object]", tree["list"])) == 1
    assert tree["dict"] == {}
    assert tree["text"] == "kept"


def test_every_type_of_a_program_without_end_is_met_anew() -> None:
    pair = PAIRS[0]
    for i in range(2100):
        kind: Array = dataclasses.make_dataclass(f"State{i}", ["position"])
        result = pair.convert({"state": kind(np.ones(1)), "list": [np.ones(1)]})
        assert type(result["state"]) is kind
        assert pair.target.is_array(result["state"].position)
        assert pair.target.is_array(result["list"][0])
