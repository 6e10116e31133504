"""Shows a training: a progress bar during it, a learning curve afterwards."""

from __future__ import annotations

import argparse
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from gymbridge_tools.benchmark.pictures import STYLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    import numpy.typing as npt

EPISODES = 100  # the mean return is over this many episodes


class Options(NamedTuple):
    """The options of an example."""

    steps: int
    picture: Path


def options(
    module: str | None, steps: int, quick: int, arguments: Sequence[str] | None = None
) -> Options:
    """Read the command line of the example that has this docstring."""
    title, _, rest = (module or "").partition("\n")
    parser = argparse.ArgumentParser(
        description=f"{title}\n{rest}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--steps", type=int, default=steps, help="steps of all environments together; %(default)s"
    )
    parser.add_argument(
        "--quick",
        dest="steps",
        action="store_const",
        const=quick,
        help=f"the same as --steps {quick}: enough to see that something is learned",
    )
    parser.add_argument(
        "--picture",
        type=Path,
        default=Path("learning-curve.svg"),
        help="where the learning curve is drawn; %(default)s",
    )
    return Options(**vars(parser.parse_args(arguments)))


class Point(NamedTuple):
    """A point of a learning curve."""

    steps: int
    mean_return: float


class Watch:
    """Counts steps and returns; on a terminal it shows a progress bar."""

    def __init__(self, title: str, steps: int, *, quiet: bool = False) -> None:
        """Watch a training of ``steps`` steps."""
        self.title = title
        self.total = steps
        self.steps = 0
        self.curve: list[Point] = []
        self._returns: deque[float] = deque(maxlen=EPISODES)
        self._running: npt.NDArray[np.float64] = np.zeros(0)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[reached]}"),
            TimeElapsedColumn(),
        )
        # no progress bar without a terminal
        console = Console(stderr=True)
        self._progress = Progress(
            *columns, console=console, disable=quiet or not console.is_terminal
        )
        self._task = self._progress.add_task(title, total=steps, reached="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()

    @property
    def goes_on(self) -> bool:
        """Whether there are steps left to take."""
        return self.steps < self.total

    @property
    def left(self) -> float:
        """The remaining part of the training, from 1 to 0."""
        return max(0.0, 1 - self.steps / self.total)

    @property
    def mean_return(self) -> float:
        """The mean return of the latest episodes."""
        return float(np.mean(self._returns)) if self._returns else float("nan")

    def step(self, rewards: npt.ArrayLike, over: npt.ArrayLike) -> None:
        """Count one step of every environment; arrays may be of any library."""
        seen = np.atleast_1d(np.asarray(rewards, float))
        ended = np.atleast_1d(np.asarray(over, bool))
        if not self._running.size:
            self._running = np.zeros_like(seen)
        self._running += seen
        self._returns.extend(self._running[ended].tolist())
        self._running[ended] = 0
        self.steps += seen.size
        if self._returns and self.steps * 200 >= self.total * (len(self.curve) + 1):
            self.reach(self.steps, self.mean_return)

    def reach(self, steps: int, mean_return: float) -> None:
        """Set the progress of the training, counted by somebody else."""
        self.steps = int(steps)
        self.curve.append(Point(self.steps, float(mean_return)))
        reached = f"mean return {mean_return:.3g}"
        self._progress.update(self._task, completed=self.steps, reached=reached)

    def stretch(self, rewards: npt.ArrayLike, over: npt.ArrayLike) -> None:
        """Count several steps, along the first axis."""
        for step in zip(np.asarray(rewards), np.asarray(over), strict=True):
            self.step(*step)

    def report(self, picture: Path, goal: float | None = None) -> None:
        """Print the final return, and draw the learning curve."""
        first, last = self.curve[0], self.curve[-1]
        print(
            f"{self.title}: mean return {first.mean_return:.3g} → {last.mean_return:.3g} "
            f"in {last.steps:,} steps; see {picture}"
        )
        draw(self, picture, goal)


def draw(watch: Watch, picture: Path, goal: float | None) -> None:
    """Draw a learning curve; the same curve gives the same bytes."""
    with rc_context({**STYLE, "svg.hashsalt": watch.title}):
        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.plot(*zip(*watch.curve, strict=True), color="#1e88e5")
        if goal is not None:
            axes.axhline(goal, color="#43a047", linestyle=":", linewidth=1)
        axes.set_title(watch.title, loc="left", fontsize=11)
        axes.set_xlabel("steps")
        axes.set_ylabel(f"mean return of {EPISODES} episodes")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        dated = {"metadata": {"Date": None}} if picture.suffix == ".svg" else {}
        figure.savefig(picture, transparent=True, dpi=120, **dated)
