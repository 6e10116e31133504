"""The general path of a wrapper: everything that passes between an agent and an environment.

A rendered step first tries its fast path, which uses the attributes that are declared here. Unusual
values go to the methods.
"""

from __future__ import annotations

from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeAlias, cast
from weakref import ref

import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.core.actions import Fitter, samples_like
from gymbridge_runtime.core.converter import Converter, convert_together
from gymbridge_runtime.core.describe import describe
from gymbridge_runtime.core.dtypes import AnyDType, first_misfit, is_integer, safe_casts
from gymbridge_runtime.core.errors import ConversionError, CopyRequiredError
from gymbridge_runtime.core.memory import as_array, behaved, copied, items_of_type
from gymbridge_runtime.core.narrowing import (
    getattr_untyped,
    is_discrete,
    is_exact_dict,
    is_mapping,
    is_space,
)
from gymbridge_runtime.core.ownership import ALONE_AS_ARGUMENT, Owner, Ownership, getrefcount, own
from gymbridge_runtime.core.scalars import (
    CONVERTIBLE,
    EachNumberConverter,
    NumberConverter,
    to_float,
)
from gymbridge_runtime.types import Info
from gymbridge_runtime.wrappers.form import require_source
from gymnasium import spaces
from gymnasium.spaces import Space
from gymnasium.vector.utils import batch_space
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from weakref import ReferenceType

    from gymbridge_runtime.types import AnySpace, HostArray
    from gymbridge_runtime.wrappers.settings import Settings
    from gymbridge_runtime.wrappers.wrapper import Bridge

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")
ArrayT = TypeVar("ArrayT")
AgentT = TypeVar("AgentT")
InfosT = TypeVar("InfosT", default=Info)
RewardT = TypeVar("RewardT")
FlagT = TypeVar("FlagT")

_Items: TypeAlias = "Callable[..., dict[object, object] | None]"
_Entries: TypeAlias = "Callable[..., dict[str, object] | None]"

_UNKNOWN_SPACE: Final[AnySpace] = Space()
_ARRAYS: Final = frozenset({spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary})
_ID: Final = np.dtype(np.int32)
_OF_NUMPY: Final = frozenset[type[object]]({np.ndarray, np.int32, np.int64, int})
_MOST_NUMBERS: Final = 64
"""The size of the largest Discrete space whose samples are made in advance."""


