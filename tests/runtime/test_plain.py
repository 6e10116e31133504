"""What looks ordinary is taken for it until it is refused; then its library is asked first."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from gymbridge_runtime.action_shortcuts import action_shortcut
from gymbridge_runtime.backend import Backend
from gymbridge_runtime.backends.torch import TorchBackend
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.known import load
from gymbridge_runtime.plain import HandingOver, ShortWay, Viewing, answering, answering_all
from gymbridge_runtime.shortcuts import Shortcuts
from gymnasium import spaces

from tests.libraries.jax import jnp
from tests.libraries.mlx import mx
from tests.libraries.torch import torch
from tests.support import LIBRARIES, Array, identical

if TYPE_CHECKING:
    from collections.abc import Callable

BACKENDS = {name: load(f"gymbridge_runtime.backends.{name}:{name.upper()}") for name in LIBRARIES}
LONG = "the long way"
DEPTH, BAG = 3, ["what was collected"]


def nested() -> Array:
    """Return the kind of nested tensor that is a tensor by its type, and strided by its layout."""
    with warnings.catch_warnings():  # PyTorch advises another kind
        warnings.simplefilter("ignore", UserWarning)
        return torch.nested.nested_tensor([torch.ones(1), torch.ones(2)])


def special_tensors() -> dict[str, Array]:
    conjugate = torch.ones(3, dtype=torch.complex64).conj()
    return {
        "requires grad": torch.ones(3, requires_grad=True),
        "conjugate": conjugate,
        "negative": conjugate.imag,
        "sparse": torch.eye(3).to_sparse(),
        "bfloat16": torch.ones(3, dtype=torch.bfloat16),
        "meta": torch.ones(3, device="meta"),
        "nested": nested(),
        "quantized": torch.ops.aten.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    }


def special_host_arrays() -> dict[str, Array]:
    return {
        "big-endian": np.ones(3, ">f4"),
        "text": np.array(["a", "b"]),
        "objects": np.array([None, 1], object),
        "of dates": np.zeros(2, "M8[s]"),
        "bfloat16": np.ones(3, ml_dtypes.bfloat16),
        "long": np.ones(3, np.longdouble),
    }


def long_way(*given: object) -> Array:
    """Stand for what a short way leaves arrays to: a rule, what takes one value, or four."""
    _, *more = given
    assert not more or more == [DEPTH, BAG] or len(given) == len("four")
    return LONG


def as_rule(way: Array) -> Callable[[Array], Array]:
    return lambda value: way(value, DEPTH, BAG)


def by_four(way: Array) -> Callable[[Array], Array]:
    return lambda value: way(*[value] * 4)


def by_dict(way: Array) -> Callable[[Array], Array]:
    return lambda value: way({"a": value}, DEPTH, BAG)


def or_long(answer: Array) -> Callable[[Array], Array]:
    return lambda value: LONG if (found := answer(value)) is None else found


FORMS: dict[str, Callable[[ShortWay], Callable[[Array], Array]]] = {
    "answer": lambda way: or_long(way.answer()),
    "before": lambda way: as_rule(way.before(long_way)),
    "before_four": lambda way: by_four(way.before_four(long_way)),
}
"""The forms of any short way, each as a function of one value."""
VIEWING: dict[str, Callable[[Viewing], Callable[[Array], Array]]] = {
    **FORMS,
    "before_dict": lambda way: by_dict(way.before_dict(long_way)),
}


def numpy_alone(one: Array) -> Array:
    return one.numpy()


class Counted:
    """A call that counts what it is given."""

    def __init__(self, call: Callable[[Array], Array]) -> None:
        self.call = call
        self.given: list[Array] = []

    def __call__(self, value: Array) -> Array:
        self.given.append(value)
        return self.call(value)


def is_plain(source: str, target: str) -> Callable[[Array], bool]:
    return lambda array: BACKENDS[source].is_plain(array, BACKENDS[target].plain_dtypes)


def viewed(call: Counted, form: str) -> Callable[[Array], Array]:
    return VIEWING[form](Viewing(torch.Tensor, call, is_plain("torch", "numpy")))


def copied(call: Counted, form: str) -> Callable[[Array], Array]:
    plain = is_plain("torch", "numpy")
    return FORMS[form](ShortWay(torch.Tensor, call, np.ndarray.copy, plain))


WAYS_OUT = [*[(viewed, form) for form in VIEWING], *[(copied, form) for form in FORMS]]


@pytest.mark.parametrize("kind", special_tensors())
@pytest.mark.parametrize(("make", "form"), WAYS_OUT)
def test_a_tensor_is_refused_once_and_asked_about_from_then_on(
    make: Callable[[Counted, str], Callable[[Array], Array]], form: str, kind: str
) -> None:
    call = Counted(numpy_alone)
    way = make(call, form)
    special, ordinary = special_tensors()[kind], torch.ones(3)
    assert way(ordinary) is not LONG
    call.given.clear()
    for _ in range(3):
        assert way(special) is LONG
    assert len(call.given) == 1
    assert way(ordinary) is not LONG
    if form != "answer":  # which is given tensors only
        assert way("no array") is way(np.ones(3)) is LONG
        assert way(torch.nn.Parameter(torch.ones(3))) is LONG


@pytest.mark.parametrize("kind", special_host_arrays())
@pytest.mark.parametrize("form", VIEWING)
def test_memory_is_refused_once_and_asked_about_from_then_on(form: str, kind: str) -> None:
    call, torch_backend = Counted(torch.from_numpy), BACKENDS["torch"]
    way = VIEWING[form](HandingOver(np.ndarray, call, is_plain("numpy", "torch")))
    special, ordinary = special_host_arrays()[kind], np.ones(3, np.float32)
    assert way(ordinary) is not LONG
    call.given.clear()
    for _ in range(3):
        assert way(special) is LONG
    assert len(call.given) == 1
    assert special.dtype not in torch_backend.plain_dtypes
    assert way(ordinary) is not LONG
    if form != "answer":  # which is given arrays of NumPy only
        assert way("no array") is way(torch.ones(3)) is way(np.ma.ones(3)) is LONG
    call.given.clear()
    for misbehaved in (np.broadcast_to(1.0, (3,)), np.zeros(13, "b")[1:].view("f4")):
        assert not misbehaved.flags.behaved
        assert way(misbehaved) is LONG
    assert call.given == []


@pytest.mark.parametrize("form", FORMS)
def test_what_two_calls_are_is_one_after_the_other(form: str) -> None:
    way = ShortWay(np.ndarray, np.ndarray.copy, torch.from_numpy, is_plain("numpy", "torch"))
    array = np.arange(3.0)
    found = FORMS[form](way)(array)
    for tensor in found if form == "before_four" else [found]:
        assert identical(tensor.numpy(), array)
        assert tensor.data_ptr() != array.ctypes.data
    for _ in range(3):
        assert FORMS[form](way)(np.array(["text"])) is LONG


def test_several_arrays_are_answered_at_once_or_not_at_all() -> None:
    call = Counted(numpy_alone)
    answer = answering_all(call, is_plain("torch", "numpy"))
    ordinary, special = torch.arange(3.0), torch.ones(3, requires_grad=True)
    for place in range(3):
        values = [ordinary] * 3
        assert [identical(view, ordinary.numpy()) for view in answer(values) or ()] == [True] * 3
        values[place] = special
        call.given.clear()
        assert answer(values) is answer(values) is None
        assert len(call.given) == (place == 0)
    assert answer([]) == []


def test_four_and_dictionaries_are_ordinary_if_each_is() -> None:
    way = Viewing(torch.Tensor, torch.Tensor.numpy, is_plain("torch", "numpy"))
    four: Array = way.before_four(long_way)
    of_dict: Array = way.before_dict(long_way)
    ordinary = torch.ones(3)
    for special in (torch.ones(3, requires_grad=True), np.ones(3), None):
        for place in range(4):
            values: list[Array] = [ordinary] * 4
            assert len(four(*values)) == len(of_dict(dict(enumerate(values)), DEPTH, None)) == 4
            values[place] = special
            assert four(*values) is LONG
            assert of_dict(dict(enumerate(values)), DEPTH, BAG) is LONG


def test_four_arrays_are_handed_over_if_each_behaves() -> None:
    call = Counted(torch.from_numpy)
    way = HandingOver(np.ndarray, call, is_plain("numpy", "torch"))
    four: Array = way.before_four(long_way)
    of_dict: Array = way.before_dict(long_way)
    ordinary = np.ones(3)
    for special in (np.broadcast_to(1.0, (3,)), np.ma.ones(3), torch.ones(3), None):
        for place in range(4):
            values: list[Array] = [ordinary] * 4
            assert len(four(*values)) == len(of_dict(dict(enumerate(values)), DEPTH, None)) == 4
            values[place] = special
            assert of_dict(dict(enumerate(values)), DEPTH, BAG) is LONG
            assert not any(given is special for given in call.given[:-1])
            call.given.clear()
            assert four(*values) is LONG
            # PyTorch warns of read-only memory once, and takes masked arrays without their masks
            assert call.given == []
    refused = np.array(["text"])
    for place in range(4):
        values = [*[ordinary] * place, refused, *[ordinary] * (3 - place)]
        assert four(*values) is of_dict(dict(enumerate(values)), DEPTH, BAG) is LONG


@pytest.mark.parametrize("target", ["numpy", "torch"])
def test_an_action_is_ordinary_by_its_dtype_and_its_shape(target: str) -> None:
    agent = "torch" if target == "numpy" else "numpy"
    imports = Converter(BACKENDS[target], promised_new=False).imports
    shapes = [(3,), (6,), (2, 3), (3, 2), (3, 1), (1, 3), (2, 3, 1), (0,), (0, 3)]
    for wanted in shapes:
        space = spaces.Box(-1, 1, wanted)
        way = action_shortcut(BACKENDS[agent], imports, space, lambda _: LONG)
        for shape in shapes:
            for dtype in ("float32", "float64", "complex64"):
                numbers = np.random.default_rng(3).uniform(-1, 1, shape).astype(dtype)
                action = LIBRARIES[agent].make(numbers)
                result: Array = way(action)
                if shape != wanted or dtype == "complex64":
                    assert result is LONG
                    continue
                assert LIBRARIES[target].is_array(result)
                assert identical(LIBRARIES[target].values(result), numbers.astype(np.float32))
                if numbers.size:
                    source = LIBRARIES[agent].address(action)
                    assert LIBRARIES[target].address(result) != source


def test_an_action_that_was_refused_is_asked_about_from_then_on() -> None:
    imports = Converter(BACKENDS["numpy"], promised_new=False).imports
    for space in (spaces.Box(-1, 1, (3,)), spaces.Discrete(3)):
        way = action_shortcut(BACKENDS["torch"], imports, space, lambda _: LONG)
        ordinary = torch.zeros_like(torch.as_tensor(space.sample()))
        for special in special_tensors().values():
            assert way(special) is LONG
            assert way(ordinary) is not LONG


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Array]:
    """The arrays that PyTorch was given to import."""
    call = Counted(torch.from_numpy)
    monkeypatch.setattr(TorchBackend, "plain_import", lambda _: call)
    return call.given


def shortcuts_to(target: str, source: str) -> Shortcuts:
    return Shortcuts(Converter(BACKENDS[target]).imports, BACKENDS[source])


SHORTCUTS: dict[str, Callable[[Shortcuts], Callable[[Array], Array]]] = {
    "before": lambda shortcuts: as_rule(shortcuts.before(long_way)),
    "before_dict": lambda shortcuts: by_dict(shortcuts.before_dict(long_way)),
    "before_four": lambda shortcuts: by_four(shortcuts.before_four(long_way)),
    "ordinary": lambda shortcuts: or_long(shortcuts.ordinary.share),
}
"""The shortcuts, each as a function of one value."""


@pytest.mark.parametrize("name", SHORTCUTS)
@pytest.mark.parametrize("pair", ["numpy_to_torch", "torch_to_numpy"])
def test_a_shortcut_is_taken_again_after_a_refusal(pair: str, name: str) -> None:
    source, _, target = pair.partition("_to_")
    way = SHORTCUTS[name](shortcuts_to(target, source))
    ordinary = LIBRARIES[source].make(np.ones(3, np.float32))
    all_special = special_host_arrays() if source == "numpy" else special_tensors()
    for special in all_special.values():
        assert way(ordinary) is not LONG
        assert way(special) is LONG
    assert way(ordinary) is not LONG


def test_strides_that_are_refused_are_asked_about_as_well(asked: list[Array]) -> None:
    # an array of one number behaves, whatever its stride is
    back = np.ndarray((1,), np.float64, np.ones(2), strides=(-8,))
    odd = np.ndarray((1,), np.float64, np.ones(2), strides=(3,))
    way = SHORTCUTS["before"](shortcuts_to("torch", "numpy"))
    assert back.flags.carray
    assert odd.flags.carray
    for _ in range(3):
        assert way(back) is way(odd) is LONG
    assert len(asked) == 1


def test_what_jax_has_and_pytorch_refuses_is_refused_only_once(asked: list[Array]) -> None:
    shortcuts = shortcuts_to("torch", "jax")
    way, four = as_rule(shortcuts.before(long_way)), by_four(shortcuts.before_four(long_way))
    for _ in range(3):
        assert way(jnp.ones(3, jnp.bfloat16)) is four(jnp.ones(3, jnp.bfloat16)) is LONG
    assert [array.dtype.name for array in asked] == ["bfloat16", "bfloat16"]
    assert way(jnp.ones(3)) is not LONG


def test_what_goes_wrong_on_the_long_way_of_a_dictionary_does_so_once() -> None:
    seen = []

    def failing(value: Array, *_: object) -> Array:
        seen.append(value)
        raise ValueError("the long way")

    for into, array in (
        (shortcuts_to("numpy", "torch"), torch.ones(2)),
        (shortcuts_to("torch", "numpy"), np.ones(2)),
    ):
        seen.clear()
        tree = {"a": array, "b": None}
        with pytest.raises(ValueError, match="the long way"):
            as_rule(into.before_dict(failing))(tree)
        assert seen == [tree]


def test_a_library_that_cannot_tell_is_tried_again() -> None:
    call = Counted(numpy_alone)
    view = answering(call, lambda array: Backend.is_plain(BACKENDS["torch"], array, frozenset()))
    for _ in range(3):
        assert view(torch.ones(3, requires_grad=True)) is None
        assert view(torch.ones(3)) is not None
    assert len(call.given) == 6


def test_what_nobody_can_be_asked_about_is_tried_each_time() -> None:
    def call(number: int) -> int:
        if number < 0:
            raise ValueError
        return number

    answer = answering(call)
    assert [answer(number) for number in (1, -1, 2, -1, 3)] == [1, None, 2, None, 3]


def test_no_room_for_a_copy_is_a_refusal() -> None:
    of_vast = np.broadcast_to(np.float32(1), (1 << 50,)), torch.ones(1).expand(1 << 50)
    for source, target, vast in zip(("numpy", "torch"), ("torch", "numpy"), of_vast, strict=True):
        imports = Converter(BACKENDS[target], copy=True).imports
        way = as_rule(Shortcuts(imports, BACKENDS[source]).before(long_way))
        assert way(vast) is LONG


def test_libraries_know_what_they_will_refuse() -> None:
    numbers = np.arange(3)
    sources: dict[str, list[Array]] = {
        "numpy": [*special_host_arrays().values(), numbers, numbers.astype("complex64")],
        "torch": [*special_tensors().values(), torch.ones(3), torch.arange(3), torch.tensor(2.0)],
        "jax": [jnp.ones(3), jnp.ones(3, jnp.bfloat16), jnp.arange(3) > 1],
        "mlx": [mx.ones(3), mx.ones(3, dtype=mx.bfloat16)],
    }
    for name, arrays in sources.items():
        source = BACKENDS[name]
        target = BACKENDS["torch" if name in {"numpy", "jax"} else "numpy"]
        for array in arrays:
            try:
                host = source.plain_view()(array)
                result = target.plain_import()(host if host.flags.writeable else host.copy())
            except (TypeError, ValueError, RuntimeError):
                result = None
            assert (result is not None) is source.is_plain(array, target.plain_dtypes), array
            if result is not None:
                shown = LIBRARIES[target.name].values(result)
                assert identical(shown, LIBRARIES[name].values(array))
