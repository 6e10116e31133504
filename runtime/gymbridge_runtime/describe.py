"""A value in the words of an error message."""

from __future__ import annotations

from contextlib import suppress

from gymbridge_runtime.narrowing import is_tuple

__all__ = ["describe"]


def describe(value: object) -> str:
    """Say of which library and type ``value`` is, and its dtype, shape and device if it has them.

    ``torch.Tensor of float32, shape (3,), on cuda:0``
    """
    kind = type(value)
    text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    dtype = _said(value, "dtype")
    if dtype is not None:
        text += f" of {str(dtype).rpartition('.')[2]}"
    shape = _said(value, "shape")
    if is_tuple(shape):
        text += f", shape {tuple(shape)}"
    device = _said(value, "device")
    if device is not None:
        text += f", on {device}"
    return text


def _said(value: object, name: str) -> object:
    with suppress(Exception):  # arrays that were deleted or never filled raise what they like
        return getattr(value, name, None)
    return None
