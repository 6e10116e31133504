"""What passes between an agent and a vector environment: all of a step at once, or in parts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic, cast

from gymbridge_runtime.apart import part_by_part
from gymbridge_runtime.arrivals import in_turn, together
from gymbridge_runtime.first_call import FirstCall
from gymbridge_runtime.shortcuts import Shortcuts
from gymbridge_runtime.traffic import OneSpaceTraffic, space_of
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backend import Convert, ConvertFour
    from gymbridge_runtime.settings import Settings
    from gymbridge_runtime.traffic import Environment

__all__ = ["VectorTraffic"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")
ArrayT = TypeVar("ArrayT")


class VectorTraffic(OneSpaceTraffic[ObsT, ActT, EnvActT], Generic[ObsT, ActT, EnvActT, ArrayT]):
    """The conversions of a wrapper for a vector environment.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
        reuses_buffers: Whether the environment returns its own buffers.
    """

    __slots__: tuple[str, ...] = ("batch",)

    batch: Callable[[object, object, object, object], tuple[ObsT, ArrayT, ArrayT, ArrayT]]
    """Converts observations, rewards, terminations and truncations, all at once."""

    def __init__(self, env: Environment, settings: Settings, *, reuses_buffers: bool) -> None:
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
            return self._observed(path, device, bounded=False).whole()

        space = space_of(self._env, "single_observation_space")
        return part_by_part(space, way_of, "obs", copies=self._observations.imports.copies)

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
    env: Environment, settings: Settings, reuses_buffers: bool
) -> VectorTraffic[object, object, object, object]:
    return VectorTraffic(env, settings, reuses_buffers=reuses_buffers)
