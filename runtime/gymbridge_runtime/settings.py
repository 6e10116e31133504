"""What a wrapper was told, in words that travel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gymbridge_runtime.dtypes import is_floating
from gymbridge_runtime.ownership import Ownership

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.types import Info

__all__ = ["Settings"]


class Settings(NamedTuple):
    """The arguments of a wrapper in words that a spec and a pickle can hold."""

    source: AnyBackend
    target: AnyBackend
    device: object
    env_device: object
    copy: bool | None
    float_dtype: str | None

    @classmethod
    def of(
        cls,
        source: AnyBackend,
        target: AnyBackend,
        *,
        device: object,
        env_device: object,
        copy: bool | None,
        float_dtype: object,
    ) -> Settings:
        """Return the arguments as text wherever there is text for them."""
        owned = Ownership.of(copy, promised_new=True)  # refuses what is no value of it
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
            # what equals True or False need not be written as JSON
            None if copy is None else owned is Ownership.ALWAYS_COPY,
            None if dtype is None else dtype.name,
        )

    def given(self) -> dict[str, object]:
        """Return what a constructor has to be given to make the same again."""
        arguments = {
            "device": self.device,
            "env_device": self.env_device,
            "copy": self.copy,
            "float_dtype": self.float_dtype,
        }
        return {name: value for name, value in arguments.items() if value is not None}

    def metadata(self, inherited: Info | None) -> Info | None:
        """Return ``inherited`` with Gymnasium's word for whose arrays an agent sees.

        None where it says so already. `check_env` turns the arrays of environments that say
        ``"jax": True`` into NumPy's.
        """
        known: Info = inherited or {}
        if self.target.metadata_word:
            return {**known, self.target.metadata_word: True}
        if known.get(self.source.name):
            return {key: known[key] for key in known if key != self.source.name}
        return None
