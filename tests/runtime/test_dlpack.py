"""DLPack in practice: producers with old protocols and importers with limits."""

from __future__ import annotations

import ctypes
import pickle
import re
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError
from gymbridge_runtime.backends import registry
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.backends.dlpack_protocol import Exporter, LegacyExporter, host_view
from gymbridge_runtime.core.converter import Converter
from numpy.lib.stride_tricks import as_strided

from tests.libraries.torch import torch
from tests.runtime.fake_library import FakeArray, described, memory_given
from tests.support import LIBRARIES, PAIRS, Array, Host, Pair

if TYPE_CHECKING:
    import types
    from collections.abc import Callable

HOST = (1, 0)
NUMPY = load("gymbridge_runtime.backends.numpy:NUMPY")


class Producer:
    """An array that exports the memory of a NumPy array and records the keywords."""

    where: object = HOST

    def __init__(self, array: Host) -> None:
        self.array = array
        self.asked: list[dict[str, object]] = []

    def __dlpack_device__(self) -> object:
        return self.where

    def export(self, **keywords: object) -> object:
        self.asked.append({name: value for name, value in keywords.items() if value is not None})
        given: dict[str, Array] = {**self.asked[-1]}
        given.pop("dl_device", None)
        return self.array.__dlpack__(**given)


class Modern(Producer):
    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: object = None,
        dl_device: object = None,
        copy: object = None,
    ) -> object:
        return self.export(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)


class AnyKeyword(Producer):
    def __dlpack__(self, **keywords: object) -> object:
        return self.export(**keywords)


class StreamOnly(Producer):
    def __dlpack__(self, stream: object = None) -> object:
        return self.export(stream=stream)


class NoKeyword(Producer):
    def __dlpack__(self) -> object:
        return self.export()


class NoIndex(StreamOnly):
    where = (1, None)


class Pinned(StreamOnly):
    where = (3, 0)


class OnAnotherDevice(Modern):
    where = (2, 0)


class OutOfReach(StreamOnly):
    where = (2, 0)


class Refusing(Producer):
    def __dlpack__(self, **_: object) -> object:
        raise BufferError("strided memory is not for export")


def without_signature(array: Host) -> Array:
    """Return a producer whose `__dlpack__` has no signature, as in C extensions."""
    export = ctypes.PYFUNCTYPE(ctypes.py_object)(array.__dlpack__)
    kind = type("Extension", (), {"__dlpack__": export, "__dlpack_device__": lambda _: HOST})
    return kind()


BEHIND = [Modern, AnyKeyword, StreamOnly, NoKeyword, NoIndex, Pinned, OnAnotherDevice]


