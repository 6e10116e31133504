"""Everything that passes between an agent and an environment, each kind on its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, cast

from gymbridge_runtime.actions import ActionRules
from gymbridge_runtime.arrivals import Arrive, in_turn, single_step, together, vector_step
from gymbridge_runtime.bounds import proves_fit
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.dtypes import is_floating
from gymbridge_runtime.scalars import Scalars
from gymbridge_runtime.shortcuts import Shortcuts
from gymbridge_runtime.types import Info
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace

__all__ = ["Settings", "SingleTraffic", "VectorTraffic"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")
StepT = TypeVar("StepT")
ArrayT = TypeVar("ArrayT")


class Settings(NamedTuple):
    """The arguments of a wrapper in words that a spec and a pickle can hold."""

    source: AnyBackend
    target: AnyBackend
    device: object
    env_device: object
    copy: bool | None
    float_dtype: str | None

    @classmethod
    def of(
        cls,
        source: AnyBackend,
        target: AnyBackend,
        *,
        device: object,
        env_device: object,
        copy: bool | None,
        float_dtype: object,
    ) -> Settings:
        """Return the arguments as text wherever there is text for them."""
        dtype = None if float_dtype is None else target.dtype(float_dtype)
        if dtype is not None and not is_floating(dtype):
            raise ValueError(f"float_dtype={float_dtype!r} is no floating-point dtype")
        return cls(
            source,
            target,
            target.device_text(target.parse_device(device)),
            source.device_text(source.parse_device(env_device)),
            copy,
            None if dtype is None else dtype.name,
        )

    def given(self) -> dict[str, object]:
        """Return what a constructor has to be given to make the same again."""
        arguments = {
            "device": self.device,
            "env_device": self.env_device,
            "copy": self.copy,
            "float_dtype": self.float_dtype,
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def metadata(self, inherited: Info) -> Info:
        """Return ``inherited`` with Gymnasium's word for whose arrays an agent sees.

        `check_env` turns the arrays of environments that say ``"jax": True`` into NumPy's.
        ``"torch": True`` is its word too, but the wrapper that it asks for does not exist.
        """
        if self.target.name == "jax":
            return {**inherited, "jax": True}
        if inherited.get(self.source.name):
            return {key: inherited[key] for key in inherited if key != self.source.name}
        return inherited


class _Environment(Protocol):
    @property
    def action_space(self) -> AnySpace: ...
    @property
    def observation_space(self) -> AnySpace: ...


class Traffic(ABC, Generic[ObsT, ActT, EnvActT, StepT]):
    """The conversions of one wrapper, each made when it is first needed.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
    """

    _promised_new: bool = True
    """Whether the environment promises not to reuse what it returned; Gymnasium's do."""

    def __init__(self, env: _Environment, settings: Settings) -> None:
        self._env: _Environment = env
        self._settings: Settings = settings
        self.device: object = settings.target.parse_device(settings.device)

    @cached_property
    def act(self) -> Callable[[ActT], EnvActT]:
        """Gives the environment an action as its own action space would have sampled it."""
        plain = self._to_env("", arrays_only=False)
        rules = ActionRules(self._settings.target, plain.imports, plain)
        return cast("Callable[[ActT], EnvActT]", rules.of(self._env.action_space, "action"))

    @cached_property
    def arrive(self) -> Callable[[object, object, object, object, Info], StepT]:
        """Converts what a step of the environment returned."""
        arrive = self._arrival()
        return cast("Callable[[object, object, object, object, Info], StepT]", arrive)

    @cached_property
    def options(self) -> Callable[[Info | None], Info | None]:
        """Converts the arrays of reset options."""
        convert = self._to_env("options", arrays_only=True)
        return cast("Callable[[Info | None], Info | None]", convert)

    @cached_property
    def observe(self) -> Callable[[object], ObsT]:
        """Converts observations."""
        convert = self._observations.behind_shortcut(self._settings.source)
        return cast("Callable[[object], ObsT]", convert)

    @cached_property
    def inform(self) -> Callable[[Info], Info]:
        """Converts infos; of a device that is a mesh they take every part."""
        place = self._settings.target.everywhere(self.device)
        return cast("Callable[[Info], Info]", self._to_agent("info", place))

    @cached_property
    def sample(self) -> Callable[[object], ActT]:
        """Converts an action of the environment into the agent's own arrays."""
        target = self._settings.target
        convert = Converter(target, device=target.everywhere(self.device), root="action")
        return cast("Callable[[object], ActT]", convert)

    @cached_property
    def _observations(self) -> Converter:
        target, _, _, copy, float_dtype = self._settings[1:]
        return Converter(
            target,
            device=self.device,
            copy=copy,
            float_dtype=float_dtype,
            promised_new=self._promised_new,
            bounded=proves_fit(self._env.observation_space, target),
            root="obs",
        )

    def _to_agent(self, root: str, device: object) -> Converter:
        return Converter(
            self._settings.target,
            device=device,
            copy=self._settings.copy,
            promised_new=self._promised_new,
            root=root,
        )

    def _to_env(self, root: str, *, arrays_only: bool) -> Converter:
        return Converter(
            self._settings.source,
            device=self._settings.env_device,
            copy=self._settings.copy,
            promised_new=False,
            arrays_only=arrays_only,
            root=root,
        )

    @abstractmethod
    def _arrival(self) -> Arrive: ...

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._env, self._settings)


class SingleTraffic(Traffic[ObsT, ActT, EnvActT, tuple[ObsT, float, bool, bool, Info]]):
    """The conversions of a wrapper for one environment."""

    @override
    def _arrival(self) -> Arrive:
        return single_step(
            self.observe,
            Scalars(float, self._to_agent("reward", self.device)),
            Scalars(bool, self._to_agent("terminated or truncated", self.device)),
            self.inform,
        )


class VectorTraffic(
    Traffic[ObsT, ActT, EnvActT, tuple[ObsT, ArrayT, ArrayT, ArrayT, Info]],
    Generic[ObsT, ActT, EnvActT, ArrayT],
):
    """The conversions of a wrapper for a vector environment.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
        reuses_buffers: Whether the environment returns its own buffers.
    """

    def __init__(self, env: _Environment, settings: Settings, *, reuses_buffers: bool) -> None:
        super().__init__(env, settings)
        self._promised_new: bool = not reuses_buffers

    @override
    def _arrival(self) -> Arrive:
        roots = ("reward", "terminated", "truncated")
        ways = [self._observations, *(self._to_agent(root, self.device) for root in roots)]
        source = self._settings.source
        if self._settings.target.batches:
            return vector_step(together(ways, source), self.inform)
        four = in_turn([way.behind_shortcut(source) for way in ways])
        return vector_step(Shortcuts(ways[0].imports, source).before_four(four), self.inform)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return _vector_traffic, (self._env, self._settings, not self._promised_new)


def _vector_traffic(
    env: _Environment, settings: Settings, reuses_buffers: bool
) -> VectorTraffic[object, object, object, object]:
    return VectorTraffic(env, settings, reuses_buffers=reuses_buffers)
