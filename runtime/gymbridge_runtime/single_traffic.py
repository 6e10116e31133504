"""What passes between an agent and one environment: reward and flags are Python's own."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from gymbridge_runtime.arrivals import report_together
from gymbridge_runtime.backend import no_import
from gymbridge_runtime.first_call import FirstCall
from gymbridge_runtime.scalars import Scalars
from gymbridge_runtime.shortcuts import Shortcuts
from gymbridge_runtime.traffic import OneSpaceTraffic
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backend import Convert
    from gymbridge_runtime.settings import Settings
    from gymbridge_runtime.traffic import Environment
    from gymbridge_runtime.types import Info

__all__ = ["SingleTraffic"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
EnvActT = TypeVar("EnvActT")


class SingleTraffic(OneSpaceTraffic[ObsT, ActT, EnvActT]):
    """The conversions of a wrapper for one environment.

    Args:
        env: The wrapped environment.
        settings: What the wrapper was told.
    """

    __slots__: tuple[str, ...] = ("kind", "report", "share")

    # for code that looks at observations itself

    kind: type[object] | None
    """The type of the ordinary ones; None: there are none."""
    share: Callable[[object], ObsT | None]
    """Shares the memory of one, by one call; see `OrdinaryArrays`."""

    report: Callable[[object, Info], tuple[ObsT, Info]]
    """Converts an observation and an info, at once where that is cheaper."""

    def __init__(self, env: Environment, settings: Settings) -> None:
        super().__init__(env, settings)
        self.report = cast(
            "Callable[[object, Info], tuple[ObsT, Info]]", FirstCall(self, "report", self._report)
        )
        self.kind = None
        self.share = no_import

    @override
    def _observe(self) -> Convert:
        ordinary = Shortcuts(self._observations.imports, self._settings.source).ordinary
        self.kind = ordinary.kind
        self.share = cast("Callable[[object], ObsT | None]", ordinary.share)
        return super()._observe()

    def _report(self) -> Callable[[object, Info], tuple[object, object]]:
        if self._settings.target.batches and self.device is None:
            informing = self._to_agent("info", None)
            return report_together(self._observations, informing, self._settings.source)
        observe, inform = self._observe(), self._inform()
        return lambda obs, info: (observe(obs), inform(info))

    @cached_property
    def reward(self) -> Callable[[object], float]:
        """Makes a reward the float that Gymnasium promises."""
        convert = Scalars(float, self._to_agent("reward", self.device), "reward")
        return cast("Callable[[object], float]", convert)

    @cached_property
    def over(self) -> Callable[[object], bool]:
        """Makes terminated the bool that Gymnasium promises."""
        return self._flag("terminated")

    @cached_property
    def cut(self) -> Callable[[object], bool]:
        """The same for truncated."""
        return self._flag("truncated")

    def _flag(self, root: str) -> Callable[[object], bool]:
        convert = Scalars(bool, self._to_agent(root, self.device), root)
        return cast("Callable[[object], bool]", convert)
