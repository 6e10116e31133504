"""Finds the dtypes of the library, and how it narrows others."""

from __future__ import annotations

import numpy as np
from gymbridge_runtime.core.dtypes import extended_dtype

from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.subject import (
    Subject,
    WrongError,
    aligned,
    attribute,
    called,
    dotted_if_there,
)

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


def dtype(subject: Subject) -> Answer:
    """Import numbers, and read their dtype."""
    values = aligned(np.array([0, 1, 1, 0]).astype(subject.about))
    there = subject.seen(subject.make(values))
    if not np.array_equal(there, values):
        raise WrongError("the values became others")
    name = there.dtype.name
    return Answer(name, f"{subject.about} arrives as {name}")


def brain(subject: Subject) -> Answer:
    """Import bfloat16 as bits, and find the function that reinterprets them."""
    own, bits = (attribute(subject.module, name) for name in ("bfloat16", "int16"))
    if own is None or bits is None:
        raise WrongError("it has no bfloat16, or no int16")
    values = aligned(np.array([1.5, -2, 0], extended_dtype("bfloat16")))
    raw = subject.make(values.view(np.int16), legacy=True)
    name, reinterpret = "", attribute(raw, "view")
    if callable(reinterpret):
        there = called(reinterpret, own)
        back = called(attribute(there, "view"), bits)
    else:
        name = f"{subject.name}.bitcast"
        reinterpret = dotted_if_there(name, subject.name)
        there = called(reinterpret, raw, own)
        back = called(reinterpret, there, bits)
    if attribute(there, "dtype") != own:
        raise WrongError(f"bits became {attribute(there, 'dtype')}")
    if subject.seen(back).tobytes() != values.tobytes():
        raise WrongError("the bits became others")
    return Answer(name or "view", f"{name or 'array.view'} makes bfloat16 of its bits, and back")


QUESTIONS = {"dtype": dtype, "bfloat16": brain}
