"""The base of wrappers for one environment. It is the general path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, cast

import gymnasium as gym
from gymbridge_runtime.wrappers.conversions import SingleConversions
from gymbridge_runtime.wrappers.generics import ActType, ObsType, WrapperActType, WrapperObsType
from gymbridge_runtime.wrappers.wrapper import Bridge
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import Info
    from gymbridge_runtime.wrappers.settings import Options
    from typing_extensions import Unpack


class SingleBridge(
    gym.Wrapper[WrapperObsType, WrapperActType, ObsType, ActType],
    Bridge,
    Generic[WrapperObsType, WrapperActType, ObsType, ActType],
):
    """Steps and resets by the general path; generated classes add the fast path of their pair."""

    def __init__(
        self,
        env: gym.Env[ObsType, ActType],
        source: AnyBackend,
        target: AnyBackend,
        **options: Unpack[Options],
    ) -> None:
        settings = self._settings("single", env, source, target, options)
        # Gymnasium declares ``Wrapper.env`` with the type parameters of the wrapper
        super().__init__(cast("gym.Env[WrapperObsType, WrapperActType]", env))
        self.metadata: Info = settings.metadata(env.metadata)
        self._convert: SingleConversions[WrapperObsType, WrapperActType, WrapperActType] = (
            SingleConversions(self, settings)
        )

    @override
    def step(self, action: WrapperActType) -> tuple[WrapperObsType, float, bool, bool, Info]:
        """Take one step.

        The environment receives ``action`` as its own ``action_space`` would have sampled it.
        """
        convert = self._convert
        # environments may return other types than they declare
        env_action = convert.action(action)
        env_obs, reward, terminated, truncated, env_info = self.env.step(env_action)
        return convert.step(env_obs, reward, terminated, truncated, env_info)

    @override
    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[WrapperObsType, Info]:
        """Start an episode.

        Array leaves of ``options`` are converted towards the environment; ``seed`` is passed on.
        """
        convert = self._convert
        env_options = convert.options(options)
        env_obs, env_info = self.env.reset(seed=seed, options=env_options)
        convert.begin(env_obs)
        return convert.obs_and_info(env_obs, env_info)

    def sample_action(self) -> WrapperActType:
        """Return a random action as the agent's own arrays."""
        return self._convert.sample(self.action_space.sample())
