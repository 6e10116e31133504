"""JAX: immutable arrays, imported asynchronously, on one device or spread over many."""

from __future__ import annotations

from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import jax
import numpy as np
from gymbridge_runtime.backends.base import Backend, Export, HostView
from gymbridge_runtime.backends.dlpack_protocol import GPUS, Producer, device_of
from gymbridge_runtime.backends.jax.imports import (
    CONFIG,
    IMPORTS,
    MOST_AT_ONCE,
    SMALL,
    size_of,
)
from gymbridge_runtime.core.dtypes import COMMON_DTYPES, HALVES, is_extended_name
from gymbridge_runtime.core.errors import ConversionError
from gymbridge_runtime.core.memory import aligned_copy
from gymbridge_runtime.core.narrowing import getattr_untyped
from jax import experimental
from jax.core import Tracer
from jax.sharding import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from gymbridge_runtime.core.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray, OneJaxDevice

_Placement: TypeAlias = "OneJaxDevice | Sharding"

# JAX declares these without types, or with types that jaxlib lacks
_at_one: Final = cast("Callable[[OneJaxDevice], Sharding]", SingleDeviceSharding)
_spec: Final = cast("Callable[..., PartitionSpec]", PartitionSpec)
_process_count: Final = cast("Callable[[], int]", getattr_untyped(jax, "process_count"))
_devices: Final = cast("Callable[[str], list[OneJaxDevice]]", getattr_untyped(jax, "devices"))
_local_devices: Final = cast(
    "Callable[[], list[OneJaxDevice]]", getattr_untyped(jax, "local_devices")
)
_copied: Final = cast("Callable[[jax.Array], jax.Array]", getattr_untyped(jax.numpy, "copy"))
_default_device: Final = cast(
    "Callable[[OneJaxDevice], AbstractContextManager[object]]",
    getattr_untyped(jax, "default_device"),
)
_x64: Final = cast(
    "Callable[[], AbstractContextManager[object]]",
    # experimental before JAX 0.8
    getattr_untyped(jax if hasattr(jax, "enable_x64") else experimental, "enable_x64"),
)
_imported: Final = cast("Callable[[object], jax.Array]", getattr_untyped(jax.numpy, "from_dlpack"))
_DEVICE: Final = cast("type[object]", getattr_untyped(jax, "Device"))
_put_many: Final = cast(
    "Callable[[Sequence[jax.Array | HostArray], object], Sequence[jax.Array]]",
    getattr_untyped(jax, "device_put"),
)

_NARROWED: Final = HALVES | {
    np.dtype("int64"): np.dtype("int32"),
    np.dtype("uint64"): np.dtype("uint32"),
}
"""The dtypes that JAX has only with x64 on, and how it narrows them."""
_KEPT: Final = frozenset(map(np.dtype, COMMON_DTYPES)) - _NARROWED.keys()

ArrayImpl: Final = next(
    kind for kind in jax.Array.__subclasses__() if kind.__module__.startswith("jaxlib")
)
"""The type of arrays with values; jaxlib does not declare this type."""
to_numpy: Final = cast("Callable[[object], HostArray]", np.asarray)
"""View an array on the host; the view is read-only."""

_ALIGNMENT: Final = 64
"""The alignment of memory that the CPU client takes over without a copy."""


