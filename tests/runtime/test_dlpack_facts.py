"""Each fact of a spec entry changes how the library is called."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.ownership import Ownership
from typing_extensions import override

from tests.runtime.fake_library import FakeArray, described, memory_given

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator

    from tests.support import Array, Host

NUMPY = load("gymbridge_runtime.backends.numpy:NUMPY")


def seen(array: object) -> Host:
    """Convert an array of the library to NumPy."""
    view: Array = Converter(NUMPY)(array)
    assert isinstance(view, np.ndarray)
    return view


class Derived(FakeArray):
    """An array that needs two calls before it can be exported."""

    def __init__(self, memory: Host, calls: list[str]) -> None:
        super().__init__(memory)
        self.calls = calls

    def detach(self) -> Derived:
        self.calls.append("detach")
        return Derived(self.memory + 1, self.calls)

    def resolve(self) -> FakeArray:
        self.calls.append("resolve")
        return FakeArray(self.memory * 2)

    @override
    def __dlpack__(self, **keywords: Array) -> object:
        raise BufferError("detach it first")


class Typed(FakeArray):
    """An array with a dtype object of its library; some dtypes cannot be exported."""

    def __init__(self, memory: Host, dtype: object) -> None:
        super().__init__(memory)
        self.dtype = dtype

    def view(self, dtype: str) -> Typed:
        kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
        return Typed(self.memory.view(kind), dtype)

    @override
    def __dlpack__(self, **keywords: Array) -> object:
        assert self.memory.dtype != ml_dtypes.bfloat16, "NumPy does not take it"
        assert self.dtype != "<dtype: 'string'>", "the process would have ended"
        return super().__dlpack__(**keywords)


@pytest.mark.usefixtures("fake")
class TestExports:
    def test_prepare_methods_are_called_before_an_export(self) -> None:
        described(prepare=("detach", "resolve"))
        calls: list[str] = []
        source = np.arange(3.0)
        assert seen(Derived(source, calls)).tolist() == [2, 4, 6]
        assert calls == ["detach", "resolve"]

    def test_without_prepare_methods_the_error_of_the_library_is_quoted(self) -> None:
        described()
        with pytest.raises(ConversionError, match="detach it first"):
            seen(Derived(np.ones(2), []))

    @pytest.mark.parametrize(
        ("newest", "asked"), [("legacy", (0, 8)), ("1.0", (1, 0)), ("1.3", (1, 0))]
    )
    def test_the_requested_version_is_at_most_the_export_version(
        self, monkeypatch: pytest.MonkeyPatch, newest: str, asked: tuple[int, int]
    ) -> None:
        versions: list[object] = []

        def export(self: FakeArray, *, max_version: object = None) -> object:
            versions.append(max_version)
            return self.memory.__dlpack__()

        monkeypatch.setattr(FakeArray, "__dlpack__", export)
        described(export_version=newest)
        assert seen(FakeArray(np.ones(2))).tolist() == [1, 1]
        assert versions == [asked]

    def test_arrays_of_unexportable_dtypes_are_refused(self) -> None:
        described(not_exported=("string", "resource"))
        with pytest.raises(ConversionError) as caught:
            seen([Typed(np.ones(2), "<dtype: 'string'>")])
        assert caught.value.path == "value[0]"
        assert caught.value.problem == "Fake does not export arrays of <dtype: 'string'>"
        assert caught.value.advice == "leave it out, or convert it"
        assert seen(Typed(np.ones(2), "<dtype: 'float64'>")).tolist() == [1, 1]


HALVES = np.array([[1.5, -2.25], [0.0, 3e38]], ml_dtypes.bfloat16)


class TestExtendedDtypes:
    @pytest.fixture(autouse=True)
    def take_views(self, fake: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        def take(memory: Host) -> Typed:
            assert memory.dtype != ml_dtypes.bfloat16, "NumPy does not export it"
            return Typed(memory, memory.dtype.name)

        fake.__dict__.update(from_dlpack=take, int16="int16", uint8="uint8", bfloat16="bfloat16")
        monkeypatch.setattr(Typed, "__module__", "fake_library")

    @pytest.mark.parametrize("reinterpret", [None, "fake_library.bitcast"])
    @pytest.mark.parametrize(
        "values", [HALVES, HALVES[0], HALVES[1:, 1].reshape(()), HALVES[:0]], ids=repr
    )
    def test_extended_dtypes_are_passed_as_bits(
        self, fake: types.ModuleType, reinterpret: str | None, values: Host
    ) -> None:
        casts: list[str] = []

        def bitcast(array: Typed, dtype: str) -> Typed:
            casts.append(dtype)
            return array.view(dtype)

        fake.__dict__["bitcast"] = bitcast
        backend = described(dtypes=("float32", "bfloat16"), reinterpret=reinterpret)
        array = Converter(backend)(values)
        assert isinstance(array, Typed)
        assert array.dtype == "bfloat16"
        assert array.memory.tobytes() == values.tobytes()
        back = seen(array)
        assert back.dtype == ml_dtypes.bfloat16
        assert back.shape == values.shape
        assert back.tobytes() == values.tobytes()
        assert casts == ([] if reinterpret is None else ["bfloat16", "int16"])

    def test_extended_dtypes_are_shared(self) -> None:
        backend = described(dtypes=("bfloat16",))
        values = HALVES.copy()
        array = Converter(backend)(values)
        assert isinstance(array, Typed)
        assert seen(array).ctypes.data == values.ctypes.data == array.memory.ctypes.data

    def test_missing_extended_dtypes_are_refused(self) -> None:
        with pytest.raises(ConversionError, match="Fake has no dtype for bfloat16"):
            Converter(described())(HALVES)


class TestImports:
    def test_the_library_is_started_once_and_before_its_first_array(
        self, fake: types.ModuleType
    ) -> None:
        order: list[str] = []

        def take(memory: Host) -> FakeArray:
            order.append("import")
            return FakeArray(memory)

        fake.__dict__.update(start=lambda: order.append("start"), from_dlpack=take)
        backend = described(start="fake_library.start")
        assert order == []
        Converter(backend)([np.ones(2), np.ones(2)])
        assert order == ["start", "import", "import"]

    @pytest.mark.usefixtures("fake")
    def test_an_asynchronous_importer_gets_a_private_copy(self) -> None:
        backend = described(asynchronous=True)
        source = np.ones(2)
        for options in ({}, {"copy": True}, {"default": Ownership.SNAPSHOT}):
            memory = memory_given(backend, source, **options)
            assert not np.shares_memory(memory, source)
        with pytest.raises(CopyRequiredError, match="Fake copies whatever it imports"):
            Converter(backend, copy=False)(source)

    @pytest.mark.usefixtures("fake")
    def test_strides_that_are_no_multiple_of_an_item_are_copied(self) -> None:
        records = np.zeros(4, np.dtype([("number", "f4"), ("rest", "u2")]))
        source = records["number"]
        source[...] = range(4)
        memory = memory_given(described(), source)
        assert memory.strides == (4,)
        assert memory.tolist() == [0, 1, 2, 3]


class Named:
    """A dtype with nothing but text."""

    def __init__(self, text: str) -> None:
        self.text = text

    @override
    def __str__(self) -> str:
        return self.text


DTYPES = {
    "text": "float32",
    "NumPy's scalar": np.float32,
    "NumPy's own": np.dtype("f4"),
    "a class": type("float32", (), {"__module__": "fake_library"}),
    "with its library": Named("fake_library.float32"),
    "in brackets": Named("<dtype: 'float32'>"),
}


@pytest.mark.usefixtures("fake")
class TestNarrowing:
    def test_missing_dtypes_are_narrowed_as_described(self) -> None:
        backend = described(dtypes=("uint8", "int32"), narrows={"bool": "uint8", "int64": "int32"})
        flags = memory_given(backend, np.array([True, False]))
        assert (flags.dtype.name, flags.tolist()) == ("uint8", [1, 0])
        assert memory_given(backend, np.array([2**31 - 1])).dtype == np.int32
        with pytest.raises(ConversionError, match="Fake cannot hold the int64 value 2147483648"):
            Converter(backend)(np.array([2**31]))
        with pytest.raises(ConversionError, match="Fake has no dtype for float64"):
            Converter(backend)(np.ones(2))


@pytest.mark.usefixtures("fake")
class TestDtypes:
    @pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
    def test_dtypes_may_be_given_in_every_usual_form(self, dtype: object) -> None:
        memory = memory_given(described(), np.ones(2), float_dtype=dtype)
        assert memory.dtype == np.float32

    def test_float_means_float64(self) -> None:
        halves = np.ones(2, np.float16)
        assert memory_given(described(), halves, float_dtype=float).dtype == np.float64

    def test_an_unknown_dtype_is_an_error(self) -> None:
        with pytest.raises(TypeError, match="names no dtype; name it as text, 'float32' for"):
            Converter(described(), float_dtype=Named("half a float"))


class Place:
    """A device of the library, without a hash."""

    def __init__(self, name: str) -> None:
        if name not in {"host:0", "far:0", "far:1"}:
            raise RuntimeError(f"there is no {name}")
        self.name = name

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and other.name == self.name

    @override
    def __hash__(self) -> int:
        raise TypeError("unhashable, as Warp's are")

    @override
    def __repr__(self) -> str:
        return f"fake_library.Place('{self.name}')"


class Placed(FakeArray):
    """An array on a device."""

    def __init__(self, memory: Host, place: Place | None = None) -> None:
        super().__init__(memory)
        self.place = place or Place("host:0")

    def to(self, place: str | Place) -> Placed:
        return Placed(self.memory.copy(), place if isinstance(place, Place) else Place(place))

    def to_place(self, place: Place) -> Placed:
        assert isinstance(place, Place), "text is for the function that reads it"
        return self.to(place)


@pytest.fixture
def devices(fake: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The library, with devices."""
    entered: list[Place] = []

    @contextmanager
    def within(place: str | Place) -> Iterator[None]:
        name = place.name if isinstance(place, Place) else place.lower().lstrip("/")
        entered.append(Place(name if name != "gone:0" else "host:0"))
        yield
        entered.pop()

    def copy(array: Placed) -> Placed:
        return array.to(entered[-1])

    monkeypatch.setattr(Placed, "__module__", "fake_library")
    fake.__dict__.update(from_dlpack=Placed, Place=Place, within=within, copy=copy)
    return fake


