"""`Expectation` reports values that differ, and accepts values that agree."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.testing.expectation import Expectation
from gymbridge_runtime.testing.side import Side

NUMPY = Side(load("gymbridge_runtime.backends.numpy:NUMPY"))

WORDS = np.array(["one", "two"])


@dataclass
class Step:
    """A container with attributes."""

    reward: object


def said(found: object, bare: object, expect: Expectation) -> list[str]:
    return [str(difference) for difference in expect.differences(found, bare, "value")]


@pytest.mark.parametrize(
    ("found", "kind", "values"),
    [
        (WORDS.copy(), True, True),
        (np.array(["one", "six"]), True, False),
        (np.array(["one"]), False, False),
        (np.array(["one", "three"]), False, False),
        (WORDS[None], False, False),
        (["one", "two"], False, False),
        ("one", False, False),
        (None, False, False),
    ],
    ids=repr,
)
def test_arrays_of_text_are_compared_by_type_and_value(
    found: object, kind: bool, values: bool
) -> None:
    assert (said(found, WORDS, Expectation(NUMPY, values=False)) == []) is kind
    assert (said(found, WORDS, Expectation(NUMPY)) == []) is values


def test_a_value_equals_itself_even_if_its_eq_says_no() -> None:
    nothing = Decimal("nan")
    assert said(nothing, nothing, Expectation(NUMPY)) == []
    assert said(Decimal(1), nothing, Expectation(NUMPY)) == [
        "value: expected Decimal('NaN'), found Decimal('1')"
    ]
    assert said(Decimal(1), nothing, Expectation(NUMPY, values=False)) == []


def test_missing_and_different_items_are_reported() -> None:
    expect = Expectation(NUMPY)
    assert said(Step("a"), Step("b"), expect) == ["value.reward: expected 'b', found 'a'"]
    assert said({}, {"a": 1}, expect) == [
        "value: expected the parts ['a'], found the parts of nothing"
    ]


def test_long_texts_are_shortened_in_messages() -> None:
    long, longer = "x" * 58, "x" * 59
    assert said(long, None, Expectation(NUMPY)) == [f"value: expected None, found {long!r}"]
    assert said(longer, None, Expectation(NUMPY)) == [f"value: expected None, found '{longer}…"]


def test_messages_show_types_of_scalars_and_values_of_numbers() -> None:
    expect = Expectation(NUMPY, scalars=True)
    assert said("1", np.float32(1), expect) == ["value: expected float32 of float32, found str"]
    assert said(np.array([1.0]), np.array([2.0]), expect) == [
        "value: expected array([2.]), found array([1.])"
    ]


def test_an_overflow_in_a_cast_gives_no_warning() -> None:
    expect = Expectation(NUMPY, float_dtype=np.dtype("float16"))
    assert said(np.array([np.inf], np.float16), np.array([1e10]), expect) == []
    signal = np.array([0x7FF4000000000000], np.uint64).view(np.float64)
    with np.errstate(invalid="ignore"):
        quiet = signal.astype(np.float32)
    assert said(quiet, signal, Expectation(NUMPY, float_dtype=np.dtype("float32"))) == []
