"""JAX: arrays that never change, copied in asynchronously, on one device or spread over many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

import jax
import numpy as np
from gymbridge_runtime.backend import Backend, HostView
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.memory import aligned_copy
from jax.sharding import NamedSharding, PartitionSpec, Sharding
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray, JaxDevice

__all__ = ["JAX", "JaxBackend"]

_Placement: TypeAlias = "JaxDevice | Sharding"


class _Config(Protocol):
    """The part of ``jax.config`` that is asked here; its attributes are made at run time."""

    jax_disable_jit: bool
    jax_transfer_guard_host_to_device: str | None


_CONFIG: Final = cast("_Config", jax.config)

_spec: Final = cast("Callable[..., PartitionSpec]", PartitionSpec)  # its constructor is untyped

_PLAIN: Final = frozenset(
    np.dtype(name)
    for name in (
        "bool",
        *("int8", "int16", "int32", "uint8", "uint16", "uint32"),
        *("float16", "float32", "complex64"),
    )
)
_WIDE: Final = frozenset(map(np.dtype, ("int64", "uint64", "float64", "complex128")))
"""What JAX has only with x64 on, and narrows without."""

_EXTENDED: Final = ("bfloat16", "float8_", "float4_", "int2", "int4", "uint2", "uint4")

_SMALL: Final = 100_000
"""Bytes of an array up to which a compiled identity is the cheapest way in."""

_ALIGNMENT: Final = 64
"""What the CPU client asks of memory that it takes over instead of copying it."""


class JaxBackend(Backend[jax.Array, _Placement]):
    """JAX's concrete arrays. Every import is a snapshot, because JAX arrays never change."""

    name = "jax"
    title = "JAX"
    reference = "gymbridge_runtime.backends.jax:JAX"
    roots = frozenset({"jax", "jaxlib"})
    mutable = False
    batches = True
    narrowing = ("with x64 off", "set jax_enable_x64 or cast it")
    plain_dtypes = _PLAIN

    @override
    def plain_view(self, kind: type[object]) -> Callable[[jax.Array], HostArray | None] | None:
        if issubclass(kind, jax.core.Tracer) or jax.process_count() > 1:
            return None
        return _plain_view

    @override
    def is_array(self, kind: type[object]) -> bool:
        if issubclass(kind, jax.core.Tracer):
            return True  # so that it is refused by name
        return issubclass(kind, jax.Array) and not self.is_opaque(kind)

    @override
    def is_opaque(self, kind: type[object]) -> bool:
        return kind.__name__ == "PRNGKeyArray"  # a key is no array of numbers

    @override
    def to_host(self, array: jax.Array) -> HostView:
        if isinstance(array, jax.core.Tracer):
            raise ConversionError(
                "JAX is tracing this value, which has no memory yet",
                "convert outside of jit, vmap and grad",
            )
        if array.is_deleted():
            raise ConversionError("the JAX array was deleted or donated", "keep a copy of it")
        if not array.is_fully_addressable:
            raise ConversionError(
                "parts of the JAX array are on other hosts", "gather it with process_allgather()"
            )
        # JAX keeps what it gathered, so that not even a gathered view is ours alone
        return HostView(np.asarray(array), owned=False)

    @override
    def from_host(self, view: HostArray, device: _Placement | None) -> object:
        return self.from_host_many((view,), device)[0]

    @override
    def from_host_many(self, views: Sequence[HostArray], device: _Placement | None) -> list[object]:
        if device is not None:
            arrays = [jax.device_put(view, _for_rank(device, view.ndim)) for view in views]
        elif _IDENTITY.is_ready(views):
            return list(_IDENTITY(views))
        else:
            arrays = list(jax.device_put(list(views)))
        # off the host, JAX reads the memory of ``views`` until the transfer is done
        if self.leaves_host(device):
            for array in arrays:
                array.block_until_ready()
        return list(arrays)

    @override
    def snapshot(self, array: jax.Array, device: _Placement | None) -> object:
        view = self.to_host(array).array
        return self.from_host(self.private_copy(view, view.dtype), device)

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        if dtype in _PLAIN or dtype.name.startswith(_EXTENDED):
            return dtype
        if dtype in _WIDE:
            return np.dtype(jax.dtypes.canonicalize_dtype(dtype))
        return None

    @override
    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        if view.size * dtype.itemsize < _SMALL:
            return super().private_copy(view, dtype)
        return aligned_copy(view, dtype, _ALIGNMENT)

    @override
    def parse_device(self, device: object) -> object:
        if not isinstance(device, str):
            return device
        platform, _, number = device.partition(":")
        for found in jax.devices(platform):
            if found.id == int(number or found.id):
                return found
        raise ValueError(f"JAX has no device {device!r}; it has {jax.devices(platform)}")

    @override
    def device_text(self, device: _Placement | None) -> object:
        if device is None or isinstance(device, Sharding):
            return device
        return f"{device.platform}:{device.id}"

    @override
    def to_device(self, array: jax.Array, device: _Placement | None) -> object:
        if device is None:
            return array
        placement = _for_rank(device, array.ndim)
        there = array.sharding == placement or array.devices() == {placement}
        return array if there else jax.device_put(array, placement)

    @override
    def leaves_host(self, device: _Placement | None) -> bool:
        if device is None:
            return jax.default_backend() != "cpu"
        devices = device.device_set if isinstance(device, Sharding) else {device}
        return any(one.platform != "cpu" for one in devices)

    @override
    def everywhere(self, device: _Placement | None) -> object:
        if isinstance(device, NamedSharding):
            return NamedSharding(device.mesh, _spec())
        return device


def _plain_view(array: jax.Array) -> HostArray | None:
    return None if array.is_deleted() else np.asarray(array)


def _for_rank(device: _Placement, rank: int) -> _Placement:
    """Return ``device`` for arrays of ``rank``: rewards have fewer axes than observations."""
    if isinstance(device, NamedSharding) and len(device.spec) > rank:
        return NamedSharding(device.mesh, _spec(*device.spec[:rank]))
    return device


class _Identity:
    """A jitted identity, the cheapest way in for small arrays of shapes that come again.

    A shape costs about 7 ms and 1 MB to compile, so it is compiled for signatures that were seen
    often, and for a bounded number of them; `jax.device_put` compiles nothing.
    """

    often: Final = 16
    most: Final = 64

    def __init__(self) -> None:
        self._seen: dict[object, int] = {}
        self._compiled: set[object] = set()
        self._call = jax.jit(_same)

    def is_ready(self, views: Sequence[HostArray]) -> bool:
        signature = tuple([(view.dtype, view.shape) for view in views])
        if signature not in self._compiled and not self._promote(signature, views):
            return False
        # without jit NumPy arrays come back, and a guard takes NumPy arguments for implicit
        return not (_CONFIG.jax_disable_jit or _CONFIG.jax_transfer_guard_host_to_device)

    def __call__(self, views: Sequence[HostArray]) -> Sequence[jax.Array]:
        arrays: Sequence[jax.Array] = self._call(*views)
        return arrays

    def _promote(self, signature: object, views: Sequence[HostArray]) -> bool:
        if len(self._compiled) >= self.most or any(view.nbytes >= _SMALL for view in views):
            return False
        if len(self._seen) >= 16 * self.most:
            self._seen.clear()
        count = self._seen[signature] = self._seen.get(signature, 0) + 1
        if count >= self.often:
            del self._seen[signature]
            self._compiled.add(signature)
        return count >= self.often


def _same(*arrays: jax.Array) -> tuple[jax.Array, ...]:
    return arrays


_IDENTITY: Final = _Identity()

JAX: Final = JaxBackend()
