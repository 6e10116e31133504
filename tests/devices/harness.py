"""Runs functions in separate processes, because a started device cannot be stopped."""

from __future__ import annotations

import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import Interpreter

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.devices.device import Device


BUILT = ("cpp", "narrow")
"""The kinds of devices that need a compiler."""


class DeviceProcess:
    """A process with a device; both start at the first use.

    Args:
        kind: ``"cpp"``, ``"narrow"`` for the same without float64, ``"python"`` or ``"lazy"``.
        folder: The folder of built extensions.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self._start: str = f"harness.start({kind!r}, {str(folder)!r})"
        self._interpreter: Interpreter | None = None

    def run(self, function: Callable[..., object], **arguments: object) -> None:
        """Call a function with the device, and raise its error here.

        Args:
            function: Its first parameter is ``device``, a `Device`.
            arguments: Values whose repr is valid code, such as numbers and text.
        """
        if self._interpreter is None:
            self._interpreter = Interpreter()
            try:
                self._code(self._interpreter, self._start)
            except AssertionError:
                self.stop()
                raise
        module, name = function.__module__, function.__qualname__
        try:
            self._code(self._interpreter, f"harness.call({module!r}, {name!r}, {arguments!r})")
        finally:
            if not self._interpreter.is_running:
                self.stop()

    def _code(self, interpreter: Interpreter, code: str) -> None:
        _ = interpreter.run(f"from tests.devices import harness\n{code}")

    def stop(self) -> None:
        """End the process, if it was started."""
        if self._interpreter is not None:
            self._interpreter.__exit__()
            self._interpreter = None


def on(*kinds: str) -> pytest.MarkDecorator:
    """Run a test that takes `device` on these kinds of devices, not on the default ones."""
    return pytest.mark.parametrize("device", kinds, indirect=True)


# -- in the process --------------------------------------------------------------------------------

_devices: list[Device] = []


def start(kind: str, folder: str) -> None:
    """Start the device of this process."""
    if kind in BUILT:
        from tests.devices import cpp_device

        _devices.append(cpp_device.start(Path(folder), float64=kind == "cpp"))
    elif kind == "python":
        from tests.devices import python_device

        _devices.append(python_device.start())
    else:
        from tests.devices import lazy_device

        _devices.append(lazy_device.start())


def started() -> Device:
    """Return the device of this process."""
    return _devices[0]


def call(module: str, name: str, arguments: dict[str, object]) -> None:
    """Call a function with the device of this process; an error shows its variables."""
    function: Callable[..., object] = getattr(import_module(module), name)
    try:
        _ = function(device=started(), **arguments)
    except AssertionError as error:
        *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
        for variable, value in frame.f_locals.items():
            error.add_note(f"{variable} = {_shown(value)}")
        raise


def _shown(value: object) -> str:
    try:
        return repr(value)
    except RuntimeError:  # not every device can show its tensors
        return f"a {type(value).__name__}"
