"""`Side`: how the suite reads numbers and overwrites arrays."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import pytest
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.testing.expectation import Expectation
from gymbridge_runtime.testing.side import Side, numbers_of

from tests.runtime.fake_library import described
from tests.support import LIBRARIES, require


def side(name: str) -> Side:
    require(name)
    return Side(load(f"gymbridge_runtime.backends.{name}:{name.upper()}"))


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (-(2**63), "int64"),
        (2**63 - 1, "int64"),
        (0.1, "float64"),
        (1 + 2j, "complex128"),
        (np.float32(0.1), "float32"),
        (np.bool_(True), "bool"),
        (np.arange(3, dtype=np.uint8), "uint8"),
    ],
    ids=repr,
)
def test_numbers_are_read_without_a_change(value: object, dtype: str) -> None:
    numbers = numbers_of(value)
    assert numbers is not None
    assert numbers.dtype == dtype
    np.testing.assert_array_equal(numbers, np.asarray(value))


@pytest.mark.parametrize(
    "value",
    [-(2**63) - 1, 2**63, True, Level.LOW, "1", b"1", None, [1], np.str_("1"), np.array(["1"])],
    ids=repr,
)
def test_other_values_have_no_numbers(value: object) -> None:
    assert numbers_of(value) is None


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_overwriting_changes_the_numbers(name: str, dtype: str) -> None:
    library = side(name)
    for values in (np.zeros(3, dtype), np.ones(3, dtype)):
        array = library.make(values)
        before = library.values(array)
        changes = library.overwrite(array)
        assert changes == library.is_writable(array)
        assert changes == (library.values(array) != before).all()
        assert changes or (library.values(array) == before).all()
        assert np.isin(library.values(array), [0, 1]).all()


@pytest.mark.parametrize("name", LIBRARIES)
def test_make_copies_the_values(name: str) -> None:
    library = side(name)
    values = np.zeros(3, np.float32)
    array = library.make(values)
    values += 1
    assert library.values(array).tolist() == [0, 0, 0]


@pytest.mark.usefixtures("fake")
def test_a_library_with_one_dtype_is_usable() -> None:
    assert Side(described(dtypes=["float32"])).why_unusable() == ""


@pytest.mark.usefixtures("fake")
def test_a_library_without_float32_is_unusable() -> None:
    assert "no dtype for float32" in Side(described(dtypes=["int8"])).why_unusable()


@pytest.mark.usefixtures("fake")
def test_zero_d_arrays_are_expected_only_where_the_library_has_them() -> None:
    backend = described(zero_d=False)
    expect = Expectation(Side(backend))
    number = np.full((), 2.5)
    assert list(expect.differences(Converter(backend)(number), number, "value")) == []
