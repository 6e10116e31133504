"""Every shortcut does what DLPack does, and is taken where it is meant to be taken."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

import numpy as np
import pytest
from gymbridge_runtime.actions import ActionRules
from gymbridge_runtime.arrays import ArrayImport
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.known import load
from gymbridge_runtime.shortcuts import Shortcuts
from gymnasium import spaces

from tests.libraries.jax import jnp
from tests.libraries.mlx import mx
from tests.libraries.torch import torch
from tests.runtime.layouts import expose
from tests.support import LIBRARIES, PAIRS, Array, Host, Pair, identical

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
SHAPES = [(), (0,), (1,), (5,), (3, 4), (2, 0), (2, 3, 4)]
BACKENDS = {name: load(f"gymbridge_runtime.backends.{name}:{name.upper()}") for name in LIBRARIES}
WAYS = {"copy=None": (None, True), "copy=True": (True, True), "actions": (None, False)}
"""What a user asks for, and whether the environment promises not to touch what it returned."""


EXPOSED = [pair for pair in PAIRS if pair.source.shares]


def by_dlpack(target: str, array: Array) -> Array:
    """Import with the library's own function: the reference."""
    if target == "numpy":
        return np.from_dlpack(array)
    if target == "torch":
        from torch.utils.dlpack import from_dlpack

        return from_dlpack(array)
    if target == "mlx":
        return mx.from_dlpack(array)
    # JAX imports no read-only memory, and takes over what it is given
    return jnp.from_dlpack(np.array(np.from_dlpack(array)))


def shares(pair: Pair, way: str) -> bool:
    """Tell whether the result is meant to be over the memory of the source."""
    writable = pair.source.shares or pair.target.name == "numpy"
    return way == "copy=None" and pair.target.shares and writable


def source_of(pair: Pair, name: str, shape: tuple[int, ...]) -> Array:
    count = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7
    return pair.source.make(np.asarray(count).astype(name))


def converted(pair: Pair, way: str, array: Array, where: str) -> Array:
    copy, promised = WAYS[way]
    tree = {"a": [array]} if where == "in a tree" else array
    if way == "actions":
        result: Array = Converter(BACKENDS[pair.target.name], promised_new=promised)(tree)
    else:
        result = pair.convert(tree, copy=copy)
    return result["a"][0] if where == "in a tree" else result


