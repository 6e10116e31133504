"""Which memory a wrapper shares, said of a pair from the facts about its two libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

__all__ = ["Sharing", "actions", "observations", "place", "sharing", "values"]

Sharing: TypeAlias = Literal["shared", "read-only view", "copied"]


def sharing(source: Backend, target: Backend) -> Sharing:
    """Return what happens by default to arrays in host memory."""
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
        return f"an array of {target.title} must not change, and the memory of {source.title} may"
    return f"arrays of {target.title} have memory of their own"


def _why_read_only(source: Backend) -> str:
    if source.mutable:
        return f"the memory of {source.title} is there to be read"
    return f"an array of {source.title} must not change"


def observations(source: Backend, target: Backend, *, reused: bool) -> str:
    """Return what a wrapper does with the memory of observations.

    Args:
        source: The environment's library.
        target: The agent's library.
        reused: Whether an environment of the form may reuse its buffers.
    """
    match sharing(source, target):
        case "copied":
            return f"Observations are copies: {_why_copied(source, target)}."
        case "read-only view":
            return (
                "Observations are read-only views of the environment's memory: "
                f"{_why_read_only(source)}."
            )
        case "shared":
            then = (
                " An environment that says it reuses its buffers (``copy=False``) has them copied."
                if reused
                else ""
            )
            return (
                "Observations share the memory of what the environment returns"
                f"{_unless_read_only(target)}.{then}"
            )


def _unless_read_only(target: Backend) -> str:
    return "" if target.read_only == "kept" else "; read-only memory is copied"


def actions(source: Backend) -> str:
    """Return what a wrapper does with the memory of actions."""
    changes = ", so that it may write into them" if source.mutable else ""
    return f"Actions reach the environment as copies{changes}."


def place(source: Backend, target: Backend) -> str:
    """Return where arrays of ``target`` are made of those of ``source`` if no device is named."""
    there = f"where {target.title} puts NumPy's arrays"
    if source.device and target.device:
        return (
            f"by default where the original is, on a GPU that both libraries reach, or else {there}"
        )
    return f"by default {there}"


def values(source: Backend, target: Backend) -> str:
    """Return what a converter does with memory."""
    match sharing(source, target):
        case "copied":
            return f"The result is a copy: {_why_copied(source, target)}."
        case "read-only view":
            return f"The result is a read-only view: {_why_read_only(source)}."
        case "shared":
            return f"The result shares memory with ``value``{_unless_read_only(target)}."
