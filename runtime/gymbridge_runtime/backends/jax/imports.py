"""Imports small arrays into JAX by compiled functions.

A compiled identity is the cheapest import: 4 µs an argument, while `jax.device_put` takes 17 µs. A
signature costs 10 to 50 ms and 1 MB to compile. So only frequent signatures are compiled, and their
number is bounded, because the shapes in infos may change all the time.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Protocol, cast

import jax
import numpy as np
from gymbridge_runtime.backends.jax.packing import import_of, jitted
from gymbridge_runtime.core.dtypes import is_extended_name
from jax.sharding import get_abstract_mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import HostArray, MakeArrayAt

SMALL: Final = 100_000
"""The size in bytes from which JAX should take memory over instead of copying it again."""

MOST_AT_ONCE: Final = 64
"""The most arrays in one signature."""

_OFTEN: Final = 16
_MOST_SIGNATURES: Final = 256
_MOST_SEEN: Final = 1024
_ALLOWING: Final = (None, "allow")
"""The settings of JAX's transfer guard that permit compiled calls."""

_SAFE: Final = frozenset(map(np.dtype, "?bBhHiIefdF"))
"""The dtypes that JAX keeps, and float64, which it may narrow. Integers of 64 bits are not here:
their values have to be checked."""
_X64_ONLY: Final = frozenset(map(np.dtype, "lLqQdD"))


class Config(Protocol):
    """The part of ``jax.config`` that this module uses; JAX makes its attributes at run time."""

    jax_debug_infs: bool
    jax_debug_nans: bool
    jax_disable_jit: bool
    jax_enable_x64: bool
    jax_no_tracing: bool
    jax_transfer_guard_host_to_device: str | None


CONFIG: Final = cast("Config", cast("object", jax.config))


def is_unusual() -> bool:
    """Tell whether a setting of JAX changes what a compiled call does."""
    return (
        CONFIG.jax_disable_jit  # a call would return NumPy arrays
        or CONFIG.jax_no_tracing  # another default device needs a new trace
        or CONFIG.jax_transfer_guard_host_to_device
        not in _ALLOWING  # the import counts as an implicit transfer
        or CONFIG.jax_debug_nans  # environments may observe a NaN
        or CONFIG.jax_debug_infs
        or bool(get_abstract_mesh().axis_names)  # results would go to all devices of the mesh
    )


size_of: Final[Callable[[HostArray], int]] = attrgetter("nbytes")
_look: Final[Callable[[HostArray], object]] = attrgetter("dtype", "shape")
"""The part of one array in a signature."""


class CompiledImports:
    """The compiled imports, and the counts of other signatures."""

    def __init__(self) -> None:
        self._one: dict[object, Callable[[HostArray], object]] = {}
        self._many: dict[object, Callable[[Sequence[HostArray]], Sequence[object]]] = {}
        self._seen: dict[object, int] = {}
        self.find: Callable[[object], Callable[[HostArray], object] | None] = self._one.get

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of compiled and of counted signatures; both are bounded."""
        return len(self._one) + len(self._many), len(self._seen)

    def one(self, view: HostArray, device: object) -> object | None:
        """Import memory that nobody else holds; None if no import is compiled."""
        signature: tuple[object, ...] = (view.dtype, view.shape, device)
        if view.dtype in _X64_ONLY:
            # x64 may be off later, so the fast path must not find this call
            signature = (*signature, CONFIG.jax_enable_x64)
        call = self._one.get(signature)
        if call is None and self._is_often(signature, (view,)):
            call = self._one[signature] = _identity(device)
        return None if call is None or is_unusual() else call(view)

    def many(
        self, views: Sequence[HostArray], device: object, *, packed: bool = True
    ) -> Sequence[object] | None:
        """Import copies of 1 to `MOST_AT_ONCE` arrays; None if no import is compiled.

        A ``packed`` import takes longer to compile, and is faster.
        """
        wide = CONFIG.jax_enable_x64
        signature = (wide, device, *map(_look, views))
        call = self._many.get(signature)
        if call is None and self._is_often(signature, views) and _are_safe(views, wide=wide):
            call = self._many[signature] = import_of(views, device, wide=wide, packed=packed)
        return None if call is None or is_unusual() else call(views)

    def _is_often(self, signature: object, views: Sequence[HostArray]) -> bool:
        """Count the signature of ``views``; tell whether it is time to compile it."""
        if max(map(size_of, views)) >= SMALL:
            return False
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        count = self._seen[signature] = self._seen.get(signature, 0) + 1
        if count < _OFTEN or len(self._one) + len(self._many) >= _MOST_SIGNATURES:
            return False
        # if the first call fails, JAX stays slow for the signature
        if is_unusual():
            return False
        del self._seen[signature]
        return True


def _are_safe(views: Sequence[HostArray], *, wide: bool) -> bool:
    """Tell whether the import of arrays like ``views`` changes no value silently."""
    return all(
        view.dtype in _SAFE
        or (wide and view.dtype in _X64_ONLY)
        or is_extended_name(view.dtype.name)
        for view in views
    )


@cache
def _identity(device: object) -> Callable[[HostArray], object]:
    """Return the function that JAX compiles for every signature of one array."""

    def same(array: jax.Array) -> jax.Array:
        # JAX traces again for every mesh, and calls this function if it must not compile
        if get_abstract_mesh().axis_names or CONFIG.jax_disable_jit:
            raise RuntimeError("the array would go to all devices of a mesh, or to none")
        return array

    # the result may take the memory of the argument's copy; JAX warns if it cannot
    donated = (0,) if device is None and jax.default_backend() == "cpu" else ()
    return jitted(same, device, donated)


IMPORTS: Final = CompiledImports()

# -- the calls of the fast path ---------------------------------------------------------------


def _from_numpy_to(array: HostArray, device: object) -> object:
    call = IMPORTS.find((array.dtype, array.shape, device))
    return None if call is None else call(array.copy())


from_numpy_to: Final = cast("MakeArrayAt", _from_numpy_to)
"""Import a copy of an array; None if no import is compiled for it."""


def from_numpy_many(arrays: Sequence[object], device: object) -> Sequence[jax.Array] | None:
    """Import copies of small arrays by one call; None if no import is compiled for them."""
    if len(arrays) > MOST_AT_ONCE:
        return None
    made = IMPORTS.many(cast("Sequence[HostArray]", arrays), device)
    return cast("Sequence[jax.Array] | None", made)
