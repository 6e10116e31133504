"""Where generated code makes the one call that an ordinary array takes, instead of the core.

A call of a library takes half a microsecond and one of Python a tenth of that, which a step and a
converter are better without. What is ordinary, and which call it is, the runtime says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gymbridge_generator.sharing import sharing

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

__all__ = ["at_once", "copies_four", "is_host", "shows_observations"]


def at_once(source: Backend, target: Backend) -> Literal["shared", "viewed", ""]:
    """Return what a converter does with ordinary arrays by one call, if it shares any.

    Arrays of NumPy say of themselves whether others may write into their memory. Other arrays are
    shared by a view, which a library refuses of those that it does not show as they are.
    """
    if sharing(source, target) != "shared":
        return ""
    if is_host(source):
        return "shared"
    return "viewed" if is_host(target) else ""


def is_host(backend: Backend) -> bool:
    """Tell whether the library's arrays are NumPy's."""
    return backend.array == "numpy.ndarray"


def shows_observations(source: Backend, target: Backend) -> bool:
    """Tell whether one call shows an agent what an environment has returned: from NumPy.

    An array of NumPy has to be asked whether it may be shared, which in a step, whose types are
    those of the agent, takes as long as to leave it to the core.
    """
    return sharing(source, target) != "copied" and is_host(target)


def copies_four(source: Backend, target: Backend) -> bool:
    """Tell whether one call copies an array of a vector step, and another takes the copy over.

    Of a library whose arrays never change; of others that are copied, each is asked how it lies.
    """
    return sharing(source, target) == "copied" and (
        (source.host and not source.mutable)
        and (target.host and target.mutable and not target.copies_in)
    )
