"""An environment that returns different values in every step, and counts its instances."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.types import Info

OPEN: weakref.WeakSet[Shifting] = weakref.WeakSet()
"""The open environments; freed ones disappear."""

_EPISODE = 37
_SHAPES = 48


class Shifting(gym.Env[Any, Any]):
    """Observations hold the number of the step; infos change in shape, dtype and structure."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            count=spaces.Box(0, np.inf, (4,), np.float32),
            image=spaces.Box(0, 255, (8, 8, 3), np.uint8),
            mission=spaces.Text(8),
            place=spaces.Discrete(99),
        )
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)
        self._count = 0
        OPEN.add(self)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        super().reset(seed=seed)
        self._count = 0
        return self._seen(), self._told()

    @override
    def step(self, action: object) -> tuple[Any, float, bool, bool, Info]:
        assert isinstance(action, np.ndarray)
        action += 1  # environments may write into their actions
        self._count += 1
        return self._seen(), float(self._count), self._count >= _EPISODE, False, self._told()

    @override
    def close(self) -> None:
        OPEN.discard(self)

    def _seen(self) -> dict[str, Any]:
        image = np.full((8, 8, 3), self._count % 256, np.uint8)
        return {
            "count": np.full(4, self._count, np.float32),
            "image": image[:, ::-1] if self._count % 3 else image,
            "mission": f"go {self._count % 10}",
            "place": np.int64(self._count % 99),
        }

    def _told(self) -> Info:
        count = self._count
        told: Info = {
            "time": count / 3,
            "changing": np.zeros((1 + count % _SHAPES, 2), ("f4", "f8", "i4", "u1")[count % 4]),
            "below": {"list": [count, "text", None, np.float32(count)], "odd": bool(count % 2)},
        }
        if count % 5 == 0:
            told["sometimes"] = np.array([None, {"a": np.ones(count % 7)}, "x"], object)
        return told
