"""Start-up costs: the import, a wrapper, and the steps before JAX has compiled."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from .arrays import fresh
from .cases import results
from .worlds import Replay, ReplayVector

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import AnyType

    from .pairs import Pair

PROCESSES: Final = 7
CONSTRUCTIONS: Final = 200
STEPS: Final = 40
"""More steps than JAX needs before it compiles an import."""

_IMPORT = """
from time import perf_counter
import gymnasium
before = perf_counter()
import gymbridge
print(perf_counter() - before)
"""


class Start(NamedTuple):
    """The start-up costs of one pair, in seconds."""

    pair: Pair
    single: float
    """The time to make a wrapper for one environment."""
    vector: float
    """The time to make a wrapper for a vector of environments."""
    first: float
    """The time of the first step of a vector with a new shape."""
    slowest: float
    """The time of the slowest later step: the one in which JAX compiles, if it does."""

    def as_json(self) -> dict[str, object]:
        """Return the figures for JSON."""
        return {**self._asdict(), "pair": self.pair.name}


def import_seconds() -> float:
    """Return the time that `import gymbridge` adds to `import gymnasium`, in the best process."""
    command = [sys.executable, "-c", _IMPORT]
    return min(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(PROCESSES)
    )


def measured_start(number: int, pair: Pair) -> Start:
    """Measure the start-up of ``pair``, with a new shape for each ``number``."""
    observations = np.zeros((16, 100 + number), np.float32)
    single = Replay(pair.source, (observations[0], 1.0, False, False, {}))
    vector = ReplayVector(pair.source, (*results(pair, observations), {}))
    wrapper = pair.wrapper(vector)
    [actions] = fresh(pair.target, vector.prepare(STEPS)[:1])
    steps = [_seconds(lambda: wrapper.step(actions)) for _ in range(STEPS)]
    return Start(
        pair,
        single=_least(lambda: pair.wrapper(single)),
        vector=_least(lambda: pair.wrapper(vector)),
        first=steps[0],
        slowest=max(steps[1:]),
    )


def _least(work: Callable[[], AnyType]) -> float:
    return min(_seconds(work) for _ in range(CONSTRUCTIONS))


def _seconds(work: Callable[[], AnyType]) -> float:
    before = perf_counter()
    work()
    return perf_counter() - before
