"""Who owns the memory of a result: the meanings of ``copy``."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend

__all__ = ["ALLOW_COPIES", "Ownership", "obstacle"]

ALLOW_COPIES: Final = "allow copies: copy=None or copy=True"
"""What to do about a `CopyRequiredError`."""


class Ownership(Enum):
    """What a conversion may do with the memory of its source."""

    WHERE_SAFE = "share where sharing cannot be observed, copy elsewhere"
    """``copy=None`` for what an environment returns: Gymnasium promises that it is new."""

    SNAPSHOT = "copy whatever could change later"
    """``copy=None`` where nothing is promised: actions, and observations in reused buffers."""

    ALWAYS_COPY = "copy, even what cannot change"
    """``copy=True``."""

    NEVER_COPY = "share, or refuse"
    """``copy=False``."""

    @classmethod
    def of(cls, copy: object, *, promised_new: bool) -> Ownership:
        """Return the meaning of the argument ``copy``.

        Args:
            copy: What the user said: None, True or False, or what is equal to one of these.
            promised_new: Whether whoever made the values promises not to touch them again.
        """
        if copy is None:
            return cls.WHERE_SAFE if promised_new else cls.SNAPSHOT
        if copy not in (True, False):
            raise TypeError(f"copy={copy!r} is none of None, True and False")
        return cls.ALWAYS_COPY if copy else cls.NEVER_COPY

    @property
    def copies(self) -> bool:
        """Whether everything is copied."""
        return self in {Ownership.SNAPSHOT, Ownership.ALWAYS_COPY}


def obstacle(target: AnyBackend, *, changes: bool, writable: bool) -> str | None:
    """Return why arrays of ``target`` must not be over somebody's memory, or None if they may.

    Args:
        target: The library of the arrays.
        changes: Whether somebody may write into the memory.
        writable: Whether everybody may.
    """
    if not target.mutable:
        return f"{target.title} arrays never change, and this memory may" if changes else None
    if not writable and not target.keeps_read_only:
        return f"{target.title} would write through to memory that is read-only"
    return None
