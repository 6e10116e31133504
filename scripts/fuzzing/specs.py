"""Target: any text is a spec or is refused with a message."""

from __future__ import annotations

from gymbridge_generator.errors import GeneratorError
from gymbridge_generator.load import parse
from gymbridge_generator.resources import shipped_spec

_SPEC = shipped_spec().read_text()


def attack(data: bytes) -> None:
    """Read ``data`` as a spec, or as a change of the shipped one: a position and a text."""
    text = data[3:].decode("utf-8", "replace")
    if data[:1] and data[0] % 2:
        place = int.from_bytes(data[1:3], "big") % len(_SPEC)
        text = _SPEC[:place] + text + _SPEC[place + data[0] // 8 :]
    try:
        selection = parse(text, "fuzzed.toml")
    except GeneratorError as error:
        if not str(error).strip():
            raise AssertionError("an error says something") from error
        return
    assert selection.spec.backend, "a spec has backends"
