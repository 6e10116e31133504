"""The DLPack protocol, as real producers implement it.

`numpy.from_dlpack` calls ``__dlpack__`` with the keywords of the current protocol. Older producers
know fewer of them, some report an invalid device, some return a version that was not asked for.
`Exporter` adapts them: it passes only keywords that the producer knows.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, SupportsInt, runtime_checkable

import numpy as np
from gymbridge_runtime.backends.base import HostView

if TYPE_CHECKING:
    from collections.abc import Collection

    from gymbridge_runtime.types import AnyArray
    from typing_extensions import CapsuleType

CUDA: Final = 2
ROCM: Final = 10
GPUS: Final = frozenset({CUDA, ROCM})
"""The kinds of GPU memory: a library is built for one of them."""

_HOST_TYPES: Final = frozenset({1, 3, 11, 13})
"""CPU, CUDA pinned, ROCm pinned and CUDA managed memory: the host reads all of them."""


@runtime_checkable
class Producer(Protocol):
    """An object that exports its memory over DLPack."""

    def __dlpack__(self, **keywords: object) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[SupportsInt, SupportsInt | None]: ...


@dataclass
class Exporter:
    """``producer`` with the current protocol."""

    producer: Producer
    keywords: Collection[str] | None = None
    """The keywords that its ``__dlpack__`` takes; None: those of its signature."""
    newest: tuple[int, int] | None = None
    """The newest version to ask for; None: the one that the importer asks for."""

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, index = self.producer.__dlpack_device__()
        return int(kind), int(index or 0)  # some return None, or 1 for the host

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        if max_version is not None and self.newest is not None:
            max_version = min(max_version, self.newest)
        # NumPy calls this without a ``stream``
        asked = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        kind = type(self.producer)
        known = _keywords_of(kind) if self.keywords is None else self.keywords
        for name in ("copy", "dl_device"):  # never drop a requested copy or device
            if asked[name] is not None and name not in known:
                raise BufferError(
                    f"{kind.__module__}.{kind.__qualname__} does not know {name}={asked[name]!r}"
                )
        return self.producer.__dlpack__(
            **{name: asked[name] for name in asked if asked[name] is not None and name in known}
        )


def _keywords_of(kind: type[Producer]) -> Collection[str]:
    try:
        parameters = inspect.signature(kind.__dlpack__).parameters
    except ValueError:  # an extension without a signature
        return ()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return ("max_version", "dl_device", "copy")
    return parameters


def host_view(
    producer: Producer,
    keywords: Collection[str] | None = None,
    newest: tuple[int, int] | None = None,
) -> HostView:
    """Return a NumPy view of an export of ``producer``; read-only if its memory is."""
    exporter = Exporter(producer, keywords, newest)
    if is_host_memory(exporter):
        return HostView(np.from_dlpack(exporter), owned=False)
    return HostView(np.from_dlpack(exporter, device="cpu"), owned=False, copied=True)


def device_of(producer: Producer) -> tuple[int, int]:
    """Return the DLPack device of ``producer``: the kind of device, and its index."""
    return Exporter(producer).__dlpack_device__()


def is_host_memory(producer: Producer | Exporter) -> bool:
    """Tell whether the host can read the memory of ``producer``."""
    return int(producer.__dlpack_device__()[0]) in _HOST_TYPES


class LegacyExporter:
    """NumPy memory for importers that know only the protocol before version 1."""

    def __init__(self, view: AnyArray) -> None:
        self._view: AnyArray = view

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, *, stream: None = None) -> CapsuleType:
        return self._view.__dlpack__()
