"""A stand-in for EnvPool: what its Python sources declare, take, refuse and return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from typing_extensions import override

if TYPE_CHECKING:
    from tests.environments.bridges import Value


class Pool(VectorEnv[Any, Any, Any]):
    """Counts the steps of each environment; a batch has those whose actions came first."""

    def __init__(self, space: spaces.Space[Any], num_envs: int, *, batch_size: int = 0) -> None:
        self.num_envs = num_envs
        # those of one environment, as EnvPool has it
        self.action_space = self.single_action_space = space
        self.observation_space = self.single_observation_space = spaces.Box(-1, 99, (2,))
        self.sent: list[Any] = []
        self._batch_size = batch_size or num_envs
        self._counts = np.zeros(num_envs, np.float32)
        self._queue: list[int] = []

    def send(self, action: Value, env_id: Value = None) -> None:
        if isinstance(action, np.ndarray):  # anything else might be XLA's
            action = action.astype(np.int32 if self.action_space.dtype == np.int64 else np.float32)
        ids = np.arange(self.num_envs, dtype=np.int32) if env_id is None else env_id
        ids = ids.astype(np.int32)
        expected = np.dtype(np.int32 if self.action_space.dtype == np.int64 else np.float32)
        if action.dtype != expected:
            raise RuntimeError(
                f'Expected dtype {expected} with action "action", got {action.dtype}'
            )
        if action.shape != (len(ids), *(self.action_space.shape or ())):
            raise RuntimeError(f'Expected another shape with action "action", got {action.shape}')
        self.sent.append((action, env_id))
        self._counts[ids] += 1
        self._queue += ids.tolist()

    def recv(self, reset: bool = False, return_info: bool = True) -> Value:
        del return_info  # EnvPool ignores it here
        ids = np.array(self._queue[: self._batch_size], np.int32)
        del self._queue[: self._batch_size]
        obs = np.stack([ids, self._counts[ids]], -1).astype(np.float32)
        infos: dict[str, Any] = {"env_id": ids, "players": {"env_id": ids.copy()}}
        infos["elapsed_step"] = self._counts[ids].astype(np.int32)
        if reset:
            return obs, infos
        flags = np.zeros(len(ids), np.bool_)
        return obs, np.ones(len(ids), np.float32), flags, flags.copy(), infos

    def async_reset(self) -> None:
        self._reset(np.arange(self.num_envs, dtype=np.int32))

    def _reset(self, env_id: Value) -> None:
        if type(env_id) is not np.ndarray or env_id.dtype != np.int32:
            raise TypeError("incompatible function arguments")  # as pybind11 says
        self._counts[env_id] = 0
        self._queue += env_id.tolist()

    @override
    def step(self, actions: Value, env_id: Value = None) -> Value:
        self.send(actions, env_id)
        return self.recv()

    @override
    def reset(self, env_id: Value = None, *, seed: Value = None, options: Value = None) -> Value:
        self._reset(np.arange(self.num_envs, dtype=np.int32) if env_id is None else env_id)
        waiting, self._batch_size = self._batch_size, len(self._queue)
        try:
            return self.recv(reset=True)
        finally:
            self._batch_size = waiting

    def xla(self) -> Value:
        return "handle", self.recv, self.send, self.step
