"""Devices for tests: a test that takes `device` runs in a process that has started it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.devices.harness import BUILT, DeviceProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built C++ device, in pytest's cache."""
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    name = "simulated_device"
    return tmp_path_factory.mktemp(name) if cache is None else cache.mkdir(name)


@pytest.fixture(scope="session")
def process(built: Path) -> Iterator[Callable[[str], DeviceProcess]]:
    """Return the process of a kind of device."""
    processes: dict[str, DeviceProcess] = {}

    def find(kind: str) -> DeviceProcess:
        if kind in BUILT:
            from tests.devices.cpp_device import missing_tools  # the module imports PyTorch

            if missing := missing_tools():  # pip installs no compiler, so CI may lack one
                pytest.skip(f"the simulated device cannot be built without {', '.join(missing)}")
        return processes.setdefault(kind, DeviceProcess(kind, built))

    yield find
    for each in processes.values():
        each.stop()


@pytest.fixture(params=["cpp", "python"])
def device(
    request: pytest.FixtureRequest, process: Callable[[str], DeviceProcess]
) -> DeviceProcess:
    """Return each device that counts transfers in turn; `on` selects other devices."""
    return process(request.param)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Call a test that takes `device` in the process of that device."""
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    process = arguments.pop("device", None)
    if not isinstance(process, DeviceProcess):
        return None
    process.run(pyfuncitem.function, **arguments)
    return True
