"""PettingZoo's parallel environments: a protocol for them, and the base class of wrappers.

PettingZoo need not be installed, and type checkers ignore its types (it has no ``py.typed``). So
wrappers take a protocol, and type checkers see a class of our own as the base of wrappers. At run
time the base is PettingZoo's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gymbridge_runtime import types
from gymbridge_runtime.core.errors import BackendNotInstalledError
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from abc import ABC

    from gymbridge_runtime.types import AnySpace, Info

__all__ = ["AgentT", "ParallelEnv", "ParallelWrapper"]

AgentT = TypeVar("AgentT", default=str)
"""The type of agents' names; PettingZoo's environments use text."""

ObsT = TypeVar("ObsT", default=types.AnyType)
ActT = TypeVar("ActT", default=types.AnyType)


class ParallelEnv(Protocol[AgentT, ObsT, ActT]):
    """An environment of several agents that act at once: PettingZoo's, or a wrapper."""

    @property
    def agents(self) -> list[AgentT]:
        """The living agents."""
        ...

    @property
    def possible_agents(self) -> list[AgentT]:
        """All agents that may appear."""
        ...

    def reset(
        self, seed: int | None = None, options: Info | None = None
    ) -> tuple[dict[AgentT, ObsT], dict[AgentT, Info]]:
        """Start an episode."""
        ...

    def step(
        self, actions: dict[AgentT, ActT]
    ) -> tuple[
        dict[AgentT, ObsT],
        dict[AgentT, float],
        dict[AgentT, bool],
        dict[AgentT, bool],
        dict[AgentT, Info],
    ]:
        """Take one step with all living agents."""
        ...

    def observation_space(self, agent: AgentT) -> AnySpace:
        """Return the space of an agent's observations."""
        ...

    def action_space(self, agent: AgentT) -> AnySpace:
        """Return the space of an agent's actions."""
        ...

    def state(self) -> object:
        """Return the state of the whole environment."""
        ...

    def render(self) -> object:
        """Return a frame, or show it."""
        ...

    def close(self) -> None:
        """Release what the environment holds."""
        ...


if TYPE_CHECKING:

    class ParallelWrapper(ParallelEnv[AgentT, ObsT, ActT], ABC):
        """PettingZoo's base class of wrappers, which passes everything on."""

        def __init__(self, env: object) -> None: ...

        @property
        @override
        def agents(self) -> list[AgentT]: ...
        @property
        @override
        def possible_agents(self) -> list[AgentT]: ...
        @override
        def observation_space(self, agent: AgentT) -> AnySpace: ...
        @override
        def action_space(self, agent: AgentT) -> AnySpace: ...
        @override
        def state(self) -> object: ...
        @override
        def render(self) -> object: ...
        @override
        def close(self) -> None: ...

        @property
        def num_agents(self) -> int:
            """The number of living agents."""
            ...

        @property
        def max_num_agents(self) -> int:
            """The number of possible agents."""
            ...

        @property
        def metadata(self) -> Info:
            """The metadata of the environment."""
            ...

        @property
        def render_mode(self) -> str | None:
            """The render mode of the environment."""
            ...

        @property
        def unwrapped(self) -> ParallelEnv[AgentT, types.AnyType, types.AnyType]:
            """The environment below all wrappers."""
            ...

else:
    try:
        from pettingzoo.utils import BaseParallelWrapper as ParallelWrapper
    except ModuleNotFoundError as _error:
        raise BackendNotInstalledError.explain(
            "PettingZoo", "pip install 'gymbridge[parallel]'", _error
        ) from _error
