"""The base of wrappers of all forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gymbridge_runtime.core.narrowing import getattr_untyped
from gymbridge_runtime.wrappers.form import require_form
from gymbridge_runtime.wrappers.settings import Options, Settings
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.wrappers.form import Form

    class _Recorded:
        """``RecordConstructorArgs`` under another name.

        For a type checker, a second ``__init__`` among the bases is unsafe multiple inheritance.
        """

        def _record(self, **_arguments: object) -> None: ...

else:
    from gymnasium.utils import RecordConstructorArgs

    class _Recorded(RecordConstructorArgs):
        _record = RecordConstructorArgs.__init__


class Bridge(_Recorded):
    """A wrapper of gymbridge, of any form.

    Pickles leave out the type parameters of a wrapper: Python stores those of
    ``NumpyToJax[dict[str, jax.Array]](env)`` in the wrapper, and cannot pickle `jax.Array`.
    """

    takes_any_source: bool = False
    """Whether the wrapper takes environments of any library, not only of the source."""

    def _settings(
        self, form: Form, env: object, source: AnyBackend, target: AnyBackend, options: Options
    ) -> Settings:
        """Check the environment and the arguments of the constructor, and record the arguments."""
        require_form(type(self).__name__, env, form)
        settings = Settings.of(source, target, options)
        # devices and dtypes are recorded as text, so that a spec can be written as JSON
        self._record(_disable_deepcopy=True, **self._arguments(settings))
        return settings

    def _arguments(self, settings: Settings) -> dict[str, object]:
        """Return the arguments of the constructor that make another wrapper like this one."""
        return settings.arguments()

    @property
    def device(self) -> object:
        """The device of the agent's arrays, as its library's own object; None is the default."""
        return getattr_untyped(getattr_untyped(self, "_convert"), "device")

    @override
    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = {**vars(self)}
        _ = state.pop("__orig_class__", None)
        convert = state["_convert"]
        return {**state, "_convert": (type(convert), getattr_untyped(convert, "settings"))}

    def __setstate__(self, state: dict[str, object]) -> None:
        make, settings = cast("tuple[Callable[..., object], Settings]", state["_convert"])
        vars(self).update(state)
        # new conversions read the action space of this wrapper, which may not be that of ``env``
        vars(self)["_convert"] = make(self, settings)
