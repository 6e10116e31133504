"""The base of every generated wrapper for vector environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, cast

from gymbridge_runtime.bridged import Bridged
from gymbridge_runtime.form import require_form
from gymbridge_runtime.recorded import Recorded
from gymbridge_runtime.settings import Settings
from gymbridge_runtime.vector_traffic import VectorTraffic
from gymnasium.core import ActType, ObsType, WrapperActType, WrapperObsType
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.vector_env import ArrayType

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace, Info
    from gymnasium.spaces import Space
    from typing_extensions import override

__all__ = ["VectorBridge"]


class _Attributes(Protocol):
    """What Gymnasium's vector environments can do, and their class does not say."""

    def call(self, name: str, *args: object, **kwargs: object) -> tuple[object, ...]: ...
    def get_attr(self, name: str) -> tuple[object, ...]: ...
    def set_attr(self, name: str, values: object) -> None: ...


class VectorBridge(
    VectorWrapper[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
    Recorded,
    Bridged,
    Generic[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
):
    """Holds the conversions of a wrapper; what is done with them is in the generated class."""

    def __init__(
        self,
        env: VectorEnv[ObsType, ActType, ArrayType],
        source: AnyBackend,
        target: AnyBackend,
        *,
        device: object = None,
        env_device: object = None,
        copy: bool | None = None,
        float_dtype: object = None,
    ) -> None:
        require_form(type(self).__name__, env, "vector")
        settings = Settings.of(
            source,
            target,
            device=device,
            env_device=env_device,
            copy=copy,
            float_dtype=float_dtype,
        )
        self._record(_disable_deepcopy=True, **self._given(settings))
        super().__init__(env)
        metadata = settings.metadata(env.metadata)
        if metadata is not None:
            self.metadata: Info = metadata
        self._traffic: VectorTraffic[WrapperObsType, WrapperActType, ActType, ArrayType] = (
            VectorTraffic(env, settings, reuses_buffers=_reuses_buffers(env))
        )

    def sample_action(self) -> WrapperActType:
        """Return random actions, one for each environment, as the agent's own arrays."""
        return self._traffic.sample(self.action_space.sample())

    # Gymnasium's vector wrappers hide these of the environments below; values pass unchanged

    def call(self, name: str, *args: object, **kwargs: object) -> tuple[object, ...]:
        """Call a method of every environment, and return what each returned."""
        return _attributes(self.unwrapped).call(name, *args, **kwargs)

    def get_attr(self, name: str) -> tuple[object, ...]:
        """Return an attribute of every environment."""
        return _attributes(self.unwrapped).get_attr(name)

    def set_attr(self, name: str, values: object) -> None:
        """Set an attribute of every environment: a list or tuple has a value for each."""
        _attributes(self.unwrapped).set_attr(name, values)

    if TYPE_CHECKING:  # to a type checker, Gymnasium's own spaces are ``Space[Unknown]``

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


def _attributes(env: object) -> _Attributes:
    return cast("_Attributes", env)


def _reuses_buffers(env: VectorEnv[ObsType, ActType, ArrayType]) -> bool:
    """Tell whether ``env`` was told, by ``copy=False``, to return its own buffers."""
    return not cast("object", getattr(env.unwrapped, "copy", True))  # as environments ask it
