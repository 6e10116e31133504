"""The devices of a library, described by its spec entry.

The interfaces of libraries differ much. But after a move, every library names the device of the
array: this is the library's own object for the device.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

_WRAPPED = re.compile(r"[\w.]+\(['\"]?(?P<text>[^'\"]*)['\"]?\)")
"""Text within a type's name: ``Device(opencl:cpu:0)``, ``array_api_strict.Device('device1')``."""


def dotted(path: str, module: str) -> object:
    """Return the object at the dotted ``path``, which begins with ``module``."""
    found: object = import_module(module)
    for name in path.removeprefix(module).split(".")[1:]:
        found = cast("object", getattr(found, name))
    return found


class _Info(Protocol):
    def devices(self) -> Sequence[object]: ...


@dataclass(kw_only=True, eq=False, repr=False)
class DlpackDevices:
    """The devices of one library: a part of `DlpackBackend`."""

    title: str
    module: str
    """The module to import."""
    device_read: str = "device"
    """The attribute of an array that holds its device."""
    device_move: str = "to_device"
    """The method of an array that returns it on another device."""
    device_parse: str | None = None
    """The function that turns text into a device; by default the method takes text."""
    device_within: str | None = None
    """The context manager in which `device_copy` puts arrays on a device."""
    device_copy: str | None = None
    """The function that copies to the device of the context."""

    def function(self, path: str) -> Callable[..., object]:
        """Return the function of the library at the dotted ``path``."""
        return cast("Callable[..., object]", dotted(path, self.module))

    def place_of(self, array: object) -> object:
        """Return the device of ``array``; None if arrays do not have one."""
        return cast("object", getattr(array, self.device_read, None))

    def to_device(self, array: object, device: object) -> object:
        """Return ``array`` on ``device``: itself if it is there already."""
        if device is None or self.place_of(array) == device:
            return array
        if self.device_within is not None and self.device_copy is not None:
            context = self.function(self.device_within)(device)
            with cast("AbstractContextManager[object]", context):
                return self.function(self.device_copy)(array)
        move = cast("Callable[[object], object]", getattr(array, self.device_move))
        return move(device)

    def found(self, device: object, probe: Callable[[], object]) -> object:
        """Return the library's own object for a device; ``device`` itself if arrays have none.

        Args:
            device: Text, or another value that the library takes.
            probe: Makes an array that can be moved there.

        Raises:
            ValueError: The library does not know the device, or moves arrays elsewhere.
        """
        parse = self.device_parse if isinstance(device, str) else None
        made = probe() if parse is None else None
        try:
            if parse is not None:
                return self.function(parse)(device)
            place = self.place_of(self.to_device(made, device))
        except Exception as error:
            raise ValueError(f"{self.title} has no device {device!r}: {error}") from error
        if place is None:
            return device
        # TensorFlow accepts missing devices, and leaves the array in place
        if isinstance(device, str) and device.lower().lstrip("/") not in short_name(place).lower():
            raise ValueError(
                f"{self.title} leaves arrays that should go to {device!r} on "
                + f"{short_name(place)!r}; name a device that is there"
            )
        return place

    def device_text(self, device: object) -> object:
        """Return the name of ``device`` that `found` understands."""
        return None if device is None else short_name(device)

    def devices(self) -> tuple[str, ...]:
        """Return the names of the devices that the library lists."""
        return tuple(map(short_name, listed_devices(import_module(self.module))))


def listed_devices(namespace: object) -> Sequence[object]:
    """Return the devices that a library lists by the array API; empty if it does not."""
    info = cast("Callable[[], _Info] | None", getattr(namespace, "__array_namespace_info__", None))
    return [] if info is None else [one for one in info().devices() if one is not None]


def short_name(device: object) -> str:
    """Return the text of ``device`` without the name of its type."""
    wrapped = _WRAPPED.fullmatch(str(device))
    return str(device) if wrapped is None else wrapped["text"]
