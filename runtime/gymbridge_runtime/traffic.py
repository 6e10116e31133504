"""Everything that passes between an agent and an environment, each kind on its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, cast

from gymbridge_runtime.actions import ActionRule, ActionRules
from gymbridge_runtime.bounds import proves_fit
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.dtypes import is_floating
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.scalars import Scalars
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import AnySpace, Info

__all__ = ["Settings", "Traffic"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")
ArrivalT = TypeVar("ArrivalT", default=object)


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


class _Environment(Protocol):
    @property
    def action_space(self) -> AnySpace: ...
    @property
    def observation_space(self) -> AnySpace: ...


class Traffic(Generic[ObsT, ActT, EnvActT, ArrivalT]):
    """The conversions of one wrapper.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
        promised_new: Whether the environment promises not to reuse what it returned.
    """

    act: Callable[[ActT], EnvActT]
    """The action as the environment's own action space would have sampled it."""
    observe: Callable[[object], ObsT]
    reward: Callable[[object], float]
    flag: Callable[[object], bool]
    arrive: Callable[[object, object, object, object], ArrivalT]
    """Observations, rewards, terminations and truncations of a vector step, together."""
    inform: Callable[[Info], Info]
    options: Callable[[Info | None], Info | None]
    sample: Callable[[object], ActT]
    """An action of the environment as the agent's own arrays."""

    def __init__(self, env: _Environment, settings: Settings, *, promised_new: bool = True) -> None:
        self._made_of = (env, settings, promised_new)
        source, target, device, env_device, copy, float_dtype = settings
        self.device = target.parse_device(device)
        beside = target.everywhere(self.device)

        def to_agent(root: str, place: object) -> Converter:
            return Converter(target, device=place, copy=copy, promised_new=promised_new, root=root)

        observations = Converter(
            target,
            device=self.device,
            copy=copy,
            float_dtype=float_dtype,
            promised_new=promised_new,
            bounded=proves_fit(env.observation_space, target),
            root="obs",
        )
        rewards = to_agent("reward", self.device)
        flags = to_agent("terminated or truncated", self.device)
        actions = Converter(source, device=env_device, copy=copy, promised_new=False, root="")
        options = Converter(
            source,
            device=env_device,
            copy=copy,
            promised_new=False,
            arrays_only=True,
            root="options",
        )
        self.act = cast("Callable[[ActT], EnvActT]", _Actions(env, actions))
        self.observe = cast("Callable[[object], ObsT]", observations)
        self.reward = cast("Callable[[object], float]", Scalars(float, rewards))
        self.flag = cast("Callable[[object], bool]", Scalars(bool, flags))
        self.arrive = cast(
            "Callable[[object, object, object, object], ArrivalT]",
            _Arrivals(observations, rewards, flags, flags),
        )
        self.inform = cast("Callable[[Info], Info]", to_agent("info", beside))
        self.options = cast("Callable[[Info | None], Info | None]", options)
        self.sample = cast(
            "Callable[[object], ActT]", Converter(target, device=beside, root="action")
        )

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return _restored, self._made_of


def _restored(
    env: _Environment, settings: Settings, promised_new: bool
) -> Traffic[object, object, object]:
    return Traffic(env, settings, promised_new=promised_new)


class _Actions:
    """Actions towards the environment, by the rule of its space."""

    def __init__(self, env: _Environment, plain: Converter) -> None:
        self._env = env
        self._plain = plain
        self._rule: ActionRule | None = None

    def __call__(self, action: object) -> object:
        if self._rule is None:  # not earlier: until the first action another space may be set
            rules = ActionRules(self._plain.imports, self._plain)
            self._rule = rules.of(self._env.action_space)
        try:
            return self._rule(action)
        except ConversionError as error:
            error.below("action")
            raise


class _Arrivals:
    """What a vector step returns besides infos, imported together where that is cheaper."""

    def __init__(self, *ways: Converter) -> None:
        self._ways = ways
        self._batches = ways[0].target.batches

    def __call__(self, *step: object) -> object:
        if not self._batches:
            return tuple([way(value) for way, value in zip(self._ways, step, strict=True)])
        bag: list[object] = []
        tree = tuple([way.collect(value, bag) for way, value in zip(self._ways, step, strict=True)])
        try:
            return self._ways[0].deliver(tree, bag)
        except ConversionError:
            for way, value in zip(self._ways, step, strict=True):
                way.collect(value, None)  # one by one, so that the error names the leaf
            raise
