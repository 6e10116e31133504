"""The environments of `worlds` for several agents: one comes late, and one leaves early."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.testing.worlds import EPISODE, MOVE, NUMPY, POSE, Arrays, copied, moved
from gymnasium import spaces
from gymnasium.utils import seeding
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnySpace, HostArray, Info

_LATE, _BORN, _DIES = "late", 2, 3
"""The agents from the second step on, and the number of steps of the first agent."""


class _Agents:
    """The members that both parallel environments share."""

    metadata: Info
    render_mode: str | None = None

    def __init__(self, agents: list[str]) -> None:
        self.metadata = {"name": type(self).__name__}
        self.possible_agents: list[str] = agents
        self.agents: list[str] = []

    @property
    def unwrapped(self) -> object:
        """The environment itself."""
        return self

    def render(self) -> object:
        """Return a frame."""
        return np.zeros((2, 2, 3), np.uint8)

    def close(self) -> None:
        """Do nothing: there are no resources."""

    @override
    def __str__(self) -> str:
        return type(self).__name__


class ParallelWorld(_Agents):
    """Several agents move by their actions; all arrays are of one library.

    Args:
        library: The reference of the library's backend, ``"package.module:NAME"``.
    """

    def __init__(self, library: str = NUMPY) -> None:
        super().__init__(["left", "right", _LATE])
        self._arrays: Arrays = Arrays(library)
        self._moves: dict[str, AnySpace] = {agent: copied(MOVE) for agent in self.possible_agents}
        self._moves[_LATE] = spaces.Box(-1, 1, (2,), np.float64)
        self._poses: dict[str, HostArray] = {}
        self._random: np.random.Generator = seeding.np_random()[0]
        self._step: int = 0

    def observation_space(self, agent: str) -> AnySpace:
        """Return the space that all agents share."""
        del agent
        return POSE

    def action_space(self, agent: str) -> AnySpace:
        """Return the space of one agent."""
        return self._moves[agent]

    def reset(
        self, seed: int | None = None, options: Info | None = None
    ) -> tuple[dict[str, object], dict[str, Info]]:
        """Start with two agents."""
        del options
        if seed is not None:
            self._random = seeding.np_random(seed)[0]
        self.agents[:] = [agent for agent in self.possible_agents if agent != _LATE]
        places = self._random.uniform(-1, 1, (3, 2)).astype(np.float32)
        self._poses = dict(zip(self.possible_agents, places, strict=True))
        self._step = 0
        return self._seen(), self._told()

    def step(
        self, actions: dict[str, object]
    ) -> tuple[
        dict[str, object], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]
    ]:
        """Move; the first agent leaves, and the last one comes."""
        self._step += 1
        for agent in self.agents:
            self._poses[agent] = moved(self._poses[agent], actions.get(agent))
        rewards = {agent: float(EPISODE - self._step) for agent in self.agents}
        over = self._step == EPISODE
        terminations = {
            agent: over or (agent == "left" and self._step == _DIES) for agent in self.agents
        }
        truncations = dict.fromkeys(self.agents, False)
        seen, told = self._seen(), self._told()
        self.agents[:] = [agent for agent in self.agents if not terminations[agent]]
        if self._step == _BORN:
            self.agents.append(_LATE)
        return seen, rewards, terminations, truncations, told

    def state(self) -> object:
        """Return where everybody is."""
        return self._arrays.of(np.stack([*self._poses.values()]))

    def _seen(self) -> dict[str, object]:
        left = np.array([EPISODE - self._step], np.int32)
        return {
            agent: self._arrays.of({"pose": self._poses[agent], "left": left})
            for agent in self.agents
        }

    def _told(self) -> dict[str, Info]:
        return {
            agent: {"text": agent, "left": EPISODE - self._step, "odd": bool(self._step % 2)}
            for agent in self.agents
        }


class EchoParallel(_Agents):
    """Keeps the received actions."""

    def __init__(self, action_space: AnySpace) -> None:
        super().__init__(["one", "two"])
        self._spaces: dict[str, AnySpace] = {
            agent: copied(action_space) for agent in self.possible_agents
        }
        self.agents.extend(self.possible_agents)
        self.received: object = None

    def observation_space(self, agent: str) -> AnySpace:
        """Return the space that all agents share."""
        del agent
        return spaces.Discrete(2)

    def action_space(self, agent: str) -> AnySpace:
        """Return the space of one agent."""
        return self._spaces[agent]

    def step(
        self, actions: dict[str, object]
    ) -> tuple[
        dict[str, object], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]
    ]:
        """Keep the actions."""
        self.received = actions
        never = dict.fromkeys(self.agents, False)
        rewards = dict.fromkeys(self.agents, 1.0)
        return dict.fromkeys(self.agents, 0), rewards, never, {**never}, {}
