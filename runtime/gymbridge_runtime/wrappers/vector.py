"""The base of every wrapper for vector environments. Its step and reset are the general path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, cast

from gymbridge_runtime.core.narrowing import untyped
from gymbridge_runtime.wrappers.conversions import VectorConversions
from gymbridge_runtime.wrappers.generics import (
    ActType,
    ArrayType,
    ObsType,
    VectorWrapper,
    WrapperActType,
    WrapperObsType,
)
from gymbridge_runtime.wrappers.wrapper import Bridge
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import AnySpace, Info
    from gymbridge_runtime.wrappers.settings import Options
    from gymnasium.spaces import Space
    from gymnasium.vector import VectorEnv
    from typing_extensions import Unpack

__all__ = ["VectorBridge"]


def _method(env: object, name: str) -> Callable[..., tuple[object, ...]]:
    """Return a method that Gymnasium's vector environments have without a declaration."""
    return cast("Callable[..., tuple[object, ...]]", untyped(untyped(env, "unwrapped"), name))


class VectorBridge(
    VectorWrapper[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
    Bridge,
    Generic[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
):
    """Steps and resets by the general path; generated classes add the fast path of their pair."""

    def __init__(
        self,
        env: VectorEnv[ObsType, ActType, ArrayType],
        source: AnyBackend,
        target: AnyBackend,
        **options: Unpack[Options],
    ) -> None:
        settings = self._settings("vector", env, source, target, options)
        super().__init__(env)
        self.metadata: Info = settings.metadata(env.metadata)
        self._convert: VectorConversions[WrapperObsType, WrapperActType, ActType, ArrayType] = (
            VectorConversions(env, settings)
        )

    @override
    def step(
        self, actions: WrapperActType
    ) -> tuple[WrapperObsType, ArrayType, ArrayType, ArrayType, Info]:
        """Take one step in every environment.

        They receive ``actions`` as their own ``action_space`` would have sampled them.
        """
        convert = self._convert
        env_obs, rewards, terminations, truncations, infos = self.env.step(convert.action(actions))
        return convert.step(env_obs, rewards, terminations, truncations, infos)

    @override
    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[WrapperObsType, Info]:
        """Start an episode in every environment.

        Array leaves of ``options`` are converted towards the environments. ``seed`` is passed on:
        Gymnasium's vector environments also take a list with a seed for each environment, although
        their base class does not declare it.
        """
        convert = self._convert
        env_obs, env_infos = self.env.reset(
            seed=cast("int | None", seed), options=convert.options(options)
        )
        convert.read_spaces(self.env)
        return convert.obs_and_info(env_obs, env_infos)

    def sample_action(self) -> WrapperActType:
        """Return random actions, one for each environment, as the agent's own arrays."""
        return self._convert.sample(self.action_space.sample())

    # Gymnasium's vector wrappers hide these of the environments below; values pass unchanged

    def call(self, name: str, *args: object, **kwargs: object) -> tuple[object, ...]:
        """Call a method of every environment, and return what each returned."""
        return _method(self, "call")(name, *args, **kwargs)

    def get_attr(self, name: str) -> tuple[object, ...]:
        """Return an attribute of every environment."""
        return _method(self, "get_attr")(name)

    def set_attr(self, name: str, values: object) -> None:
        """Set an attribute of every environment: a list or tuple has a value for each."""
        _ = _method(self, "set_attr")(name, values)

    if TYPE_CHECKING:  # to a type checker, Gymnasium's own spaces are ``Space[Unknown]``
        env: VectorEnv[ObsType, ActType, ArrayType]  # before Gymnasium 1.4 it has no parameters

        @property
        @override
        def observation_space(self) -> Space[ObsType]: ...
        @observation_space.setter
        @override
        def observation_space(self, space: AnySpace) -> None: ...
        @property
        @override
        def action_space(self) -> Space[ActType]: ...
        @action_space.setter
        @override
        def action_space(self, space: AnySpace) -> None: ...
        @property
        @override
        def single_observation_space(self) -> AnySpace: ...
        @single_observation_space.setter
        @override
        def single_observation_space(self, space: AnySpace) -> None: ...
        @property
        @override
        def single_action_space(self) -> AnySpace: ...
        @single_action_space.setter
        @override
        def single_action_space(self, space: AnySpace) -> None: ...
