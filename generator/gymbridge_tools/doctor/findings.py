"""What the doctor finds, as it is printed and as it stands in a report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from gymbridge_generator.sharing import RULE

__all__ = ["Combination", "LibraryFinding", "LibraryState", "Memory", "PairFinding", "Report"]

LibraryState: TypeAlias = Literal["works", "not installed", "broken"]
Memory: TypeAlias = Literal["shared", "read-only view", "copied", ""]
"""What becomes of the memory of one array; nothing where that could not be found out."""


@dataclass(frozen=True)
class LibraryFinding:
    """One array library."""

    name: str
    title: str
    state: LibraryState
    versions: dict[str, str] = field(default_factory=dict[str, str])
    """The version of every distribution that brings it."""
    devices: tuple[str, ...] = ()
    narrows: dict[str, str] = field(default_factory=dict[str, str])
    """The dtypes that it keeps as others."""
    narrows_when: str = ""
    """The setting that makes it do so, if there is one."""
    narrows_on: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """By device: what it keeps as others there, where that is more."""
    problem: str = ""
    advice: str = ""


@dataclass(frozen=True)
class PairFinding:
    """One wrapper, tried with an environment that sends and receives one array."""

    wrapper: str
    environment: str
    agent: str
    works: bool
    observations: Memory = ""
    why: str = ""
    """Why observations are shared, or why they are not."""
    actions: Memory = ""
    problem: str = ""


@dataclass(frozen=True)
class Combination:
    """Versions that do not go together, or of which gymbridge does not promise that they do."""

    installed: dict[str, str]
    problem: str
    advice: str


@dataclass(frozen=True)
class Report:
    """Everything that was found."""

    package: str
    versions: dict[str, str]
    """Of Python, of gymbridge and of what it always needs."""
    platform: str
    libraries: tuple[LibraryFinding, ...]
    wrappers: int
    """How many wrappers there are, those of libraries that do not work included."""
    pairs: tuple[PairFinding, ...]
    combinations: tuple[Combination, ...]
    proves_ownership: bool
    """Whether reference counts prove here that nobody else can reach an array of NumPy."""

    @property
    def works(self) -> bool:
        """Whether everything works that is installed."""
        return (
            all(library.state != "broken" for library in self.libraries)
            and all(pair.works for pair in self.pairs)
            and not self.combinations
        )

    @property
    def ownership(self) -> str:
        """What wrappers do with arrays on this interpreter, in a sentence."""
        if self.proves_ownership:
            return RULE
        return (
            "This Python cannot prove that nobody else can reach an array, so wrappers copy the "
            "arrays of NumPy."
        )

    @property
    def verdict(self) -> str:
        """All of it in a sentence."""
        working = sum(pair.works for pair in self.pairs)
        of = "All" if working == self.wrappers else f"{working} of"
        absent = [each.title for each in self.libraries if each.state == "not installed"]
        broken = [each.title for each in self.libraries if each.state == "broken"]
        broken += [pair.wrapper for pair in self.pairs if not pair.works]
        versions = [name for found in self.combinations for name in found.installed]
        said = [
            f"{of} {self.wrappers} wrappers work here",
            f"not installed: {', '.join(absent)}" if absent else "",
            f"installed, but does not work: {', '.join(broken)}" if broken else "",
            f"versions that do not go together: {', '.join(versions)}" if versions else "",
        ]
        return "; ".join(filter(None, said)) + "."

    def as_json(self) -> dict[str, object]:
        """Return the report as objects that JSON has."""
        return {"works": self.works, **asdict(self)}