class Conversions(Generic[ObsT, ActT, EnvActT, InfosT]):
    """The conversions of one wrapper."""

    # reading a slot takes a third of the time of an attribute
    __slots__: tuple[str, ...] = (
        *("__weakref__", "action_casts", "action_dtype", "action_numbers", "action_shape"),
        *("action_type", "action_types", "cast_action", "casts", "copied", "device", "entries"),
        *("env_device", "items", "obs_type", "own_as_obs", "own_obs", "settings", "_action_space"),
        *("_declared", "_fast_entries", "_fast_items", "_fitter", "_has_spaces", "_info", "_obs"),
        *("_options", "_reward", "_sample", "_terminated", "_to_env", "_to_host", "_truncated"),
        "_wrapper",
    )

    keeps_numbers: ClassVar[bool] = False
    """Whether the numbers in infos stay numbers."""
    fitter_type: ClassVar[type[Fitter]] = Fitter
    """What fits actions to their space."""
    obs_type: type[object] | None
    """The type of the environment's arrays that take the fast path; None: no fast path."""
    own_obs: Callable[[object], HostArray]
    """Returns an observation that is safe to pass on: itself, a copy or a cast."""
    casts: bool
    """Whether observations may need a cast to `float_dtype`."""
    own_as_obs: Callable[[object], ObsT]
    """The same function, typed for agents that use NumPy."""
    items: _Items
    """Returns a dictionary whose arrays take the fast path; None for anything else.

    NumPy's arrays are copied if somebody else may hold them.
    """
    entries: _Entries
    """Returns the items of an info, with numbers and arrays as NumPy arrays that nobody else holds.

    It returns None if the info holds anything else, except texts and flags. For libraries other
    than NumPy, its second argument is the function that views an array.
    """
    action_type: type[object] | None
    """The type of actions that take the fast path; None: no fast path."""
    action_types: frozenset[type[object]]
    """The types of actions that take the fast path, if the agent uses NumPy."""
    copied: Callable[[object], EnvActT]
    """Copies an action that is a NumPy array; with ``copy=False`` it returns the array."""
    cast_action: Callable[[object], EnvActT]
    """Casts an action that is a NumPy array to `action_dtype`."""
    action_dtype: AnyDType | None
    """The dtype of array actions; None if actions are not arrays, or their space is unknown."""
    action_casts: frozenset[AnyDType]
    """The other dtypes whose values all fit `action_dtype`."""
    action_shape: tuple[int, ...] | None
    """The shape of array actions."""
    action_numbers: dict[int, EnvActT]
    """The samples of a small Discrete space, by number."""

    def __init__(self, wrapper: Bridge, settings: Settings) -> None:
        source, target, device, env_device, copy, float_dtype = settings
        self.settings: Settings = settings
        self.device: object = target.parse_device(device)
        self.env_device: object = source.parse_device(env_device)
        self._wrapper: ReferenceType[Bridge] = ref(wrapper)
        self._has_spaces: bool = False
        self._declared: AnySpace = _UNKNOWN_SPACE
        self._read_action_space(_UNKNOWN_SPACE)
        self.obs_type = self.action_type = None
        self.action_types = frozenset[type[object]]()
        self.items = self.entries = _no_items
        self.copied = cast("Callable[[object], EnvActT]", as_array if copy is False else copied)
        self._obs: Converter = self._to_agent("obs", self.device, float_dtype)
        self._reward: Converter = self._to_agent("reward", self.device, float_dtype)
        self._terminated: Converter = self._to_agent("terminated", self.device, float_dtype)
        self._truncated: Converter = self._to_agent("truncated", self.device, float_dtype)
        replicated = target.replicated(self.device)
        self._info: Converter = self._to_agent("info", replicated, is_info=True)
        self._sample: Converter = Converter(target, device=replicated, root="action")
        self._options: Converter = Converter(
            source,
            device=source.replicated(self.env_device),
            copy=copy,
            default=Ownership.SNAPSHOT,
            arrays_only=True,
            root="options",
        )
        self._to_host: Converter = Converter(
            NUMPY, copy=copy, default=Ownership.SNAPSHOT, root="action"
        )
        # an action that was copied on the way to NumPy may be shared with the environment
        shares = False if copy is False else None
        self._to_env: Converter = Converter(
            source, device=self.env_device, copy=shares, root="action"
        )
        self._set_owners(None if float_dtype is None else target.dtype(float_dtype))
        self._fitter: Fitter = self.fitter_type(
            never_copies=copy is False,
            for_numpy=source is NUMPY,
            integer_advice=target.integer_advice,
        )

    def _to_agent(
        self, root: str, device: object, float_dtype: object = None, *, is_info: bool = False
    ) -> Converter:
        return Converter(
            self.settings.target,
            device=device,
            copy=self.settings.copy,
            float_dtype=float_dtype,
            default=Ownership.PROVE,
            arrays_only=is_info and self.keeps_numbers,
            keeps_large=is_info,
            root=root,
        )

    def _set_owners(self, float_dtype: AnyDType | None) -> None:
        """Choose the functions that make host views of a step safe to keep."""
        source, target = self.settings.source, self.settings.target
        shares, is_safe = source is NUMPY, source.never_changes and target.keeps_read_only
        if self.settings.copy is True:
            shares = is_safe = False
        is_safe = is_safe or target.calls_copy
        owner = Owner(float_dtype, shares=shares, is_safe=is_safe)
        self.casts = float_dtype is not None
        if self.settings.copy is False:
            self.own_obs = behaved
        elif self.casts:
            self.own_obs = cast("Callable[[object], HostArray]", owner.own)
        elif is_safe:
            self.own_obs = as_array
        elif shares:
            self.own_obs = cast("Callable[[object], HostArray]", own)
        else:
            self.own_obs = copied
        self.own_as_obs = cast("Callable[[object], ObsT]", self.own_obs)
        infos = Owner(None, shares=shares, is_safe=is_safe, other=self._info.entry)
        items: _Items = owner.own_items
        entries: _Items = infos.own_items
        if source is not NUMPY:
            items = partial(items_of_type, kind=source.fast_type)
            entries = partial(infos.viewed_items, kind=source.fast_type)
        self._fast_items: _Items = items
        self._fast_entries: _Entries = cast("_Entries", entries)

    # -- spaces -------------------------------------------------------------------------------

    def begin(self, obs: object) -> None:
        """Read the action space again, and check the library of the first observation."""
        self._read_spaces()
        wrapper = self._wrapper()
        if wrapper is not None and type(obs) is not self.obs_type and not wrapper.takes_any_source:
            settings = self.settings
            require_source(type(wrapper).__name__, obs, settings.source, settings.target)

    def _read_spaces(self) -> None:
        """Read the action space that the wrapper declares; it may have changed."""
        wrapper = self._wrapper()
        found = cast("object", getattr(wrapper, "action_space", None))
        action_space = found if is_space(found) else _UNKNOWN_SPACE
        if action_space is not self._declared:
            self._declared = action_space
            self._read_action_space(self._space_of_actions(wrapper, action_space))
        self._has_spaces = True
        source, target = self.settings.source, self.settings.target
        never_copies = self.settings.copy is False
        shares = source is NUMPY and target.mutable and not (target.copies_in or self.casts)
        is_fast = shares or not never_copies
        is_fast = is_fast and target.calls_reach(None) and source.calls_reach(None)
        is_fast = is_fast and target.calls_reach(self.device)
        self.obs_type = source.fast_type if is_fast else None
        is_fast_tree = self.obs_type is not None and not never_copies
        self.items = self._fast_items if is_fast_tree else _no_items
        self.entries = self._fast_entries if is_fast_tree else _no_items
        reaches_env = is_fast and source.calls_reach(self.env_device)
        self.action_type = target.fast_type if reaches_env else None
        self.action_types = _OF_NUMPY if reaches_env else frozenset[type[object]]()

    def _space_of_actions(self, wrapper: object, declared: AnySpace) -> AnySpace:
        """Return the space that actions are fitted to."""
        del wrapper
        return declared

    def _read_action_space(self, space: AnySpace) -> None:
        self._action_space: AnySpace = space
        self.action_dtype = self.action_shape = None
        self.action_casts = frozenset[AnyDType]()
        self.action_numbers = dict[int, EnvActT]()
        kind = samples_like(space)
        is_choice = kind is spaces.Discrete
        if (kind in _ARRAYS and space.shape) or (is_choice and self.settings.source is not NUMPY):
            self.action_dtype, self.action_shape = np.dtype(space.dtype), space.shape
            if self.settings.copy is not False:
                self.action_casts = safe_casts(self.action_dtype)
            to_dtype = methodcaller("astype", self.action_dtype, "C")
            self.cast_action = cast("Callable[[object], EnvActT]", to_dtype)
        elif is_choice and is_discrete(space):
            dtype: AnyDType = np.dtype(space.dtype)
            first, count, bounds = int(space.start), int(space.n), np.iinfo(dtype)
            numbers = range(first, first + min(count, _MOST_NUMBERS + 1))
            fit = bounds.min <= numbers[0] and numbers[-1] <= bounds.max
            if fit and count <= _MOST_NUMBERS:
                samples = {number: dtype.type(number) for number in numbers}
                self.action_numbers = cast("dict[int, EnvActT]", samples)

    # -- parts of the fast path ---------------------------------------------------------------

    def as_obs(self, tree: object) -> ObsT:
        """Return the observation ``tree`` with its static type."""
        return cast("ObsT", tree)

    def cast(self, views: Sequence[object]) -> Sequence[object]:
        """Cast floating numbers to `float_dtype`."""
        return [*map(self.own_obs, views)]

    # -- the general path ---------------------------------------------------------------------

    def action(self, action: ActT) -> EnvActT:
        """Convert an action to what the environment's own action space samples."""
        return self._fitted(action, self._to_host(action))

    def _fitted(self, action: object, on_host: object) -> EnvActT:
        """Return an action for the environment, given the same action on the host."""
        if not self._has_spaces:
            self._read_spaces()
        try:
            fitted = self._fitter.fit(self._action_space, on_host)
        except ConversionError as error:
            if isinstance(error, CopyRequiredError) and not error.path:
                error.about(describe(action))
            error.below("action")
            raise
        return cast("EnvActT", fitted if self.settings.source is NUMPY else self._to_env(fitted))

    def obs(self, obs: object) -> ObsT:
        """Convert an observation."""
        is_free = getrefcount(obs) == ALONE_AS_ARGUMENT
        return cast("ObsT", self._obs(obs, is_free=is_free))

    def info(self, info: InfosT) -> InfosT:
        """Convert infos."""
        is_free = getrefcount(info) == ALONE_AS_ARGUMENT
        return cast("InfosT", self._info(info, is_free=is_free))

    def obs_and_info(self, obs: object, info: InfosT) -> tuple[ObsT, InfosT]:
        """Convert an observation and infos together."""
        # count first: the code below adds references
        is_obs_free = getrefcount(obs) == ALONE_AS_ARGUMENT
        is_info_free = getrefcount(info) == ALONE_AS_ARGUMENT
        parts = (self._obs, obs, is_obs_free), (self._info, info, is_info_free)
        return cast("tuple[ObsT, InfosT]", tuple(convert_together(parts)))

    def options(self, options: Info | None) -> Info | None:
        """Convert the arrays of reset options towards the environment."""
        return cast("Info | None", self._options(options))

    def sample(self, action: object) -> ActT:
        """Convert an action of the environment into the agent's arrays."""
        return cast("ActT", self._sample(action))


