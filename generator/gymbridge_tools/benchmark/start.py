"""What it costs to begin: the import, a wrapper, and the steps before JAX has compiled."""

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

__all__ = ["Start", "import_seconds", "measured_start"]

PROCESSES: Final = 7
CONSTRUCTIONS: Final = 200
STEPS: Final = 40
"""More than a signature is seen before JAX compiles an import for it."""

_IMPORT = """
from time import perf_counter
import gymnasium
before = perf_counter()
import gymbridge
print(perf_counter() - before)
"""


class Start(NamedTuple):
    """Seconds that the beginning of one pair costs."""

    pair: Pair
    single: float
    """Of a wrapper for one environment."""
    vector: float
    """Of a wrapper for a vector of environments."""
    first: float
    """Of the first step of a vector of a new shape."""
    slowest: float
    """Of the slowest of the next ones: that in which JAX compiles, if it does."""

    def as_json(self) -> dict[str, object]:
        """Return it as machines read it."""
        return {**self._asdict(), "pair": self.pair.name}


def import_seconds() -> float:
    """Return what `import gymbridge` adds to `import gymnasium`: the best of some processes."""
    command = [sys.executable, "-c", _IMPORT]
    return min(
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(PROCESSES)
    )


def measured_start(number: int, pair: Pair) -> Start:
    """Measure the beginning of ``pair``, with arrays of a shape that ``number`` makes its own."""
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