WAYS: dict[str, dict[str, str]] = {
    "a method that takes text": {"device_move": "to"},
    "a function for text": {"device_move": "to_place", "device_parse": "fake_library.Place"},
    "a context": {"device_within": "fake_library.within", "device_copy": "fake_library.copy"},
}


@pytest.mark.usefixtures("devices")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
class TestDevices:
    def test_arrays_go_to_the_named_device(self, way: dict[str, str]) -> None:
        backend = described(device_read="place", **way)
        for device in ("far:1", Place("far:1")):
            for value in (np.ones(2), 3, Placed(np.ones(2))):
                for copy in (None, True):
                    array = Converter(backend, device=device, copy=copy)(value)
                    assert isinstance(array, Placed)
                    assert array.place == Place("far:1")

    def test_device_text_can_be_parsed_again(self, way: dict[str, str]) -> None:
        backend = described(device_read="place", **way)
        place = backend.parse_device("far:0")
        assert place == Place("far:0")
        text = backend.device_text(place)
        assert text == "far:0"
        assert backend.parse_device(text) == place
        assert backend.parse_device(None) is None
        assert backend.device_text(None) is None

    def test_an_array_on_the_named_device_is_returned_itself(self, way: dict[str, str]) -> None:
        backend = described(device_read="place", **way)
        there = Placed(np.ones(2), Place("far:0"))
        assert Converter(backend, device="far:0")(there) is there
        assert Converter(backend)(there) is there
        with pytest.raises(CopyRequiredError, match="would have to be copied to fake"):
            Converter(backend, device="far:1", copy=False)(there)

    def test_another_device_needs_a_copy(self, way: dict[str, str]) -> None:
        backend = described(device_read="place", **way)
        assert backend.leaves_host(Place("far:0"))
        assert not backend.leaves_host(Place("host:0"))
        assert not backend.leaves_host(None)
        source = np.ones(2)
        with pytest.raises(CopyRequiredError, match="have to be transferred to fake_library"):
            Converter(backend, device="far:0", copy=False)(source)
        shared = Converter(backend, device="host:0", copy=False)(source)
        assert isinstance(shared, Placed)
        assert shared.memory is source

    def test_a_missing_device_is_an_error(self, way: dict[str, str]) -> None:
        backend = described(device_read="place", **way)
        with pytest.raises(ValueError, match="Fake has no device 'no:7': there is no no:7"):
            Converter(backend, device="no:7")


