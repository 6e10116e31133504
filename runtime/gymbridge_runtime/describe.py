"""A value in the words of an error message."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["describe", "shown", "step_to"]


def describe(value: object) -> str:
    """Say of which library and type ``value`` is, and its dtype, shape and device if it has them.

    ``torch.Tensor of float32, shape (3,), on cuda:0``
    """
    kind = type(value)
    text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    dtype = _said(value, "dtype")
    if dtype is not None:
        text += f" of {shown(dtype).rpartition('.')[2]}"
    shape = _said(value, "shape")
    if issubclass(type(shape), tuple):
        text += f", shape {shown(tuple(cast('tuple[object, ...]', shape)))}"
    device = _said(value, "device")
    if device is not None:
        text += f", on {shown(device)}"
    return text


def shown(thing: object, text_of: Callable[[object], str] = str) -> str:
    """Return ``thing`` as text, or its type where it has none: no message is worth an error."""
    with suppress(Exception):
        text = text_of(thing)
        if text:
            return text
    return f"<{type(thing).__qualname__}>"


def step_to(key: object) -> str:
    """Say how a path goes from a container to what it holds at ``key``."""
    return f"[{shown(key, repr)}]"


def _said(value: object, name: str) -> object:
    with suppress(Exception):  # arrays that were deleted or never filled raise what they like
        return cast("object", getattr(value, name))
    return None
