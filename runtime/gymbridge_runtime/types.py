"""Names for types that many modules use."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Space
from typing_extensions import TypeVar

MadeT = TypeVar("MadeT")

Info: TypeAlias = dict[str, Any]  # pyright: ignore[reportExplicitAny] Gymnasium's own
"""``info`` and ``options``, exactly as Gymnasium declares them."""

AnySpace: TypeAlias = Space[Any]  # pyright: ignore[reportExplicitAny] a bare Space is Unknown
"""A space of anything."""

HostArray: TypeAlias = npt.NDArray[np.generic]
"""A NumPy array of any dtype."""

AnyType: TypeAlias = Any  # pyright: ignore[reportExplicitAny] where nothing can be known
"""A type that is known only at run time: of an environment from ``gym.make``, for example."""

AnyArray: TypeAlias = npt.NDArray[Any]  # pyright: ignore[reportExplicitAny] operators need it
"""A NumPy array of an agent, of any dtype."""


class MakeArray(Protocol):
    """A function of a library that makes an array.

    To a type checker the result has the expected type, because observations may be declared as
    anything. Nobody passes ``into``.
    """

    def __call__(self, array: object, into: type[MadeT] | None = None, /) -> MadeT:
        """Return an array over the memory of ``array``."""
        ...


class MakeArrayAt(Protocol):
    """A function of a library that makes an array on a device."""

    def __call__(self, array: object, device: object, into: type[MadeT] | None = None, /) -> MadeT:
        """Return an array on ``device``."""
        ...


class OneJaxDevice(Protocol):
    """One of ``jax.devices()``: jaxlib has no stub for ``jax.Device``."""

    @property
    def id(self) -> int:
        """The number among the devices of its platform."""
        ...

    @property
    def platform(self) -> str:
        """The kind of hardware: ``"cpu"``, ``"gpu"``."""
        ...
