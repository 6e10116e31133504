"""Where generated code makes the one call that an ordinary array takes, instead of the core.

A call of a library takes half a microsecond and one of Python a tenth of that, which a step and a
converter are better without. What is ordinary, and which call it is, the runtime says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_generator.sharing import sharing

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

__all__ = ["at_once", "is_host", "shares_observations"]


def at_once(source: Backend, target: Backend) -> bool:
    """Tell whether a converter shares ordinary arrays by one call.

    Arrays of NumPy say of themselves whether others may write into their memory. Other arrays are
    shared by a view, which a library refuses of those that it does not show as they are.
    """
    return sharing(source, target) == "shared" and (is_host(source) or is_host(target))


def is_host(backend: Backend) -> bool:
    """Tell whether the library's arrays are NumPy's."""
    return backend.array == "numpy.ndarray"


def shares_observations(source: Backend, target: Backend) -> bool:
    """Tell whether a step shares ordinary observations by one call.

    A view may be read-only, as those of a library whose arrays never change.
    """
    viewed = sharing(source, target) != "copied" and is_host(target)
    return viewed or at_once(source, target)
