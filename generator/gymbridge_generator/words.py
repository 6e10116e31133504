"""The values of a spec that end up in generated code: what each of them may be.

A spec is data. Every rendered value is either matched here in full, by a pattern without
quotes, line breaks and paths, or parsed and unparsed (`expressions`).
"""

from __future__ import annotations

import keyword
import re

from gymbridge_generator.quoting import quoted

_REQUIREMENT = (
    r"[A-Za-z0-9][A-Za-z0-9._-]*"
    r"(\[[A-Za-z0-9,._-]+\])?"
    r"((>=|<=|==|~=|!=|>|<)[0-9][0-9A-Za-z.*]*)?"
)
_DEVICES = re.compile(r"aux|con|nul|prn|(com|lpt)[0-9]")
"""Names of devices on Windows, whatever the ending: a file `aux.py` cannot exist."""


def backend_name(text: str) -> str:
    """A part of module names: ``torch``."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,23}", text) or keyword.iskeyword(text):
        raise ValueError(
            f"{quoted(text)} is not a Python name; use lower-case letters, digits and underscores, "
            + "a letter first, at most 24, and no keyword"
        )
    if _DEVICES.fullmatch(text):
        raise ValueError(f"{quoted(text)} is a device on Windows, and no file; use another name")
    return text


def class_name(text: str) -> str:
    """A part of class names: ``Torch``."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]{0,15}", text):
        raise ValueError(
            f"{quoted(text)} is not part of a class name; use letters and digits, a capital first, "
            + "at most 16"
        )
    return text


def title(text: str) -> str:
    """How people spell the library: ``PyTorch``."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 .+_-]{0,23}", text) or text.endswith(" "):
        raise ValueError(
            f"{quoted(text)} is not a title; use letters, digits, spaces and any of .+_-, "
            + "at most 24"
        )
    return text


def dotted_name(text: str) -> str:
    """A module, or something in a module: ``torch.Tensor``."""
    if not all(_is_name(part) for part in text.split(".")):
        raise ValueError(f"{quoted(text)} is not a dotted Python name; write it as in torch.Tensor")
    return text


def export_name(text: str) -> str:
    """A name that a package passes on."""
    if not _is_name(text):
        raise ValueError(f"{quoted(text)} is not a Python name")
    return text


def reference(text: str) -> str:
    """Where an object is: ``package.module:NAME``."""
    module, colon, name = text.partition(":")
    if not (colon and _is_name(name) and all(_is_name(part) for part in module.split("."))):
        raise ValueError(f"{quoted(text)} is not a reference; write it as in package.module:NAME")
    return text


def extra_name(text: str) -> str:
    """An extra of gymbridge: ``torch``."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text):
        raise ValueError(
            f"{quoted(text)} is not an extra; use lower-case letters, digits and dashes"
        )
    return text


def requirement(text: str) -> str:
    """What pip installs: ``mlx[cpu]>=0.32``."""
    if not re.fullmatch(_REQUIREMENT, text):
        raise ValueError(
            f"{quoted(text)} is not something pip installs; write it as in mlx, mlx[cpu] or "
            + "mlx>=0.32"
        )
    return text


def _is_name(text: str) -> bool:
    # Python normalises look-alike letters of other alphabets
    plain = text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
    return plain and not text.startswith("__")
