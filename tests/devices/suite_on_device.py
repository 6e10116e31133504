"""The conformance suite of pairs with PyTorch, with all tensors on the device of this process.

`test_tools.py` runs it. The arrays of CuPy are on the devices of its stand-in.
"""

from __future__ import annotations

from dataclasses import astuple
from functools import partial
from typing import Any, ClassVar

import pytest
from gymbridge_runtime.backends.torch import TorchBackend
from typing_extensions import override

from gymbridge import testing
from tests.devices.harness import started

DEVICE = started().name


class OnDevice(testing.Pair):
    @override
    def _converter(self, source: str, target: str) -> Any:
        convert: Any = super()._converter(source, target)
        return partial(convert, device=DEVICE) if target == "torch" else convert


@pytest.fixture(autouse=True)
def _all_tensors_are_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = TorchBackend.parse_device

    def parse_or_device(backend: TorchBackend, device: object) -> object:
        return parse(backend, DEVICE if device is None else device)

    monkeypatch.setattr(TorchBackend, "parse_device", parse_or_device)


class TestOnDevice(testing.BridgeSuite):
    pairs: ClassVar[tuple[testing.Pair, ...]] = tuple(
        OnDevice(*astuple(pair))
        for pair in testing.BridgeSuite.pairs
        if "torch" in {pair.source, pair.target}
    )