def _no_items(_value: object, _view: object = None) -> None:
    return None


class NumberedConversions(
    Conversions[ObsT, ActT, EnvActT, InfosT],
    Generic[ObsT, ActT, EnvActT, RewardT, FlagT, InfosT],
):
    """The conversions of a wrapper whose rewards and flags are Python numbers."""

    __slots__: tuple[str, ...] = ("_to_numbers",)

    number_type: ClassVar[type[NumberConverter]] = NumberConverter
    """What converts the rewards of a step, and its flags."""

    def __init__(self, wrapper: Bridge, settings: Settings) -> None:
        super().__init__(wrapper, settings)
        self._to_numbers: tuple[NumberConverter, NumberConverter, NumberConverter] = (
            self.number_type(float, self._reward),
            self.number_type(bool, self._terminated),
            self.number_type(bool, self._truncated),
        )

    def step(
        self, obs: object, reward: object, terminated: object, truncated: object, info: InfosT
    ) -> tuple[ObsT, RewardT, FlagT, FlagT, InfosT]:
        """Convert all results of a step together."""
        # count first: the code below adds references
        is_obs_free = getrefcount(obs) == ALONE_AS_ARGUMENT
        is_info_free = getrefcount(info) == ALONE_AS_ARGUMENT
        parts = [(self._obs, obs, is_obs_free), (self._info, info, is_info_free)]
        numbers = reward, terminated, truncated
        if CONVERTIBLE.issuperset(map(type, numbers)):
            new_obs, new_info = convert_together(parts)
            new_numbers = self.numbers(*numbers)
        else:
            ways = [
                to.converter_for(value) for to, value in zip(self._to_numbers, numbers, strict=True)
            ]
            parts += zip(ways, numbers, (False,) * 3, strict=True)
            new_obs, new_info, *found = convert_together(parts)
            made = [
                value if way is to.to_arrays else to(value)
                for to, way, value in zip(self._to_numbers, ways, found, strict=True)
            ]
            new_numbers = cast("tuple[RewardT, FlagT, FlagT]", tuple(made))
        return cast("ObsT", new_obs), *new_numbers, cast("InfosT", new_info)

    def numbers(
        self, reward: object, terminated: object, truncated: object
    ) -> tuple[RewardT, FlagT, FlagT]:
        """Make rewards and flags the Python values that the API of the environment promises."""
        to_reward, to_terminated, to_truncated = self._to_numbers
        numbers = to_reward(reward), to_terminated(terminated), to_truncated(truncated)
        return cast("tuple[RewardT, FlagT, FlagT]", numbers)


