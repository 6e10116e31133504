"""Small arrays into JAX: compiled for shapes that come again.

A jitted identity is the cheapest way in, at 4 µs an argument against 17 µs of `jax.device_put`. A
signature of a few arrays costs 10 to 50 ms and 1 MB to compile, so it is compiled when it was seen
often, for a bounded number of signatures and of arrays in each; infos have ever new shapes.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Protocol, cast

import jax
import numpy as np
from gymbridge_runtime.backend import no_import
from gymbridge_runtime.backends.jax_packed import import_of, jitted
from gymbridge_runtime.plain import answering, preferring
from jax.sharding import get_abstract_mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backend import Import
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray

__all__ = ["CONFIG", "MOST_AT_ONCE", "SMALL", "SMALL_ARRAYS"]

SMALL: Final = 100_000
"""Bytes of an array from which taking over its memory is cheaper than to copy it once more."""

MOST_AT_ONCE: Final = 64
"""Arrays in one signature."""

_OFTEN: Final = 16
_MOST_SIGNATURES: Final = 64
_MOST_SEEN: Final = 1024
_OF_64_BITS: Final = 8
"""Bytes of the numbers that JAX may or may not have."""


_ALLOWING: Final = (None, "allow")
"""What JAX's guard of transfers is set to where it minds none."""


class Config(Protocol):
    """The part of ``jax.config`` that is asked here; its attributes are made at run time."""

    jax_debug_infs: bool
    jax_debug_nans: bool
    jax_disable_jit: bool
    jax_enable_x64: bool
    jax_no_tracing: bool
    jax_transfer_guard_host_to_device: str | None


CONFIG: Final = cast("Config", cast("object", jax.config))


def _is_unusual() -> bool:
    """Tell whether JAX is set to do more than usual about compiled calls; to ask takes 0.2 µs."""
    return (
        CONFIG.jax_disable_jit  # NumPy's arrays would come back
        or CONFIG.jax_transfer_guard_host_to_device not in _ALLOWING  # this looks implicit
        or CONFIG.jax_debug_nans  # environments may observe a NaN
        or CONFIG.jax_debug_infs
        or bool(get_abstract_mesh().axis_names)  # what is compiled goes to all devices of a mesh
    )


def _may_compile() -> bool:
    """Tell whether a function may be called with a signature for the first time.

    If that raises an error, JAX takes 40 µs for each call of the signature from then on.
    """
    return not CONFIG.jax_no_tracing and not _is_unusual()


_looks: Final[Callable[[HostArray], object]] = attrgetter("dtype", "shape")
"""What arrays have in common that the same function is compiled for."""


def _is_usual(view: object) -> bool:
    del view
    return not _is_unusual()


class SmallArrays:
    """The imports that were compiled, and how often other signatures were seen."""

    def __init__(self) -> None:
        # they answer None where a setting of JAX forbids what is compiled
        self._one: dict[object, Import] = {}
        self._many: dict[object, Callable[[Sequence[HostArray]], Sequence[object] | None]] = {}
        self._seen: dict[object, int] = {}

    def again(self) -> Callable[[tuple[AnyDType, tuple[int, ...]]], Import | None]:
        """Return what finds the import of arrays with a dtype and a shape, if it is compiled.

        Arrays of 64 bits are not known to it.
        """
        return self._one.get

    def many_again(self) -> Callable[[Sequence[HostArray]], Sequence[object] | None]:
        """Return what imports copies of two or more arrays if their like was imported often."""
        find = self._many.get

        def imported(views: Sequence[HostArray]) -> Sequence[object] | None:
            call = find((CONFIG.jax_enable_x64, *map(_looks, views)))
            return None if call is None or _is_unusual() else call(views)

        return imported

    @property
    def sizes(self) -> tuple[int, int]:
        """How many signatures are compiled, and how many are counted; both are bounded."""
        return len(self._one) + len(self._many), len(self._seen)

    def compiled(self, dtype: AnyDType, shape: tuple[int, ...], otherwise: Import) -> Import | None:
        """Return the import of arrays of one signature, none of which has 64 bits, if it may be.

        Where a setting of JAX forbids it, they go by ``otherwise``.
        """
        signature = (dtype, shape)
        if signature not in self._one:
            if self._is_full() or not _may_compile():
                return None
            self._one[signature] = _alone()
            _ = _identity()(np.zeros(shape, dtype))  # the first call, now that it is allowed
        return preferring(_identity(), otherwise, _is_usual, wary=_is_unusual())

    def importer(self, otherwise: Import) -> Import:
        """Return the import of arrays that nobody writes into: by ``otherwise``, until compiled."""
        find = self._one.get

        def imported(view: HostArray) -> object:
            if view.nbytes >= SMALL:
                return otherwise(view)
            call = find((view.dtype, view.shape)) or self._promoted(view)
            array = call(view)
            return otherwise(view) if array is None else array

        return imported

    def _promoted(self, view: HostArray) -> Import:
        signature: object = (view.dtype, view.shape)
        if view.itemsize >= _OF_64_BITS:  # x64 may be off another time: not for `again`
            signature = (view.dtype, view.shape, CONFIG.jax_enable_x64)
        if signature not in self._one and self._often(signature, [view]):
            self._one[signature] = _alone()
        return self._one.get(signature, no_import)

    def many(self, views: Sequence[HostArray], *, packed: bool) -> Sequence[object] | None:
        """Return copies of 2 to `MOST_AT_ONCE` arrays in JAX; None where that is not compiled.

        Args:
            views: The arrays.
            packed: Whether it may take longer to compile what is quicker then.
        """
        signature = (CONFIG.jax_enable_x64, *map(_looks, views))
        call = self._many.get(signature)
        if call is None and self._often(signature, views):
            # JAX may have to compile it again, and be told not to
            call = self._many[signature] = answering(
                import_of(views, wide=CONFIG.jax_enable_x64, packed=packed)
            )
        return None if call is None or _is_unusual() else call(views)

    def _is_full(self) -> bool:
        return len(self._one) + len(self._many) >= _MOST_SIGNATURES

    def _often(self, signature: object, views: Sequence[HostArray]) -> bool:
        """Count the signature of ``views``; tell whether it is time to compile it."""
        if self._is_full() or any(view.nbytes >= SMALL for view in views):
            return False
        if not _may_compile():
            return False
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count = self._seen.pop(signature, 0) + 1
        if count < _OFTEN:
            self._seen[signature] = count
        return count >= _OFTEN


@cache
def _alone() -> Import:
    """Return the import of one array of any signature.

    It answers None where a setting of JAX forbids it. Some are no errors to JAX, which prints or
    logs something for every call: those that were there before are asked about.
    """
    return answering(_identity(), _is_usual, wary=_is_unusual())


@cache
def _identity() -> Import:
    """Return the function that JAX compiles for every signature of one array."""

    def same(array: jax.Array) -> jax.Array:
        # JAX comes here again for every mesh, and every time where nothing is to be compiled
        if get_abstract_mesh().axis_names or CONFIG.jax_disable_jit:
            raise RuntimeError("the array would go to all devices of a mesh, or to none")
        return array

    # the result takes the memory that the argument was copied to, .3 µs sooner than memory of its
    # own; JAX warns on platforms where it cannot
    return jitted(same, donated=(0,) if jax.default_backend() == "cpu" else ())


SMALL_ARRAYS: Final = SmallArrays()
