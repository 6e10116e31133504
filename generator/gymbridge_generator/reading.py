"""Reads text that somebody else wrote, which may be anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_generator.errors import GeneratorError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LARGEST", "read_text"]

LARGEST = 1 << 18
"""The most bytes that are read; the shipped spec has a few thousand."""


def read_text(path: Path) -> str:
    """Return the text of a file, without the mark of byte order that some editors put first.

    Raises:
        GeneratorError: It cannot be read, is not UTF-8 or has more than `LARGEST` bytes.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)  # not all of it: it may be a device that has no end
    except OSError as error:
        raise GeneratorError(f"{path}: {error.strerror}") from None
    if len(data) > LARGEST:
        raise GeneratorError(f"{path}: is too large; the most that is read is {LARGEST} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GeneratorError(f"{path}:{line}: is not UTF-8") from None
