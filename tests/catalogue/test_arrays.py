"""Arrays to and from every library of the catalogue: values, layouts and ownership."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError

from tests.runtime.layouts import LAYOUTS, expose
from tests.support import LIBRARIES, Host, identical

if TYPE_CHECKING:
    from tests.catalogue.bridges import Bridges
    from tests.catalogue.libraries import CatalogueLibrary
    from tests.support import Library

NUMPY = LIBRARIES["numpy"]
SHAPES = [(), (1,), (3,), (2, 3), (0,), (0, 2), (2, 1, 2, 1)]


def numbers(dtype: str, shape: tuple[int, ...]) -> Host:
    """Return numbers that show a change of any bit."""
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    size = int(np.prod(shape))
    values: Host = np.arange(size) % 2 if dtype == "bool" else np.linspace(-3, 100, size)
    if dtype.startswith("complex"):
        values = values + 1j
    return np.asarray(abs(values) if dtype[0] == "u" else values).astype(kind).reshape(shape)


def kept(dtype: str, library: Library) -> str:
    return library.narrow.get(dtype, dtype)


class TestValues:
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_values_survive_a_round_trip(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library, shape: tuple[int, ...]
    ) -> None:
        for dtype in entry.dtypes:
            expected = numbers(dtype, shape)
            if dtype in partner.narrow:
                expected = expected.astype(kept(dtype, partner))
            made = partner.make(expected)
            there = bridges.convert(partner, entry, {"a": [made]})["a"][0]
            assert entry.is_array(there), dtype
            assert entry.dtype(there) == expected.dtype.name
            assert identical(entry.values(there), expected.reshape(shape or entry.numbers)), dtype
            back = bridges.convert(entry, partner, (there,))[0]
            assert partner.is_array(back), dtype
            assert identical(partner.values(back), expected.reshape(shape or entry.numbers)), dtype

    def test_arrays_made_by_the_library_itself_are_converted(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        for dtype in entry.dtypes:
            for shape in ((), (2, 3)):
                values = numbers(dtype, shape)
                result = bridges.convert(entry, partner, entry.make(values))
                assert partner.dtype(result) == kept(dtype, partner)
                expected = values.reshape(shape or entry.numbers).astype(
                    partner.values(result).dtype
                )
                assert identical(partner.values(result), expected), dtype

    def test_missing_dtypes_are_refused(self, bridges: Bridges, entry: CatalogueLibrary) -> None:
        every = ("bool", "int8", "uint64", "float16", "float64", "complex64", "complex128")
        for dtype in set(every) - {*entry.dtypes, *entry.narrow}:
            with pytest.raises(
                ConversionError, match=rf"value\['a'\]: .* has no dtype for {dtype}"
            ):
                bridges.convert(NUMPY, entry, {"a": np.zeros(2, dtype)})

    def test_too_many_dimensions_are_refused(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        most = min(entry.max_ndim, 8)
        assert entry.is_array(bridges.convert(NUMPY, entry, np.ones((1,) * most, "f4")))
        if entry.max_ndim < 64:
            with pytest.raises(ConversionError, match=f"at most {entry.max_ndim} dimensions"):
                bridges.convert(NUMPY, entry, np.ones((1,) * (entry.max_ndim + 1), "f4"))

    def test_numbers_are_converted_and_other_objects_stay(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        tree = {"n": 2**40, "f": 0.1, "s": np.float32(2.5), "t": "text", "b": True, "none": None}
        there = bridges.convert(NUMPY, entry, tree)
        assert {key: there[key] for key in ("t", "b", "none")} == {
            "t": "text",
            "b": True,
            "none": None,
        }
        for key, dtype in (("n", "int64"), ("f", "float64"), ("s", "float32")):
            array = there[key]
            assert entry.is_array(array)
            assert entry.dtype(array) == dtype
            assert entry.values(array).reshape(()) == tree[key]

    def test_arrays_of_another_byte_order_are_converted(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        values = np.arange(3).astype(">f4")
        assert entry.values(bridges.convert(NUMPY, entry, values)).tolist() == [0, 1, 2]

    def test_float_dtype_casts_floating_arrays(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        backend = bridges.backend(entry)
        from gymbridge_runtime.core.converter import Converter

        own = "float32" if entry.name == "pyarrow" else entry.xp.float32
        for dtype in ("float32", np.float32, own):
            array = Converter(backend, float_dtype=dtype)(np.ones(2))
            assert entry.dtype(array) == "float32"
            there = entry.make(np.ones(2))
            assert entry.dtype(Converter(backend, float_dtype=dtype)(there)) == "float32"


class TestLayouts:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_every_numpy_layout_is_converted_and_stays_as_converted(
        self, bridges: Bridges, entry: CatalogueLibrary, layout: str
    ) -> None:
        for size in (8, 4096, 1 << 20):
            exposed = expose(layout, size)
            expected = np.array(exposed.array)
            result = bridges.convert(NUMPY, entry, [exposed.array])[0]
            assert identical(entry.values(result), expected)
            snapshot = bridges.convert(NUMPY, entry, [exposed.array], copy=True)[0]
            exposed.overwrite()
            assert identical(entry.values(snapshot), expected)
            if not entry.shares or not entry.mutable:
                assert identical(entry.values(result), expected)

    def test_copied_memory_gets_the_right_layout(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        if find_spec("torch") is None or "complex64" not in entry.dtypes:
            pytest.skip("takes a library that conjugates lazily, and complex numbers")
        import torch

        turned = torch.arange(6).reshape(2, 3).to(torch.complex64).mul(1j).T.conj()
        result = bridges.convert(LIBRARIES["torch"], entry, turned)
        assert identical(entry.values(result), turned.resolve_conj().numpy())

    def test_memory_is_aligned_as_the_library_needs(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        if entry.alignment == 1:
            pytest.skip(f"{entry.name} takes any")
        kept = [bridges.convert(NUMPY, entry, np.zeros(size, "u1")) for size in range(1, 400)]
        assert {entry.address(array) % entry.alignment for array in kept} == {0}

    def test_slices_of_numpy_arrays_are_converted(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        # some importers ignore the offset of a slice
        for part in (slice(2, None), slice(None, None, 2)):
            array = partner.make(np.arange(8, dtype=np.float32))[part]
            result = bridges.convert(partner, entry, array)
            assert entry.values(result).tolist() == partner.values(array).tolist()

    def test_slices_of_the_library_are_converted(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        if entry.name == "pyarrow":
            pytest.skip("tensors of PyArrow have no slices")
        for dtype in ("float32", "bfloat16"):
            if dtype not in entry.dtypes:
                continue
            whole = entry.make(numbers(dtype, (4, 3)))
            for part in (whole[1:], whole[::2], whole[1:][:, 1:]):
                result = bridges.convert(entry, partner, part)
                assert identical(partner.values(result), entry.values(part))


class TestMemory:
    def test_sharing_follows_the_entry(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        from gymbridge_generator.load import parse
        from gymbridge_generator.resources import shipped_spec
        from gymbridge_generator.sharing import sharing

        text = shipped_spec().read_text(encoding="utf-8")
        ((one, other), (_, _)) = parse(text, "spec", (entry.name, partner.name)).pairs
        facts = {one.name: one, other.name: other}
        for source, target in ((entry, partner), (partner, entry)):
            made = source.make(np.arange(64, dtype=np.float32))
            result = bridges.convert(source, target, made)
            stated = sharing(facts[source.name], facts[target.name])
            shared = source.address(made) == target.address(result)
            assert shared is (stated != "copied"), (source.name, target.name, stated)
            if target is NUMPY:
                assert result.flags.writeable is (stated != "read-only view")

    def test_immutable_memory_does_not_change(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        if entry.mutable and entry.views_writable:
            pytest.skip(f"arrays of {entry.name} may change")
        made = entry.make(np.arange(64, dtype=np.float32))
        for options in ({}, {"copy": True}):
            result = bridges.convert(entry, partner, made, **options)
            if partner.mutable and (partner is not NUMPY or result.flags.writeable):
                result[:] = 7
            assert entry.values(made).tolist() == list(range(64))

    def test_read_only_memory_is_not_written(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        source = np.arange(4, dtype=np.float32)
        source.flags.writeable = False
        result = bridges.convert(NUMPY, entry, source)
        if entry.mutable:
            entry.overwrite(result)
            assert entry.values(result).tolist() == [7, 7, 7, 7]
        assert source.tolist() == [0, 1, 2, 3]

    def test_copy_true_copies(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        for source, target in ((entry, partner), (partner, entry)):
            made = source.make(np.arange(64, dtype=np.float32))
            result = bridges.convert(source, target, made, copy=True)
            assert source.address(made) != target.address(result)
        own = entry.make(np.arange(3, dtype=np.float32))
        assert bridges.convert(partner, entry, own) is own
        copied = bridges.convert(partner, entry, own, copy=True)
        assert entry.address(copied) != entry.address(own)
        assert identical(entry.values(copied), entry.values(own))

    def test_copy_false_shares_or_raises(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        for source, target in ((entry, partner), (partner, entry)):
            made = source.make(np.arange(64, dtype=np.float32))
            try:
                result = bridges.convert(source, target, made, copy=False)
            except CopyRequiredError:
                default = bridges.convert(source, target, made)
                assert source.address(made) != target.address(default)
            else:
                assert source.address(made) == target.address(result)
