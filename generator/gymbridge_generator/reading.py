"""Reads files of unknown content."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING

from gymbridge_generator.errors import GeneratorError
from gymbridge_generator.quoting import printable

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 1 << 18
"""The most bytes of a file; the shipped spec has a few thousand."""


def read_text(path: Path) -> str:
    """Return the text of a file without a byte order mark.

    Raises:
        GeneratorError: It cannot be read, is not UTF-8 or has more than `LARGEST` bytes.
    """
    name = printable(path)
    try:
        data = _read(path)
    except FileNotFoundError as error:
        raise GeneratorError(f"{name}: {error.strerror}{_near(path)}") from None
    except OSError as error:
        raise GeneratorError(f"{name}: {error.strerror}") from None
    if len(data) > LARGEST:
        raise GeneratorError(f"{name}: is too large; the most that is read is {LARGEST} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GeneratorError(f"{name}:{line}: is not UTF-8") from None


def _read(path: Path) -> bytes:
    """Return all bytes of a small file; at least one more than `LARGEST` of a larger one."""
    if sys.platform == "win32" or not path.is_fifo():
        with path.open("rb") as file:
            return file.read(LARGEST + 1)  # the file may be a device that has no end
    # without O_NONBLOCK, opening a pipe waits until somebody opens it to write
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
        first = pipe.read(1)  # None if a writer has the pipe open and has written nothing yet
        if first == b"":
            raise GeneratorError(f"{printable(path)}: is a pipe that nobody writes to")
        os.set_blocking(pipe.fileno(), True)
        data = first or b""
        while len(data) <= LARGEST and (more := pipe.read(LARGEST)):
            data += more
        return data


def _near(path: Path) -> str:
    """Suggest a file or folder for a misspelt path."""
    with suppress(OSError):
        missing = next(each for each in (*reversed(path.parents), path) if not each.exists())
        names = [entry.name for entry in missing.parent.iterdir()]
        for name in get_close_matches(missing.name, names, n=1):
            return f" (did you mean {printable(missing.with_name(name))}?)"
    return ""
