"""Everything that passes between an agent and an environment, each kind on its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeAlias, cast

from gymbridge_runtime.actions import ActionRules
from gymbridge_runtime.backend import no_import
from gymbridge_runtime.bounds import proves_fit
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.first_call import FirstCall
from gymbridge_runtime.narrowing import is_space
from gymbridge_runtime.types import Info
from gymnasium.spaces import Space
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backend import Convert
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.settings import Settings
    from gymbridge_runtime.types import AnySpace, HostArray

__all__ = ["UNKNOWN_SPACE", "Environment", "OneSpaceTraffic", "Traffic", "space_of"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")
InfosT = TypeVar("InfosT", default=Info)


_See: TypeAlias = "Callable[[object], HostArray | None]"


class Environment(Protocol):
    """An environment, as far as its spaces go."""

    @property
    def action_space(self) -> AnySpace:
        """What actions it takes."""
        ...

    @property
    def observation_space(self) -> AnySpace:
        """What it returns."""
        ...


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


def space_of(env: Environment, name: str) -> AnySpace:
    """Return a space of ``env``, or one of which nothing is known where it declares none."""
    found = cast("object", getattr(env, name, None))
    return found if is_space(found) else UNKNOWN_SPACE


UNKNOWN_SPACE: Final[AnySpace] = Space()
"""A space of which nothing is known: what has it is converted as any value is."""


class OneSpaceTraffic(Traffic[ObsT, ActT, EnvActT]):
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

    def __init__(self, env: Environment, settings: Settings) -> None:
        super().__init__(settings)
        self._env: Environment = env
        self.plain_action = self.dtype = None
        self.shape = ()
        self.make = cast("Callable[[HostArray], EnvActT]", self.act)
        self.see = no_import

    @override
    def _rule(self, rules: ActionRules) -> Convert:
        space = space_of(self._env, "action_space")
        rule = rules.of(space, "action")
        ordinary = rules.ordinary(space, rule)
        if ordinary is not None:
            self.plain_action, self.see, self.dtype, self.shape, make = ordinary
            self.make = cast("Callable[[HostArray], EnvActT]", make)
        return rule

    @override
    def _is_bounded(self) -> bool:
        space = space_of(self._env, "observation_space")
        return proves_fit(space, self._settings.target)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._env, self._settings)