class TestProducers:
    @pytest.mark.parametrize("kind", BEHIND, ids=lambda kind: kind.__name__)
    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_producers_of_every_protocol_version_are_converted(
        self, pair: Pair, kind: type[Producer]
    ) -> None:
        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        for copy in (None, True):
            result = pair.convert({"a": [kind(values)]}, copy=copy)["a"][0]
            assert pair.target.is_array(result)
            assert pair.target.values(result).tolist() == values.tolist()

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_a_producer_without_a_signature_is_converted(self, pair: Pair) -> None:
        values = np.arange(3, dtype=np.float32)
        result = pair.convert([without_signature(values)])[0]
        assert pair.target.values(result).tolist() == [0, 1, 2]

    @pytest.mark.parametrize(
        ("kind", "keywords"),
        [
            (Modern, {"max_version"}),
            (AnyKeyword, {"max_version"}),
            (StreamOnly, set()),
            (NoKeyword, set()),
            (OnAnotherDevice, {"max_version", "dl_device"}),
        ],
    )
    def test_a_producer_gets_only_keywords_that_it_knows(
        self, kind: Callable[[Host], Array], keywords: set[str]
    ) -> None:
        producer = kind(np.ones(2))
        assert host_view(producer).array.tolist() == [1, 1]
        assert [set(asked) for asked in producer.asked] == [keywords]

    def test_a_producer_is_asked_for_version_1(self) -> None:
        values = np.ones(2)
        values.flags.writeable = False
        producer: Array = Modern(values)
        view = host_view(producer).array
        assert producer.asked[0]["max_version"] == (1, 0)
        assert not view.flags.writeable

    def test_the_keywords_of_a_producer_may_be_given(self) -> None:
        producer: Array = AnyKeyword(np.ones(2))
        assert host_view(producer, frozenset({"stream"})).array.tolist() == [1, 1]
        assert producer.asked == [{}]

    def test_a_producer_on_another_device_is_asked_for_a_copy_on_the_host(self) -> None:
        producer: Array = OnAnotherDevice(np.ones(2))
        view, owned, copied = host_view(producer)
        assert view.tolist() == [1, 1]
        assert producer.asked[0]["dl_device"] == HOST
        assert copied
        assert not owned
        with pytest.raises(CopyRequiredError, match="had to be copied to be seen from the host"):
            Converter(NUMPY, copy=False)(producer)

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_a_producer_out_of_reach_is_refused(self, pair: Pair) -> None:
        with pytest.raises(ConversionError) as caught:
            pair.convert({"a": OutOfReach(np.ones(2))})
        assert str(caught.value) == (
            "value['a']: the array could not be shown in host memory: "
            "tests.runtime.test_dlpack.OutOfReach does not know dl_device=(1, 0) "
            "(tests.runtime.test_dlpack.OutOfReach); "
            "see the cause above, or turn it into an ordinary array first"
        )
        assert isinstance(caught.value.__cause__, BufferError)

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_the_error_of_a_producer_is_quoted(self, pair: Pair) -> None:
        with pytest.raises(ConversionError, match="strided memory is not for export") as caught:
            pair.convert([Refusing(np.ones(2))])
        assert caught.value.path == "value[0]"
        assert isinstance(caught.value.__cause__, BufferError)

    @pytest.mark.parametrize("kind", [Modern, AnyKeyword])
    @pytest.mark.parametrize("keyword", [{"copy": True}, {"copy": False}, {"dl_device": HOST}])
    def test_a_requested_copy_or_device_is_never_ignored(
        self, keyword: dict[str, Array], kind: type[Producer]
    ) -> None:
        ((name, value),) = keyword.items()
        behind: Array = StreamOnly(np.ones(2))
        with pytest.raises(BufferError, match=rf"StreamOnly does not know {name}="):
            Exporter(behind).__dlpack__(**keyword)
        modern: Array = kind(np.ones(2))
        Exporter(modern).__dlpack__(**keyword)
        assert [asked[name] for asked in modern.asked] == [value]

    def test_devices_are_reported_with_an_index(self) -> None:
        here: Array = NoIndex(np.ones(2))
        there: Array = OnAnotherDevice(np.ones(2))
        assert Exporter(here).__dlpack_device__() == HOST
        assert Exporter(there).__dlpack_device__() == (2, 0)

    def test_the_legacy_exporter_gives_a_legacy_capsule(self) -> None:
        values = np.arange(3.0)
        exporter: Array = LegacyExporter(values)
        assert exporter.__dlpack_device__() == HOST
        assert '"dltensor"' in repr(exporter.__dlpack__())
        assert np.from_dlpack(Exporter(exporter)).ctypes.data == values.ctypes.data


LAYOUTS: dict[str, Callable[[], Host]] = {
    "row-major": lambda: np.arange(24.0).reshape(2, 3, 4),
    "permuted": lambda: np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "strided": lambda: np.arange(24.0).reshape(2, 3, 4)[:, ::2],
    "repeated": lambda: as_strided(np.arange(24.0), (2, 24), (0, 8)),
    "negative": lambda: np.arange(24.0).reshape(2, 3, 4)[::-1],
    "between numbers": lambda: np.ones(3, [("number", "f4"), ("rest", "i2")])["number"],
}
TAKEN = {
    "row-major": {"row-major"},
    "permuted": {"row-major", "permuted"},
    "any": {"row-major", "permuted", "strided", "repeated"},
}


