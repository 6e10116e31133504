"""The gauges, and their limits of growth."""

from __future__ import annotations

import gc
import os
import threading
import tracemalloc
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from gymbridge_runtime.backends.jax.imports import IMPORTS

from .worlds import OPEN

if TYPE_CHECKING:
    from collections.abc import Sequence

_STATM = Path("/proc/self/statm")
_OPEN_FILES = Path("/proc/self/fd")
_MIB = 1 << 20


class Gauges(NamedTuple):
    """One reading of all gauges."""

    steps: int
    traced: float
    """MiB that Python has allocated, by `tracemalloc`."""
    resident: float
    """MiB of the process in memory; 0 if the system does not report it."""
    files: int
    """Open file descriptors; 0 if the system does not report it."""
    threads: int
    environments: int
    """Environments that are not closed."""
    compiled: int
    """Compiled JAX imports."""
    remembered: int
    """Signatures that are counted but not compiled."""


class Limit(NamedTuple):
    """The allowed growth of a gauge between the beginning and the end."""

    name: str
    most: float
    unit: str = ""


LIMITS = (
    Limit("traced", 0.5, " MiB"),
    Limit("resident", 48, " MiB"),  # allocators keep freed memory
    Limit("files", 0),
    Limit("threads", 0),
    Limit("environments", 0),
    Limit("compiled", 256),
    Limit("remembered", 1024),
)


def read(steps: int) -> Gauges:
    """Read all gauges after a garbage collection."""
    gc.collect()
    return Gauges(
        steps,
        tracemalloc.get_traced_memory()[0] / _MIB,
        _resident() / _MIB,
        len(list(_OPEN_FILES.iterdir())) if _OPEN_FILES.exists() else 0,
        threading.active_count(),
        len(OPEN),
        *IMPORTS.sizes,
    )


def _resident() -> int:
    if not _STATM.exists():
        return 0
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(looks: Sequence[Gauges]) -> dict[Limit, float]:
    """Return the growth between the second and the last third of ``looks``.

    The first third is a warm-up, in which types, shapes and compilations appear for the first time.
    Bounded gauges are compared with their bound.
    """
    third = len(looks) // 3
    found: dict[Limit, float] = {}
    for limit in LIMITS:
        values: list[float] = [getattr(look, limit.name) for look in looks]
        if limit.name in {"compiled", "remembered"}:
            found[limit] = max(values)
        else:
            found[limit] = median(values[-third:]) - median(values[third : 2 * third])
    return found
