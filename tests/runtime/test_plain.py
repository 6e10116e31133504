"""What looks ordinary is taken for it until it is refused; then its library is asked first.

A way that stands before another one is not taken any more instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest
from gymbridge_runtime.backend import Backend
from gymbridge_runtime.backends.torch import TorchBackend
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.known import load
from gymbridge_runtime.plain import Plain
from gymbridge_runtime.shortcuts import Shortcuts

from tests.libraries.jax import jnp
from tests.libraries.mlx import mx
from tests.libraries.torch import torch
from tests.support import LIBRARIES, Array, identical

if TYPE_CHECKING:
    from collections.abc import Callable

BACKENDS = {name: load(f"gymbridge_runtime.backends.{name}:{name.upper()}") for name in LIBRARIES}
LONG = "the long way"
DEPTH, BAG = 3, ["what was collected"]


def long_way(*given: object) -> Array:
    """Stand for what a short way leaves arrays to: a rule, what takes one value, or four."""
    _, *more = given
    assert not more or more == [DEPTH, BAG] or len(given) == len("four")
    return LONG


def special_tensors() -> dict[str, Array]:
    conjugate = torch.ones(3, dtype=torch.complex64).conj()
    return {
        "requires grad": torch.ones(3, requires_grad=True),
        "conjugate": conjugate,
        "negative": conjugate.imag,
        "sparse": torch.eye(3).to_sparse(),
        "bfloat16": torch.ones(3, dtype=torch.bfloat16),
        "meta": torch.ones(3, device="meta"),
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


def alone(way: Array) -> Callable[[Array], Array]:
    return lambda value: way(value, DEPTH, BAG)


def by_four(way: Array) -> Callable[[Array], Array]:
    return lambda value: way(*[value] * 4)


def among_others(way: Array) -> Callable[[Array], Array]:
    ordinary = torch.ones(2)
    return lambda value: LONG if (found := way((value, ordinary))) is None else found[0]


def by_dict(way: Array) -> Callable[[Array], Array]:
    return lambda value: way({"a": value}, DEPTH, BAG)


def or_none(way: Array) -> Callable[[Array], Array]:
    return lambda value: LONG if (found := way(value)) is None else found


FLOAT = np.dtype("float32")
OUT: dict[str, Callable[[Plain], Callable[[Array], Array]]] = {
    "view": lambda plain: or_none(plain.view()),
    "views": lambda plain: among_others(plain.views()),
    "viewing": lambda plain: alone(plain.viewing(long_way)),
    "viewing_four": lambda plain: by_four(plain.viewing_four(long_way)),
    "viewing_dict": lambda plain: by_dict(plain.viewing_dict(long_way)),
    "copying": lambda plain: alone(plain.copying(None, long_way)),
    "copying over": lambda plain: alone(plain.copying(torch.from_numpy, long_way)),
    "copying_four": lambda plain: by_four(plain.copying_four(None, long_way)),
    "copying_like": lambda plain: plain.copying_like(FLOAT, (3,), None, long_way),
    "copying_like over": lambda plain: plain.copying_like(FLOAT, (3,), torch.from_numpy, long_way),
}
"""The short ways out of a library, each as a function of one value."""
GIVEN_UP = {
    *("viewing_four", "copying_four", "copying_like", "copying_like over"),
    *("before_four", "alone"),
}


class Counted(TorchBackend):
    """PyTorch, that counts what it is asked for."""

    def __init__(self, *, copies: bool) -> None:
        self.copies = copies
        self.asked: list[Array] = []

    def _counted(self, of: Callable[[Array], Array]) -> Callable[[Array], Array]:
        def asked(value: Array) -> Array:
            self.asked.append(value)
            return of(value)

        return asked

    def plain_view(self) -> Callable[[Array], Array]:
        return self._counted(torch.Tensor.numpy)

    def plain_copy(self) -> Callable[[Array], Array] | None:
        return self._counted(lambda value: value.numpy().copy()) if self.copies else None


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("kind", special_tensors())
@pytest.mark.parametrize("name", OUT)
def test_a_way_out_is_refused_only_once(name: str, kind: str, copies: bool) -> None:
    backend = Counted(copies=copies or name == "copying_four")
    way = OUT[name](Plain(backend, BACKENDS["numpy"].plain_dtypes))
    special, ordinary = special_tensors()[kind], torch.ones(3)
    assert way(ordinary) is not LONG
    backend.asked.clear()
    for _ in range(3):
        assert way(special) is LONG
    assert len(backend.asked) == 1
    assert way("no array") is LONG
    assert (way(ordinary) is LONG) == (name in GIVEN_UP)


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("over", [None, torch.from_numpy])
def test_an_array_is_like_others_by_its_dtype_and_its_shape(
    over: Callable[[Array], Array] | None, copies: bool
) -> None:
    plain = Plain(Counted(copies=copies), BACKENDS["numpy"].plain_dtypes)
    shapes = [(3,), (6,), (2, 3), (3, 2), (3, 1), (1, 3), (2, 3, 1), (0,), (0, 3)]
    for wanted in shapes:
        way = plain.copying_like(FLOAT, wanted, over, long_way)
        for shape in shapes:
            array = torch.rand(shape)
            result = way(array)
            if shape == wanted:
                assert type(result) is (np.ndarray if over is None else torch.Tensor)
                assert identical(np.asarray(result), array.numpy())
            else:
                assert result is LONG
            assert way(array.double()) is LONG


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Array]:
    """The arrays that PyTorch was given to import."""
    given: list[Array] = []

    def over(value: Array) -> Array:
        given.append(value)
        return torch.from_numpy(value)

    monkeypatch.setattr(TorchBackend, "plain_import", lambda _: over)
    return given


def shortcuts_to(target: str, source: str) -> Shortcuts:
    return Shortcuts(Converter(BACKENDS[target]).imports, BACKENDS[source])


IN: dict[str, Callable[[Shortcuts], Callable[[Array], Array]]] = {
    "before": lambda shortcuts: alone(shortcuts.before(long_way)),
    "before_dict": lambda shortcuts: by_dict(shortcuts.before_dict(long_way)),
    "before_four": lambda shortcuts: by_four(shortcuts.before_four(long_way)),
    "alone": lambda shortcuts: shortcuts.alone(long_way) or pytest.fail("there is none"),
}
"""The short ways into a library, each as a function of one value."""


@pytest.mark.parametrize("kind", special_host_arrays())
@pytest.mark.parametrize("name", IN)
def test_a_way_in_is_refused_only_once(name: str, kind: str, asked: list[Array]) -> None:
    way = IN[name](shortcuts_to("torch", "numpy"))
    special, ordinary = special_host_arrays()[kind], np.ones(3, np.float32)
    assert way(ordinary) is not LONG
    asked.clear()
    for _ in range(3):
        assert way(special) is LONG
    assert len(asked) == 1
    assert (way(ordinary) is LONG) == (name in GIVEN_UP)


def test_what_jax_has_and_pytorch_refuses_is_refused_only_once(asked: list[Array]) -> None:
    shortcuts = shortcuts_to("torch", "jax")
    way, four = alone(shortcuts.before(long_way)), by_four(shortcuts.before_four(long_way))
    for _ in range(3):
        assert way(jnp.ones(3, jnp.bfloat16)) is four(jnp.ones(3, jnp.bfloat16)) is LONG
    assert [array.dtype.name for array in asked] == ["bfloat16", "bfloat16"]
    assert way(jnp.ones(3)) is not LONG


def test_what_goes_wrong_on_the_long_way_of_a_dictionary_does_so_once() -> None:
    seen = []

    def failing(value: Array, *_: object) -> Array:
        seen.append(value)
        raise ValueError("the long way")

    plain = Plain(BACKENDS["torch"], BACKENDS["numpy"].plain_dtypes)
    into = shortcuts_to("torch", "numpy")
    for way, array in (
        (plain.viewing_dict(failing), torch.ones(2)),
        (into.before_dict(failing), np.ones(2)),
    ):
        seen.clear()
        tree = {"a": array, "b": None}
        with pytest.raises(ValueError, match="the long way"):
            alone(way)(tree)
        assert seen == [tree]


def test_a_library_that_cannot_tell_is_tried_again() -> None:
    class Unaware(Counted):
        is_plain = Backend.is_plain

    backend = Unaware(copies=False)
    way = OUT["viewing"](Plain(backend, BACKENDS["numpy"].plain_dtypes))
    for _ in range(3):
        assert way(torch.ones(3, requires_grad=True)) is LONG
        assert way(torch.ones(3)) is not LONG
    assert len(backend.asked) == 6


def test_four_are_ordinary_if_each_is() -> None:
    plain = Plain(BACKENDS["torch"], BACKENDS["numpy"].plain_dtypes)
    ordinary, special = torch.ones(3), torch.ones(3, requires_grad=True)
    views = plain.views()
    for place in range(4):
        for way in (lambda *four: views(four), plain.viewing_four(long_way)):
            assert len(list(way(*[ordinary] * 4) or [])) == 4
            values: list[Array] = [ordinary] * 4
            values[place] = special
            assert isinstance(way(*values), (str, type(None)))


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