class JaxBackend(Backend[jax.Array, _Placement]):
    """JAX's concrete arrays. Every import is a snapshot, because JAX arrays never change."""

    name: str = "jax"
    title: str = "JAX"
    integer_advice: str = "use `.astype(int)`"
    reference: str = "gymbridge_runtime.backends.jax:JAX"
    roots: frozenset[str] = frozenset({"jax", "jaxlib"})
    # Gymnasium also knows "torch", but then `check_env` asks for a wrapper that does not exist
    metadata_word: str = "jax"
    mutable: bool = False
    never_changes: bool = True
    calls_copy: bool = True
    narrowing: tuple[str, str] = ("with x64 off", "set jax_enable_x64 or cast it")
    kept_dtypes: frozenset[AnyDType] = _KEPT

    @override
    def calls_reach(self, device: _Placement | None) -> bool:
        # a process sees only its part of an array; arrays on a GPU should stay there
        is_one = not isinstance(device, NamedSharding) and _process_count() == 1
        return is_one and not self.leaves_host(None) and not self.leaves_host(device)

    @property
    @override
    def fast_type(self) -> type[object] | None:
        return ArrayImpl

    @override
    def is_array(self, kind: type[object]) -> bool:
        # a tracer counts as an array, so that it is refused with its path
        return issubclass(kind, (jax.Array, Tracer)) or self.is_opaque(kind)

    @override
    def is_opaque(self, kind: type[object]) -> bool:
        return kind.__name__ == "PRNGKeyArray"  # a random key is no array of numbers

    @override
    def to_host(self, array: jax.Array) -> HostView:
        if isinstance(array, Tracer):
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
        view = np.asarray(array)
        # NumPy cannot view four-bit numbers and other layouts than C order
        copied = not array.is_fully_replicated or view.flags.owndata
        # JAX keeps a gathered view, so we do not own it
        return HostView(view, owned=False, copied=copied)

    @override
    def from_host(self, view: HostArray, device: _Placement | None) -> object:
        return self.from_host_many([view], device)[0]

    @override
    def from_host_many(
        self, views: Sequence[HostArray], device: _Placement | None
    ) -> Sequence[object]:
        if isinstance(device, NamedSharding):
            return self._put(views, device)
        if len(views) == 1:
            array = IMPORTS.one(views[0], device)
            return self._put(views, device) if array is None else [array]
        if max(map(size_of, views)) >= SMALL:
            # small arrays are imported by one compiled call, if there is one
            small = [view for view in views if view.nbytes < SMALL]
            large = [view for view in views if view.nbytes >= SMALL]
            rest = self.from_host_many(small, device) if small else ()
            found = iter(self._put(large, device)), iter(rest)
            return [next(found[view.nbytes < SMALL]) for view in views]
        starts = range(0, len(views), MOST_AT_ONCE)
        arrays: list[object] = []
        for start in starts:
            part = views[start : start + MOST_AT_ONCE]
            made = IMPORTS.many(part, device, packed=len(starts) == 1)
            arrays += self._put(part, device) if made is None else made
        return arrays

    def _put(self, views: Sequence[HostArray], device: _Placement | None) -> list[object]:
        places: object = device
        if isinstance(device, NamedSharding):
            places = [_layout(device, view.shape) for view in views]
        arrays = _put_many(list(views), places)
        if self.leaves_host(device):  # JAX reads the memory of ``views`` until the transfer is done
            for array in arrays:
                _ = array.block_until_ready()
        return list(arrays)

    @override
    def snapshot(self, array: jax.Array, device: _Placement | None) -> object:
        if device is None and self.export(array) is not None:
            return _copied(array)
        view = self.to_host(array).array
        if array.weak_type or self.stored_as(array.dtype) not in {array.dtype, None}:
            with _wide(array.dtype):  # NumPy would lose the weak type or the dtype
                return self.to_device(_copied(array), device)
        copy = self.private_copy(view, view.dtype)
        return self.like(array, copy) if device is None else self.from_host(copy, device)

    @override
    def like(self, array: jax.Array, view: HostArray) -> object:
        if array.committed:
            return self.from_host(view, array.sharding)  # the array was put there explicitly
        (device,) = cast("set[OneJaxDevice]", array.devices())
        with _default_device(device):
            return self.from_host(view, None)

    @override
    def dtype_of(self, array: jax.Array) -> AnyDType | None:
        return array.dtype

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        if dtype in _KEPT:
            return dtype
        if dtype in _NARROWED:
            return dtype if CONFIG.jax_enable_x64 else _NARROWED[dtype]
        # it has all ml_dtypes but two
        has = is_extended_name(dtype.name) and not dtype.name.startswith("float6_")
        return dtype if has else None

    @override
    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        if view.size * dtype.itemsize >= SMALL:
            return aligned_copy(view, dtype, _ALIGNMENT)
        return view.copy() if dtype == view.dtype else view.astype(dtype, "C")

    @override
    def parse_device(self, device: object) -> object:
        if device is None or isinstance(device, (_DEVICE, Sharding)):
            return device
        unknown: RuntimeError | None = None
        if isinstance(device, str) and device:
            platform, _, number = device.partition(":")
            try:
                for found in _devices(platform):
                    if number in {"", str(found.id)}:
                        return found
            except RuntimeError as error:  # the platform is unknown, or does not start
                unknown = error
        there = ", ".join(map(repr, self.devices()))
        raise ValueError(
            f"JAX has no device {device!r}; write one of {there}, or pass a jax.Device or Sharding"
        ) from unknown

    @override
    def device_text(self, device: _Placement | None) -> object:
        if isinstance(device, SingleDeviceSharding):
            (one,) = _all_devices(device)
            if device == _at_one(one):  # only for the device's default memory
                device = one
        if device is None or isinstance(device, Sharding):
            return device
        return f"{device.platform}:{device.id}"

    @override
    def devices(self) -> Sequence[str]:
        found = {platform: _devices(platform) for platform in (jax.default_backend(), "cpu")}
        return tuple(f"{one.platform}:{one.id}" for some in found.values() for one in some)

    @override
    def to_device(self, array: jax.Array, device: _Placement | None) -> object:
        if device is None:
            return array
        placement = _layout(device, array.shape) if isinstance(device, NamedSharding) else device
        if isinstance(placement, Sharding):
            there = array.sharding.is_equivalent_to(placement, array.ndim)
        else:
            there = array.devices() == {placement}
        if there:
            return array
        with _wide(array.dtype):
            return _put_many([array], placement)[0]

    @override
    def leaves_host(self, device: _Placement | None) -> bool:
        if device is None:
            return jax.default_backend() != "cpu"
        return not all(map(_is_host, _all_devices(device)))

    @override
    def replicated(self, device: _Placement | None) -> object:
        if isinstance(device, NamedSharding):
            return _over(device, _spec())
        return device

    @override
    def export(self, array: jax.Array) -> Export | None:
        if isinstance(array, Tracer) or array.is_deleted():
            return None
        devices = _all_devices(array.sharding)
        if len(devices) != 1 or not array.is_fully_addressable or _is_host(*devices):
            return None
        # JAX declares the kinds of DLPack devices as an enum, but they are ints
        place = device_of(cast("Producer", cast("object", array)))
        return Export(array, place, array.dtype, dense=True)

    @override
    def imports_at(self, place: tuple[int, int], device: _Placement | None) -> bool:
        kind, index = place
        if kind not in GPUS:
            return False
        # DLPack counts the devices of this machine
        there = [
            one
            for one in _local_devices()
            if not _is_host(one) and getattr_untyped(one, "local_hardware_id") == index
        ]
        return bool(there) and (device is None or device in there)

    @override
    def from_dlpack(self, array: object) -> object:
        return _imported(array)


