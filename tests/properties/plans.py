"""Random trees: the values to convert and the expected results.

A plan is a tree of containers with an `Array` for every array; `build` makes the value to
convert, and `check` compares the result with the plan.
"""

from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.support import LIBRARIES, Host, Library, identical

Tree = Any
"""A plan, a built value, or a result."""

SHAPES = [(), (0,), (1,), (3,), (2, 3), (2, 0, 1), (2, 1, 2)]
"""Few, because JAX compiles an import for each."""

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
PLAIN_NUMBERS = {int: "int64", float: "float64", complex: "complex128"}


class Array(NamedTuple):
    """An array of ``library`` with the given values and layout."""

    library: str
    values: Host
    layout: str


class Point(NamedTuple):
    x: Tree
    y: Tree


@dataclass
class State:
    position: Tree
    name: Tree


@dataclass(frozen=True, slots=True)
class Frozen:
    inside: Tree


class Level(IntEnum):
    LOW = 1


class Opaque:
    """An object of an unknown class."""


# -- memory ---------------------------------------------------------------------------------------


def _strided(values: Host) -> Host:
    if not values.ndim:
        return values.copy()
    room = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
    room[..., ::2] = values
    return room[..., ::2]


def _negative(values: Host) -> Host:
    back = (slice(None, None, -1),) * values.ndim
    return values[back].copy()[back] if values.ndim else values.copy()


def _misaligned(values: Host) -> Host:
    raw = np.zeros(values.nbytes + 1, np.uint8)
    view: Host = raw[1:].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view


def _read_only(values: Host) -> Host:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS: dict[str, Callable[[Host], Host]] = {
    "C": np.copy,
    "Fortran": lambda values: np.array(values, order="F"),
    "strided": _strided,
    "negative": _negative,
    "misaligned": _misaligned,
    "read-only": _read_only,
    "swapped": lambda values: values.astype(values.dtype.newbyteorder(">")),
}
TORCH_LAYOUTS = ("C", "Fortran", "strided")


def _make(array: Array) -> Tree:
    if array.library == "numpy":
        return LAYOUTS[array.layout](array.values)
    if array.library == "torch":
        import torch

        return torch.from_numpy(LAYOUTS[array.layout](array.values))
    return LIBRARIES[array.library].make(array.values)


# -- drawing --------------------------------------------------------------------------------------


def _values(dtype: str, shape: tuple[int, ...], seed: int) -> Host:
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(generator.integers(0, 2, shape)).astype(np.bool_)
    if dtype in {"int64", "uint64"}:  # JAX refuses integers of more than 32 bits
        low = 0 if dtype == "uint64" else -(2**31)
        return np.asarray(generator.integers(low, 2**31, shape)).astype(dtype)
    size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
    return np.frombuffer(generator.bytes(size), dtype).reshape(shape)  # random bits


@st.composite
def arrays(draw: st.DrawFn, source: Library) -> Array:
    """Draw an array, usually of ``source``."""
    library = draw(st.sampled_from([source.name] * 3 + list(LIBRARIES)))
    dtypes = [name for name in DTYPES if name not in LIBRARIES[library].narrow]
    values = _values(
        draw(st.sampled_from(dtypes)),
        draw(st.sampled_from(SHAPES)),
        draw(st.integers(0, 2**16)),
    )
    layouts = {"numpy": tuple(LAYOUTS), "torch": TORCH_LAYOUTS}.get(library, ("C",))
    return Array(library, values, draw(st.sampled_from(layouts)))


_NUMBERS = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.floats(width=32),
    st.complex_numbers(max_magnitude=1e6),
    st.sampled_from([np.float32(1.5), np.int8(-3), np.uint16(7), np.float64(0.5), np.bool_(True)]),
)
_OTHERS = st.sampled_from(
    [
        *(None, True, False, "text", b"bytes", np.str_("text"), Level.LOW, Opaque(), Opaque),
        *({1, 2.5}, frozenset({3}), range(3), len, ..., np.datetime64("2026-11-18"), slice(3)),
        *(np.array(["a", "bb"]), np.zeros(2, [("a", "f4")])),
    ]
)
_KEYS = st.one_of(
    st.text("abé", max_size=2), st.integers(0, 3), st.none(), st.tuples(st.integers(0, 2))
)


def plans(source: Library) -> st.SearchStrategy[Tree]:
    """Draw trees of arrays, numbers and other things."""
    leaf = st.one_of(arrays(source), arrays(source), _NUMBERS, _OTHERS)
    return st.recursive(leaf, _around, max_leaves=8)


