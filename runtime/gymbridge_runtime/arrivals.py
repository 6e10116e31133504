"""What a step returns, on its way to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.slots import Slot, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backend import AnyBackend, Convert, ConvertFour
    from gymbridge_runtime.converter import Converter
    from gymbridge_runtime.trees import Bag
    from gymbridge_runtime.types import Info

__all__ = ["Arrive", "in_turn", "single_step", "together", "vector_step"]

Arrive: TypeAlias = "Callable[[object, object, object, object, Info], object]"
"""From the five values of an environment's step to those of the wrapper's."""


def single_step(
    observe: Convert, reward_of: Convert, flag_of: Convert, inform: Callable[[Info], Info]
) -> Arrive:
    """Return the arrival of one environment's step: reward and flags are Python values."""

    def arrive(
        obs: object, reward: object, terminated: object, truncated: object, info: Info
    ) -> object:
        informed: Info = {} if type(info) is dict and not info else inform(info)
        return (
            observe(obs),
            reward if type(reward) is float else reward_of(reward),
            terminated if type(terminated) is bool else flag_of(terminated),
            truncated if type(truncated) is bool else flag_of(truncated),
            informed,
        )

    return arrive


def vector_step(batch: ConvertFour, inform: Callable[[Info], Info]) -> Arrive:
    """Return the arrival of a vector environment's step."""

    def arrive(
        obs: object, rewards: object, terminations: object, truncations: object, infos: Info
    ) -> object:
        arrived = batch(obs, rewards, terminations, truncations)
        informed: Info = {} if type(infos) is dict and not infos else inform(infos)
        return (*arrived, informed)

    return arrive


def in_turn(ways: Sequence[Convert]) -> ConvertFour:
    """Return a conversion of one value after the other, each on its way."""
    observe, reward_of, terminated_of, truncated_of = ways

    def batch(
        obs: object, rewards: object, terminations: object, truncations: object
    ) -> tuple[object, ...]:
        return (
            observe(obs),
            reward_of(rewards),
            terminated_of(terminations),
            truncated_of(truncations),
        )

    return batch


def together(ways: Sequence[Converter], source: AnyBackend) -> ConvertFour:
    """Return a conversion that imports the arrays of all values at once."""
    observe, reward_of, terminated_of, truncated_of = [way.rule(source) for way in ways]
    import_all = ways[0].import_all
    one_by_one = in_turn([way.one_by_one for way in ways])

    def batch(
        obs: object, rewards: object, terminations: object, truncations: object
    ) -> tuple[object, ...]:
        bag: Bag = []
        tree = (
            observe(obs, 0, bag),
            reward_of(rewards, 0, bag),
            terminated_of(terminations, 0, bag),
            truncated_of(truncations, 0, bag),
        )
        try:
            arrays = import_all(bag)
        except ConversionError:
            _ = one_by_one(obs, rewards, terminations, truncations)  # the error names the leaf
            raise
        return tuple([arrays[p.index] if type(p) is Slot else fill(p, arrays) for p in tree])

    return batch