@pytest.mark.usefixtures("fake")
class TestDescribedLibrary:
    @pytest.mark.parametrize("layout", LAYOUTS)
    @pytest.mark.parametrize("strides", TAKEN)
    def test_the_library_gets_only_layouts_that_it_takes(self, strides: str, layout: str) -> None:
        source = LAYOUTS[layout]()
        memory = memory_given(described(strides=strides), source)
        assert memory.tolist() == source.tolist()
        shared = memory.ctypes.data == source.ctypes.data
        assert shared is (layout in TAKEN[strides])
        assert shared or memory.flags.c_contiguous

    @pytest.mark.parametrize(
        ("layout", "reason"),
        [
            ("permuted", "the strides (8, 96, 32)"),
            ("strided", "the strides (96, 64, 8)"),
            ("negative", "the strides (-96, 32, 8)"),
            ("between numbers", "the strides (6,)"),
        ],
    )
    def test_copy_false_names_strides_that_the_library_does_not_take(
        self, layout: str, reason: str
    ) -> None:
        backend = described(strides="row-major")
        with pytest.raises(CopyRequiredError, match=re.escape(f"not take memory with {reason}")):
            Converter(backend, copy=False)(LAYOUTS[layout]())

    def test_a_copy_with_the_wrong_layout_is_copied_again(self) -> None:
        tensor = torch.arange(6).reshape(2, 3).to(torch.complex64).T.conj()
        assert not tensor.resolve_conj().is_contiguous()
        memory = memory_given(described(strides="row-major"), tensor)
        assert memory.flags.c_contiguous
        assert memory.tolist() == [[0, 3], [1, 4], [2, 5]]

    def test_negative_strides_are_shared_if_the_library_takes_them(self) -> None:
        source = LAYOUTS["negative"]()
        memory = memory_given(described(negative_strides=True), source)
        assert memory.ctypes.data == source.ctypes.data

    @pytest.mark.parametrize("offset", [0, 4, 1])
    def test_memory_is_aligned_as_the_library_needs(self, offset: int) -> None:
        raw = np.zeros(256, np.uint8)
        start = -raw.ctypes.data % 64 + offset
        source = raw[start : start + 16].view(np.float32)
        memory = memory_given(described(alignment=64), source)
        assert memory.ctypes.data % 64 == 0
        assert (memory.ctypes.data == source.ctypes.data) is (offset == 0)
        assert memory_given(described(alignment=64), np.float32(1)).ctypes.data % 64 == 0
        if offset:
            for unaligned in (source, as_strided(source, (1, 4), (0, 4))):
                with pytest.raises(CopyRequiredError, match="not take memory that is not aligned"):
                    Converter(described(alignment=64), copy=False)(unaligned)

    def test_any_alignment_is_shared_by_default(self) -> None:
        for source in (np.zeros(3, np.uint8)[1:], np.zeros(3, np.uint8)[:2]):
            assert memory_given(described(), source).ctypes.data == source.ctypes.data

    def test_copy_false_refuses_an_array_that_is_not_on_the_host(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        described()
        monkeypatch.setattr(FakeArray, "__dlpack_device__", lambda _: (2, 0))
        monkeypatch.setattr(
            FakeArray, "__dlpack__", lambda array, **_: array.memory.copy().__dlpack__()
        )
        with pytest.raises(CopyRequiredError, match="had to be copied to be seen from the host"):
            Converter(NUMPY, copy=False)(FakeArray(np.ones(2)))

    @pytest.mark.parametrize("read_only", ["ignored", "kept", "refused"])
    def test_read_only_memory_is_shared_only_if_it_stays_read_only(self, read_only: str) -> None:
        source = np.ones(2)
        source.flags.writeable = False
        memory = memory_given(described(read_only=read_only), source)
        assert (memory is source) is (read_only == "kept")
        assert memory.flags.writeable is (read_only != "kept")
        assert memory_given(described(read_only=read_only), np.ones(2)).flags.writeable

    def test_immutable_arrays_are_copied_in_and_read_only_outside(self) -> None:
        backend = described(mutable=False)
        source = np.ones(2)
        array = Converter(backend)(source)
        assert isinstance(array, FakeArray)
        assert array.memory is not source
        view = Converter(NUMPY)(array)
        assert isinstance(view, np.ndarray)
        assert view.ctypes.data == array.memory.ctypes.data
        assert not view.flags.writeable
        with pytest.raises(CopyRequiredError, match="Fake arrays never change"):
            Converter(backend, copy=False)(source)

    def test_a_library_that_copies_imports_gets_no_extra_copy(self) -> None:
        backend = described(copies_in=True)
        source = np.ones(2)
        assert memory_given(backend, source, copy=True) is source
        with pytest.raises(CopyRequiredError, match="Fake copies whatever it imports"):
            Converter(backend, copy=False)(source)

    def test_read_only_memory_is_copied_if_the_library_refuses_it(self) -> None:
        backend = described(copies_in=True, read_only="refused")
        source = np.ones(2)
        source.flags.writeable = False
        memory = memory_given(backend, source)
        assert memory.flags.writeable
        assert memory.tolist() == [1, 1]

    def test_limits_of_dimensions_are_obeyed(self) -> None:
        backend = described(zero_d=False, max_ndim=4)
        assert memory_given(backend, np.ones((1, 1, 1, 1))).ndim == 4
        assert memory_given(backend, np.ones(3)).shape == (3,)
        number = np.full((), 2.5)
        alone = memory_given(backend, number)
        assert (alone.shape, alone.tolist()) == ((1,), [2.5])
        assert alone.ctypes.data == number.ctypes.data
        for value in (3, np.int64(3)):
            made = memory_given(backend, value)
            assert (made.shape, made.dtype.name, made.tolist()) == ((1,), "int64", [3])
        with pytest.raises(ConversionError) as caught:
            Converter(backend)({"a": np.ones((1,) * 5)})
        assert caught.value.problem == "Fake has arrays of at most 4 dimensions, this one has 5"
        assert caught.value.advice == "reshape it first"
        assert caught.value.__cause__ is None

    def test_missing_dtypes_are_refused(self) -> None:
        backend = described(dtypes=("float32",))
        assert memory_given(backend, np.ones(2, np.float32)).dtype == np.float32
        with pytest.raises(ConversionError, match=r"value\[0\]: Fake has no dtype for float64"):
            Converter(backend)([np.ones(2)])
        assert memory_given(backend, np.ones(2), float_dtype="float32").dtype == np.float32

    def test_the_importer_may_be_in_another_module(self, fake: types.ModuleType) -> None:
        memory_given(described(importer="fake_library.deep.take"), np.ones(2))
        assert len(fake.given) == 1

    def test_the_library_may_be_a_submodule(
        self, fake: types.ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "fake_library.core", fake)
        backend = described(module="fake_library.core", array="fake_library.core.Array")
        assert memory_given(backend, np.ones(2)).tolist() == [1, 1]
        assert registry.backend_of(FakeArray) is backend

    def test_legacy_capsules_are_supported(self, fake: types.ModuleType) -> None:
        for takes, version in (("object", "legacy"), ("capsule", "legacy"), ("capsule", "1.0")):
            Converter(described(importer_takes=takes, import_version=version))(np.ones(2))
            given = fake.given.pop()
            if takes == "object":
                assert isinstance(given, LegacyExporter)
            else:
                assert "dltensor" in repr(given)

    def test_only_described_export_keywords_are_passed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[dict[str, object]] = []

        def export(self: FakeArray, **keywords: object) -> object:
            asked.append(keywords)
            return self.memory.__dlpack__()

        monkeypatch.setattr(FakeArray, "__dlpack__", export)
        described(export_keywords=("stream",))
        assert np.asarray(Converter(NUMPY)(FakeArray(np.ones(2)))).tolist() == [1, 1]
        assert asked == [{}]

    def test_the_error_of_the_library_is_quoted(self, fake: types.ModuleType) -> None:
        def fail(_: object) -> object:
            raise OverflowError("too much")

        fake.__dict__["from_dlpack"] = fail
        with pytest.raises(ConversionError, match="Fake could not make the array: too much") as it:
            Converter(described())({"a": np.ones(2)})
        assert isinstance(it.value.__cause__, OverflowError)

    def test_the_array_must_name_a_type(self) -> None:
        backend = described(array="fake_library.not_a_type")
        with pytest.raises(TypeError, match="not_a_type is 3 and no type; correct `array` in the"):
            backend.is_array(FakeArray)

    def test_copy_true_copies_own_arrays(self) -> None:
        backend = described()
        own = FakeArray(np.ones(2))
        assert Converter(backend)(own) is own
        copy = Converter(backend, copy=True)(own)
        assert isinstance(copy, FakeArray)
        assert copy.memory.tolist() == [1, 1]
        assert copy.memory.ctypes.data != own.memory.ctypes.data

    def test_memory_is_shared_with_every_other_library(self) -> None:
        described()
        own = FakeArray(np.arange(3, dtype=np.float32))
        for name, library in LIBRARIES.items():
            target = load(f"gymbridge_runtime.backends.{name}:{name.upper()}")
            result = Converter(target)([own])
            assert isinstance(result, list)
            assert library.values(result[0]).tolist() == [0, 1, 2]
            shared = library.address(result[0]) == own.memory.ctypes.data
            assert shared is library.shares

    def test_the_backend_is_pickled_by_its_name(self, fake: types.ModuleType) -> None:
        backend = described()
        fake.__dict__["FAKE"] = backend
        assert pickle.loads(pickle.dumps(backend)) is backend
        assert repr(backend) == "<backend fake>"


def test_the_shipped_backends_are_pickled_by_their_names() -> None:
    for name in LIBRARIES:
        backend = load(f"gymbridge_runtime.backends.{name}:{name.upper()}")
        assert pickle.loads(pickle.dumps(backend)) is backend
        assert repr(backend) == f"<backend {name}>"
