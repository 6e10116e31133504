"""The four arrays of a vector environment's step, on their way to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.slots import Slot, fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.backend import AnyBackend, Convert, ConvertFour
    from gymbridge_runtime.converter import Converter
    from gymbridge_runtime.trees import Bag

__all__ = ["in_turn", "together"]


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
