"""The arguments of a wrapper, in a form that specs and pickles can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypedDict

from gymbridge_runtime.core.dtypes import is_floating
from gymbridge_runtime.core.ownership import Ownership

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import Info


class Options(TypedDict, total=False):
    """The arguments that wrappers of all forms take."""

    device: object
    env_device: object
    copy: bool | None
    float_dtype: object


class Settings(NamedTuple):
    """The arguments of a wrapper, as text where possible."""

    source: AnyBackend
    target: AnyBackend
    device: object
    env_device: object
    copy: bool | None
    float_dtype: str | None

    @classmethod
    def of(cls, source: AnyBackend, target: AnyBackend, options: Options) -> Settings:
        """Check the arguments, and turn them into text where possible."""
        device, env_device = options.get("device"), options.get("env_device")
        copy, float_dtype = options.get("copy"), options.get("float_dtype")
        owned = Ownership.of(copy, Ownership.PROVE)  # raises for other values
        dtype = None if float_dtype is None else target.dtype(float_dtype)
        if dtype is not None and not is_floating(dtype):
            raise ValueError(f"float_dtype={float_dtype!r} is no floating-point dtype")
        if dtype is not None and target.stored_as(dtype) is None:
            raise ValueError(f"float_dtype={float_dtype!r}: {target.title} has no such dtype")
        return cls(
            source,
            target,
            target.device_text(target.parse_device(device)),
            source.device_text(source.parse_device(env_device)),
            # values equal to True or False, such as NumPy's bools, need not be JSON
            None if copy is None else owned is Ownership.COPY,
            None if dtype is None else dtype.name,
        )

    def arguments(self) -> dict[str, object]:
        """Return constructor arguments that make an equal wrapper."""
        given: dict[str, object] = self._asdict()
        del given["source"], given["target"]
        return {name: value for name, value in given.items() if value is not None}

    def metadata(self, inherited: Info | None) -> Info:
        """Return ``inherited`` with Gymnasium's key for the agent's library.

        `check_env` converts the arrays of environments with ``"jax": True`` to NumPy's.
        """
        known: Info = {} if inherited is None else inherited
        if self.target.metadata_word:
            return {**known, self.target.metadata_word: True}
        if known.get(self.source.name):
            return {key: known[key] for key in known if key != self.source.name}
        return known
