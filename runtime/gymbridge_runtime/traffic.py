"""Everything that passes between an agent and an environment, each kind on its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeAlias, cast

from gymbridge_runtime.actions import ActionRules
from gymbridge_runtime.apart import part_by_part
from gymbridge_runtime.arrivals import in_turn, report_together, together
from gymbridge_runtime.backend import no_import
from gymbridge_runtime.bounds import proves_fit
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.first_call import FirstCall
from gymbridge_runtime.narrowing import is_space
from gymbridge_runtime.scalars import Scalars
from gymbridge_runtime.shortcuts import Shortcuts
from gymbridge_runtime.types import Info
from gymnasium.spaces import Space
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backend import Convert, ConvertFour
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.settings import Settings
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["UNKNOWN_SPACE", "SingleTraffic", "Traffic", "VectorTraffic"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")
ArrayT = TypeVar("ArrayT")
InfosT = TypeVar("InfosT", default=Info)


_See: TypeAlias = "Callable[[object], HostArray | None]"


class _Environment(Protocol):
    @property
    def action_space(self) -> AnySpace: ...
    @property
    def observation_space(self) -> AnySpace: ...


class Traffic(ABC, Generic[ObsT, ActT, EnvActT, InfosT]):
    """The conversions of one wrapper, each made when it is first needed.

    Args:
        settings: What the wrapper was told.
    """

    # a slot is found in a third of the time of an attribute beside what is cached below
    __slots__: tuple[str, ...] = (
        *("__dict__", "__weakref__", "_settings", "device"),
        *("act", "inform", "observe"),
    )

    act: Callable[[ActT], EnvActT]
    """Gives the environment an action as its own action space would have sampled it."""
    observe: Callable[[object], ObsT]
    """Converts observations."""
    inform: Callable[[InfosT], InfosT]
    """Converts infos; of a device that is a mesh they take every part."""

    _promised_new: bool = True
    """Whether the environment promises not to reuse what it returned; Gymnasium's do."""

    def __init__(self, settings: Settings) -> None:
        self._settings: Settings = settings
        self.device: object = settings.target.parse_device(settings.device)
        self.act = cast("Callable[[ActT], EnvActT]", FirstCall(self, "act", self._act))
        self.observe = cast("Callable[[object], ObsT]", FirstCall(self, "observe", self._observe))
        self.inform = cast("Callable[[InfosT], InfosT]", FirstCall(self, "inform", self._inform))

    def _act(self) -> Convert:
        source, target = self._settings.source, self._settings.target
        plain = self._to_env("", self._settings.env_device, arrays_only=False)
        place = source.everywhere(plain.device)
        if place is plain.device:
            return self._rule(ActionRules(target, plain.imports, plain))
        undivided = self._to_env("", place, arrays_only=False)
        apart = ActionRules(target, undivided.imports, undivided)
        return self._rule(ActionRules(target, plain.imports, plain, apart))

    @abstractmethod
    def _rule(self, rules: ActionRules) -> Convert:
        """Return the rule of all actions, made of those of single spaces."""

    @abstractmethod
    def _is_bounded(self) -> bool:
        """Tell whether spaces prove that the target holds every integer that is observed."""

    def _inform(self) -> Convert:
        place = self._settings.target.everywhere(self.device)
        return self._to_agent("info", place).whole()

    def _observe(self) -> Convert:
        return self._observations.behind_shortcut(self._settings.source)

    @cached_property
    def options(self) -> Callable[[Info | None], Info | None]:
        """Converts the arrays of reset options."""
        source, device = self._settings.source, self._settings.env_device
        place = source.everywhere(source.parse_device(device))
        convert = self._to_env("options", place, arrays_only=True)
        return cast("Callable[[Info | None], Info | None]", convert)

    @cached_property
    def sample(self) -> Callable[[object], ActT]:
        """Converts an action of the environment into the agent's own arrays."""
        target = self._settings.target
        convert = Converter(target, device=target.everywhere(self.device), root="action")
        return cast("Callable[[object], ActT]", convert)

    @cached_property
    def _observations(self) -> Converter:
        return self._observed("obs", self.device, bounded=self._is_bounded())

    def _observed(self, root: str, device: object, *, bounded: bool) -> Converter:
        source, target, _, _, copy, float_dtype = self._settings
        observations = Converter(
            target,
            device=device,
            copy=copy,
            float_dtype=float_dtype,
            promised_new=self._promised_new,
            bounded=bounded,
            root=root,
        )
        observations.expect_dicts(source)
        return observations

    def _to_agent(self, root: str, device: object) -> Converter:
        return Converter(
            self._settings.target,
            device=device,
            copy=self._settings.copy,
            promised_new=self._promised_new,
            root=root,
        )

    def _to_env(self, root: str, device: object, *, arrays_only: bool) -> Converter:
        return Converter(
            self._settings.source,
            device=device,
            copy=self._settings.copy,
            promised_new=False,
            arrays_only=arrays_only,
            root=root,
        )


def _space_of(env: _Environment, name: str) -> AnySpace:
    """Return a space of ``env``, or one of which nothing is known where it declares none."""
    found = cast("object", getattr(env, name, None))
    return found if is_space(found) else UNKNOWN_SPACE


UNKNOWN_SPACE: Final[AnySpace] = Space()
"""A space of which nothing is known: what has it is converted as any value is."""


