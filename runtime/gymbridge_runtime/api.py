"""The agreement between generated code and this runtime."""

from __future__ import annotations

from gymbridge_runtime._version import __version__

RUNTIME_API = 8
"""Raised by one whenever packages must be generated again."""


def require_runtime_api(version: int, package: str) -> None:
    """Refuse to run wrappers of ``package`` that were generated for another runtime."""
    if version == RUNTIME_API:
        return
    newer = version > RUNTIME_API
    before = "upgrade gymbridge (`pip install --upgrade gymbridge`), or " if newer else ""
    raise ImportError(
        f"{package} was generated for runtime API {version}, and gymbridge {__version__} has "
        + f"runtime API {RUNTIME_API}; {before}run `gymbridge generate` with the installed "
        + "gymbridge, in the project of that package",
        name=package,
    )
