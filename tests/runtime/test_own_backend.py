"""A user's backend with only the required methods of `Backend`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError
from gymbridge_runtime.backends import registry
from gymbridge_runtime.backends.base import Backend, HostView, load
from gymbridge_runtime.core.converter import Converter, convert_together
from gymbridge_runtime.core.ownership import Ownership
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
    """A backend with only the required methods."""

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


class PickyBoxes(Boxes):
    """A backend that refuses one number."""

    @override
    def from_host(self, view: Host, device: None) -> object:
        if (view == 7).any():
            raise ConversionError("Boxes does not hold 7", "take another number")
        return super().from_host(view, device)


class BatchedBoxes(Boxes):
    """A backend that imports many arrays by one call."""

    def __init__(self, *, most: int = sys.maxsize) -> None:
        self.most = most
        self.imported: list[int] = []

    @override
    def from_host_many(self, views: Sequence[Host], device: None) -> list[object]:
        self.imported.append(len(views))
        if len(views) > self.most:
            raise ConversionError("too many boxes at once", "take fewer")
        return [self.from_host(view, device) for view in views]


BOXES = Boxes()


pytestmark = pytest.mark.usefixtures("own_backends")


@pytest.fixture(params=[Boxes, BatchedBoxes], ids=lambda kind: kind.__name__)
def backend(request: pytest.FixtureRequest) -> Boxes:
    made: Boxes = request.param()
    registry.register(made)
    return made


@pytest.mark.parametrize("name", LIBRARIES)
def test_arrays_of_every_library_survive_a_round_trip(backend: Boxes, name: str) -> None:
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


def test_arrays_of_an_own_backend_are_recognised() -> None:
    numpy = load(_reference("numpy"))
    _ = Converter(Boxes())
    seen: Array = Converter(numpy)({"a": Box(np.ones(2))})
    assert seen["a"].tolist() == [1, 1]
    registry._REGISTERED.pop("boxes")
    own = Box(np.ones(2))
    assert Converter(Boxes())(own) is own
    copied: Array = Converter(Boxes(), copy=True)(own)
    assert copied.memory.ctypes.data != own.memory.ctypes.data


def test_ownership_follows_the_rules_of_every_library(backend: Boxes) -> None:
    source = np.ones(3, np.float32)
    shared: Array = Converter(backend)(source)
    assert shared.memory.ctypes.data == source.ctypes.data
    for convert in (Converter(backend, copy=True), Converter(backend, default=Ownership.SNAPSHOT)):
        snapshot: Array = convert(source)
        source += 1
        assert snapshot.memory.tolist() == (source - 1).tolist()
    source.flags.writeable = False
    copied: Array = Converter(backend)(source)
    assert copied.memory.flags.writeable
    with pytest.raises(CopyRequiredError, match="Boxes would write through to memory that is read"):
        Converter(backend, copy=False)(source)


def test_all_leaves_follow_the_table(backend: Boxes) -> None:
    own = Box(np.ones(2))
    result: Array = Converter(backend)({"own": own, "n": 3, "f": np.float16(2), "t": "text"})
    assert result["own"] is own
    assert result["n"].memory.dtype == np.int64
    assert result["f"].memory.dtype == np.float16
    assert result["t"] == "text"
    copied: Array = Converter(backend, copy=True)(own)
    assert copied.memory.ctypes.data != own.memory.ctypes.data


def test_a_backend_has_no_devices_by_default(backend: Boxes) -> None:
    assert Converter(backend).device is None
    with pytest.raises(ValueError, match="Boxes has no devices to choose from, got device='cpu'"):
        Converter(backend, device="cpu")
    assert backend.device_text(None) is None
    assert backend.replicated(None) is None
    assert not backend.leaves_host(None)


def test_an_array_without_a_host_view_is_named() -> None:
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


def test_the_arrays_of_a_tree_are_imported_by_one_call() -> None:
    backend = BatchedBoxes()
    Converter(backend)({"a": np.ones(2), "b": [np.ones(3), 1.5], "c": {"d": np.ones(1)}})
    assert backend.imported == [4]


def test_a_refused_array_is_named_by_its_path() -> None:
    convert = Converter(PickyBoxes())
    with pytest.raises(ConversionError) as caught:
        convert({"a": np.ones(2), "b": [np.ones(3), np.array([7.0])]})
    assert str(caught.value) == (
        "value['b'][1]: Boxes does not hold 7 (numpy.ndarray of float64, shape (1,), on cpu); "
        "take another number"
    )


@pytest.mark.parametrize("place", range(4))
def test_a_refused_array_of_a_vector_step_is_named_by_its_path(place: int) -> None:
    roots = ["obs", "reward", "terminated", "truncated"]
    values: list[object] = [np.ones(2), np.ones(3), np.ones(4), np.ones(5)]
    values[place] = {"a": np.array([7.0])}
    ways = [Converter(PickyBoxes(), root=root) for root in roots]
    parts = [(way, value, False) for way, value in zip(ways, values, strict=True)]
    with pytest.raises(ConversionError) as caught:
        convert_together(parts)
    assert caught.value.path == f"{roots[place]}['a']"


def test_the_trees_of_a_step_are_imported_by_one_call() -> None:
    backend = BatchedBoxes()
    ways = [Converter(backend, root=root) for root in ("obs", "info")]
    values: list[object] = [np.ones(2), {"time": 1.5, "x": [np.ones(3)]}]
    parts = [(way, value, False) for way, value in zip(ways, values, strict=True)]
    obs, info = cast("tuple[Array, Array]", convert_together(parts))
    assert obs.memory.tolist() == [1, 1]
    assert info["x"][0].memory.tolist() == [1, 1, 1]
    assert backend.imported == [3]


def test_arrays_that_are_refused_together_are_imported_one_by_one() -> None:
    convert = Converter(BatchedBoxes(most=1))
    ones, zeros = cast("list[Array]", convert([np.ones(2), np.zeros(3)]))
    assert (ones.memory.tolist(), zeros.memory.tolist()) == ([1, 1], [0, 0, 0])


def _reference(name: str) -> str:
    return f"gymbridge_runtime.backends.{name}:{name.upper()}"
