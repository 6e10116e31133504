"""Finds the names of a library, and how to make its arrays."""

from __future__ import annotations

import inspect
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.subject import Subject, aligned, attribute, dotted_if_there

_IMPORTERS = (
    *("from_dlpack", "utils.dlpack.from_dlpack", "dlpack.from_dlpack"),
    *("experimental.dlpack.from_dlpack", "numpy.from_dlpack"),
    *("Tensor.from_dlpack", "Array.from_dlpack", "array.from_dlpack", "asarray"),
)
"""The usual places of the function that imports; the last one copies."""
_STARTS = ("init",)
_ARRAYS = ("ndarray", "Array", "Tensor", "array")


def candidates(subject: Subject) -> Answer:
    """Find functions that may import arrays."""
    found = [
        f"{subject.name}.{path}"
        for path in _IMPORTERS
        if callable(dotted_if_there(f"{subject.name}.{path}", subject.name))
    ]
    return Answer(found, ", ".join(found) or "none of the usual names")


def starts(subject: Subject) -> Answer:
    """Find functions that may have to be called first."""
    found = [f"{subject.name}.{name}" for name in _STARTS if _is_start(subject, name)]
    return Answer(found, ", ".join(found))


def _is_start(subject: Subject, name: str) -> bool:
    function = attribute(subject.module, name)
    if not callable(function):
        return False
    try:
        return not inspect.signature(function).parameters
    except ValueError:
        return False


def array(subject: Subject) -> Answer:
    """Make an array, and find the public name of its type."""
    made = subject.checked(aligned(np.arange(4, dtype=np.float32)))
    kind = type(made)
    module = subject.module
    public = [name for name in dir(module) if not name.startswith("_")]
    named = [name for name in public if attribute(module, name) is kind]
    above = [name for name in _ARRAYS if _is_above(attribute(module, name), made)]
    name = min([name for name in named if name in _ARRAYS] or named or above or [""], key=len)
    path = f"{subject.name}.{name}" if name else f"{kind.__module__}.{kind.__qualname__}"
    return Answer(path, f"the importer returns {kind.__module__}.{kind.__qualname__}")


def _is_above(kind: object, made: object) -> bool:
    return isinstance(kind, type) and isinstance(made, kind)


def distribution_of(module: str) -> str | None:
    """Return the distribution of a module, with its installed version as lower bound."""
    root = module.partition(".")[0]
    # of several distributions, take the one with the name of the module
    names = sorted(packages_distributions().get(root, []), key=lambda name: (name != root, name))
    if not names:
        return None
    release = ".".join(version(names[0]).split("+")[0].split(".")[:2])
    return f"{names[0]}>={release}"


def is_typed(module: str) -> bool:
    """Tell whether the package says that it has types."""
    spec = find_spec(module.partition(".")[0])
    folders = (spec.submodule_search_locations or []) if spec else []
    return any(Path(folder, "py.typed").is_file() for folder in folders)


QUESTIONS = {"candidates": candidates, "starts": starts, "array": array}
