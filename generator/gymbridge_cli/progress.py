"""What is going on, in one line that a terminal shows until it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.status import Status

__all__ = ["Progress"]


class Progress:
    """A line on the error output; entered, it is the function that changes what it says."""

    def __init__(self) -> None:
        self._status: Status = Console(stderr=True).status("")

    def __enter__(self) -> Callable[[str], None]:
        self._status.start()
        return self._status.update

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._status.stop()
