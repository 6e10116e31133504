"""Where generated code makes the one call that an ordinary array takes, instead of the core.

A call of a library takes half a microsecond and one of Python a tenth of that, which a step and a
converter are better without. What is ordinary, and which call it is, the runtime says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gymbridge_generator.sharing import sharing

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

__all__ = ["Ordinary", "is_host", "shows_observations"]


class Ordinary(NamedTuple):
    """What a converter says of ordinary arrays."""

    calls: str
    """The statement that asks the runtime for the call."""
    call: str
    """What it is called."""
    kind: str
    """Their type."""
    may_share: str
    """The condition to share one."""
    copied: str
    """The copy of one."""

    @classmethod
    def of(cls, source: Backend, target: Backend) -> Ordinary | None:
        """Return what the converter of a pair does at once; None where it does not share."""
        if sharing(source, target) != "shared":
            return None
        if is_host(source):  # these say of themselves whether others may write into their memory
            may_share = "copy is None and value.flags.behaved"
            calls = "_share = _conversions.share()"
            return cls(calls, "_share", "ndarray", may_share, "_share(value.copy())")
        if is_host(target):
            calls = "_kind, _view = _conversions.view()"
            return cls(calls, "_view", "_kind", "copy is None", "_view(value).copy()")
        return None


def is_host(backend: Backend) -> bool:
    """Tell whether the library's arrays are NumPy's."""
    return backend.array == "numpy.ndarray"


def shows_observations(source: Backend, target: Backend) -> bool:
    """Tell whether one call shows an agent what an environment has returned: from NumPy.

    An array of NumPy has to be asked whether it may be shared, which in a step, whose types are
    those of the agent, takes as long as to leave it to the core.
    """
    return sharing(source, target) != "copied" and is_host(target)