def _around(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    few = st.lists(inner, max_size=4)
    keyed = st.dictionaries(_KEYS, inner, max_size=4)
    return st.one_of(
        few,
        keyed,
        few.map(tuple),
        few.map(deque),
        few.map(lambda items: deque(items, maxlen=4)),
        few.map(_objects),
        keyed.map(OrderedDict),
        keyed.map(UserDict),
        keyed.map(lambda items: defaultdict(list, items)),
        st.builds(Point, inner, inner),
        st.builds(State, inner, st.just("name")),
        st.builds(Frozen, inner),
    )


def _objects(items: list[Tree]) -> Host:
    array = np.empty(len(items), object)
    for index, item in enumerate(items):
        array[index] = item
    return array


# -- containers -----------------------------------------------------------------------------------


def _children(tree: Tree) -> list[tuple[str, Tree]] | None:
    """Return the path steps and children of a container; None for anything else."""
    if isinstance(tree, Array):
        return None
    if isinstance(tree, Mapping):
        return [(f"[{key!r}]", child) for key, child in tree.items()]
    if isinstance(tree, np.ndarray) and tree.dtype == object:
        return [(f"[{index}]", tree[index]) for index in range(len(tree))]
    if isinstance(tree, (list, tuple, deque)):
        return [(f"[{index}]", child) for index, child in enumerate(tree)]
    if is_dataclass(tree) and not isinstance(tree, type):
        return [(f".{field.name}", getattr(tree, field.name)) for field in fields(tree)]
    return None


def leaves(tree: Tree, path: str = "") -> Iterator[tuple[str, Tree]]:
    """Yield the path of every leaf of a plan, and the leaf."""
    children = _children(tree)
    if children is None:
        yield path, tree
    else:
        for step, child in children:
            yield from leaves(child, path + step)


def wholesale(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """Return ``tree`` with every leaf changed."""
    if _children(tree) is None:
        return change(tree)
    if isinstance(tree, np.ndarray):
        return _objects([wholesale(child, change) for child in tree])
    if isinstance(tree, defaultdict):
        return defaultdict(
            tree.default_factory, {k: wholesale(child, change) for k, child in tree.items()}
        )
    if isinstance(tree, Mapping):
        kind: Any = type(tree)
        return kind({key: wholesale(child, change) for key, child in tree.items()})
    if isinstance(tree, Point):
        return Point(*(wholesale(child, change) for child in tree))
    if isinstance(tree, deque):
        return deque((wholesale(child, change) for child in tree), tree.maxlen)
    if isinstance(tree, (list, tuple)):
        return type(tree)(wholesale(child, change) for child in tree)
    return replace(
        tree, **{field.name: wholesale(getattr(tree, field.name), change) for field in fields(tree)}
    )


def build(plan: Tree) -> Tree:
    """Return what a plan describes."""
    return wholesale(plan, lambda leaf: _make(leaf) if isinstance(leaf, Array) else leaf)


# -- expected results -----------------------------------------------------------------------------


def stored(dtype: str, *ways: Library) -> str:
    """Return the name of ``dtype`` after a way through libraries that narrow it."""
    for library in ways:
        dtype = library.narrow.get(dtype, dtype)
    return dtype


def check(result: Tree, plan: Tree, value: Tree, *ways: Library) -> None:
    """Fail unless ``result`` is the conversion of ``value``, which was built from ``plan``.

    Args:
        result: The converted value.
        plan: The plan of ``value``.
        value: The value before the conversion.
        ways: The libraries on the way, in order; results belong to the last.
    """
    parts, before = _children(plan), _children(value)
    if parts is not None and before is not None:
        assert type(result) is type(value)
        after = _children(result)
        assert after is not None
        assert [step for step, _ in after] == [step for step, _ in parts]
        if isinstance(value, deque):
            assert result.maxlen == value.maxlen
        if isinstance(value, defaultdict):
            assert result.default_factory is value.default_factory
        for (_, out), (_, part), (_, given) in zip(after, parts, before, strict=True):
            check(out, part, given, *ways)
        return
    number = _number(plan)
    if number is None:
        assert type(result) is type(value)
        if isinstance(value, np.ndarray):  # it holds no numbers and may be copied
            assert identical(result, value)
        else:
            assert result is value
        return
    if isinstance(plan, Array) and {plan.library} == {way.name for way in ways}:
        assert result.dtype == value.dtype  # an array of the target keeps its byte order
        assert identical(ways[-1].values(result), ways[-1].values(value))
        return
    wanted = stored(number.dtype.name, *ways)
    assert ways[-1].is_array(result), f"{result!r} is no array of {ways[-1].name}"
    assert ways[-1].dtype(result) == wanted
    found = ways[-1].values(result)
    assert found.shape == number.shape
    if wanted == number.dtype.name:
        assert identical(found, number)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            np.testing.assert_array_equal(found, number.astype(wanted))


def _number(plan: Tree) -> Host | None:
    """Return the values of an array or a number; None for anything else."""
    if isinstance(plan, Array):
        return plan.values
    if isinstance(plan, (np.number, np.bool_)):
        return np.asarray(plan)
    if type(plan) in PLAIN_NUMBERS:
        return np.asarray(plan, PLAIN_NUMBERS[type(plan)])
    return None
