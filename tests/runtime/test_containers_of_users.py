"""Containers whose classes are users' own are made again, and never written into."""

from __future__ import annotations

import copy
import gc
import shelve
import types
from abc import abstractmethod
from collections import ChainMap, Counter, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, cast

import numpy as np
import pytest
from typing_extensions import override

from tests.runtime.test_containers import Fixed, Stamped, State, depth_of, leaf, nested
from tests.runtime.test_containers import Path as Steps
from tests.support import PAIRS, Array, Pair

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class OwnStore(dict[str, Array]):
    """Keeps what it holds beside the dictionary that it is."""

    def __init__(self, held: dict[str, Array]) -> None:
        super().__init__()
        self.held = dict(held)

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.held[key] = value

    @override
    def __getitem__(self, key: str) -> Array:
        return self.held[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    @override
    def __len__(self) -> int:
        return len(self.held)

    keys: Array = Mapping.keys
    values: Array = Mapping.values
    items: Array = Mapping.items


class Logged(dict[str, Array]):
    """Notes what is written into it."""

    def __init__(self, held: dict[str, Array]) -> None:
        super().__init__(held)
        self.log: list[str] = []

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.log.append(key)
        super().__setitem__(key, value)


class Unchanging(dict[str, Array]):
    """Takes nothing once it is made."""

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        raise TypeError("it never changes")


class UnchangingMapping(Mapping[str, Array]):
    """Has the methods of one that changes, which refuse."""

    def __init__(self, held: dict[str, Array]) -> None:
        self.held = dict(held)

    def __getitem__(self, key: str) -> Array:
        return self.held[key]

    def __setitem__(self, key: str, value: Array) -> None:
        raise TypeError("it never changes")

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)

    def copy(self) -> UnchangingMapping:
        return UnchangingMapping(self.held)


class LoggedList(list[Array]):
    """Notes what is written into it."""

    def __init__(self, held: list[Array]) -> None:
        super().__init__(held)
        self.log: list[object] = []

    @override
    def __setitem__(self, index: Array, value: Array) -> None:
        self.log.append(index)
        super().__setitem__(index, value)


class Ring(deque[Array]):
    """Has a constructor and attributes of its own."""

    __slots__ = ("name",)

    def __init__(self, size: int, name: str) -> None:
        super().__init__(maxlen=size)
        self.name = name


class Tally(Counter[str]):
    """The same for a Counter."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Lists(defaultdict[str, Array]):
    """The same for a defaultdict, which knows what is missing."""

    def __init__(self, name: str) -> None:
        super().__init__(list)
        self.name = name


class Ordered(OrderedDict[str, Array]):
    """The same for an OrderedDict."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Chained(ChainMap[str, Array]):
    """The same for a ChainMap."""

    def __init__(self, name: str, *maps: dict[str, Array]) -> None:
        super().__init__(*maps)
        self.name = name


class InPlace(dict[str, Array]):
    """Writes into the arrays that it holds already."""

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        if key in self:
            self[key][...] = np.asarray(value)
        else:
            super().__setitem__(key, value)


class InPlaceUser(UserDict[str, Array]):
    """The same."""

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        if key in self.data:
            self.data[key][...] = np.asarray(value)
        else:
            super().__setitem__(key, value)


class InPlaceList(list[Array]):
    """The same for a list."""

    @override
    def __setitem__(self, index: Array, value: Array) -> None:
        for one, other in zip(self[index], value, strict=True):
            one[...] = np.asarray(other)


class Recording(dict[str, Array]):
    """Keeps a record of what is written into it."""

    def __init__(self, **held: Array) -> None:
        super().__init__(held)
        self.record: set[str] = set()

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.record.add(key)
        super().__setitem__(key, value)


class RecordingUser(UserDict[str, Array]):
    """The same in the standard library's way."""

    def __init__(self, **held: Array) -> None:
        self.record: list[str] = []
        super().__init__(held)

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.record.append(key)
        super().__setitem__(key, value)


class RecordingReduced(Recording):
    """The same with a way of its own to be pickled."""

    @override
    def __reduce__(self) -> Array:
        return type(self), (), {"record": self.record}, None, iter(self.items())


