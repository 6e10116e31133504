"""JAX: arrays that never change, copied in asynchronously, on one device or spread over many."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import jax
import numpy as np
from gymbridge_runtime.backend import (
    Backend,
    Export,
    HostView,
    Import,
)
from gymbridge_runtime.backends.jax_small import CONFIG, MOST_AT_ONCE, SMALL, SMALL_ARRAYS
from gymbridge_runtime.dlpack import GPUS, Producer, device_of
from gymbridge_runtime.dtypes import is_extended_name
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.memory import aligned_copy, silence
from gymbridge_runtime.narrowing import untyped
from gymbridge_runtime.plain import preferring
from jax.core import Tracer
from jax.sharding import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.types import HostArray, OneJaxDevice

__all__ = ["JAX", "JaxBackend"]

_Placement: TypeAlias = "OneJaxDevice | Sharding"


# JAX declares these without types, or with types that jaxlib does not
_at_one: Final = cast("Callable[[OneJaxDevice], Sharding]", SingleDeviceSharding)
_spec: Final = cast("Callable[..., PartitionSpec]", PartitionSpec)
_process_count: Final = cast("Callable[[], int]", untyped(jax, "process_count"))
_devices: Final = cast("Callable[[str], list[OneJaxDevice]]", untyped(jax, "devices"))
_local_devices: Final = cast("Callable[[], list[OneJaxDevice]]", untyped(jax, "local_devices"))
_copied: Final = cast("Callable[[jax.Array], jax.Array]", untyped(jax.numpy, "copy"))
_default_device: Final = cast(
    "Callable[[OneJaxDevice], AbstractContextManager[object]]", untyped(jax, "default_device")
)
_x64: Final = cast("Callable[[], AbstractContextManager[object]]", untyped(jax, "enable_x64"))
_imported: Final = cast("Callable[[object], jax.Array]", untyped(jax.numpy, "from_dlpack"))
_DEVICE: Final = cast("type[object]", untyped(jax, "Device"))
_put: Final = cast(
    "Callable[[jax.Array | HostArray, _Placement | None], jax.Array]", untyped(jax, "device_put")
)
_put_many: Final = cast("Callable[[list[HostArray]], list[jax.Array]]", untyped(jax, "device_put"))

_PLAIN: Final = frozenset(
    np.dtype(name)
    for name in (
        "bool",
        *("int8", "int16", "int32", "uint8", "uint16", "uint32"),
        *("float16", "float32", "complex64"),
    )
)
_NARROWED: Final = {
    np.dtype(f"{kind}{size}"): np.dtype(f"{kind}{size // 2}")
    for kind, size in (("i", 8), ("u", 8), ("f", 8), ("c", 16))
}
"""What JAX has only with x64 on, and how it narrows it without."""

_ALIGNMENT: Final = 64
"""What the CPU client asks of memory that it takes over instead of copying it."""


class JaxBackend(Backend[jax.Array, _Placement]):
    """JAX's concrete arrays. Every import is a snapshot, because JAX arrays never change."""

    name: str = "jax"
    title: str = "JAX"
    reference: str = "gymbridge_runtime.backends.jax:JAX"
    roots: frozenset[str] = frozenset({"jax", "jaxlib"})
    # of Gymnasium's words "torch" is another: `check_env` then asks for a wrapper that is not there
    metadata_word: str = "jax"
    mutable: bool = False
    batches: bool = True
    narrowing: tuple[str, str] = ("with x64 off", "set jax_enable_x64 or cast it")
    plain_dtypes: frozenset[AnyDType] = _PLAIN
    plain_bytes: int = SMALL

    @override
    def plain_kind(self) -> type[object] | None:
        # of many processes each sees its part of an array; what is on a GPU had better stay there
        return _concrete_type() if _process_count() == 1 and not self.leaves_host(None) else None

    @override
    def plain_view(self) -> Callable[[jax.Array], HostArray]:
        return np.asarray

    @override
    def is_plain(self, array: jax.Array, dtypes: frozenset[AnyDType]) -> bool:
        return array.dtype in dtypes

    @override
    def plain_copy(self) -> Callable[[jax.Array], HostArray] | None:
        return np.array

    @override
    def plain_import(self) -> Import:
        return self._import_small

    @override
    def plain_import_of(self, dtype: AnyDType, shape: tuple[int, ...], otherwise: Import) -> Import:
        compiled = SMALL_ARRAYS.compiled(dtype, shape, otherwise)
        return compiled or preferring(self._import_small, otherwise)

    @override
    def is_array(self, kind: type[object]) -> bool:
        # a tracer is one so that it is refused by name
        return issubclass(kind, (jax.Array, Tracer)) or self.is_opaque(kind)

    @override
    def is_opaque(self, kind: type[object]) -> bool:
        return kind.__name__ == "PRNGKeyArray"  # a key is no array of numbers

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
        # numbers of four bits and rows that do not lie together are not what NumPy shows
        copied = not array.is_fully_replicated or view.flags.owndata
        # JAX keeps what it gathered, so that not even a gathered view is ours alone
        return HostView(view, owned=False, copied=copied)

    @override
    def from_host(self, view: HostArray, device: _Placement | None) -> object:
        return self._put((view,), device)[0] if device is not None else self._import_small(view)

    @cached_property
    def _import_small(self) -> Import:
        return SMALL_ARRAYS.importer(self._put_one)

    def _put_one(self, view: HostArray) -> object:
        array = _put(view, None)
        return array.block_until_ready() if self.leaves_host(None) else array

    @override
    def from_host_many(self, views: Sequence[HostArray], device: _Placement | None) -> list[object]:
        if device is not None or len(views) <= MOST_AT_ONCE:
            return self._together(views, device, packed=True)
        arrays: list[object] = []
        for start in range(0, len(views), MOST_AT_ONCE):
            part = views[start : start + MOST_AT_ONCE]
            arrays += self._together(part, None, packed=False)
        return arrays

    def _together(
        self, views: Sequence[HostArray], device: _Placement | None, *, packed: bool
    ) -> list[object]:
        if device is None and len(views) > 1:
            arrays = SMALL_ARRAYS.many(views, packed=packed)
            if arrays is not None:
                return list(arrays)
            small = [view for view in views if view.nbytes < SMALL]
            if 0 < len(small) < len(views):
                large = self._put([view for view in views if view.nbytes >= SMALL], None)
                found = iter(large), iter(self._together(small, None, packed=packed))
                return [next(found[view.nbytes < SMALL]) for view in views]
        copies = [self._own(view) for view in views]
        return [self.from_host(copies[0], device)] if len(views) == 1 else self._put(copies, device)

    def _own(self, view: HostArray) -> HostArray:
        """Return ``view`` if it is nobody else's already, as large ones are, or a copy."""
        return view if view.nbytes >= SMALL else self.private_copy(view, self._stored(view.dtype))

    def _stored(self, dtype: AnyDType) -> AnyDType:
        return self.stored_as(dtype) or dtype

    @override
    def again(self) -> Callable[[tuple[AnyDType, tuple[int, ...]]], Import | None]:
        return SMALL_ARRAYS.again()

    @override
    def many_again(self) -> Callable[[Sequence[HostArray]], Sequence[object] | None]:
        return SMALL_ARRAYS.many_again()

    def _put(self, views: Sequence[HostArray], device: _Placement | None) -> list[object]:
        if device is None:
            arrays = _put_many(list(views))
        else:
            arrays = [_put(view, _for_rank(device, view.ndim)) for view in views]
        if self.leaves_host(device):  # JAX reads the memory of ``views`` until the transfer is done
            for array in arrays:
                _ = array.block_until_ready()
        return list(arrays)

    @override
    def snapshot(self, array: jax.Array, device: _Placement | None) -> object:
        if device is None and self.export(array) is not None:
            return _copied(array)
        view = self.to_host(array).array
        if array.weak_type or self._stored(array.dtype) != array.dtype:
            with _wide(array.dtype):  # of these NumPy would not keep everything
                return self.to_device(_copied(array), device)
        copy = self.private_copy(view, view.dtype)
        return self.beside(array, copy) if device is None else self.from_host(copy, device)

    @override
    def beside(self, array: jax.Array, view: HostArray) -> object:
        if array.committed:
            return self.from_host(view, array.sharding)  # somebody put it there
        (device,) = cast("set[OneJaxDevice]", array.devices())
        with _default_device(device):
            return self.from_host(view, None)

    @override
    def dtype_of(self, array: jax.Array) -> AnyDType | None:
        return array.dtype

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        if dtype in _PLAIN:
            return dtype
        if dtype in _NARROWED:
            return dtype if CONFIG.jax_enable_x64 else _NARROWED[dtype]
        # of ml_dtypes it has all but two
        has = is_extended_name(dtype.name) and not dtype.name.startswith("float6_")
        return dtype if has else None

    @override
    def narrowest(self, dtype: AnyDType) -> AnyDType | None:
        return _NARROWED[dtype] if dtype in _NARROWED else self.stored_as(dtype)

    @override
    def private_copy(self, view: HostArray, dtype: AnyDType) -> HostArray:
        large = view.size * dtype.itemsize >= SMALL
        if dtype == view.dtype:
            return aligned_copy(view, dtype, _ALIGNMENT) if large else view.copy()
        if large:
            return silence().run(aligned_copy, view, dtype, _ALIGNMENT)
        return silence().run(view.astype, dtype, "C")

    @override
    def parse_device(self, device: object) -> object:
        if device is None or isinstance(device, (_DEVICE, Sharding)):
            return device
        if not isinstance(device, str):
            raise TypeError(f"JAX has devices, shardings and texts as 'cpu:3', got {device!r}")
        platform, _, number = device.partition(":")
        for found in _devices(platform):
            if number in {"", str(found.id)}:
                return found
        raise ValueError(f"JAX has no device {device!r}; it has {_devices(platform)}")

    @override
    def device_text(self, device: _Placement | None) -> object:
        if isinstance(device, SingleDeviceSharding):
            (one,) = cast("set[OneJaxDevice]", untyped(device, "device_set"))
            if device == _at_one(one):  # and in no other memory than the device's own
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
        placement = _for_rank(device, array.ndim)
        if isinstance(placement, Sharding):
            there = array.sharding.is_equivalent_to(placement, array.ndim)
        else:
            there = array.devices() == {placement}
        if there:
            return array
        with _wide(array.dtype):
            return _put(array, placement)

    @override
    def leaves_host(self, device: _Placement | None) -> bool:
        if device is None:
            return jax.default_backend() != "cpu"
        devices = (
            cast("set[OneJaxDevice]", untyped(device, "device_set"))
            if isinstance(device, Sharding)
            else {device}
        )
        return any(one.platform != "cpu" for one in devices)

    @override
    def everywhere(self, device: _Placement | None) -> object:
        if isinstance(device, NamedSharding):
            return _over(device, _spec())
        return device

    @override
    def export(self, array: jax.Array) -> Export | None:
        if isinstance(array, Tracer) or array.is_deleted():
            return None
        devices = cast("set[OneJaxDevice]", untyped(array.sharding, "device_set"))
        if len(devices) != 1 or not array.is_fully_addressable or _is_host(*devices):
            return None
        place = device_of(_producer(array))
        return Export(array, place, array.dtype, dense=True)

    @override
    def imports_at(self, place: tuple[int, int], device: _Placement | None) -> bool:
        kind, index = place
        if kind not in GPUS:
            return False
        there = [one for one in _local_devices() if not _is_host(one) and _index(one) == index]
        return bool(there) and (device is None or device in there)

    @override
    def from_dlpack(self, array: object) -> object:
        return _imported(array)


