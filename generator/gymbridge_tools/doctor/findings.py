"""The findings of the doctor, for tables and JSON reports."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from gymbridge_generator.sharing import RULE

LibraryState: TypeAlias = Literal["works", "not installed", "broken"]
Memory: TypeAlias = Literal["shared", "read-only view", "copied", ""]
"""How memory is treated; empty if that is unknown."""


@dataclass(frozen=True)
class LibraryFinding:
    """One array library."""

    name: str
    title: str
    state: LibraryState
    versions: dict[str, str] = field(default_factory=dict[str, str])
    """The version of every distribution of the library."""
    devices: tuple[str, ...] = ()
    narrows: dict[str, str] = field(default_factory=dict[str, str])
    """The dtypes that it narrows."""
    narrows_when: str = ""
    """The setting under which it narrows, if there is one."""
    narrows_on: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """By device, the dtypes that it narrows, where they differ."""
    problem: str = ""
    advice: str = ""


@dataclass(frozen=True)
class PairFinding:
    """The result of trying one wrapper."""

    wrapper: str
    environment: str
    agent: str
    works: bool
    observations: Memory = ""
    why: str = ""
    """Why observations are shared or copied."""
    actions: Memory = ""
    problem: str = ""


@dataclass(frozen=True)
class Combination:
    """Versions that do not work together, or that gymbridge does not support."""

    installed: dict[str, str]
    problem: str
    advice: str


@dataclass(frozen=True)
class Report:
    """Everything that was found."""

    package: str
    versions: dict[str, str]
    """The versions of Python, gymbridge and its requirements."""
    platform: str
    libraries: tuple[LibraryFinding, ...]
    wrappers: int
    """The number of wrappers, including those of libraries that do not work."""
    pairs: tuple[PairFinding, ...]
    combinations: tuple[Combination, ...]
    proves_ownership: bool
    """Whether reference counts prove ownership on this interpreter."""

    @property
    def works(self) -> bool:
        """Whether everything that is installed works."""
        return (
            all(library.state != "broken" for library in self.libraries)
            and all(pair.works for pair in self.pairs)
            and not self.combinations
        )

    @property
    def ownership(self) -> str:
        """The rule of sharing on this interpreter, in a sentence."""
        if self.proves_ownership:
            return RULE
        return (
            "This Python cannot prove that nobody else can reach an array, so wrappers copy the "
            "arrays of NumPy."
        )

    @property
    def verdict(self) -> str:
        """The verdict, in a sentence."""
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
        """Return the report for JSON."""
        return {"works": self.works, **asdict(self)}
