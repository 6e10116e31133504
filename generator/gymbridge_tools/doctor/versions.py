"""Finds installed versions that do not work together."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

from gymbridge_tools.doctor.findings import Combination

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class _Known:
    """Distributions that do not work together, with version ranges as pip writes them."""

    parts: Mapping[str, str]
    problem: str
    advice: str


_KNOWN = (
    _Known(
        {"cupy-cuda11x": "", "cupy-cuda12x": ""},
        "CuPy is there twice, for two versions of CUDA, and each overwrites the other's files",
        "run: pip uninstall cupy-cuda11x cupy-cuda12x; then install the one for your CUDA",
    ),
    _Known(
        {"cupy-cuda12x": "", "cupy-cuda13x": ""},
        "CuPy is there twice, for two versions of CUDA, and each overwrites the other's files",
        "run: pip uninstall cupy-cuda12x cupy-cuda13x; then install the one for your CUDA",
    ),
    _Known(
        {"paddlepaddle": "", "tensorflow": ""},
        "a process that imports TensorFlow before Paddle ends with a segmentation fault",
        "import paddle first, or use them in processes of their own",
    ),
)


def installed(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the given distributions that are installed."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def combinations(extras: Iterable[str]) -> list[Combination]:
    """Return versions outside of gymbridge's bounds, and combinations that are known to fail.

    Args:
        extras: The extras whose bounds apply to installed packages.
    """
    return [*_outside(_bounds(), [*extras]), *_known()]


def _bounds() -> list[str]:
    try:
        return requires("gymbridge") or []
    except PackageNotFoundError:  # a checkout that is not installed
        return []


def _outside(bounds: Iterable[str], extras: list[str]) -> list[Combination]:
    from packaging.requirements import Requirement

    found: list[Combination] = []
    for bound in map(Requirement, bounds):
        marker = bound.marker
        counts = marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)
        there = installed([bound.name])
        for name, number in there.items() if counts else ():
            if not bound.specifier.contains(number, prereleases=True):
                found.append(
                    Combination(
                        there,
                        f"gymbridge is made for {name} {bound.specifier}",
                        f"run: pip install '{name}{bound.specifier}'",
                    )
                )
    return found


def _known() -> list[Combination]:
    from packaging.specifiers import SpecifierSet

    found: list[Combination] = []
    for known in _KNOWN:
        there = installed(known.parts)
        if len(there) == len(known.parts) and all(
            SpecifierSet(bound).contains(there[name], prereleases=True)
            for name, bound in known.parts.items()
        ):
            found.append(Combination(there, known.problem, known.advice))
    return found