class RecordingRing(deque[Array]):
    """The same for what is taken out."""

    def __init__(self, held: list[Array]) -> None:
        super().__init__(held)
        self.record: list[Array] = []

    @override
    def clear(self) -> None:
        self.record.extend(self)
        super().clear()


class Indexed(MutableMapping[str, Array]):
    """Keeps the order of its keys beside them."""

    def __init__(self, held: Mapping[str, Array]) -> None:
        self.order = [*held]
        self.held = dict(held)

    @override
    def __getitem__(self, key: str) -> Array:
        return self.held[key]

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        if key not in self.held:
            self.order.append(key)
        self.held[key] = value

    @override
    def __delitem__(self, key: str) -> None:
        self.order.remove(key)
        del self.held[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.order)

    @override
    def __len__(self) -> int:
        return len(self.order)


class SharingStore(MutableMapping[str, Array]):
    """Copies itself and not its storage, of which it knows what it has to."""

    def copy(self) -> Self:
        return copy.copy(self)

    @abstractmethod
    def store(self) -> dict[str, Array]: ...

    @override
    def __getitem__(self, key: str) -> Array:
        return self.store()[key]

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.store()[key] = value

    @override
    def __delitem__(self, key: str) -> None:
        del self.store()[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.store())

    @override
    def __len__(self) -> int:
        return len(self.store())


class SlottedStore(SharingStore):
    """It is in a slot."""

    __slots__ = ("held",)

    def __init__(self, held: Mapping[str, Array]) -> None:
        self.held = dict(held)

    @override
    def store(self) -> dict[str, Array]:
        return self.held


class FarStore(SharingStore):
    """It is an attribute of another object."""

    def __init__(self, held: Mapping[str, Array]) -> None:
        self.state = types.SimpleNamespace(held=dict(held))

    @override
    def store(self) -> dict[str, Array]:
        return cast("dict[str, Array]", self.state.held)


class Folded(SharingStore):
    """It is one of pairs, with other keys."""

    def __init__(self, held: Mapping[str, Array]) -> None:
        self.pairs = {key.upper(): (key, value) for key, value in held.items()}

    @override
    def store(self) -> dict[str, Array]:
        return dict(self.pairs.values())

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.pairs[key.upper()] = (key, value)

    @override
    def __delitem__(self, key: str) -> None:
        del self.pairs[key.upper()]


class TwoLists(SharingStore):
    """It is two lists."""

    def __init__(self, held: Mapping[str, Array]) -> None:
        self.names = [*held]
        self.held = [*held.values()]

    @override
    def store(self) -> dict[str, Array]:
        return dict(zip(self.names, self.held, strict=True))

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        if key in self.names:
            self.held[self.names.index(key)] = value
        else:
            self.names.append(key)
            self.held.append(value)

    @override
    def __delitem__(self, key: str) -> None:
        del self.held[self.names.index(key)]
        self.names.remove(key)


class Board(SharingStore):
    """It is far down, and its keys are no longer there once they are deleted."""

    def __init__(self, spaces: dict[str, dict[str, Array]]) -> None:
        self.spaces = spaces

    @override
    def store(self) -> dict[str, Array]:
        return self.spaces["robot"]

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        if not isinstance(value, np.ndarray):
            raise TypeError("NumPy's only")
        super().__setitem__(key, value)


class Scaled(SharingStore):
    """It shows other arrays than it has, and other ones each time."""

    def __init__(self, held: Mapping[str, Array]) -> None:
        self.held = dict(held)

    @override
    def store(self) -> dict[str, Array]:
        return self.held

    @override
    def __getitem__(self, key: str) -> Array:
        return self.held[key] * 2

    @override
    def copy(self) -> Self:
        return type(self)(self.held)


class Hooked(dict[str, Array]):
    """Knows itself, methods of its own, and one list by two names."""

    def __init__(self, **held: Array) -> None:
        super().__init__(held)
        self.order = [*held]
        self.names = self.order
        self.record = self.order.append
        self.hook = self.called
        self.root = self
        self.pair = (self, 1)

    def called(self, key: str) -> None:
        self.record(key)

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.hook(key)
        super().__setitem__(key, value)


class Frozen(dict[str, Array]):
    """Never changes, so that its copy is itself."""

    def __copy__(self) -> Self:
        return self

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        raise TypeError("it never changes")


