"""Environments that return only arrays: a protocol for them, and the base class of wrappers.

Such an environment has the methods of `gymnasium.Env` and need not be one. Its rewards and flags
are arrays, which the types of `gymnasium.Env` do not allow. So type checkers see a class of our own
as the base of wrappers. At run time the base is `gymnasium.Wrapper`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, cast

import gymnasium as gym
import numpy as np
from gymbridge_runtime.core.dtypes import integer_bounds, is_integer, spelled_dtype
from gymbridge_runtime.core.narrowing import getattr_untyped, is_mapping, is_space
from gymbridge_runtime.core.scalars import host_numbers
from gymbridge_runtime.wrappers.generics import ActType, ObsType, WrapperActType, WrapperObsType
from gymnasium import spaces
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from abc import ABC
    from collections.abc import Callable

    from gymbridge_runtime import types
    from gymbridge_runtime.types import AnySpace, HostArray, Info
    from gymnasium.envs.registration import EnvSpec

# with defaults, pyright would not find the structure of observations
ObsT_co = TypeVar("ObsT_co", covariant=True)
ActT_contra = TypeVar("ActT_contra", contravariant=True)


class BatchedEnv(Protocol[ObsT_co, ActT_contra]):
    """An environment whose rewards and flags are arrays, or a wrapper of one."""

    @property
    def reset(self) -> Callable[..., tuple[ObsT_co, Info]]:
        """Start an episode, in every world; this method may have any parameters."""
        ...

    def step(self, action: ActT_contra) -> tuple[ObsT_co, object, object, object, Info]:
        """Take one step, in every world."""
        ...


def owner_of(env: object, name: str) -> object:
    """Return the outermost environment with this attribute: ``env``, or one below it."""
    owner = env
    while not hasattr(owner, name):
        below = next((each for each in ("env", "unwrapped") if hasattr(owner, each)), None)
        inner = owner if below is None else getattr_untyped(owner, below)
        if inner is owner:
            raise AttributeError(f"{type(owner).__name__} has no attribute {name!r}")
        owner = inner
    return owner


def as_space(found: object) -> object:
    """Convert a space of another package to Gymnasium's; return anything else unchanged."""
    if is_space(found):
        return found
    parts = cast("object", getattr(found, "spaces", None))
    if is_mapping(parts):
        inner = {key: as_space(part) for key, part in parts.items()}
        return spaces.Dict(cast("dict[str, AnySpace]", inner))
    if not all(hasattr(found, name) for name in ("shape", "dtype", "low", "high")):
        return found
    shape = cast("tuple[int, ...]", getattr_untyped(found, "shape"))
    dtype = spelled_dtype(getattr_untyped(found, "dtype"))
    least, most = integer_bounds(dtype) if is_integer(dtype) else (-np.inf, np.inf)
    low = _bound(getattr_untyped(found, "low"), np.full(shape, least, dtype))
    high = _bound(getattr_untyped(found, "high"), np.full(shape, most, dtype))
    make = cast("Callable[..., AnySpace]", cast("object", spaces.Box))
    return make(low, high, shape, dtype)


def _bound(end: object, bound: HostArray) -> HostArray:
    """Write the finite numbers of ``end`` into ``bound``, which holds the widest bounds."""
    view = host_numbers(end)
    given = np.broadcast_to(np.asarray(end if view is None else view, np.float64), bound.shape)
    is_finite = np.isfinite(given)
    bound[is_finite] = given[is_finite]
    return bound


if TYPE_CHECKING:

    class BatchedWrapper(Generic[WrapperObsType, WrapperActType, ObsType, ActType], ABC):
        """Gymnasium's base of wrappers, with the further attributes of such environments."""

        env: BatchedEnv[ObsType, ActType]
        unwrapped: types.AnyType
        spec: EnvSpec | None
        metadata: Info
        render_mode: str | None
        observation_space: AnySpace
        action_space: AnySpace
        single_observation_space: AnySpace
        single_action_space: AnySpace
        state_space: AnySpace | None
        num_envs: int
        max_episode_length: int
        is_vector_env: bool
        cfg: types.AnyType
        has_wrapper_attr: Callable[[str], bool]
        get_wrapper_attr: Callable[[str], types.AnyType]

        def __init__(self, env: BatchedEnv[ObsType, ActType]) -> None: ...

        def render(self) -> object:
            """Render the environment."""
            ...

        def close(self) -> None:
            """Release what the environment holds."""
            ...

else:

    def _below(name: str) -> property:
        return property(lambda self: getattr(owner_of(self.env, name), name))

    def _space_below(name: str) -> property:
        return property(lambda self: self.as_space(name, getattr(owner_of(self.env, name), name)))

    def _space(name: str) -> property:
        """Return Gymnasium's property, with its setter, for spaces of any package."""
        found = vars(gym.Wrapper)[name]
        return property(lambda self: self.as_space(name, found.fget(self)), found.fset)

    class BatchedWrapper(
        gym.Wrapper[WrapperObsType, WrapperActType, ObsType, ActType],
        Generic[WrapperObsType, WrapperActType, ObsType, ActType],
    ):
        """The class at run time; the environment need not be one of Gymnasium's."""

        observation_space, action_space = map(_space, ("observation_space", "action_space"))
        single_observation_space = _space_below("single_observation_space")
        single_action_space = _space_below("single_action_space")
        state_space = _space_below("state_space")
        num_envs, max_episode_length = map(_below, ("num_envs", "max_episode_length"))
        is_vector_env, cfg = map(_below, ("is_vector_env", "cfg"))

        def __init__(self, env: BatchedEnv[ObsType, ActType]) -> None:
            super().__init__(env if isinstance(env, gym.Env) else gym.Env())
            self.env = env
            self._known_spaces: dict[str, tuple[object, object]] = {}

        def as_space(self, name: str, found: object) -> object:
            """Return a space as Gymnasium's: always the same object, because it may be seeded."""
            known = self._known_spaces.get(name)
            if known is None or known[0] is not found:
                known = self._known_spaces[name] = found, as_space(found)
            return known[1]

        @property
        @override
        def unwrapped(self) -> object:
            return getattr(self.env, "unwrapped", self.env)

        @property
        @override
        def spec(self) -> EnvSpec | None:
            return super().spec if isinstance(self.env, gym.Env) else None

        @override
        def close(self) -> None:
            if hasattr(self.env, "close"):
                self.env.close()

        # the environment inside need not have these methods

        @override
        def has_wrapper_attr(self, name: str) -> bool:
            try:
                return owner_of(self, name) is not None
            except AttributeError:
                return False

        @override
        def get_wrapper_attr(self, name: str) -> object:
            return getattr(owner_of(self, name), name)
