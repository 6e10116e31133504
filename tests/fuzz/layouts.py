"""Random views of memory with any strides; some would abort an importer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gymbridge import CopyRequiredError
from tests.support import PAIRS, Array, Host, Pair, identical

if TYPE_CHECKING:
    from collections.abc import Sequence

DTYPES = ("bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64")
ROOM = 4096
"""Bytes before and after the start of a view."""


def drawn(generator: np.random.Generator) -> Host:
    """Return a random view: overlapping, misaligned, reversed, broadcast or ordinary."""
    dtype = np.dtype(str(generator.choice(DTYPES)))
    shape = tuple(int(length) for length in generator.integers(0, 4, generator.integers(0, 5)))
    unit = 1 if generator.random() < 0.2 and dtype.kind != "b" else dtype.itemsize
    strides = tuple(int(stride) * unit for stride in generator.integers(-9, 10, len(shape)))
    if generator.random() < 0.3:
        strides = tuple(abs(stride) for stride in strides)
    memory = generator.integers(0, 2, 2 * ROOM, np.uint8)
    if dtype.kind == "i" and dtype.itemsize == 8:
        memory[:] = 0  # JAX cannot hold other integers of eight bytes
    offset = ROOM + (int(generator.integers(0, 64)) if generator.random() < 0.5 else 0)
    if unit > 1:
        offset -= offset % dtype.itemsize if generator.random() < 0.8 else 0
    view: Host = np.ndarray(shape, dtype, memory, offset, strides)
    if generator.random() < 0.2:
        view.flags.writeable = False
    return view


def of(library: str, view: Host) -> Array:
    """Return an array of ``library`` over the memory of ``view``, if the library allows it."""
    if library == "torch":
        import torch

        offset_free = all(s >= 0 and s % view.itemsize == 0 for s in view.strides)
        return torch.from_numpy(view if offset_free and view.flags.writeable else view.copy())
    return view


def attack(pair: Pair, view: Host) -> None:
    """Convert a view in every way and compare; ``copy=False`` may be refused."""
    source = of(pair.source.name, view)
    values = np.array(view)
    wanted = pair.target.narrow.get(values.dtype.name, values.dtype.name)
    for copy in (None, True, False):
        try:
            result = pair.convert([source], copy=copy)[0]
        except CopyRequiredError:
            assert copy is False
            continue
        assert pair.target.is_array(result)
        assert identical(pair.target.values(result), values.astype(wanted)), (pair, view.strides)
        assert identical(np.array(view), values)
        if copy is not None and view.size:
            there = pair.target.address(result)
            here = pair.source.address(source)
            assert (there == here) is (copy is False), (pair, view.strides)


def fuzz(seed: int, views: int, names: Sequence[str] = ()) -> int:
    """Attack pairs with random views; return their number."""
    generator = np.random.default_rng(seed)
    pairs = [
        pair
        for pair in PAIRS
        if pair.source.name in {"numpy", "torch"} and pair.name in (names or pair.name)
    ]
    for _ in range(views):
        view = drawn(generator)
        for pair in pairs:
            attack(pair, view)
    return views * len(pairs)
