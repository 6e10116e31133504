"""What wrappers of all forms have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from gymbridge_runtime.narrowing import untyped
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.settings import Settings

__all__ = ["Bridged"]


class _Traffic(Protocol):
    @property
    def device(self) -> object: ...


class Bridged:
    """A wrapper of gymbridge, whatever the form of its environment.

    It travels in pickles without the type parameters it was given: Python keeps those of
    ``NumpyToJax[dict[str, jax.Array]](env)``, and cannot pickle `jax.Array`.
    """

    def _given(self, settings: Settings) -> dict[str, object]:
        """Return the arguments of the constructor that make another one like this."""
        return settings.given()

    @property
    def device(self) -> object:
        """Where the agent's arrays go, as the agent's library says it; None is its default."""
        return cast("_Traffic", untyped(self, "_traffic")).device

    @override
    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = vars(self)
        return {name: held for name, held in state.items() if name != "__orig_class__"}
