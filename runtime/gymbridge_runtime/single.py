"""The base of every generated wrapper for one environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, cast

import gymnasium as gym
from gymbridge_runtime.bridged import Bridged
from gymbridge_runtime.form import require_form
from gymbridge_runtime.recorded import Recorded
from gymbridge_runtime.settings import Settings
from gymbridge_runtime.single_traffic import SingleTraffic
from gymnasium.core import ActType, ObsType, WrapperActType, WrapperObsType

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import Info

__all__ = ["SingleBridge"]


class SingleBridge(
    gym.Wrapper[WrapperObsType, WrapperActType, ObsType, ActType],
    Recorded,
    Bridged,
    Generic[WrapperObsType, WrapperActType, ObsType, ActType],
):
    """Holds the conversions of a wrapper; what is done with them is in the generated class."""

    def __init__(
        self,
        env: gym.Env[ObsType, ActType],
        source: AnyBackend,
        target: AnyBackend,
        *,
        device: object = None,
        env_device: object = None,
        copy: bool | None = None,
        float_dtype: object = None,
    ) -> None:
        require_form(type(self).__name__, env, "single")
        settings = Settings.of(
            source,
            target,
            device=device,
            env_device=env_device,
            copy=copy,
            float_dtype=float_dtype,
        )
        # devices and dtypes are recorded as text, so that a spec can be written as JSON
        self._record(_disable_deepcopy=True, **self._given(settings))
        # Gymnasium declares ``Wrapper.env`` with the type parameters of the wrapper
        super().__init__(cast("gym.Env[WrapperObsType, WrapperActType]", env))
        metadata = settings.metadata(env.metadata)
        if metadata is not None:
            self.metadata: Info = metadata
        self._traffic: SingleTraffic[WrapperObsType, WrapperActType, WrapperActType] = (
            SingleTraffic(env, settings)
        )

    def sample_action(self) -> WrapperActType:
        """Return a random action as the agent's own arrays."""
        return self._traffic.sample(self.action_space.sample())
