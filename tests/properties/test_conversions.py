"""Properties of every conversion of any tree between any two libraries."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from hypothesis import given
from hypothesis import strategies as st

from gymbridge import ConversionError, CopyRequiredError
from tests.properties.plans import Array, build, check, leaves, plans, stored, wholesale
from tests.support import LIBRARIES, PAIRS, Host, Library, Pair, identical

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend

Tree = Any
MUTABLE = {"numpy", "torch"}
TOO_MANY_BITS = 2**80

every_pair = pytest.mark.parametrize("pair", PAIRS, ids=repr)
any_data = given(data=st.data())


def backend(library: Library) -> AnyBackend:
    return load(f"gymbridge_runtime.backends.{library.name}:{library.name.upper()}")


def overwrite(array: Tree) -> None:
    """Change every number of a writable array."""
    if isinstance(array, np.ndarray):
        if array.flags.writeable:
            with np.errstate(invalid="ignore"):  # NumPy warns about some NaN
                array[...] = array == 0
    else:
        array.copy_(array == 0)


def numbers_of(value: Tree, plan: Tree) -> list[tuple[Array, Tree]]:
    """Return the planned arrays with their counterparts in ``value``."""
    pairs = zip(leaves(plan), leaves(value), strict=True)
    return [(part, given) for (_, part), (_, given) in pairs if isinstance(part, Array)]


def snapshot(value: Tree, plan: Tree) -> list[tuple[int, Host | None]]:
    """Return a description of a tree, to compare later: identities and all numbers."""
    return [
        (id(given), LIBRARIES[part.library].values(given) if isinstance(part, Array) else None)
        for (_, part), (_, given) in zip(leaves(plan), leaves(value), strict=True)
    ]


def unchanged(before: list[tuple[int, Host | None]], after: list[tuple[int, Host | None]]) -> bool:
    return len(before) == len(after) and all(
        one == other
        and (held is None or found is None or (held.tobytes(), held.shape) == _held(found))
        for (one, held), (other, found) in zip(before, after, strict=True)
    )


def _held(values: Host) -> tuple[bytes, tuple[int, ...]]:
    return values.tobytes(), values.shape


def must_share(array: Array, target: Library) -> bool:
    """Tell whether ``copy=None`` promises to share an array."""
    plain = array.layout in {"C", "Fortran", "strided", "misaligned"}
    plain |= array.layout == "negative" and array.values.ndim == 0  # a 0-d array has no strides
    plain |= array.layout == "swapped" and array.values.itemsize == 1  # one byte has no byte order
    if target.name == "numpy":
        return plain or array.layout in {"read-only", "negative"}
    if array.layout == "misaligned" and array.values.dtype.kind == "c":
        return False  # PyTorch would abort the process when it reads them
    return target.name == "torch" and array.library in MUTABLE and plain


@every_pair
@any_data
def test_a_tree_keeps_structure_values_and_dtypes(pair: Pair, data: st.DataObject) -> None:
    pair.require()
    plan = data.draw(plans(pair.source))
    value = build(plan)
    before = snapshot(value, plan)
    copy = data.draw(st.sampled_from([None, True]))
    result = pair.convert(value, copy=copy)
    check(result, plan, value, pair.target)
    assert unchanged(before, snapshot(value, plan))


@every_pair
@any_data
def test_a_round_trip_loses_only_what_the_other_library_lacks(
    pair: Pair, data: st.DataObject
) -> None:
    pair.require()
    plan = data.draw(plans(pair.source))
    value = build(plan)
    there = pair.convert(value)
    back = Pair(pair.target.name, pair.source.name).convert(there)
    check(back, plan, value, pair.target, pair.source)


@every_pair
@any_data
def test_copies_are_independent_and_sharing_is_as_promised(pair: Pair, data: st.DataObject) -> None:
    """Sources are overwritten after the conversion, and then the results."""
    pair.require()
    plan = data.draw(plans(pair.source))
    value = build(plan)
    copy = data.draw(st.sampled_from([None, True]))
    result = pair.convert(value, copy=copy)
    given_and_got = list(zip(numbers_of(value, plan), numbers_of(result, plan), strict=True))
    for (part, source), (_, got) in given_and_got:
        address = LIBRARIES[part.library].address(source)
        here = part.values.size > 0 and pair.target.address(got) == address
        if part.library == pair.target.name:
            assert (got is source) is (copy is None)
        elif copy is None and part.values.size > 0:
            assert here is must_share(part, pair.target), (part.layout, part.library)
        if here and copy is None:
            continue
        assert not here
        if pair.target.name == "numpy":
            assert copy is None or got.flags.writeable
        if part.library in MUTABLE and (copy or part.library != pair.target.name):
            before = pair.target.values(got)
            overwrite(source)
            assert identical(pair.target.values(got), before)
        if pair.target.name in MUTABLE:
            before = LIBRARIES[part.library].values(source)
            overwrite(got)
            after = LIBRARIES[part.library].values(source)
            same = got is source or before.tobytes() == after.tobytes()
            assert same, "what was copied is shared"


@every_pair
@any_data
def test_copy_false_shares_or_names_a_leaf(pair: Pair, data: st.DataObject) -> None:
    pair.require()
    plan = data.draw(plans(pair.source))
    value = build(plan)
    before = snapshot(value, plan)
    try:
        result = pair.convert(value, copy=False)
    except CopyRequiredError as error:
        refused = error
    else:
        for (part, source), (_, got) in zip(
            numbers_of(value, plan), numbers_of(result, plan), strict=True
        ):
            if part.values.size:
                assert pair.target.address(got) == LIBRARIES[part.library].address(source)
        check(result, plan, value, pair.target)
        return
    assert unchanged(before, snapshot(value, plan))
    part = eval(refused.path, {"value": plan})
    assert isinstance(part, Array)
    assert part.library != pair.target.name
    in_place = pair.target.shares or pair.target.name == "numpy"
    assert not in_place or not must_share(part, pair.target)


@every_pair
@any_data
def test_the_path_of_an_error_leads_to_the_refused_leaf(pair: Pair, data: st.DataObject) -> None:
    pair.require()
    plan = data.draw(plans(pair.source))
    number = data.draw(st.integers(0, len(list(leaves(plan)))))
    places = iter(range(number + 1))

    def with_bomb(leaf: Tree) -> Tree:
        return TOO_MANY_BITS if next(places, None) == number else leaf

    bad = [wholesale(plan, with_bomb), {"last": TOO_MANY_BITS}]
    value = build(bad)
    with pytest.raises(ConversionError) as caught:
        pair.convert(value)
    assert eval(caught.value.path, {"value": value}) == TOO_MANY_BITS
    good = build(plan)
    check(pair.convert(good), plan, good, pair.target)


def same_results(one: Tree, other: Tree, target: Library) -> None:
    for (path, a), (_, b) in zip(leaves(one), leaves(other), strict=True):
        assert type(a) is type(b), path
        if target.is_array(a) and np.asarray(a).dtype.kind in "biufc":
            assert target.dtype(a) == target.dtype(b)
            assert identical(target.values(a), target.values(b)), path
        else:
            assert a is b or isinstance(a, np.ndarray)


@every_pair
@any_data
def test_the_fast_path_does_what_the_general_path_does(pair: Pair, data: st.DataObject) -> None:
    """Repeated, so that JAX compiles the imports."""
    pair.require()
    plan = data.draw(plans(pair.source))
    value = build(plan)
    copy = data.draw(st.sampled_from([None, True]))
    wanted = Converter(backend(pair.target), copy=copy)(value)
    result = pair.convert(value, copy=copy)
    for _ in range(data.draw(st.sampled_from([0, 0, 0, 20]))):
        result = pair.convert(value, copy=copy)
    same_results(result, wanted, pair.target)
    for (part, source), (_, short), (_, long) in zip(
        numbers_of(value, plan), numbers_of(result, plan), numbers_of(wanted, plan), strict=True
    ):
        if part.values.size:
            address = LIBRARIES[part.library].address(source)
            shared = pair.target.address(short) == address
            assert shared is (pair.target.address(long) == address), (part.library, part.layout)


@every_pair
@any_data
def test_the_fast_path_refuses_what_the_general_path_refuses(
    pair: Pair, data: st.DataObject
) -> None:
    """Integers that JAX cannot hold give the same error on both paths."""
    pair.require()
    wide = data.draw(st.sampled_from([2**31, -(2**31) - 1, 2**40, 2**63 - 1]))
    array: Tree = np.array([1, wide])
    if stored("int64", pair.source) == "int64":
        array = pair.source.make(array)
    tree = build(data.draw(plans(pair.source)))
    value = data.draw(st.sampled_from([array, {"a": array}, [tree, array], [tree, wide]]))
    said: list[str] = []
    for convert in (Converter(backend(pair.target)), pair.convert):
        with suppress(ConversionError):
            convert(value)
            continue
        with pytest.raises(ConversionError) as caught:
            convert(value)
        said.append(str(caught.value))
    assert len(set(said)) <= 1
    assert len(said) == (2 if stored("int64", pair.target) != "int64" else 0)
