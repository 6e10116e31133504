"""What a step returns, on its way to the agent: all at once where that is cheaper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.slots import Slot, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.backend import AnyBackend, Convert, ConvertFour
    from gymbridge_runtime.converter import Converter
    from gymbridge_runtime.trees import Bag

__all__ = ["in_turn", "report_together", "together"]


def report_together(
    observe: Converter, inform: Converter, source: AnyBackend
) -> Callable[[object, object], tuple[object, object]]:
    """Return a conversion of an observation and an info that imports all their arrays at once."""
    observed, informed, import_all = observe.rule(source), inform.rule(source), inform.import_all

    def report(obs: object, info: object) -> tuple[object, object]:
        bag: Bag = []
        new_obs, new_info = observed(obs, 0, bag), informed(info, 0, bag)
        try:
            arrays = import_all(bag)
        except ConversionError:
            return observe.one_by_one(obs), inform.one_by_one(info)  # its error names the leaf
        whole = arrays[new_obs.index] if type(new_obs) is Slot else fill(new_obs, arrays)
        return whole, fill(new_info, arrays)

    return report


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
            # its error names the leaf
            return one_by_one(obs, rewards, terminations, truncations)
        return tuple([arrays[p.index] if type(p) is Slot else fill(p, arrays) for p in tree])

    return batch
