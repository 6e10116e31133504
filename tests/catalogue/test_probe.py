"""`gymbridge probe` agrees with the entries of the catalogue."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gymbridge_generator.load import parse
from gymbridge_generator.model import Dlpack
from gymbridge_generator.resources import shipped_spec
from tests.generator.command import gymbridge
from tests.support import REPOSITORY

if TYPE_CHECKING:
    from tests.catalogue.libraries import CatalogueLibrary

OWN = ("module", "array", "mutable", "read_only", "views", "copies_in", "host")
UNSEEN = {
    # the probe cannot see this: such arrays exist only after another call
    "tensorflow": {"not_exported"},
    # the probe also finds facts that equal the defaults
    "pyarrow": {"narrows"},
}


@pytest.mark.usefixtures("bridges")
@pytest.mark.slow
def test_probe_agrees_with_the_entry(entry: CatalogueLibrary) -> None:
    done = gymbridge("probe", entry.module, "--json", cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["facts"]
    spec = parse(shipped_spec().read_text(encoding="utf-8"), "spec").spec
    stated = next(backend for backend in spec.backend if backend.name == entry.name)
    for key in OWN:
        default = type(stated).model_fields[key].default
        assert found.get(key, default) == getattr(stated, key), key
    assert (found.get("device") is None) is (stated.device is None)
    facts = {} if stated.dlpack is None else stated.dlpack.model_dump(exclude_none=True)
    generic = {key: value for key, value in found.items() if key in Dlpack.model_fields}
    unseen = UNSEEN.get(entry.name, set())
    assert {*generic} | unseen == {*facts} | (unseen & {*generic})
    for key in {*generic} - unseen:
        ordered = sorted(generic[key]) if isinstance(generic[key], list) else generic[key]
        said = sorted(facts[key]) if isinstance(facts[key], tuple) else facts[key]
        assert ordered == said, key
    if entry.name == "tensorflow":
        assert generic["not_exported"] == ["string"]
        assert "string" in facts["not_exported"]