OrderedCounter: Array = type("OrderedCounter", (Counter, OrderedDict), {})
"""A recipe of Python's documentation, to which types have much to say."""


class SortedData(UserDict[str, Array]):
    """What it holds is in a dictionary of another class."""

    def __init__(self, **held: Array) -> None:
        super().__init__()
        self.data = OrderedCounter(held)


@dataclass
class Fields(Mapping[str, Array]):
    """A dataclass whose field is where the items are."""

    store: dict[str, Array]

    @override
    def __getitem__(self, key: str) -> Array:
        return self.store[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.store)

    @override
    def __len__(self) -> int:
        return len(self.store)


class Rows(SharingStore):
    """It is a list, in which keys have their places."""

    def __init__(self, held: Mapping[str, Array]) -> None:
        self.places = {key: place for place, key in enumerate(held)}
        self.held = [*held.values()]

    @override
    def store(self) -> dict[str, Array]:
        return {key: self.held[place] for key, place in self.places.items()}

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        self.held[self.places[key]] = value


class Mirrored(dict[str, Array]):
    """Has its items as attributes, too."""

    version: int

    def __init__(self, **held: Array) -> None:
        super().__init__(held)
        self.__dict__.update(self)

    def __getattr__(self, name: str) -> Array:
        raise AttributeError(name)


class Lower(dict[str, Array]):
    """Finds its keys in any case."""

    @override
    def __getitem__(self, key: str) -> Array:
        return super().__getitem__(key.lower())


