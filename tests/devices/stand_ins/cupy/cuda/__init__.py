"""Devices and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, SupportsInt

from typing_extensions import override

from .. import simulation
from . import runtime

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Device", "Stream", "get_current_stream", "runtime"]


class Device:
    """A GPU, which may not exist; as a context manager, it is the current one."""

    def __init__(self, device: SupportsInt | str | None = None) -> None:
        self.id: int = runtime.getDevice() if device is None else int(device)
        self._before: list[int] = []

    def use(self) -> None:
        runtime.setDevice(self.id)

    def synchronize(self) -> None:
        simulation.finish()

    def __int__(self) -> int:
        return self.id

    def __enter__(self) -> Self:
        self._before.append(runtime.getDevice())
        self.use()
        return self

    def __exit__(self, *_: object) -> None:
        runtime.setDevice(self._before.pop())

    @override
    def __eq__(self, other: object) -> bool:  # and no hash, as in CuPy
        return isinstance(other, Device) and self.id == other.id

    @override
    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


class Stream:
    """The only stream."""

    null: ClassVar[Stream]
    ptr: int = 0

    def synchronize(self) -> None:
        simulation.finish()


Stream.null = Stream()


def get_current_stream() -> Stream:
    return Stream.null
