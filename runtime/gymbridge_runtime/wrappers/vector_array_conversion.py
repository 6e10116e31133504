"""`ArrayConversion` for vectors: environments of any array API library used from any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.backends.array_api import backend_for
from gymbridge_runtime.backends.namespaces import Namespace, namespace_name
from gymbridge_runtime.wrappers.array_conversion import conversion_arguments
from gymbridge_runtime.wrappers.generics import (
    ActType,
    ArrayType,
    ObsType,
    WrapperActType,
    WrapperObsType,
)
from gymbridge_runtime.wrappers.vector import VectorBridge
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.wrappers.settings import Settings
    from gymnasium.vector import VectorEnv


class ArrayConversion(VectorBridge[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType]):
    """Use vector environments of one array API library from another.

    The class of the same name for single environments explains types and arguments.

    Examples:
        >>> import gymnasium as gym
        >>> from gymbridge.vector import ArrayConversion
        >>> cartpoles = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
        >>> envs = ArrayConversion(cartpoles, "numpy", "array_api_strict")
        >>> obs, infos = envs.reset(seed=0)
        >>> obs.dtype
        array_api_strict.float32
        >>> obs, rewards, terminations, truncations, infos = envs.step(envs.sample_action())
        >>> rewards.shape
        (2,)
    """

    takes_any_source: bool = True

    def __init__(
        self,
        env: VectorEnv[ObsType, ActType, ArrayType],
        env_xp: Namespace,
        target_xp: Namespace,
        env_device: object = None,
        target_device: object = None,
        *,
        copy: bool | None = None,
        float_dtype: object = None,
    ) -> None:
        self._names: tuple[str, str] = namespace_name(env_xp), namespace_name(target_xp)
        super().__init__(
            env,
            backend_for(env_xp),
            backend_for(target_xp),
            device=target_device,
            env_device=env_device,
            copy=copy,
            float_dtype=float_dtype,
        )

    @override
    def _arguments(self, settings: Settings) -> dict[str, object]:
        return conversion_arguments(self._names, settings)