class Relisting(UserDict[str, Array]):
    """Makes lists of its own of those that it is given, as attribute dictionaries do."""

    def copy(self) -> Self:
        new = type(self)()
        for key, value in self.items():
            new[key] = value
        return new

    @override
    def __setitem__(self, key: str, value: Array) -> None:
        super().__setitem__(key, [*value] if type(value) is list else value)


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
class TestClassesOfUsers:
    """What derives from containers of the standard library, with more to it."""

    @pytest.mark.parametrize("kind", [OwnStore, Logged, Unchanging, UnchangingMapping])
    def test_are_made_again_and_never_written_into(self, pair: Pair, kind: Array) -> None:
        array = leaf(pair.source, 5)
        value = kind({"a": array, "b": array})
        result = pair.convert({"inside": value})["inside"]
        assert type(result) is kind
        assert list(result) == ["a", "b"]
        for key in result:
            assert pair.target.values(result[key]).tolist() == [5, 2]
            assert pair.target.is_array(result[key])
            assert value[key] is array
        assert getattr(value, "log", []) == []

    def test_that_keep_a_record_keep_one_of_their_own(self, pair: Pair) -> None:
        for kind in (Recording, RecordingUser, RecordingReduced):
            value: Array = kind(a=leaf(pair.source))
            value.record.clear()
            result: Array = pair.convert([value])[0]
            assert type(result) is kind
            assert pair.target.is_array(result["a"])
            assert not value.record
            result["b"] = 1
            assert not value.record
            assert list(value) == ["a"]
        ring: Array = RecordingRing([leaf(pair.source)])
        result = pair.convert([ring])[0]
        assert type(result) is RecordingRing
        assert pair.target.is_array(result[0])
        assert ring.record == result.record == []

    def test_that_keep_containers_as_attributes_have_others_like_them(self, pair: Pair) -> None:
        array = leaf(pair.source)
        value: Array = Mirrored(a=array)
        kept: dict[str, Array] = {
            "counts": Counter("aab"),
            "groups": defaultdict(list, a=[1]),
            "order": OrderedDict(b=array, a=1),
            "recent": deque([array, 2], maxlen=2),
            "seen": {1, 2},
            "log": [array, "a"],
        }
        for name, one in kept.items():
            setattr(value, name, one)
        result: Array = pair.convert([value])[0]
        for name, one in kept.items():
            other = getattr(result, name)
            assert type(other) is type(one)
            assert other is not one
            assert len(other) == len(one)
        assert result.counts == kept["counts"]
        assert result.groups["new"] == []
        assert list(result.order) == ["b", "a"]
        assert (result.order["b"] is result["a"], result.order["a"]) == (True, 1)
        assert (result.recent[0] is result["a"], result.recent.maxlen) == (True, 2)
        assert (result.log[0] is result["a"], result.log[1]) == (True, "a")
        assert kept["log"][0] is kept["order"]["b"] is array

    @pytest.mark.parametrize("copies", [None, True])
    def test_that_keep_their_order_beside_share_it_with_nobody(
        self, pair: Pair, copies: Array
    ) -> None:
        value = Indexed({"a": leaf(pair.source)})
        result: Array = pair.convert([value], copy=copies)[0]
        assert type(result) is Indexed
        result["b"] = 1
        assert list(result) == ["a", "b"]
        assert list(value) == ["a"]
        assert value["a"] is not result["a"]

    def test_whose_copies_share_their_storage_are_never_written_into(self, pair: Pair) -> None:
        array = leaf(pair.source)
        for kind in (SlottedStore, Folded, TwoLists, FarStore):
            value: Array = kind({"a": array})
            result: Array = pair.convert([value])[0]
            assert type(result) is kind
            assert value["a"] is array
            assert list(value) == ["a"]
            if kind is not FarStore:
                assert pair.target.is_array(result["a"])

    def test_whose_attributes_are_their_items_have_both_converted(self, pair: Pair) -> None:
        attributes = Mirrored(a=leaf(pair.source), number=3, words=("b",), more=[leaf(pair.source)])
        attributes.version = 3
        made: Array = pair.convert([attributes])[0]
        assert type(made) is Mirrored
        assert made.a is made["a"]
        assert pair.target.is_array(made.a)
        assert made.more is made["more"]
        assert pair.target.is_array(made.more[0])
        assert (made.words, made.version) == (("b",), 3)
        path: Array = Steps([leaf(pair.source)])
        path.first = path[0]
        row: Array = pair.convert([path])[0]
        assert row.first is row[0]
        stamped = Stamped((leaf(pair.source),))
        stamped.stamp = stamped[0]
        assert pair.target.is_array(pair.convert([stamped])[0].stamp)
        state: Array = State(leaf(pair.source))
        state.again = state.position
        assert pair.target.is_array(pair.convert([state])[0].again)

    def test_that_are_read_only_look_for_keys_as_those_behind_them(self, pair: Pair) -> None:
        behind = Lower(a=leaf(pair.source))
        result: Array = pair.convert(types.MappingProxyType(behind))
        assert pair.target.is_array(result["A"])
        assert pair.source.is_array(behind["A"])

    @pytest.mark.parametrize("copies", [None, True])
    def test_whose_storage_is_shared_far_down_lose_nothing(self, pair: Pair, copies: Array) -> None:
        array = np.ones(2)
        board = Board({"robot": {"a": array, "b": array}})
        result: Array = pair.convert([board], copy=copies)[0]
        assert type(result) is Board
        assert list(board) == ["a", "b"]
        assert board["a"] is array
        assert pair.target.name == "numpy" or isinstance(result["a"], np.ndarray)

    @pytest.mark.parametrize("copies", [None, True])
    def test_that_show_other_arrays_each_time_keep_theirs(self, pair: Pair, copies: Array) -> None:
        array = np.ones(2)
        scaled = Scaled({"a": array})
        for _ in range(3):
            assert type(pair.convert([scaled], copy=copies)[0]) is Scaled
        assert scaled.held["a"] is array
        assert array.tolist() == [1, 1]

    def test_that_know_themselves_know_their_like(self, pair: Pair) -> None:
        value = Hooked(a=leaf(pair.source))
        result: Array = pair.convert([value])[0]
        assert result.root is result
        assert result.pair[0] is result
        assert result.names is result.order
        result["b"] = 1
        assert (result.order, value.order) == (["a", "b"], ["a"])
        value["c"] = 1
        assert (result.order, value.order) == (["a", "b"], ["a", "c"])

    def test_that_keep_lists_and_methods_of_others_have_them_too(self, pair: Pair) -> None:
        value: Array = Mirrored(a=leaf(pair.source))
        value.path = Steps([value["a"]])
        value.other = Steps([1])
        value.shout = "word".upper
        result: Array = pair.convert([value])[0]
        assert type(result.path) is Steps
        assert result.path[0] is result["a"]
        assert result.other is value.other
        assert result.shout() == "WORD"

    def test_of_every_other_kind_are_made_again(self, pair: Pair) -> None:
        for value in (
            Frozen(a=leaf(pair.source)),
            SortedData(a=leaf(pair.source)),
            Fields({"a": leaf(pair.source)}),
        ):
            result: Array = pair.convert([value])[0]
            assert type(result) is type(value)
            assert pair.target.is_array(result["a"])
            assert pair.source.is_array(value["a"])
        counts: Array = pair.convert([OrderedCounter("abca")])[0]
        assert type(counts) is OrderedCounter
        assert list(counts) == ["a", "b", "c"]
        assert pair.target.values(counts["a"]) == 2

    def test_take_no_number_for_an_item_that_equals_it(self, pair: Pair) -> None:
        rows = Rows({"obs": leaf(pair.source), "step": 1})
        result: Array = pair.convert([rows])[0]
        assert result.places == {"obs": 0, "step": 1}
        assert pair.target.is_array(result["obs"])
        mirrored: Array = Mirrored(done=np.True_, step=1)
        mirrored.verbose, mirrored.sizes = np.True_, {"done": 1}
        made: Array = pair.convert([mirrored])[0]
        assert made.verbose is np.True_
        assert made.sizes == {"done": 1}
        assert pair.target.is_array(made["step"])

    def test_that_repeat_lists_of_words_take_no_time_without_end(self, pair: Pair) -> None:
        tree: Array = ["word"]
        for _ in range(60):
            tree = [tree, tree]
        for kind in (Fields, FarStore, UnchangingMapping):
            result: Array = pair.convert([kind({"words": tree, "a": leaf(pair.source)})])[0]
            assert type(result) is kind
            assert result["words"][1][0][1][0][1] is not None

    @pytest.mark.parametrize("depth", [100, 2000])
    def test_that_hold_their_like_far_down_are_made_again(self, pair: Pair, depth: int) -> None:
        kinds: list[Array] = [Fields, Mirrored, Indexed]
        for kind in kinds:
            tree: Array = leaf(pair.source)
            for _ in range(depth):
                tree = Mirrored(a=tree) if kind is Mirrored else kind({"a": tree})
            result: Array = pair.convert(tree)
            for _ in range(depth):
                result = result["a"]
            assert pair.target.is_array(result)

    def test_that_make_lists_of_their_own_are_made_again(self, pair: Pair) -> None:
        value = Relisting()
        value["a"], value["words"] = leaf(pair.source), ["b"]
        result: Array = pair.convert([value])[0]
        assert pair.target.is_array(result["a"])
        assert result["words"] == ["b"]

    def test_of_lists_are_made_again_and_never_written_into(self, pair: Pair) -> None:
        array = leaf(pair.source, 5)
        value = LoggedList([array])
        result = pair.convert(value)
        assert type(result) is LoggedList
        assert pair.target.is_array(result[0])
        assert value == [array]
        assert value.log == []

    def test_keep_what_they_were_told(self, pair: Pair) -> None:
        ring, tally = Ring(2, "north"), Tally("north")
        ring.append(leaf(pair.source))
        tally["a"] = 2
        lists, ordered = Lists("north"), Ordered("north")
        lists["a"] = ordered["b"] = ordered["a"] = leaf(pair.source)
        chained = Chained("north", {"a": leaf(pair.source)})
        for value in (ring, tally, lists, ordered, chained):
            result: Array = pair.convert([value])[0]
            assert type(result) is type(value)
            assert result.name == "north"
            assert len(result) == len(value)
            found = result if isinstance(result, deque) else result.values()
            assert all(pair.target.is_array(one) for one in found)
        assert pair.convert(ring).maxlen == 2
        assert pair.convert(lists)["missing"] == []
        assert list(pair.convert(ordered)) == ["b", "a"]


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.source.name == "numpy"], ids=repr)
def test_what_is_closed_when_it_is_gone_stays_open(pair: Pair, tmp_path: Path) -> None:
    """Another object with the same file in it would close it for both."""
    np.savez(tmp_path / "arrays.npz", a=np.ones(3))
    with np.load(tmp_path / "arrays.npz") as arrays, shelve.open(tmp_path / "shelf") as shelf:
        shelf["a"] = np.ones(2)
        result: Array = pair.convert([arrays, shelf])
        assert result[0] is arrays
        assert result[1] is shelf
        del result
        gc.collect()
        assert arrays["a"].tolist() == [1, 1, 1]
        assert shelf["a"].tolist() == [1, 1]


