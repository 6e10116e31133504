"""The devices of a library as its spec entry describes them: how they are read, named and gone to.

Libraries agree on little here. What all of them can answer is where an array is after it was sent
somewhere, so that is what is asked: the answer is the device, in the library's own words.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from gymbridge_runtime.dotted import dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

__all__ = ["DlpackDevices", "short_name"]

_WRAPPED = re.compile(r"[\w.]+\(['\"]?(?P<text>[^'\"]*)['\"]?\)")
"""Text within a type's name: ``Device(opencl:cpu:0)``, ``array_api_strict.Device('device1')``."""


class _Info(Protocol):
    def devices(self) -> Sequence[object]: ...


class DlpackDevices(NamedTuple):
    """The devices of one library."""

    title: str
    module: str
    read: str = "device"
    """The attribute of an array that says where it is."""
    move: str = "to_device"
    """The method of an array that returns it on another device."""
    parse: str | None = None
    """The function that turns text into what `move` takes; by default that takes text."""
    within: str | None = None
    """The context manager that takes a device, where that is how `copy` is told where to go."""
    copy: str | None = None
    """The function that returns an array on the device of `within`."""

    def known(self) -> tuple[str, ...]:
        """Return the devices that the library lists, as the array API has it, if it does."""
        listed = getattr(import_module(self.module), "__array_namespace_info__", None)
        if listed is None:
            return ()
        info = cast("Callable[[], _Info]", listed)()
        return tuple(self.text(device) for device in info.devices() if device is not None)

    def of(self, array: object) -> object:
        """Return where ``array`` is, or None where arrays do not say."""
        return cast("object", getattr(array, self.read, None))

    def text(self, device: object) -> str:
        """Return the name of ``device`` that `found` understands."""
        return short_name(device)

    def moved(self, array: object, device: object) -> object:
        """Return ``array`` on ``device``: itself where it is there already."""
        if self.of(array) == device:
            return array
        if self.within is not None and self.copy is not None:
            enter = cast(
                "Callable[[object], AbstractContextManager[object]]",
                dotted(self.within, self.module),
            )
            copy = cast("Callable[[object], object]", dotted(self.copy, self.module))
            with enter(device):
                return copy(array)
        move = cast("Callable[[object], object]", getattr(array, self.move))
        return move(device)

    def found(self, device: object, probe: Callable[[], object]) -> object:
        """Return the library's own object for what a user gave for a device.

        Where arrays do not say what that is, it is what the library took.

        Args:
            device: Text, or whatever else the library takes.
            probe: Makes an array that can be sent there.

        Raises:
            ValueError: The library does not know it, or sends arrays elsewhere.
        """
        if isinstance(device, str) and self.parse is not None:
            parse = cast("Callable[[object], object]", dotted(self.parse, self.module))
            return self._asked(parse, device)
        made = probe()
        place = self.of(self._asked(lambda to: self.moved(made, to), device))
        if place is None:
            return device
        # TensorFlow takes devices that are not there, and stays where it is
        if isinstance(device, str) and _plain(device) not in _plain(self.text(place)):
            raise ValueError(
                f"{self.title} leaves arrays that should go to {device!r} on "
                + f"{self.text(place)!r}; name a device that is there"
            )
        return place

    def _asked(self, question: Callable[[object], object], device: object) -> object:
        try:
            return question(device)
        except Exception as error:
            raise ValueError(f"{self.title} has no device {device!r}: {error}") from error


def short_name(device: object) -> str:
    """Return the text of ``device``, without the type's name where that is around it."""
    wrapped = _WRAPPED.fullmatch(str(device))
    return str(device) if wrapped is None else wrapped["text"]


def _plain(text: str) -> str:
    return text.lower().lstrip("/")
