"""NetHack writes every observation into the same buffers: stored values must not change.

NLE requires another version of Gymnasium than gymbridge, so ``nox -s nethack`` installs it without
its dependencies.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import gymnasium as gym
import pytest

from gymbridge import NumpyToTorch
from tests.libraries.torch import torch

pytestmark = pytest.mark.skipif(find_spec("nle") is None, reason="nle is not installed")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["NetHack-v0", "NetHackScore-v0", "NetHackStaircase-v0"])
def test_stored_observations_never_change(name: str) -> None:
    _ = import_module("nle")  # registers its environments
    env: Any = NumpyToTorch(gym.make(name))
    obs, _ = env.reset(seed=1)
    stored: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for _ in range(30):
        stored.append((obs, {key: value.clone() for key, value in obs.items()}))
        obs, _, terminated, truncated, _ = env.step(env.sample_action())
        if terminated or truncated:
            obs, _ = env.reset()
    env.close()
    for kept, copies in stored:
        assert all(torch.equal(kept[key], copies[key]) for key in copies)
