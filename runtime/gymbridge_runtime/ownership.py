"""Who owns the memory of a result: the meanings of ``copy``."""

from __future__ import annotations

from enum import Enum

__all__ = ["Ownership"]


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