def test_devices_are_found_with_a_dtype_that_the_library_has(
    devices: types.ModuleType,
) -> None:
    def take(memory: Host) -> Placed:
        assert memory.dtype.name in {"uint8", "int64"}, "there is no such array"
        return Placed(memory)

    devices.__dict__["from_dlpack"] = take
    backend = described(device_read="place", device_move="to", dtypes=("uint8", "int64"))
    assert backend.parse_device("far:1") == Place("far:1")


def test_a_library_that_ignores_a_missing_device_is_an_error(devices: types.ModuleType) -> None:
    assert devices.__name__ == "fake_library"
    backend = described(device_read="place", **WAYS["a context"])
    with pytest.raises(ValueError, match="Fake leaves arrays that should go to 'gone:0' on 'host:"):
        Converter(backend, device="gone:0")
    assert Converter(backend, device="/HOST:0").device == Place("host:0")


@pytest.mark.usefixtures("devices")
def test_a_library_without_a_device_attribute_is_trusted() -> None:
    backend = described(device_read="nowhere", device_move="to")
    for device in ("far:1", Place("far:1")):
        for value in (np.ones(2), Placed(np.ones(2))):
            array = Converter(backend, device=device)(value)
            assert isinstance(array, Placed)
            assert array.place == Place("far:1")
        assert backend.device_text(backend.parse_device(device)) == "far:1"
        assert backend.leaves_host(device)
    with pytest.raises(ValueError, match="Fake has no device 'no:7': there is no no:7"):
        Converter(backend, device="no:7")