@dataclass
class Setter:
    """A dataclass whose field is a property, which writes into its array."""

    position: Array


def _position(self: Array) -> Array:
    return self.array.copy()


def _set_position(self: Array, value: Array) -> None:
    if not hasattr(self, "array"):
        self.array = np.zeros(2)
    self.array[...] = np.asarray(value)


Setter.position = property(_position, _set_position)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.source.name == "numpy"], ids=repr)
def test_a_field_that_is_a_property_is_not_set(pair: Pair) -> None:
    value: Array = Setter(np.array([0.1, 1e300]))
    result: Array = pair.convert([value])[0]
    assert type(result) is Setter
    assert value.array.tolist() == [0.1, 1e300]


@pytest.mark.parametrize("kind", [InPlace, InPlaceUser, InPlaceList])
@pytest.mark.parametrize("depth", [1, 20])
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.source.name == "numpy"], ids=repr)
def test_what_writes_into_what_it_holds_does_not_write_into_the_environment_s(
    pair: Pair, depth: int, kind: Array
) -> None:
    array = np.array([0.1, 1e300])
    value = kind([array]) if kind is InPlaceList else kind(a=array)
    _, made = depth_of(pair.convert(nested(depth, value)))
    assert type(made) is kind
    assert array.tolist() == [0.1, 1e300]


