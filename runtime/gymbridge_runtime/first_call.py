"""Conversions that are made when they are first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from weakref import WeakMethod, ref

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FirstCall"]


class FirstCall:
    """Stands for a conversion that every step needs, until it is first called.

    From then on the conversion itself is there, as a plain attribute: Python finds one in a tenth
    of the time of a cached property, and the traffic of a wrapper that nobody steps makes none.

    Args:
        owner: What has the conversion.
        name: Its attribute.
        make: The method of the owner that makes it.
    """

    def __init__(self, owner: object, name: str, make: Callable[[], object]) -> None:
        self._owner: ref[object] = ref(owner)
        self._name: str = name
        self._make: WeakMethod[Callable[[], object]] = WeakMethod(make)

    def __call__(self, *values: object) -> object:
        """Put the conversion in its place, and let it convert."""
        make = cast("Callable[[], Callable[..., object]]", self._make())  # its owner called this
        conversion = make()
        setattr(self._owner(), self._name, conversion)
        return conversion(*values)
