"""Records constructor arguments for `gymnasium.Wrapper.spec`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    class Recorded:
        """``RecordConstructorArgs`` under another name.

        For a type checker, a second ``__init__`` among the bases is unsafe multiple inheritance.
        """

        def _record(self, **_arguments: object) -> None: ...

else:
    from gymnasium.utils import RecordConstructorArgs

    class Recorded(RecordConstructorArgs):
        """The class at run time."""

        _record = RecordConstructorArgs.__init__