def _is_host(device: OneJaxDevice) -> bool:
    return device.platform == "cpu"


def _index(device: OneJaxDevice) -> int:
    """Return the number of a device among those of its kind in this machine, as DLPack counts."""
    return cast("int", untyped(device, "local_hardware_id"))


def _wide(dtype: AnyDType) -> AbstractContextManager[object]:
    """Return the context in which JAX moves arrays of ``dtype`` as they are.

    Those made with x64 on it narrows without it, where they are on more than one device.
    """
    return _x64() if dtype in _NARROWED and not CONFIG.jax_enable_x64 else nullcontext()


@cache
def _concrete_type() -> type[jax.Array]:
    """Return the type of arrays that have values; jaxlib does not export it."""
    # even where JAX is tracing, or told to take nothing from the host
    with jax.ensure_compile_time_eval(), jax.transfer_guard("allow"):
        return type(_put(np.zeros(()), None))


def _producer(array: object) -> Producer:
    # JAX declares the numbers of DLPack's devices as an enum, and they are ints
    return cast("Producer", array)


def _for_rank(device: _Placement, rank: int) -> _Placement:
    """Return ``device`` for arrays of ``rank``: rewards have fewer axes than observations."""
    if isinstance(device, NamedSharding) and len(device.spec) > rank:
        return _over(device, _spec(*device.spec[:rank]))
    return device


def _over(mesh: NamedSharding, spec: PartitionSpec) -> NamedSharding:
    """Return ``mesh`` with another layout, in the same kind of memory."""
    kind = cast("str | None", untyped(mesh, "memory_kind"))
    return NamedSharding(mesh.mesh, spec, memory_kind=kind)


JAX: Final = JaxBackend()
