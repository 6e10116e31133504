"""The base of wrappers for parallel environments, in which several agents act at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, cast

from gymbridge_runtime.wrappers.conversions import ParallelConversions
from gymbridge_runtime.wrappers.generics import (
    ActType,
    ArrayType,
    ObsType,
    WrapperActType,
    WrapperObsType,
)
from gymbridge_runtime.wrappers.parallel_env import AgentT, ParallelEnv, ParallelWrapper
from gymbridge_runtime.wrappers.wrapper import Bridge
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import Info
    from gymbridge_runtime.wrappers.settings import Options
    from typing_extensions import Unpack


class ParallelBridge(
    ParallelWrapper[AgentT, WrapperObsType, WrapperActType],
    Bridge,
    Generic[AgentT, WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
):
    """Steps and resets by the general path; generated classes add the fast path of their pair."""

    def __init__(
        self,
        env: ParallelEnv[AgentT, ObsType, ActType],
        source: AnyBackend,
        target: AnyBackend,
        **options: Unpack[Options],
    ) -> None:
        settings = self._settings("parallel", env, source, target, options)
        super().__init__(env)
        self.env: ParallelEnv[AgentT, ObsType, ActType] = env
        self._convert: ParallelConversions[
            AgentT, WrapperObsType, WrapperActType, ActType, ArrayType
        ] = ParallelConversions(self, settings)

    @override
    def step(
        self, actions: dict[AgentT, WrapperActType]
    ) -> tuple[
        dict[AgentT, WrapperObsType],
        dict[AgentT, float],
        dict[AgentT, bool],
        dict[AgentT, bool],
        dict[AgentT, Info],
    ]:
        """Take one step with every living agent.

        The environment receives each action as the agent's own ``action_space`` samples it.
        """
        convert = self._convert
        env_obs, rewards, terminations, truncations, env_infos = self.env.step(
            convert.action(actions)
        )
        return convert.step(env_obs, rewards, terminations, truncations, env_infos)

    @override
    def reset(
        self, seed: int | None = None, options: Info | None = None
    ) -> tuple[dict[AgentT, WrapperObsType], dict[AgentT, Info]]:
        """Start an episode.

        Array leaves of ``options`` are converted towards the environment; ``seed`` is passed on.
        """
        convert = self._convert
        env_obs, env_infos = self.env.reset(seed=seed, options=convert.options(options))
        convert.begin(env_obs)
        return convert.obs_and_info(env_obs, env_infos)

    def sample_action(self) -> dict[AgentT, WrapperActType]:
        """Return random actions, one for each living agent, as the agents' own arrays."""
        actions = {
            agent: cast("object", self.action_space(agent).sample()) for agent in self.agents
        }
        return self._convert.sample(actions)

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__}<{self.env}>>"
