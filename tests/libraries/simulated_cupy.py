from importlib import import_module
from typing import Any

import pytest

from tests.devices.gpus import STAND_INS

if not STAND_INS:
    pytest.skip("CuPy has a GPU here, and nothing stands in for it", allow_module_level=True)

cupy: Any = import_module("cupy")
simulation: Any = import_module("cupy.simulation")
Transfers: Any = simulation.Transfers

__all__ = ["Transfers", "cupy", "simulation"]
