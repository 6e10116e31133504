"""One direction of a generated package: its two libraries, its converters and its wrappers."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from gymbridge_runtime.core.errors import BackendNotInstalledError
from gymbridge_runtime.testing.side import Library, Side
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.testing.forms import Wrapped


class _Converter(Protocol):
    def __call__(self, value: object, *, copy: bool | None = None) -> object: ...


@dataclass(frozen=True)
class Sides:
    """The two libraries of a pair; both are installed and work."""

    source: Side
    target: Side


@dataclass(frozen=True)
class Pair:
    """Environments of ``source`` for agents of ``target``, in the forms that a package has.

    Args:
        package: The import path of the package.
        source: The environment's library.
        target: The agent's library.
        wrapper: The name of the class.
        forms: The subpackage with the wrappers of each form.
    """

    package: str
    source: str
    target: str
    wrapper: str
    forms: Mapping[str, str] = field(hash=False)

    def sides(self, libraries: Mapping[str, Library], required: Collection[str]) -> Sides:
        """Return both libraries; a test skips without them, and fails if they are required."""
        return Sides(
            self._side(self.source, libraries, required),
            self._side(self.target, libraries, required),
        )

    def _side(self, name: str, libraries: Mapping[str, Library], required: Collection[str]) -> Side:
        import pytest

        side: Side | None = None
        try:
            backend = self._backend(name)
        except BackendNotInstalledError as error:
            reason = str(error)
        else:
            side = Side(backend, libraries.get(name))
            reason = side.why_unusable()
        if side is not None and not reason:
            return side
        if name in required:
            pytest.fail(f"{reason}; the suite was told that {name} has to be there", pytrace=False)
        return pytest.skip(reason)

    def _backend(self, name: str) -> AnyBackend:
        module = import_module(f"{self.package}.backends.{name}")
        return cast("AnyBackend", getattr(module, name.upper()))

    def convert(self, value: object, *, copy: bool | None = None) -> object:
        """Convert towards the agent."""
        return self._converter(self.source, self.target)(value, copy=copy)

    def convert_back(self, value: object, *, copy: bool | None = None) -> object:
        """Convert towards the environment."""
        return self._converter(self.target, self.source)(value, copy=copy)

    def _converter(self, source: str, target: str) -> _Converter:
        name = f"{source}_to_{target}"
        module = import_module(f"{self.package}.converters.{name}")
        return cast("_Converter", getattr(module, name))

    def wrap(self, form: str, env: object, **options: object) -> Wrapped:
        """Wrap ``env``; a test skips without the form's requirements, such as PettingZoo.

        The declared type has the members of all forms; callers know the members of their form.
        """
        folder = self.forms[form]
        module = import_module(f"{self.package}.{folder}" if folder else self.package)
        try:
            made = cast("Callable[..., object]", getattr(module, self.wrapper))
        except BackendNotInstalledError as error:
            import pytest

            pytest.skip(str(error))
        return cast("Wrapped", made(env, **options))

    @override
    def __str__(self) -> str:
        return f"{self.source}_to_{self.target}"
