"""Progress displays on a terminal, which disappear at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import progress
from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.status import Status


class Progress:
    """A line on the error output; as a context manager it returns the function that changes it."""

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


class Bar:
    """A bar on the error output; as a context manager it returns the function that moves it."""

    def __init__(self) -> None:
        self._bar: progress.Progress = progress.Progress(
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
        )

    def __enter__(self) -> Callable[[int, int, str], None]:
        self._bar.start()
        task = self._bar.add_task("")

        def show(done: int, total: int, text: str) -> None:
            self._bar.update(task, completed=done, total=total, description=text)

        return show

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
