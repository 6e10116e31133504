"""The simulated devices of PyTorch themselves."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, TypeAlias

import pytest

from tests.devices.device import Device, Transfers
from tests.devices.harness import on
from tests.libraries.torch import torch
from tests.support import run_python

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.devices.harness import DeviceProcess

    Processes: TypeAlias = Callable[[str], DeviceProcess]

VALUES = torch.arange(6.0).view(2, 3)


def test_transfers_each_way_are_counted(device: Device) -> None:
    _ = device.take_transfers()
    there = VALUES.to(device.name)
    assert device.take_transfers() == Transfers(uploads=1)
    assert str(there.device) == device.name
    assert torch.equal(there.cpu(), VALUES)
    assert there.sum().item() == 15
    assert bool(there.any())
    assert device.take_transfers() == Transfers(downloads=3)


def test_kernels_and_views_transfer_nothing(device: Device) -> None:
    there = VALUES.to(device.name)
    _ = device.take_transfers()
    results = [there + 1, there.view(3, 2), there[0], torch.cat([there, there]), there.detach()]
    results += [there.view(torch.uint8), there.to(device.name), there.clone(), there.t()]
    there.mul_(2)
    assert {str(result.device) for result in results} == {device.name}
    assert device.take_transfers() == Transfers()
    assert torch.equal(results[0].cpu(), VALUES + 1)
    assert torch.equal(results[2].cpu(), VALUES[0] * 2)  # a view


@on("cpp")
def test_two_indices_are_different_devices(device: Device) -> None:
    assert device.other is not None
    _ = device.take_transfers()
    one = VALUES.to(device.name)
    other = one.to(device.other)
    assert device.take_transfers() == Transfers(uploads=1, moves=1)
    assert one.device != other.device
    one.zero_()
    assert torch.equal(other.cpu(), VALUES)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        _ = one + other
    assert torch.accelerator.device_count() == 2
    with pytest.raises(RuntimeError, match="there is no simulated:2"):
        VALUES.to("simulated:2")


@on("cpp")
def test_a_nonblocking_upload_is_late(device: Device) -> None:
    source = VALUES.clone()
    there = source.to(device.name, non_blocking=True)
    source.fill_(7)
    assert torch.equal(there.cpu(), source), "what was written later had to arrive"
    there = source.to(device.name)
    source.fill_(8)
    assert torch.equal(there.cpu(), torch.full_like(VALUES, 7))


@on("cpp")
def test_a_nonblocking_download_is_late(device: Device) -> None:
    there = VALUES.to(device.name)
    target = torch.zeros_like(VALUES)
    target.copy_(there, non_blocking=True)
    assert not target.any()
    torch.accelerator.synchronize(device.name)
    assert torch.equal(target, VALUES)


@on("cpp")
def test_the_device_has_float64(device: Device) -> None:
    assert VALUES.double().to(device.name).dtype == torch.float64


@on("narrow")
def test_float64_is_refused_on_request(device: Device) -> None:
    with pytest.raises(TypeError, match="doesn't support float64"):
        VALUES.double().to(device.name)
    assert VALUES.double().to(device.name, torch.float32).dtype == torch.float32


@on("python", "lazy")
def test_some_devices_have_no_storage(device: Device) -> None:
    there = VALUES.to(device.name)
    assert str(there.device) == device.name
    assert there.data_ptr() == 0
    assert torch.equal(there.cpu(), VALUES)


@on("cpp", "lazy")
def test_numpy_cannot_view_a_tensor(device: Device) -> None:
    there = VALUES.to(device.name)
    with pytest.raises(TypeError, match=r"can't convert .* tensor to numpy\. Use Tensor\.cpu\(\)"):
        there.numpy()


def touch(device: Device) -> None:
    _ = ctypes.string_at(VALUES.to(device.name).data_ptr(), 1)


def test_the_host_cannot_touch_the_memory(process: Processes) -> None:
    with pytest.raises(AssertionError, match=r"^exit code -(11|7|10)\b"):  # SIGSEGV, or SIGBUS
        process("cpp").run(touch)
    process("cpp").run(test_two_indices_are_different_devices)  # in a new process


def fail(device: Device, number: int) -> None:
    wanted = number + 1
    assert number == wanted, device.name


def test_a_failure_in_the_process_fails_the_test(process: Processes) -> None:
    with pytest.raises(AssertionError, match=r"(?s)number == wanted.*simulated:0.*wanted = 2"):
        process("python").run(fail, number=1)


def test_a_built_device_is_reused(built: Path, process: Processes) -> None:
    process("cpp").run(test_transfers_each_way_are_counted)
    code = """
    import sys
    from pathlib import Path
    from tests.devices import cpp_device
    try:
        cpp_device.start(Path(sys.argv[1]))
    except cpp_device.NoCompilerError as error:
        print(error)
    """
    nowhere = {"PATH": "", "CXX": "c++"}
    assert not run_python(code, str(built), **nowhere)
    said = run_python(code, str(built / "other"), **nowhere)
    assert said.startswith("the simulated device is built by a C++ compiler and ninja; not there: ")
    assert "c++" in said