class Described(dict[str, Array]):
    """A dictionary that says something of itself in attributes."""


class DescribedList(list[Array]):
    """The same for a list."""


class DescribedTuple(tuple[Array, ...]):
    """The same for a tuple."""


@dataclass
class DescribedFields:
    """The same for a dataclass."""

    count: Array


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        lambda: Described(count=1),
        lambda: DescribedList([1]),
        lambda: DescribedTuple([1]),
        lambda: DescribedFields(1),
    ],
    ids=["dict", "list", "tuple", "dataclass"],
)
def test_attributes_of_the_same_numbers_stay_as_they_are(
    pair: Pair, make: Callable[[], Array]
) -> None:
    value = make()
    value.shape, value.ids, value.lives = (1,), [1], {"lives": 1}
    result: Array = pair.convert([value])[0]
    assert result.shape == (1,)
    assert result.ids == [1]
    assert result.lives == {"lives": 1}
    assert [*map(type, (result.shape[0], result.ids[0], result.lives["lives"]))] == [int] * 3


@dataclass
class ClosingFields:
    """Closes its file when it is gone."""

    a: Array
    file: Array

    def __del__(self) -> None:
        self.file.close()


class ClosingTuple(tuple[Array, ...]):
    """The same for a tuple."""

    file: Array

    def __del__(self) -> None:
        self.file.close()


class ClosingStore(Indexed):
    """The same for a mapping."""

    file: Array = None

    def __del__(self) -> None:
        if self.file is not None:
            self.file.close()


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.source.name == "numpy"], ids=repr)
def test_what_closes_a_file_does_not_close_it_for_another(pair: Pair, tmp_path: Path) -> None:
    kinds: list[Callable[[Array], Array]] = [
        lambda file: ClosingFields(np.ones(2), file),
        lambda _: ClosingTuple([np.ones(2)]),
        lambda _: ClosingStore({"a": np.ones(2)}),
    ]
    for make in kinds:
        with (tmp_path / "file").open("w") as file:
            value = make(file)
            value.file = file
            result = pair.convert([value])
            assert result[0] is value
            del result
            gc.collect()
            assert not file.closed
            del value
            gc.collect()
            assert file.closed


@dataclass
class Journal:
    """A dataclass that is restored by its constructor, which writes into what it is given."""

    position: Array
    log: list[str]

    def __post_init__(self) -> None:
        self.log.append("made")

    @override
    def __reduce__(self) -> tuple[Array, ...]:
        return type(self), (self.position, self.log)


@dataclass
class Centred:
    """A dataclass that writes into what it is restored from."""

    position: Array

    @override
    def __getstate__(self) -> dict[str, Array]:
        return {"position": self.position}

    def __setstate__(self, state: dict[str, Array]) -> None:
        self.__dict__.update(state)
        self.position -= self.position.mean()