@pytest.mark.parametrize("where", ["alone", "in a tree"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_a_shortcut_does_what_dlpack_does(pair: Pair, name: str, way: str, where: str) -> None:
    for shape in SHAPES:
        array = source_of(pair, name, shape)
        reference = by_dlpack(pair.target.name, array)
        result = converted(pair, way, array, where)
        assert type(result) is type(reference)
        assert result.shape == reference.shape
        assert identical(pair.target.values(result), pair.target.values(reference)), shape
        if 0 not in shape:
            same = pair.target.address(result) == pair.source.address(array)
            assert same is shares(pair, way), shape


@pytest.mark.parametrize("where", ["alone", "in a tree"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("layout", ["aligned to 4 bytes", "between numbers", "Fortran", "strided"])
@pytest.mark.parametrize("pair", EXPOSED, ids=repr)
def test_a_shortcut_keeps_layouts_apart(pair: Pair, layout: str, way: str, where: str) -> None:
    host = expose(layout, 4096).array
    array = torch.from_numpy(host) if pair.source.name == "torch" else host
    before = pair.source.values(array)
    result = converted(pair, way, array, where)
    assert identical(pair.target.values(result), before)
    same = pair.target.address(result) == pair.source.address(array)
    assert same is shares(pair, way)


@pytest.mark.parametrize("where", ["alone", "in a tree"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["bool", "uint8", "int32", "float32"])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_ordinary_arrays_take_the_shortcut(
    pair: Pair, name: str, way: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = [source_of(pair, name, shape) for shape in SHAPES]

    def long_way(*_: object) -> Host:
        raise AssertionError(f"{pair} looked at everything about an ordinary array")

    monkeypatch.setattr(ArrayImport, "convert", long_way)
    for array in arrays:
        assert pair.target.is_array(converted(pair, way, array, where))


def unwanted(*values: object) -> Array:
    raise AssertionError(f"{[type(value) for value in values]} took the long way")


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("options", [{}, {"copy": True}, {"float_dtype": "float32"}], ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_the_first_array_takes_the_shortcut_and_so_does_what_is_not_cast(
    pair: Pair, options: dict[str, Array]
) -> None:
    imports = Converter(BACKENDS[pair.target.name], **options).imports
    source = BACKENDS[pair.source.name]
    way = Shortcuts(imports, source).before(unwanted)
    for name in ("bool", "int32", "float32"):
        array = source_of(pair, name, (3, 4))
        result = way(array, 0, None)
        assert pair.target.is_array(result)
        assert identical(pair.target.values(result), pair.source.values(array))


def arrays_of_a_step(pair: Pair) -> tuple[Array, ...]:
    return tuple(
        source_of(pair, name, shape)
        for name, shape in (("float32", (4, 3)), ("float32", (4,)), ("bool", (4,)), ("bool", (4,)))
    )


def shortcuts_of(pair: Pair, copy: bool | None = None) -> tuple[Converter, Shortcuts]:
    converter = Converter(BACKENDS[pair.target.name], copy=copy)
    return converter, Shortcuts(converter.imports, BACKENDS[pair.source.name])


FOUR = [pair for pair in PAIRS if pair.target.name != "mlx"]
"""The pairs with a shortcut for four arrays."""


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("pair", FOUR, ids=repr)
def test_the_shortcut_for_four_arrays_does_what_dlpack_does(pair: Pair) -> None:
    step = arrays_of_a_step(pair)
    converter, shortcuts = shortcuts_of(pair)
    for _ in range(20):  # what JAX sees often it compiles
        converter(step)
    result = shortcuts.before_four(unwanted)(*step)
    assert type(result) is tuple
    for array, source in zip(result, step, strict=True):
        reference = by_dlpack(pair.target.name, source)
        assert type(array) is type(reference)
        assert identical(pair.target.values(array), pair.target.values(reference))
        same = pair.target.address(array) == pair.source.address(source)
        assert same is shares(pair, "copy=None")


INTO_JAX = [pair for pair in PAIRS if pair.target.name == "jax"]


def observations(pair: Pair) -> dict[str, Array]:
    """Return dictionaries as environments observe them, of arrays that are all ordinary."""
    made: Array = partial(source_of, pair)
    return {
        "two": {"b": made("float32", (4, 3)), "a": made("uint8", (4, 2))},
        "many": {str(number): made("float32", (4, number)) for number in range(1, 12)},
        "none": {},
        "keys of all kinds": {
            0: made("int32", (4,)),
            None: made("bool", (4, 2)),
            (): made("int8", (4,)),
        },
        "empty and without axes": {"e": made("float32", (0, 3)), "0": made("float32", ())},
        "larger than a page": {"a": made("float32", (4, 2000)), "b": made("uint8", (3,))},
    }


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("kind", observations(Pair("numpy", "jax")))
@pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
def test_the_shortcut_for_dictionaries_and_three_arrays_does_what_dlpack_does(
    pair: Pair, kind: str
) -> None:
    tree, step = observations(pair)[kind], arrays_of_a_step(pair)[1:]
    converter, shortcuts = shortcuts_of(pair)
    for _ in range(20):  # what JAX sees often it compiles
        converter((tree, *step))
    found, *rest = shortcuts.before_four(unwanted)(tree, *step)
    assert type(found) is dict
    assert list(found) == list(tree)
    pairs = [*zip(found.values(), tree.values(), strict=True), *zip(rest, step, strict=True)]
    for array, source in pairs:
        reference = by_dlpack("jax", source)
        assert type(array) is type(reference)
        assert identical(pair.target.values(array), pair.target.values(reference))


@pytest.mark.usefixtures("nothing_compiled")
@pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
def test_dictionaries_and_three_arrays_of_which_not_all_are_ordinary_take_the_long_way(
    pair: Pair,
) -> None:
    tree, step = observations(pair)["two"], arrays_of_a_step(pair)[1:]
    converter, shortcuts = shortcuts_of(pair)
    for _ in range(20):
        converter((tree, *step))
    four = shortcuts.before_four(lambda *values: values)
    wide = source_of(Pair(pair.source.name, "jax"), "int64", (4, 3))
    for odd in (3, None, {}, {"a": step[0]}, np.array(["text"]), np.array([None]), wide):
        for other in ({**tree, "b": odd}, {**tree, "odd": odd}, OrderedDict(tree), odd):
            values = (other, *step)
            assert all(one is two for one, two in zip(four(*values), values, strict=True))
        for place in range(3):
            values = (tree, *step[:place], odd, *step[place + 1 :])
            assert all(one is two for one, two in zip(four(*values), values, strict=True))


@pytest.mark.parametrize("pair", ["numpy_to_torch", "jax_to_torch", "jax_to_numpy"])
def test_the_shortcut_for_four_arrays_copies_where_it_is_asked_to(pair: str) -> None:
    (found,) = [one for one in PAIRS if repr(one) == pair]
    step = arrays_of_a_step(found)
    _, shortcuts = shortcuts_of(found, copy=True)
    copies: Array = shortcuts.before_four(unwanted)(*step)
    for array, source in zip(copies, step, strict=True):
        assert type(array) is type(by_dlpack(found.target.name, source))
        assert identical(found.target.values(array), found.source.values(source))
        assert found.target.address(array) != found.source.address(source)


def test_what_pytorch_does_not_take_of_four_arrays_goes_the_long_way() -> None:
    step = arrays_of_a_step(Pair("jax", "torch"))
    _, shortcuts = shortcuts_of(Pair("jax", "torch"))
    four = shortcuts.before_four(lambda *values: values)
    for place in range(4):
        values = (*step[:place], jnp.ones(4, jnp.bfloat16), *step[place + 1 :])
        assert all(one is other for one, other in zip(four(*values), values, strict=True))


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_four_values_that_are_not_all_ordinary_take_the_long_way(pair: Pair) -> None:
    step = arrays_of_a_step(pair)
    _, shortcuts = shortcuts_of(pair)
    four = shortcuts.before_four(lambda *values: values)
    for odd in (3, None, {"a": step[0]}, np.array(["text"]), np.array([None])):
        for place in range(4):
            values = (*step[:place], odd, *step[place + 1 :])
            assert all(one is other for one, other in zip(four(*values), values, strict=True))


@pytest.mark.parametrize(
    "pair",
    [pair for pair in PAIRS if pair.target.name == "numpy" or repr(pair) == "numpy_to_torch"],
    ids=repr,
)
def test_the_shortcut_for_dictionaries_does_what_dlpack_does(pair: Pair) -> None:
    step = dict(zip("abcd", arrays_of_a_step(pair), strict=True))
    _, shortcuts = shortcuts_of(pair)
    result: Array = shortcuts.before_dict(unwanted)(step, 0, None)
    assert list(result) == list(step)
    for key, source in step.items():
        reference = by_dlpack(pair.target.name, source)
        assert type(result[key]) is type(reference)
        assert identical(pair.target.values(result[key]), pair.target.values(reference))
        same = pair.target.address(result[key]) == pair.source.address(source)
        assert same is shares(pair, "copy=None")


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_dictionaries_that_hold_anything_else_take_the_long_way(pair: Pair) -> None:
    step = dict(zip("abcd", arrays_of_a_step(pair), strict=True))
    _, shortcuts = shortcuts_of(pair)
    way = shortcuts.before_dict(lambda value, depth, bag: (value, depth, bag))
    for odd in (3, None, {"a": step["a"]}, np.array(["text"]), np.array([None])):
        tree = {**step, "odd": odd}
        found: Array = way(tree, 3, None)
        assert found[0] is tree


REFUSED = [
    torch.ones(4, dtype=torch.complex64).conj(),
    torch.ones(4, requires_grad=True),
    torch.ones(4).to_sparse(),
    torch.ones(4, dtype=torch.bfloat16),
]


@pytest.mark.parametrize("target", ["numpy", "jax"])
@pytest.mark.parametrize("refused", REFUSED, ids=["conjugate", "grad", "sparse", "bfloat16"])
def test_what_pytorch_refuses_among_ordinary_tensors_takes_the_long_way(
    refused: Array, target: str
) -> None:
    pair = Pair("torch", target)
    _, shortcuts = shortcuts_of(pair)
    step = arrays_of_a_step(pair)
    for place in range(4):
        values = (*step[:place], refused, *step[place + 1 :])
        four = shortcuts.before_four(lambda *values: values)(*values)
        assert all(one is other for one, other in zip(four, values, strict=True))
        tree = dict(zip("abcd", values, strict=True))
        assert shortcuts.before_dict(lambda value, *_: value)(tree, 0, None) is tree


@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_what_jax_refuses_takes_the_long_way_which_says_why(target: str, copy: bool | None) -> None:
    array = jnp.ones(3)
    array.delete()
    with pytest.raises(ConversionError, match=r"^value: the JAX array was deleted or donated "):
        Pair("jax", target).convert(array, copy=copy)


@pytest.mark.parametrize("target", ["numpy", "jax"])
def test_an_action_that_requires_gradients_arrives_without_them(target: str) -> None:
    action = torch.full((2,), 0.5, requires_grad=True)
    space = spaces.Box(-1, 1, (2,))
    plain = Converter(BACKENDS[target], promised_new=False)
    rules = ActionRules(BACKENDS["torch"], plain.imports, plain)
    arrived: Array = rules.of(space, "action")(action)
    assert Pair("torch", target).target.values(arrived).tolist() == [0.5, 0.5]


def refuse(*_: object) -> Array:
    raise RuntimeError("there is no room")


def test_an_import_that_fails_leaves_the_rest_to_the_long_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(type(BACKENDS["torch"]), "plain_import", lambda _: refuse)
    integers = np.arange(3)
    for copy in (None, True):
        cast = Converter(BACKENDS["torch"], float_dtype="float64", copy=copy)
        way = Shortcuts(cast.imports, BACKENDS["numpy"]).before(lambda value, *_: value)
        assert way(integers, 0, None) is integers


def test_libraries_that_compile_nothing_have_seen_nothing_before() -> None:
    array = np.ones(1)
    assert BACKENDS["numpy"].again()((array.dtype, array.shape)) is None
    assert BACKENDS["numpy"].many_again()([array, array]) is None


def special() -> dict[str, tuple[Pair, Array]]:
    """Return arrays that look ordinary at first, and are not."""
    read_only = np.ones(3, np.float32)
    read_only.flags.writeable = False
    numpy_to_torch, torch_to_numpy = Pair("numpy", "torch"), Pair("torch", "numpy")
    numpy_to_jax, torch_to_jax = Pair("numpy", "jax"), Pair("torch", "jax")
    swapped = np.ones(3, ">f4")
    conjugate = torch.ones(3, dtype=torch.complex64).conj()
    grad = torch.ones(3, requires_grad=True)
    return {
        "read-only": (numpy_to_torch, read_only),
        "swapped towards torch": (numpy_to_torch, swapped),
        "swapped towards jax": (numpy_to_jax, swapped),
        "conjugate towards numpy": (torch_to_numpy, conjugate),
        "conjugate towards jax": (torch_to_jax, conjugate),
        "negative towards numpy": (torch_to_numpy, conjugate.imag),
        "negative towards jax": (torch_to_jax, conjugate.imag),
        "grad towards numpy": (torch_to_numpy, grad),
        "grad towards jax": (torch_to_jax, grad),
        "bfloat16 towards numpy": (torch_to_numpy, grad.to(torch.bfloat16)),
        "bfloat16 towards jax": (torch_to_jax, grad.to(torch.bfloat16)),
    }


@pytest.mark.parametrize("where", ["alone", "in a tree"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("which", special())
def test_special_arrays_leave_the_shortcut_without_a_trace(
    which: str, way: str, where: str
) -> None:
    pair, array = special()[which]
    values = pair.source.values(array)
    result = converted(pair, way, array, where)
    assert pair.target.is_array(result)
    native = values.astype(values.dtype.newbyteorder("="))
    assert identical(pair.target.values(result), native)
    if which == "read-only":
        result += 1
        assert array.tolist() == [1, 1, 1]
