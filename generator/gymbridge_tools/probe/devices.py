"""Finds the devices of arrays, and how arrays move between them."""

from __future__ import annotations

import numpy as np
from gymbridge_runtime.backends.dlpack_devices import DlpackDevices, short_name

from gymbridge_tools.probe.findings import Answer
from gymbridge_tools.probe.subject import (
    Caught,
    Subject,
    WrongError,
    aligned,
    attribute,
    called,
    dotted_if_there,
)

_READ = ("device", "place")
_MOVE = ("to_device", "to")
_WITHIN = ("device", "identity")


def devices(subject: Subject) -> Answer:
    """Find the device of an array, and move the array there in every known way."""
    array = subject.make(aligned(np.ones(4, np.float32)))
    read = next((name for name in _READ if attribute(array, name) is not None), None)
    if read is None or callable(attribute(array, read)):
        raise WrongError("arrays do not say where they are")
    place = attribute(array, read)
    text = short_name(place)
    facts = {} if read == "device" else {"device_read": read}
    for way in _ways(subject):
        with Caught() as caught:
            _check_way(subject, array, way, text)
        if caught.error is None:
            seen = f"an array is on {place!r}, and can be sent to {text!r}"
            return Answer(facts | way, seen)
    raise WrongError(f"an array is on {place!r}, and no known way sends it to {text!r}")


def _ways(subject: Subject) -> list[dict[str, str]]:
    """Yield the facts of every known way."""
    array = subject.make(aligned(np.ones(4, np.float32)))
    moves = [name for name in _MOVE if callable(attribute(array, name))]
    usual: dict[str, str] = {}
    named = [usual if name == "to_device" else {"device_move": name} for name in moves]
    parser = f"{subject.name}.Device"
    parsed = [
        way | {"device_parse": parser} for way in named if dotted_if_there(parser, subject.name)
    ]
    within, copy = (f"{subject.name}.{name}" for name in _WITHIN)
    contexts = [{"device_within": within, "device_copy": copy}]
    return [*named, *parsed, *(contexts if dotted_if_there(copy, subject.name) else [])]


def _check_way(subject: Subject, array: object, way: dict[str, str], text: str) -> None:
    # the array is on the device already; the move must work nevertheless
    devices = DlpackDevices(title=subject.name, module=subject.name, device_read="_nowhere_", **way)
    place: object = text
    if devices.device_parse is not None:
        place = called(dotted_if_there(devices.device_parse, subject.name), text)
    sent = devices.to_device(array, place)
    if not np.array_equal(subject.seen(sent), np.ones(4)):
        raise WrongError("the values became others on the way")


QUESTIONS = {"devices": devices}
