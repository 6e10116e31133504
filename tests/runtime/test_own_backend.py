"""A library needs a backend and nothing else: this one is made of what `Backend` leaves open."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError, known
from gymbridge_runtime.arrivals import report_together, together
from gymbridge_runtime.backend import Backend, HostView
from gymbridge_runtime.converter import Conversions, Converter
from gymbridge_runtime.known import load
from typing_extensions import override

from tests.support import LIBRARIES, Array, Host

if TYPE_CHECKING:
    from collections.abc import Sequence


class Box:
    """An array of the library."""

    def __init__(self, memory: Host) -> None:
        self.memory = memory


Box.__module__ = "boxes"


class Boxes(Backend[Box, None]):
    """No more than a backend has to say."""

    name = "boxes"
    title = "Boxes"
    reference = "tests.runtime.test_own_backend:BOXES"
    roots = frozenset({"boxes"})

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, Box)

    @override
    def to_host(self, array: Box) -> HostView:
        return HostView(array.memory, owned=False)

    @override
    def from_host(self, view: Host, device: None) -> object:
        return Box(view)

    @override
    def snapshot(self, array: Box, device: None) -> object:
        return Box(array.memory.copy())


class QuickBoxes(Boxes):
    """The same, with a cheap way in and out."""

    plain_dtypes = frozenset({np.dtype("f4"), np.dtype("i8")})

    @override
    def plain_kind(self) -> type[object] | None:
        return Box


class BatchedBoxes(Boxes):
    """The same for a library that imports many arrays at once."""

    batches = True
    narrowing = ("on Sundays", "wait")

    def __init__(self, *, most: int = sys.maxsize, refused: float = -1) -> None:
        self.most = most
        self.refused = refused
        self.imported: list[int] = []

    @override
    def from_host(self, view: Host, device: None) -> object:
        if (view == self.refused).any():
            raise ConversionError(f"Boxes does not hold {self.refused}", "take another number")
        return super().from_host(view, device)

    @override
    def from_host_many(self, views: Sequence[Host], device: None) -> list[object]:
        self.imported.append(len(views))
        if len(views) > self.most:
            raise ConversionError("too many boxes at once", "take fewer")
        return super().from_host_many(views, device)


BOXES = Boxes()


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_REGISTERED", dict(known._REGISTERED))


@pytest.fixture(params=[Boxes, QuickBoxes, BatchedBoxes], ids=lambda kind: kind.__name__)
def backend(request: pytest.FixtureRequest) -> Boxes:
    made: Boxes = request.param()
    known.register(made)
    return made


@pytest.mark.parametrize("name", LIBRARIES)
def test_arrays_of_every_library_arrive_and_come_back(backend: Boxes, name: str) -> None:
    library = LIBRARIES[name]
    there, back = Converter(backend), Converter(load(_reference(name)))
    for dtype in ("float32", "int32", "bool"):
        for shape in ((), (3,), (2, 3)):
            values = np.ones(shape, dtype)
            for tree in (library.make(values), [library.make(values)]):
                boxed: Array = there(tree)
                box = boxed[0] if isinstance(boxed, list) else boxed
                assert type(box) is Box
                assert box.memory.dtype == dtype
                assert box.memory.tolist() == values.tolist()
                again: Array = back(boxed)
                array = again[0] if isinstance(again, list) else again
                assert library.is_array(array)
                assert library.values(array).tolist() == values.tolist()


def test_its_arrays_are_recognised_by_whatever_is_made_for_it() -> None:
    numpy = load(_reference("numpy"))
    seen: Array = Conversions(Boxes(), numpy).usual({"a": Box(np.ones(2))})
    assert seen["a"].tolist() == [1, 1]
    known._REGISTERED.pop("boxes")
    own = Box(np.ones(2))
    assert Converter(Boxes())(own) is own
    copied: Array = Converter(Boxes(), copy=True)(own)
    assert copied.memory.ctypes.data != own.memory.ctypes.data


def test_memory_is_owned_as_for_every_other_library(backend: Boxes) -> None:
    source = np.ones(3, np.float32)
    shared: Array = Converter(backend)(source)
    assert shared.memory.ctypes.data == source.ctypes.data
    for convert in (Converter(backend, copy=True), Converter(backend, promised_new=False)):
        snapshot: Array = convert(source)
        source += 1
        assert snapshot.memory.tolist() == (source - 1).tolist()
    source.flags.writeable = False
    copied: Array = Converter(backend)(source)
    assert copied.memory.flags.writeable
    with pytest.raises(CopyRequiredError, match="Boxes would write through to memory that is read"):
        Converter(backend, copy=False)(source)


def test_numbers_text_and_its_own_arrays_are_treated_by_the_table(backend: Boxes) -> None:
    own = Box(np.ones(2))
    result: Array = Converter(backend)({"own": own, "n": 3, "f": np.float16(2), "t": "text"})
    assert result["own"] is own
    assert result["n"].memory.dtype == np.int64
    assert result["f"].memory.dtype == np.float16
    assert result["t"] == "text"
    copied: Array = Converter(backend, copy=True)(own)
    assert copied.memory.ctypes.data != own.memory.ctypes.data


def test_there_are_no_devices_unless_it_says_so(backend: Boxes) -> None:
    assert Converter(backend).device is None
    with pytest.raises(ValueError, match="Boxes has no devices to choose from, got device='cpu'"):
        Converter(backend, device="cpu")
    assert backend.device_text(None) is None
    assert backend.everywhere(None) is None
    assert not backend.leaves_host(None)


def test_a_number_can_be_asked_of_an_array_of_one() -> None:
    number_of = QuickBoxes().plain_number()
    assert number_of(Box(np.array(3))) == 3
    assert number_of(Box(np.array([3]))) is None


def test_an_array_that_cannot_be_shown_is_named() -> None:
    class Lost(Boxes):
        @override
        def to_host(self, array: Box) -> HostView:
            raise OSError("it was lost in the mail")

    with pytest.raises(ConversionError) as caught:
        Lost().show(Box(np.ones(2)))
    assert str(caught.value) == (
        "Boxes could not show the array in host memory: it was lost in the mail (boxes.Box); "
        "see the cause above, or turn it into an ordinary array first"
    )


def test_arrays_that_go_in_together_are_imported_at_once() -> None:
    backend = BatchedBoxes()
    Converter(backend)({"a": np.ones(2), "b": [np.ones(3), 1.5], "c": {"d": np.ones(1)}})
    assert backend.imported == [4]


def test_what_cannot_be_imported_is_named_even_if_it_went_in_together() -> None:
    convert = Converter(BatchedBoxes(refused=7))
    with pytest.raises(ConversionError) as caught:
        convert({"a": np.ones(2), "b": [np.ones(3), np.array([7.0])]})
    assert str(caught.value) == (
        "value['b'][1]: Boxes does not hold 7 (numpy.ndarray of float64, shape (1,), on cpu); "
        "take another number"
    )


@pytest.mark.parametrize("place", range(4))
def test_what_cannot_be_imported_is_named_among_the_results_of_a_vector_step(place: int) -> None:
    backend = BatchedBoxes(refused=7)
    roots = ["obs", "reward", "terminated", "truncated"]
    ways = [Converter(backend, root=root) for root in roots]
    batch = together(ways, load(_reference("numpy")))
    values: list[object] = [np.ones(2), np.ones(3), np.ones(4), np.ones(5)]
    values[place] = {"a": np.array([7.0])}
    with pytest.raises(ConversionError) as caught:
        batch(*values)
    assert caught.value.path == f"{roots[place]}['a']"


def test_an_observation_and_its_info_go_in_together() -> None:
    backend = BatchedBoxes()
    report = report_together(Converter(backend), Converter(backend), load(_reference("numpy")))
    for obs in (np.ones(2), [np.ones(2)], "text"):
        new_obs, info = cast("tuple[Array, Array]", report(obs, {"time": 1.5, "x": [np.ones(3)]}))
        assert info["x"][0].memory.tolist() == [1, 1, 1]
        if isinstance(obs, str):
            assert new_obs == "text"
        else:
            boxes: Array = new_obs if isinstance(new_obs, list) else [new_obs]
            assert [box.memory.tolist() for box in boxes] == [[1, 1]]
    assert backend.imported == [3, 3, 2]


@pytest.mark.parametrize("root", ["obs", "info"])
def test_what_cannot_be_imported_is_named_in_either(root: str) -> None:
    backend = BatchedBoxes(refused=7)
    observe, inform = Converter(backend, root="obs"), Converter(backend, root="info")
    report = report_together(observe, inform, load(_reference("numpy")))
    values: dict[str, object] = {"obs": np.ones(2), "info": {"b": np.ones(2)}}
    values[root] = {"a": np.array([7.0])}
    with pytest.raises(ConversionError) as caught:
        report(values["obs"], values["info"])
    assert caught.value.path == f"{root}['a']"


def test_what_only_fails_with_its_info_is_imported_one_by_one() -> None:
    backend = BatchedBoxes(most=1)
    report = report_together(Converter(backend), Converter(backend), load(_reference("numpy")))
    obs, info = cast("tuple[Array, Array]", report(np.ones(2), {"a": np.zeros(2)}))
    assert obs.memory.tolist() == [1, 1]
    assert info["a"].memory.tolist() == [0, 0]


def test_what_only_fails_together_is_imported_one_by_one() -> None:
    one, other = cast("list[Array]", Converter(BatchedBoxes(most=1))([np.ones(2), np.zeros(3)]))
    assert one.memory.tolist() == [1, 1]
    assert other.memory.tolist() == [0, 0, 0]


def test_what_only_fails_together_is_imported_one_by_one_in_a_vector_step_too() -> None:
    backend = BatchedBoxes(most=3)
    batch = together([Converter(backend) for _ in range(4)], load(_reference("numpy")))
    parts = cast("tuple[Array, ...]", batch(*[np.full(2, number) for number in range(4)]))
    assert [part.memory.tolist() for part in parts] == [[0, 0], [1, 1], [2, 2], [3, 3]]
    obs, _, _, truncated = cast("tuple[Array, ...]", batch(np.zeros(2), 1.5, "text", np.ones(2)))
    assert obs.memory.tolist() == [0, 0]
    assert truncated.memory.tolist() == [1, 1]


def _reference(name: str) -> str:
    return f"gymbridge_runtime.backends.{name}:{name.upper()}"
