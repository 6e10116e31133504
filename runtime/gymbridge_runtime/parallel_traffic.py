"""What passes between several agents and their environment: for each of them, or all at once."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, Protocol, cast

from gymbridge_runtime.containers import MAPPING, items_of, rebuilt
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.narrowing import is_mapping, is_space
from gymbridge_runtime.scalars import Scalars
from gymbridge_runtime.traffic import UNKNOWN_SPACE, Traffic
from gymbridge_runtime.types import Info
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gymbridge_runtime.actions import ActionRules
    from gymbridge_runtime.backend import Convert
    from gymbridge_runtime.settings import Settings
    from gymbridge_runtime.types import AnySpace

__all__ = ["ParallelTraffic"]

AgentT = TypeVar("AgentT")
ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")
ArrayT = TypeVar("ArrayT")


class _Environment(Protocol):
    """An environment, as far as its agents' actions go; what its agents are called is its own."""

    def action_space(self, agent: object, /) -> AnySpace: ...


class ParallelTraffic(
    Traffic[dict[AgentT, ObsT], dict[AgentT, ActT], dict[AgentT, EnvActT], dict[AgentT, Info]],
    Generic[AgentT, ObsT, ActT, EnvActT, ArrayT],
):
    """The conversions of a wrapper for a parallel environment.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
    """

    def __init__(self, env: object, settings: Settings) -> None:
        super().__init__(settings)
        self._env: _Environment = cast("_Environment", env)

    @cached_property
    def observe_state(self) -> Callable[[object], ArrayT]:
        """Converts the state of everything, like an observation whose space nobody knows."""
        return cast(
            "Callable[[object], ArrayT]", self._observed("state", self.device, bounded=False)
        )

    @cached_property
    def rewards(self) -> Callable[[object], dict[AgentT, float]]:
        """Makes every reward the float that PettingZoo promises."""
        return cast("Callable[[object], dict[AgentT, float]]", self._for_each("reward", float))

    @cached_property
    def over(self) -> Callable[[object], dict[AgentT, bool]]:
        """Makes every terminated the bool that PettingZoo promises."""
        return self._flags("terminated")

    @cached_property
    def cut(self) -> Callable[[object], dict[AgentT, bool]]:
        """The same for truncated."""
        return self._flags("truncated")

    def _flags(self, root: str) -> Callable[[object], dict[AgentT, bool]]:
        return cast("Callable[[object], dict[AgentT, bool]]", self._for_each(root, bool))

    def _for_each(self, root: str, python: type[float] | type[bool]) -> Convert:
        tree = self._to_agent("", self.device)
        return _ForEach(root, Scalars(python, tree, ""), copies=tree.imports.copies)

    @override
    def _rule(self, rules: ActionRules) -> Convert:
        return _Actions(
            self._env, rules, self._to_env("action", self._settings.env_device, arrays_only=False)
        )

    @override
    def _is_bounded(self) -> bool:
        return False  # an environment need not know all of its agents beforehand

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._env, self._settings)


_MOST_AGENTS: Final = 1024
"""How many agents' rules are kept: new ones may appear without end."""


class _Actions(dict[object, "Convert"]):
    """Gives the environment each agent's action as the agent's own space would have sampled it."""

    def __init__(self, env: _Environment, rules: ActionRules, plain: Convert) -> None:
        super().__init__()
        self._env: _Environment = env
        self._plain: Convert = plain
        self._rules: ActionRules = rules

    def __missing__(self, agent: object) -> Convert:
        space = self._space_of(agent)
        rule = self._rules.of(UNKNOWN_SPACE if space is None else space, f"action[{agent!r}]")
        if space is not None:  # an agent without one may get it when it comes to life
            if len(self) >= _MOST_AGENTS:
                self.clear()
            self[agent] = rule
        return rule

    def _space_of(self, agent: object) -> AnySpace | None:
        space: object = None
        with suppress(Exception):  # whatever an environment says of agents that it does not know
            space = self._env.action_space(agent)
        return space if is_space(space) else None

    def __call__(self, actions: object) -> object:
        if is_mapping(actions):
            held = _held(actions, "action")
            return {agent: self[agent](action) for agent, action in held}
        return self._plain(actions)  # the environment judges it


def _held(values: Mapping[object, object], root: str) -> list[tuple[object, object]]:
    try:
        return items_of(MAPPING, values)
    except ConversionError as error:
        error.below(root)
        raise


class _ForEach:
    """Converts what there is one of for each agent.

    Args:
        name: How error messages call all of it.
        one: The conversion for one agent.
        copies: Whether everything is copied.
    """

    def __init__(self, name: str, one: Convert, *, copies: bool) -> None:
        self._name: str = name
        self._one: Convert = one
        self._copies: bool = copies

    def __call__(self, values: object) -> object:
        """Return the same mapping with converted values."""
        if not is_mapping(values):
            return self._of(values, self._name)
        held = _held(values, self._name)
        agents = [agent for agent, _ in held]
        children = [self._of(one, f"{self._name}[{agent!r}]") for agent, one in held]
        try:
            return rebuilt(MAPPING, values, agents, children, copies=self._copies)
        except ConversionError as error:
            error.below(self._name)
            raise

    def _of(self, value: object, path: str) -> object:
        try:
            return self._one(value)
        except ConversionError as error:
            error.below(path)
            raise
