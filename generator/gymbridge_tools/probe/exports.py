"""Finds how arrays of the library are exported, and which must not be."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import cast

import numpy as np
from gymbridge_runtime.backends.dlpack_protocol import Producer, device_of, is_host_memory
from gymbridge_runtime.core.dtypes import words_of

from gymbridge_tools.probe.capsules import version_of
from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.subject import Caught, Subject, WrongError, aligned, attribute, called

_KEYWORDS: dict[str, object] = {
    "stream": None,
    "max_version": (1, 3),
    "dl_device": None,
    "copy": None,
}
_GRADIENTS = (("requires_grad", True), ("stop_gradient", False))
_ORDINARY = ("detach", "resolve_conj", "resolve_neg")
_MAKERS = ("constant", "asarray", "array", "tensor", "to_tensor")


def _made(subject: Subject) -> Producer:
    return cast("Producer", subject.make(aligned(np.ones(4, np.float32))))


def version(subject: Subject) -> Answer:
    """Ask for the newest capsule, and read its version."""
    array = _made(subject)
    try:
        capsule = array.__dlpack__(max_version=(1, 3))
    except TypeError:
        capsule = array.__dlpack__()
    if '"dltensor"' in repr(capsule):
        return Answer("legacy", "it exports capsules of before version 1")
    number = version_of(capsule)
    return Answer(number, f"it exports capsules of version {number}")


def asked_version(subject: Subject) -> Answer:
    """Let the library import an object that records the requested version."""
    asked: list[object] = []
    values: object = aligned(np.ones(4, np.float32))

    class Noting:
        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

        def __dlpack__(self, **keywords: object) -> object:
            asked.append(keywords.get("max_version"))
            return cast("Producer", values).__dlpack__(
                **{name: value for name, value in keywords.items() if value is not None}
            )

    _ = subject.take(Noting())
    if not asked or not isinstance(asked[-1], tuple):
        return Answer("legacy", "the importer does not ask for a version")
    numbers = cast("tuple[int, int]", asked[-1])
    return Answer(f"{numbers[0]}.{numbers[1]}", f"the importer asks for version {numbers}")


def keywords(subject: Subject) -> Answer:
    """Find the keywords of an array's `__dlpack__`."""
    array = _made(subject)
    try:
        parameters = inspect.signature(type(array).__dlpack__).parameters
    except ValueError:
        taken = [name for name, value in _KEYWORDS.items() if _takes(array, name, value)]
        return Answer(taken, f"no signature; it takes {', '.join(taken) or 'none'}")
    return Answer([], f"the signature says {', '.join(name for name in parameters)}")


def _takes(array: Producer, name: str, value: object) -> bool:
    try:
        _ = array.__dlpack__(**{name: value})
    except TypeError:
        return False
    return True


def place(subject: Subject) -> Answer:
    """Find the DLPack device of arrays."""
    array = _made(subject)
    host = is_host_memory(array)
    said = array.__dlpack_device__()
    note = "" if isinstance(said[1], int) else f", which is said as {tuple(map(str, said))}"
    where = "the host" if host else "a device"
    return Answer(host, f"its memory is that of {where}: {device_of(array)}{note}")


def gradients(subject: Subject) -> Answer:
    """Export an array that requires gradients."""
    for name, value in _GRADIENTS:
        array = _made(subject)
        if not hasattr(array, name):
            continue
        setattr(array, name, value)
        with Caught() as caught:
            _ = subject.seen(array)
        if caught.error is not None:
            methods = [method for method in _ORDINARY if callable(attribute(array, method))]
            ordinary: object = array
            for method in methods:
                ordinary = called(attribute(ordinary, method))
            _ = subject.seen(ordinary)
            return Answer(methods, f"with {name} = {value}, {caught.said}")
        return Answer([], f"arrays with {name} = {value} are exported")
    return Answer([], "it computes no gradients of arrays")


def text(subject: Subject) -> Answer:
    """Export an array of text, if the library has such arrays."""
    made = _of_text(subject)
    if made is None:
        return Answer("", "it has no arrays of text that say they export themselves")
    with suppress(Exception):
        _ = subject.seen(made)
    return Answer("", "to export text is no harm")


def text_dtype(subject: Subject) -> Answer:
    """Find the name of the dtype of text."""
    made = _of_text(subject)
    if made is None:
        raise WrongError("it has no arrays of text that say they export themselves")
    words = words_of(attribute(made, "dtype"))
    return Answer(words[-1] if words else "", f"its dtype is {attribute(made, 'dtype')}")


def _of_text(subject: Subject) -> object:
    for name in _MAKERS:
        function = attribute(subject.module, name)
        if callable(function):
            with suppress(Exception):
                made = called(function, "text")
                if isinstance(made, Producer) and not isinstance(made, np.ndarray):
                    return made
    return None


def slices(subject: Subject) -> Answer:
    """Export parts of an array."""
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    array = subject.make(aligned(values))
    take = attribute(array, "__getitem__")
    if take is None:
        return Answer(value=True, evidence="arrays have no parts")
    for part in (slice(1, None), slice(None, None, 2)):
        taken = called(take, (part, slice(None)))
        if not np.array_equal(subject.seen(taken), values[part]):
            raise WrongError(f"array[{part.start}::{part.step}] is exported with other values")
    return Answer(value=True, evidence="parts of an array are exported as they are")


QUESTIONS = {
    "version": version,
    "asked_version": asked_version,
    "keywords": keywords,
    "place": place,
    "gradients": gradients,
    "text": text,
    "text_dtype": text_dtype,
    "slices": slices,
}