class SingleConversions(NumberedConversions[ObsT, ActT, EnvActT, float, bool]):
    """The conversions of a wrapper for one environment."""

    __slots__: tuple[str, ...] = ()

    @override
    def numbers(
        self, reward: object, terminated: object, truncated: object
    ) -> tuple[float, bool, bool]:
        """Make reward and flags the Python values that Gymnasium promises."""
        if (
            type(reward) in CONVERTIBLE
            and type(terminated) in CONVERTIBLE
            and type(truncated) in CONVERTIBLE
        ):
            return to_float(reward), bool(terminated), bool(truncated)
        return super().numbers(reward, terminated, truncated)


def batched(env: object, space: AnySpace) -> AnySpace:
    """Return the action space of all environments, if ``space`` is that of one.

    EnvPool and SuperSuit declare the space of one environment as ``action_space``.
    """
    single = cast("object", getattr(env, "single_action_space", None))
    if samples_like(space) is spaces.Discrete or space == single:
        return batch_space(space, cast("int", getattr_untyped(env, "num_envs")))
    return space


class VectorConversions(Conversions[ObsT, ActT, EnvActT], Generic[ObsT, ActT, EnvActT, ArrayT]):
    """The conversions of a wrapper for a vector environment."""

    __slots__: tuple[str, ...] = ("_to_ids",)

    def __init__(self, wrapper: Bridge, settings: Settings) -> None:
        super().__init__(wrapper, settings)
        self._to_ids: Converter = Converter(NUMPY, root="env_id")

    @override
    def _space_of_actions(self, wrapper: object, declared: AnySpace) -> AnySpace:
        return batched(wrapper, declared)

    def env_ids(self, numbers: object) -> HostArray:
        """Return the numbers of environments as EnvPool takes them."""
        return _as_env_ids(self._to_ids(numbers))

    def action_for(self, action: ActT, numbers: object) -> tuple[EnvActT, HostArray]:
        """Convert actions and environment numbers together."""
        parts = (self._to_host, action, False), (self._to_ids, numbers, False)
        on_host, ids = convert_together(parts)
        return self._fitted(action, on_host), _as_env_ids(ids)

    def leaves(self, obs: object, *others: object) -> list[object] | None:
        """Return the arrays of a step if all take the fast path; otherwise None."""
        leaves: list[object] = [*obs.values(), *others] if is_exact_dict(obs) else [obs, *others]
        return leaves if {*map(type, leaves)} == {self.obs_type} else None

    def like(self, obs: object, arrays: Sequence[object]) -> ObsT:
        """Return ``arrays`` in the structure of ``obs``: one array, or a dictionary."""
        tree = dict(zip(obs, arrays, strict=True)) if is_exact_dict(obs) else arrays[0]
        return self.as_obs(tree)

    def step(
        self, obs: object, rewards: object, terminations: object, truncations: object, infos: Info
    ) -> tuple[ObsT, ArrayT, ArrayT, ArrayT, Info]:
        """Convert all results of a step together."""
        # count first: the code below adds references
        are_free = (
            getrefcount(obs) == ALONE_AS_ARGUMENT,
            getrefcount(rewards) == ALONE_AS_ARGUMENT,
            getrefcount(terminations) == ALONE_AS_ARGUMENT,
            getrefcount(truncations) == ALONE_AS_ARGUMENT,
            getrefcount(infos) == ALONE_AS_ARGUMENT,
        )
        results = self._convert_step((obs, rewards, terminations, truncations, infos), are_free)
        return cast("tuple[ObsT, ArrayT, ArrayT, ArrayT, Info]", tuple(results))

    def _convert_step(
        self, results: tuple[object, ...], are_free: tuple[bool, ...]
    ) -> list[object]:
        """Convert the results of a step; nobody else refers to those that ``are_free``."""
        ways = self._obs, self._reward, self._terminated, self._truncated, self._info
        parts = [*zip(ways, results, are_free, strict=True)]
        infos = results[-1]
        if type(infos) is dict and not infos:
            return [*convert_together(parts[:-1]), {}]
        return convert_together(parts)