def _all_devices(placement: _Placement) -> set[OneJaxDevice]:
    if isinstance(placement, Sharding):
        return cast("set[OneJaxDevice]", getattr_untyped(placement, "device_set"))
    return {placement}


def _is_host(device: OneJaxDevice) -> bool:
    return device.platform == "cpu"


def _wide(dtype: AnyDType) -> AbstractContextManager[object]:
    """Return the context in which JAX moves arrays of ``dtype`` unchanged.

    Without this context JAX narrows arrays made with x64 on, if they are on several devices.
    """
    return _x64() if dtype in _NARROWED and not CONFIG.jax_enable_x64 else nullcontext()


@lru_cache(maxsize=1024)  # JAX is faster if it gets the same layout object again
def _layout(mesh: NamedSharding, shape: tuple[int, ...]) -> NamedSharding:
    """Return ``mesh`` for arrays of ``shape``: replicated if it does not divide them."""
    spec = tuple(mesh.spec)[: len(shape)]  # rewards have fewer axes than observations
    placement = _over(mesh, _spec(*spec))
    try:
        _ = cast("object", placement.shard_shape(shape))
    except ValueError:
        return _over(mesh, _spec())
    return placement


def _over(mesh: NamedSharding, spec: PartitionSpec) -> NamedSharding:
    """Return a sharding by ``spec`` over the same mesh and kind of memory."""
    kind = cast("str | None", getattr_untyped(mesh, "memory_kind"))
    return NamedSharding(mesh.mesh, spec, memory_kind=kind)


JAX: Final = JaxBackend()
