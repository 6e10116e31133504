"""Measures calls in short rounds, in turn and in one process."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple

from .arrays import settle

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from .contest import Contest

FEWEST = 10  # calls in a round
UNTIMED = 4  # calls at the beginning of a long round
WARM_UP = 40  # calls; JAX has compiled repeated signatures by then
GROUPS = 5


class Budget(NamedTuple):
    """The time for one contest."""

    seconds: float
    round_seconds: float
    """The time for a round of one call: short, so that some rounds are undisturbed."""
    rounds: int = 2 * GROUPS
    """The least number of rounds."""


class Figures(NamedTuple):
    """The seconds of one call of each column, in a group of rounds."""

    times: dict[str, float]

    def overhead(self, column: str) -> float | None:
        """Return the cost of a call on top of the bare one."""
        if column not in self.times:
            return None
        return self.times[column] - self.times.get("bare", 0)

    def ratio(self, one: str, other: str) -> float | None:
        """Divide the overhead of ``one`` by that of ``other``."""
        above, below = self.overhead(one), self.overhead(other)
        return above / below if above is not None and below else None

    def compared(self, before: Figures) -> Figures:
        """Add the column ``plain``; see `Measurement.compared`."""
        plain = (before.ratio("gymbridge", "by_hand") or 0) * (self.overhead("by_hand") or 0)
        return Figures({**self.times, "plain": plain + self.times.get("bare", 0)})


class Measurement(NamedTuple):
    """Figures from all rounds, and from groups of rounds to show the spread."""

    figures: Figures
    groups: list[Figures]
    rounds: int

    def spread(self, one: str, other: str) -> tuple[float, float] | None:
        """Return the least and the greatest ratio in the groups."""
        ratios = [ratio for group in self.groups if (ratio := group.ratio(one, other)) is not None]
        return (min(ratios), max(ratios)) if ratios else None

    def compared(self, before: Measurement) -> Measurement:
        """Add what gymbridge's call cost ``before``, for the column ``plain``.

        The two were not measured in turn, so the cost is counted in costs of the code by hand.
        """
        return Measurement(
            self.figures.compared(before.figures),
            [new.compared(old) for new, old in zip(self.groups, before.groups, strict=True)],
            self.rounds,
        )


def measure(contest: Contest, budget: Budget) -> Measurement:
    """Time the calls of ``contest``; the best of many rounds is the one least disturbed."""
    with _no_collection():
        warm_up(contest)
        calls = _calls_of_a_round(contest, budget)
        rounds: dict[str, list[float]] = {column: [] for column in contest.calls}
        order = list(contest.calls)
        end = perf_counter_ns() + budget.seconds * 1e9
        while perf_counter_ns() < end or len(rounds[order[0]]) < budget.rounds:
            for column in order:
                rounds[column].append(_time(contest, column, calls))
            order.append(order.pop(0))  # so that no call always follows the same other call
    count = min(map(len, rounds.values()))
    groups = [_best(rounds, slice(start, count, GROUPS)) for start in range(GROUPS)]
    return Measurement(_best(rounds, slice(count)), groups, count)


def _best(rounds: Mapping[str, Sequence[float]], which: slice) -> Figures:
    return Figures({column: min(times[which]) for column, times in rounds.items()})


def warm_up(contest: Contest) -> None:
    """Call everything until JAX compiles nothing more."""
    for column in contest.calls:
        for _ in range(-(-WARM_UP // contest.most)):
            _time(contest, column, min(WARM_UP, contest.most))


def _calls_of_a_round(contest: Contest, budget: Budget) -> int:
    column = "by_hand" if "by_hand" in contest.calls else "gymbridge"
    once = min(_time(contest, column, min(FEWEST, contest.most)) for _ in range(3))
    return min(contest.most, max(FEWEST, round(budget.round_seconds / once)))


def _time(contest: Contest, column: str, calls: int) -> float:
    """Return the seconds that one call takes in a round of ``calls``."""
    call = contest.calls[column]
    arguments = contest.prepare(column, calls)
    result: object = None
    # the preparation has emptied the processor's caches
    untimed = min(UNTIMED, calls // 5)
    for argument in arguments[:untimed]:
        result = call(argument)
    timed = arguments[untimed:]
    start = perf_counter_ns()
    for argument in timed:
        result = call(argument)
    seconds = (perf_counter_ns() - start) / len(timed) / 1e9
    settle(result)  # otherwise the next round would wait for it
    return seconds


@contextmanager
def _no_collection() -> Generator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
