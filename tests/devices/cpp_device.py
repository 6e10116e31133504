"""The device of `simulated.cpp`: memory that the host cannot touch, and late copies."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import torch

from tests.devices.device import SIMULATED, Device, Transfers

Untyped: TypeAlias = Any
"""The built extension, and parts of PyTorch without types."""

_NAME = "simulated_device"
_SOURCE = Path(__file__).with_name("simulated.cpp")


class NoCompilerError(Exception):
    """The device cannot be built here."""


def _path() -> str:
    """Return the search path for tools; pip installs ninja beside Python."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def missing_tools() -> list[str]:
    """Return the missing build tools."""
    needed = (os.environ.get("CXX", "c++"), "ninja")
    return [tool for tool in needed if shutil.which(tool, path=_path()) is None]


def build(folder: Path) -> Untyped:
    """Return the extension from ``folder``; build it if it is missing.

    Raises:
        NoCompilerError: A build is needed, but the compiler or ninja is missing.
    """
    key = "".join([_SOURCE.read_text(encoding="utf-8"), torch.__version__, sys.version])
    built = folder / f"{_NAME}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.so"
    if not built.exists():
        if missing := missing_tools():
            raise NoCompilerError(
                "the simulated device is built by a C++ compiler and ninja; "
                f"not there: {', '.join(missing)}"
            )
        _compile(built)
    loader = ExtensionFileLoader(_NAME, str(built))
    spec = spec_from_loader(_NAME, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def _compile(built: Path) -> None:
    """Compile in a separate folder, because several processes may compile at once."""
    from torch.utils.cpp_extension import load

    os.environ["PATH"] = _path()
    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built.parent) as folder:
        load(_NAME, [str(_SOURCE)], build_directory=folder, is_python_module=False)
        (Path(folder) / f"{_NAME}.so").replace(built)


def start(folder: Path, *, float64: bool = True) -> Device:
    """Register the device with PyTorch, once per process; it has two indices.

    Args:
        folder: The folder of built extensions.
        float64: Whether the device has float64; Apple's MPS does not.
    """
    pytorch: Untyped = torch
    pytorch.utils.rename_privateuse1_backend(SIMULATED)
    extension = build(folder)
    extension.set_float64(float64)
    # PyTorch looks here at the first use of the device
    module: Untyped = ModuleType(f"torch.{SIMULATED}")
    module.device_count = lambda: 2
    pytorch._register_device_module(SIMULATED, module)
    return Device(
        f"{SIMULATED}:0",
        lambda: Transfers(*extension.take_transfers()),
        other=f"{SIMULATED}:1",
    )


if __name__ == "__main__":
    missing = missing_tools()
    sys.exit(f"not there: {', '.join(missing)}" if missing else 0)
