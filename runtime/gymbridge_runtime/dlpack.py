"""The DLPack protocol as its producers really speak it.

`numpy.from_dlpack` calls ``__dlpack__`` with the keywords of the current protocol. Older producers
know fewer of them, some report a device that is none, some hand out a version that was not asked
for. `Exporter` stands between: it asks a producer only what it understands.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final, Protocol, SupportsInt, runtime_checkable

import numpy as np
from gymbridge_runtime.backend import HostView

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnyArray
    from typing_extensions import CapsuleType

__all__ = [
    "CUDA",
    "GPUS",
    "ROCM",
    "Exporter",
    "LegacyExporter",
    "Producer",
    "device_of",
    "host_view",
    "is_host_memory",
]

CUDA: Final = 2
ROCM: Final = 10
GPUS: Final = frozenset({CUDA, ROCM})
"""What the protocol calls GPUs: a library is built for the ones or the others."""

_HOST_TYPES: Final = frozenset({1, 3, 11, 13})
"""CPU, CUDA pinned, ROCm pinned and CUDA managed memory: the host reads all of them."""


@runtime_checkable
class Producer(Protocol):
    """An object that exports its memory over DLPack."""

    def __dlpack__(self, **keywords: object) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[SupportsInt, SupportsInt | None]: ...


class Exporter:
    """``producer`` behind the current protocol.

    Args:
        producer: The array of another library.
        keywords: The keywords that its ``__dlpack__`` takes; by default they are read off its
            signature, and none are passed where it has no signature.
        newest: The newest version to ask it for; by default whatever the importer asks for.
    """

    def __init__(
        self,
        producer: Producer,
        keywords: frozenset[str] | None = None,
        newest: tuple[int, int] | None = None,
    ) -> None:
        self._newest: tuple[int, int] | None = newest
        self._producer: Producer = producer
        self._keywords: frozenset[str] = (
            _keywords_of(type(producer)) if keywords is None else keywords
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, index = self._producer.__dlpack_device__()
        return int(kind), int(index or 0)  # some say None, or 1 for the host

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        if max_version is not None and self._newest is not None:
            max_version = min(max_version, self._newest)
        # a ``stream`` is passed on to nobody: NumPy, which asks this, has none
        asked = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        given = {name: value for name, value in asked.items() if value is not None}
        for name in ("copy", "dl_device"):  # to drop these would be to disobey
            if name in given and name not in self._keywords:
                kind = type(self._producer)
                raise BufferError(
                    f"{kind.__module__}.{kind.__qualname__} does not know {name}={given[name]!r}"
                )
        return self._producer.__dlpack__(
            **{name: value for name, value in given.items() if name in self._keywords}
        )


def _keywords_of(kind: type[Producer]) -> frozenset[str]:
    try:
        parameters = inspect.signature(kind.__dlpack__).parameters
    except ValueError:  # an extension without a signature: none is what all producers take
        return frozenset()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return frozenset({"max_version", "dl_device", "copy"})
    return frozenset(parameters)


def host_view(
    producer: Producer,
    keywords: frozenset[str] | None = None,
    newest: tuple[int, int] | None = None,
) -> HostView:
    """Return a NumPy view of what ``producer`` exports; read-only where it may not be written."""
    exporter = Exporter(producer, keywords, newest)
    if is_host_memory(exporter):
        return HostView(np.from_dlpack(exporter), owned=False)
    return HostView(np.from_dlpack(exporter, device="cpu"), owned=False, copied=True)


def device_of(producer: Producer) -> tuple[int, int]:
    """Return the DLPack device of ``producer``: the number of its kind, and which one of them."""
    return Exporter(producer, frozenset()).__dlpack_device__()


def is_host_memory(producer: Producer | Exporter) -> bool:
    """Tell whether the host can read what ``producer`` exports."""
    return int(producer.__dlpack_device__()[0]) in _HOST_TYPES


class LegacyExporter:
    """NumPy memory for importers that know the protocol of before version 1 only."""

    def __init__(self, view: AnyArray) -> None:
        self._view: AnyArray = view

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, *, stream: None = None) -> CapsuleType:
        return self._view.__dlpack__()