def _as_env_ids(numbers: object) -> HostArray:
    array = np.asarray(numbers)
    is_valid = array.ndim == 1 and is_integer(array.dtype)
    if not is_valid or first_misfit(array, _ID) is not None:  # EnvPool itself would crash
        raise TypeError(
            f"env_id is a list or an array of environment numbers, such as [0, 2]; got {numbers!r}"
        )
    return array.astype(_ID)


class ParallelConversions(
    NumberedConversions[
        dict[AgentT, ObsT],
        dict[AgentT, ActT],
        dict[AgentT, EnvActT],
        dict[AgentT, float],
        dict[AgentT, bool],
        dict[AgentT, Info],
    ],
    Generic[AgentT, ObsT, ActT, EnvActT, ArrayT],
):
    """The conversions of a wrapper for a parallel environment."""

    __slots__: tuple[str, ...] = ("_state",)

    number_type: ClassVar[type[NumberConverter]] = EachNumberConverter

    def __init__(self, wrapper: Bridge, settings: Settings) -> None:
        super().__init__(wrapper, settings)
        self._state: Converter = self._to_agent("state", self.device, settings.float_dtype)

    @override
    def action(self, action: dict[AgentT, ActT]) -> dict[AgentT, EnvActT]:
        """Convert each action to what the agent's own action space samples."""
        on_host: object = self._to_host(action)
        if is_mapping(on_host):
            on_host = {agent: self._fit_one(agent, one) for agent, one in on_host.items()}
        fitted = on_host if self.settings.source is NUMPY else self._to_env(on_host)
        return cast("dict[AgentT, EnvActT]", fitted)

    def _fit_one(self, agent: object, action: object) -> object:
        try:
            find = getattr_untyped(cast("object", self._wrapper()), "action_space")
            space = cast("Callable[[object], object]", find)(agent)
        except (AttributeError, KeyError, NotImplementedError):
            space = None
        if not is_space(space):  # the environment judges actions of agents that it does not know
            return action
        try:
            return self._fitter.fit(space, action)
        except ConversionError as error:
            error.below(f"action[{agent!r}]")
            raise

    def state(self, state: object) -> ArrayT:
        """Convert the state of the environment."""
        is_free = getrefcount(state) == ALONE_AS_ARGUMENT
        return cast("ArrayT", self._state(state, is_free=is_free))