class _OneSpace(Traffic[ObsT, ActT, EnvActT]):
    """The conversions of a wrapper for an environment with one space of each kind.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
    """

    __slots__: tuple[str, ...] = ("_env", "dtype", "make", "plain_action", "see", "shape")

    # for code that looks at actions itself

    plain_action: type[object] | None
    """The type of ordinary actions; None: there are none."""
    see: _See
    """Shows one to NumPy, by one call; answers None for one that is special."""
    dtype: AnyDType | None
    """The dtype of what `make` takes."""
    shape: tuple[int, ...]
    """The shape of these."""
    make: Callable[[HostArray], EnvActT]
    """Makes an action of the environment, by one call; see `OrdinaryAction`."""

    def __init__(self, env: _Environment, settings: Settings) -> None:
        super().__init__(settings)
        self._env: _Environment = env
        self.plain_action = self.dtype = None
        self.shape = ()
        self.make = cast("Callable[[HostArray], EnvActT]", self.act)
        self.see = no_import

    @override
    def _rule(self, rules: ActionRules) -> Convert:
        space = _space_of(self._env, "action_space")
        rule = rules.of(space, "action")
        ordinary = rules.ordinary(space, rule)
        if ordinary is not None:
            self.plain_action, self.see, self.dtype, self.shape, make = ordinary
            self.make = cast("Callable[[HostArray], EnvActT]", make)
        return rule

    @override
    def _is_bounded(self) -> bool:
        space = _space_of(self._env, "observation_space")
        return proves_fit(space, self._settings.target)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._env, self._settings)


class SingleTraffic(_OneSpace[ObsT, ActT, EnvActT]):
    """The conversions of a wrapper for one environment.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
    """

    __slots__: tuple[str, ...] = ("kind", "report", "share")

    # for code that looks at observations itself

    kind: type[object] | None
    """The type of the ordinary ones; None: there are none."""
    share: Callable[[object], ObsT | None]
    """Shares the memory of one, by one call; see `OrdinaryArrays`."""

    report: Callable[[object, Info], tuple[ObsT, Info]]
    """Converts an observation and an info, at once where that is cheaper."""

    def __init__(self, env: _Environment, settings: Settings) -> None:
        super().__init__(env, settings)
        self.report = cast(
            "Callable[[object, Info], tuple[ObsT, Info]]", FirstCall(self, "report", self._report)
        )
        self.kind = None
        self.share = no_import

    @override
    def _observe(self) -> Convert:
        ordinary = Shortcuts(self._observations.imports, self._settings.source).ordinary
        self.kind = ordinary.kind
        self.share = cast("Callable[[object], ObsT | None]", ordinary.share)
        return super()._observe()

    def _report(self) -> Callable[[object, Info], tuple[object, object]]:
        if self._settings.target.batches and self.device is None:
            informing = self._to_agent("info", None)
            return report_together(self._observations, informing, self._settings.source)
        observe, inform = self._observe(), self._inform()
        return lambda obs, info: (observe(obs), inform(info))

    @cached_property
    def reward(self) -> Callable[[object], float]:
        """Makes a reward the float that Gymnasium promises."""
        convert = Scalars(float, self._to_agent("reward", self.device), "reward")
        return cast("Callable[[object], float]", convert)

    @cached_property
    def over(self) -> Callable[[object], bool]:
        """Makes terminated the bool that Gymnasium promises."""
        return self._flag("terminated")

    @cached_property
    def cut(self) -> Callable[[object], bool]:
        """The same for truncated."""
        return self._flag("truncated")

    def _flag(self, root: str) -> Callable[[object], bool]:
        convert = Scalars(bool, self._to_agent(root, self.device), root)
        return cast("Callable[[object], bool]", convert)


class VectorTraffic(_OneSpace[ObsT, ActT, EnvActT], Generic[ObsT, ActT, EnvActT, ArrayT]):
    """The conversions of a wrapper for a vector environment.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
        reuses_buffers: Whether the environment returns its own buffers.
    """

    __slots__: tuple[str, ...] = ("batch",)

    batch: Callable[[object, object, object, object], tuple[ObsT, ArrayT, ArrayT, ArrayT]]
    """Converts observations, rewards, terminations and truncations, all at once."""

    def __init__(self, env: _Environment, settings: Settings, *, reuses_buffers: bool) -> None:
        super().__init__(env, settings)
        self._promised_new: bool = not reuses_buffers
        self.batch = cast(
            "Callable[[object, object, object, object], tuple[ObsT, ArrayT, ArrayT, ArrayT]]",
            FirstCall(self, "batch", self._batch),
        )

    @cached_property
    def _in_parts(self) -> Convert | None:
        """Converts observations that are not all batches, where batches have a place of their own.

        None: there are none, or no such place.
        """
        everywhere = self._settings.target.everywhere(self.device)
        if everywhere is self.device:
            return None

        def way_of(path: str, is_batch: bool) -> Convert:
            device = self.device if is_batch else everywhere
            return self._observed(f"obs{path}", device, bounded=False).whole()

        return part_by_part(_space_of(self._env, "single_observation_space"), way_of)

    @override
    def _observe(self) -> Convert:
        return self._in_parts or super()._observe()

    def _batch(self) -> ConvertFour:
        roots = ("reward", "terminated", "truncated")
        ways = [self._observations, *(self._to_agent(root, self.device) for root in roots)]
        source = self._settings.source
        if self._in_parts is not None:
            return in_turn([self._in_parts, *(way.whole() for way in ways[1:])])
        if self._settings.target.batches:
            four = together(ways, source)
        else:
            four = in_turn([way.behind_shortcut(source) for way in ways])
        return Shortcuts(ways[0].imports, source).before_four(four)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return _vector_traffic, (self._env, self._settings, not self._promised_new)


def _vector_traffic(
    env: _Environment, settings: Settings, reuses_buffers: bool
) -> VectorTraffic[object, object, object, object]:
    return VectorTraffic(env, settings, reuses_buffers=reuses_buffers)