class Together:
    """All of its instances have the same attributes."""

    shared: ClassVar[dict[str, Array]] = {}

    def __new__(cls, *_given: Array) -> Self:
        new = super().__new__(cls)
        new.__dict__ = cls.shared
        return new


@dataclass
class World(Together):
    """A dataclass of that kind."""

    position: Array


@dataclass
class Twin:
    """A dataclass of which a copy is the same in all but name."""

    position: Array

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__ = self.__dict__
        return twin


class Buffer:
    """An attribute that is written into, and of which copies are shown."""

    def __set_name__(self, owner: type[object], name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, instance: Array, owner: type[object] | None = None) -> Array:
        return None if instance is None else getattr(instance, self.name).copy()

    def __set__(self, instance: Array, value: Array) -> None:
        if hasattr(instance, self.name):
            getattr(instance, self.name)[...] = np.asarray(value)
        else:
            setattr(instance, self.name, np.array(value))


@dataclass
class Simulated:
    """A dataclass with such an attribute for a field."""

    position: Array = Buffer()


@pytest.mark.parametrize("kind", [Centred, World, Twin, Simulated, lambda a: Journal(a, [])])
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.source.name == "numpy"], ids=repr)
def test_dataclasses_are_made_again_without_a_word_of_theirs(pair: Pair, kind: Array) -> None:
    value = kind(np.array([0.1, 1e300]))
    for _ in range(2):
        result: Array = pair.convert([value])[0]
        assert type(result) is type(value)
        assert type(value.position) is np.ndarray
        assert value.position.tolist() == [0.1, 1e300]
        assert getattr(value, "log", ["made"]) == ["made"]
        if kind is not Simulated:  # what makes up its attributes is left as it is
            assert pair.target.is_array(result.position)


class Anew(Fixed):
    """Shows the mappings in it as others of the kind, made anew each time."""

    made = 0

    def __init__(self, held: Mapping[str, Array]) -> None:
        Anew.made += 1
        super().__init__(
            {k: child._values if isinstance(child, Anew) else child for k, child in held.items()}
        )

    @override
    def __getitem__(self, key: str) -> Array:
        found = super().__getitem__(key)
        return Anew(found) if isinstance(found, dict) else found


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_mappings_that_show_others_anew_take_no_more_time_the_deeper_they_are(pair: Pair) -> None:
    counts: list[int] = []
    for depth in (10, 20, 40):
        tree: Array = {"a": leaf(pair.source)}
        for _ in range(depth - 1):
            tree = {"a": leaf(pair.source), "below": tree}
        Anew.made = 0
        result: Array = pair.convert(Anew(tree))
        counts.append(Anew.made)
        for _ in range(depth - 1):
            assert type(result) is Anew
            assert pair.target.is_array(result["a"])
            result = result["below"]
        assert pair.target.is_array(result["a"])
    assert counts[2] - counts[1] < 3 * (counts[1] - counts[0])


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_attributes_that_repeat_tuples_take_no_time_without_end(pair: Pair) -> None:
    array = leaf(pair.source)
    value: Array = Described(a=array)
    row: Array = (array,)
    for _ in range(60):
        row = (row, row)
    value.row = row
    result: Array = pair.convert([value])[0]
    row = result.row
    for _ in range(60):
        assert row[0] is row[1]
        row = row[0]
    assert row[0] is result["a"]


class Uncopied(dict[str, Array]):
    """A dictionary that cannot be copied, as its class says."""

    def __copy__(self) -> Self:
        raise RuntimeError("there is only one")


class Closing(dict[str, Array]):
    """A dictionary that closes something when it is gone."""

    def __del__(self) -> None:
        self.clear()


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_dictionaries_that_refuse_to_be_copied_are_made_again(pair: Pair) -> None:
    result: Array = pair.convert([Uncopied(a=leaf(pair.source))])[0]
    assert type(result) is Uncopied
    assert pair.target.is_array(result["a"])


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_what_holds_something_that_closes_is_left_as_it_is(pair: Pair) -> None:
    array = leaf(pair.source)
    value: Array = Described(a=array)
    value.inside = Closing(a=array)
    assert pair.convert([value])[0] is value
    assert value.inside == {"a": array}
