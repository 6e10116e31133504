"""Reward and flags of a single environment as the Python values that Gymnasium promises."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from gymbridge_runtime.describe import describe, shown
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.kinds import Kinds
from gymbridge_runtime.views import Views

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backend import Convert
    from gymbridge_runtime.types import HostArray

__all__ = ["Scalars"]


_SIMPLE: Final[tuple[type[object], ...]] = (np.floating, np.bool_)
"""What is a number in any case, as a float itself: an int may be too large for one, a decimal a
signal, and a class of a user's own may fail."""


class Scalars(Kinds["Convert"]):
    """Turns one number of any library into a Python one.

    What is no single number, as the rewards of several agents or objectives, is a tree and is
    converted as one.

    Args:
        python: ``float`` for rewards, ``bool`` for flags.
        tree: The conversion of what is no single number.
        root: How error messages call the number.
    """

    def __init__(
        self, python: type[float] | type[bool], tree: Callable[[object], object], root: str
    ) -> None:
        super().__init__()
        self._root: str = root
        self._kind: str = python.__name__
        self._python: Convert = cast("Convert", python)  # it is given numbers only
        self._tree: Callable[[object], object] = tree
        self._views: Views = Views()

    def __call__(self, value: object) -> object:
        """Return ``value`` as a Python number, or its counterpart if it is none."""
        return self[type(value)](value)

    def __missing__(self, kind: type[object]) -> Convert:
        if kind is float or issubclass(kind, _SIMPLE):
            return self.remember(kind, self._python)
        # NumPy's numbers are registered, and its times with them
        plain = issubclass(kind, (Real, Decimal)) and not issubclass(kind, np.timedelta64)
        return self.remember(kind, self._made if plain else self._one_of_an_array)

    def _made(self, value: object) -> object:
        try:
            return self._python(value)
        except Exception as error:  # an int of a thousand digits, a signal, what a class likes
            raise ConversionError(
                f"Python makes no {self._kind} of it: {shown(error)}",
                "return a number that is one",
                describe(value),
                self._root,
            ) from error

    def _one_of_an_array(self, value: object) -> object:
        try:
            number = _one_number(self._views.of(value))
        except ConversionError as error:
            error.below(self._root)
            raise
        return self._tree(value) if number is None else self._python(number)


def _one_number(view: HostArray | None) -> object:
    """Return the number in ``view``, or None where it has more or fewer, or a complex one."""
    if view is None or view.size != 1:
        return None
    return None if view.dtype.kind == "c" else view.item()
