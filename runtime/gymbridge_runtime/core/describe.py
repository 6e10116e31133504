"""Descriptions of values for error messages."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable


def describe(value: object) -> str:
    """Describe a value as ``torch.Tensor of float32, shape (3,), on cuda:0``."""
    kind = type(value)
    text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    dtype, shape, device = (_said(value, name) for name in ("dtype", "shape", "device"))
    if dtype is not None:
        text += f" of {shown(dtype).rpartition('.')[2]}"
    if issubclass(type(shape), tuple):
        text += f", shape {shown(tuple(cast('tuple[object, ...]', shape)))}"
    return text if device is None else f"{text}, on {shown(device)}"


def shown(thing: object, text_of: Callable[[object], str] = str) -> str:
    """Return ``thing`` as text, or its type if that fails: a message must not raise an error."""
    text = ""
    with suppress(Exception):
        text = text_of(thing)
    return text or f"<{type(thing).__qualname__}>"


def step_to(key: object) -> str:
    """Return the part of a path that leads to the child at ``key``."""
    return f"[{shown(key, repr)}]"


def _said(value: object, name: str) -> object:
    with suppress(Exception):  # deleted arrays and arrays without values may raise anything
        return cast("object", getattr(value, name))
    return None
