"""What of a wrapper travels in a pickle."""

from __future__ import annotations

from typing_extensions import override

__all__ = ["Pickled"]


class Pickled:
    """A wrapper that travels without the type parameters it was given.

    Python keeps those of ``NumpyToJax[dict[str, jax.Array]](env)``, and cannot pickle `jax.Array`.
    """

    @override
    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = vars(self)
        return {name: held for name, held in state.items() if name != "__orig_class__"}
