"""Describes how a pair shares and copies memory, from the facts about its libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from gymbridge_generator.fast_path import is_numpy

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

Sharing: TypeAlias = Literal["shared", "read-only view", "copied"]

RULE: Final = "An array is shared only when nobody else can change it; otherwise it is copied."
"""What wrappers do with observations by default."""


def sharing(source: Backend, target: Backend) -> Sharing:
    """Return the default rule of converters for arrays in host memory."""
    if target.copies_in or not target.mutable or not (source.host and target.host):
        return "copied"
    if source.mutable and source.views == "writable":
        return "shared"
    return "read-only view" if target.read_only == "kept" else "copied"


def _why_copied(source: Backend, target: Backend) -> str:
    for library in (source, target):
        if not library.host:
            return (
                f"{library.title} has its arrays on devices, and shares only what is there already"
            )
    if target.copies_in:
        return f"{target.title} copies whatever it imports"
    if target.mutable:
        return f"{_why_read_only(source)}, and {target.title} would write into it"
    if source.mutable:
        return f"arrays of {target.title} never change, and the memory of {source.title} may"
    return f"arrays of {target.title} have memory of their own"


def _why_read_only(source: Backend) -> str:
    if source.mutable:
        return f"nobody may write into the memory of {source.title}"
    return f"arrays of {source.title} never change"


def wrapped(source: Backend, target: Backend) -> Sharing:
    """Return the default rule of a wrapper for the memory of observations.

    It shares only what nobody else can reach, and what never changes.
    """
    found = sharing(source, target)
    if found == "shared":
        return "shared" if is_numpy(source) else "copied"
    never_changes = not source.mutable or source.views == "constant"
    return found if never_changes else "copied"


def observations(source: Backend, target: Backend) -> str:
    """Describe what a wrapper does with the memory of observations."""
    match wrapped(source, target):
        case "shared":
            return (
                "By default, observations share the memory of what the environment returns if "
                "nobody else can reach that memory; otherwise they are copies."
            )
        case "read-only view":
            return (
                "By default, observations are read-only views of the environment's memory: "
                f"{_why_read_only(source)}."
            )
        case "copied":
            is_shareable = sharing(source, target) != "copied"
            why = _HELD if is_shareable else _why_copied(source, target)
            return f"By default, observations are copies: {why}."


_HELD: Final = "the environment may keep its arrays and write into them"


def _unless_read_only(target: Backend) -> str:
    return "" if target.read_only == "kept" else "; read-only memory is copied"


def actions(source: Backend) -> str:
    """Describe what a wrapper does with the memory of actions."""
    changes = ", so that it may write into them" if source.mutable else ""
    return f"Actions reach the environment as copies{changes}."


def place(source: Backend, target: Backend) -> str:
    """Describe where arrays go if no device is named."""
    there = f"where {target.title} puts NumPy's arrays"
    if source.device and target.device:
        return f"by default on the array's own GPU if both libraries reach it, otherwise {there}"
    return f"by default {there}"


def values(source: Backend, target: Backend) -> str:
    """Describe what a converter does with memory."""
    match sharing(source, target):
        case "copied":
            return f"The result is a copy: {_why_copied(source, target)}."
        case "read-only view":
            return f"The result is a read-only view: {_why_read_only(source)}."
        case "shared":
            return f"The result shares memory with ``value``{_unless_read_only(target)}."
