"""The base of wrappers for environments that return only arrays. It is the general path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, cast

from gymbridge_runtime.core.narrowing import getattr_untyped
from gymbridge_runtime.wrappers.batched_conversions import BatchedConversions
from gymbridge_runtime.wrappers.batched_env import BatchedEnv, BatchedWrapper, owner_of
from gymbridge_runtime.wrappers.generics import (
    ActType,
    ArrayType,
    ObsType,
    WrapperActType,
    WrapperObsType,
)
from gymbridge_runtime.wrappers.wrapper import Bridge
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Sized

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import Info
    from gymbridge_runtime.wrappers.settings import Options
    from typing_extensions import Unpack

ResultsT = TypeVar("ResultsT", bound="Sized")

_RESULTS: Final = 5
_BUFFER: Final = "episode_length_buf"


class BatchedBridge(
    BatchedWrapper[WrapperObsType, WrapperActType, ObsType, ActType],
    Bridge,
    Generic[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
):
    """Steps and resets by the general path; generated classes add the fast path of their pair."""

    def __init__(
        self,
        env: BatchedEnv[ObsType, ActType],
        source: AnyBackend,
        target: AnyBackend,
        **options: Unpack[Options],
    ) -> None:
        settings = self._settings("batched", env, source, target, options)
        super().__init__(env)
        inherited = cast("Info | None", getattr(env, "metadata", None))
        self.metadata: Info = settings.metadata(inherited)
        self._convert: BatchedConversions[WrapperObsType, WrapperActType, ActType, ArrayType] = (
            BatchedConversions(self, settings)
        )

    def step(
        self, action: WrapperActType
    ) -> tuple[WrapperObsType, ArrayType, ArrayType, ArrayType, Info]:
        """Take one step in every world.

        The environment receives ``action`` in the dtype of its ``action_space``.
        """
        convert = self._convert
        env_obs, rewards, terminations, truncations, infos = self._five(
            self.env.step(convert.action(action))
        )
        return convert.step(env_obs, rewards, terminations, truncations, infos)

    def _five(self, results: ResultsT) -> ResultsT:
        """Check that a step has the five results of Gymnasium's environments."""
        if len(results) == _RESULTS:
            return results
        raise TypeError(
            f"{type(self.env).__name__}.step returned {len(results)} values, not an observation, "
            + "reward, terminated, truncated and info; wrap the environment inside, before other "
            + "wrappers join its flags"
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Info | None = None,
        **others: object,
    ) -> tuple[WrapperObsType, Info]:
        """Start an episode, in every world or in those that the arguments name.

        Array leaves of ``options`` and of any other argument, such as ``env_ids``, are converted
        towards the environment. ``seed`` is passed on: some environments take one for each world.
        """
        if self._convert.is_outdated():  # `env` was replaced
            self._convert = BatchedConversions(self, self._convert.settings)
        convert = self._convert
        further = convert.options(others) or {}
        given = {"seed": seed, "options": convert.options(options), **further}
        # a user's own class may take none of them
        given = {name: one for name, one in given.items() if one is not None}
        env_obs, env_info = self.env.reset(**given)
        convert.begin(env_obs)
        return convert.obs_and_info(env_obs, env_info)

    def sample_action(self) -> WrapperActType:
        """Return a random action as the agent's own arrays."""
        return self._convert.sample(cast("object", self.action_space.sample()))

    @property
    @override
    def device(self) -> object:
        """The device of the agent's arrays; if none was given, that of the environment."""
        return self._convert.place()

    # further members that agents of such environments use

    def get_observations(self) -> WrapperObsType:
        """Return the current observations of the environment."""
        owner = owner_of(self.env, "get_observations")
        env_obs = cast("Callable[[], object]", getattr_untyped(owner, "get_observations"))()
        return self._convert.obs(env_obs)  # `obs` counts references: one must be a local variable

    @property
    def episode_length_buf(self) -> ArrayType:
        """The steps of each episode so far; an assignment keeps its dtype and device."""
        return self._convert.attribute(
            _BUFFER, getattr_untyped(owner_of(self.env, _BUFFER), _BUFFER)
        )

    @episode_length_buf.setter
    def episode_length_buf(self, value: ArrayType) -> None:
        owner = owner_of(self.env, _BUFFER)
        setattr(
            owner, _BUFFER, self._convert.assigned(_BUFFER, getattr_untyped(owner, _BUFFER), value)
        )
