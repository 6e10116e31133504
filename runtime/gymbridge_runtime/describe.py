"""A value in the words of an error message."""

from __future__ import annotations

__all__ = ["describe"]


def describe(value: object) -> str:
    """Say of which library and type ``value`` is, and its dtype, shape and device if it has them.

    ``torch.Tensor of float32, shape (3,), on cuda:0``
    """
    kind = type(value)
    text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    dtype: object = getattr(value, "dtype", None)
    if dtype is not None:
        text += f" of {str(dtype).rpartition('.')[2]}"
    shape: object = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        text += f", shape {tuple(shape)}"
    device: object = getattr(value, "device", None)
    if device is not None:
        text += f", on {device}"
    return text
