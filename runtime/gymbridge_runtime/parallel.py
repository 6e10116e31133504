"""The base of every generated wrapper for parallel environments: several agents act at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, cast

from gymbridge_runtime.bridged import Bridged
from gymbridge_runtime.form import require_form
from gymbridge_runtime.parallel_env import AgentT, ParallelEnv, ParallelWrapper
from gymbridge_runtime.parallel_traffic import ParallelTraffic
from gymbridge_runtime.settings import Settings
from gymnasium.core import ActType, ObsType, WrapperActType, WrapperObsType
from gymnasium.vector.vector_env import ArrayType
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend

__all__ = ["ParallelBridge"]


class ParallelBridge(
    ParallelWrapper[AgentT, WrapperObsType, WrapperActType],
    Bridged,
    Generic[AgentT, WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
):
    """Holds the conversions of a wrapper; what is done with them is in the generated class."""

    def __init__(
        self,
        env: ParallelEnv[AgentT, ObsType, ActType],
        source: AnyBackend,
        target: AnyBackend,
        *,
        device: object = None,
        env_device: object = None,
        copy: bool | None = None,
        float_dtype: object = None,
    ) -> None:
        require_form(type(self).__name__, env, "parallel")
        settings = Settings.of(
            source,
            target,
            device=device,
            env_device=env_device,
            copy=copy,
            float_dtype=float_dtype,
        )
        super().__init__(env)
        self.env: ParallelEnv[AgentT, ObsType, ActType] = env
        self._traffic: ParallelTraffic[
            AgentT, WrapperObsType, WrapperActType, ActType, ArrayType
        ] = ParallelTraffic(env, settings)

    def sample_action(self) -> dict[AgentT, WrapperActType]:
        """Return random actions, one for each agent that lives, as the agents' own arrays."""
        actions = {
            agent: cast("object", self.action_space(agent).sample()) for agent in self.agents
        }
        return self._traffic.sample(actions)

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__}<{self.env}>>"
