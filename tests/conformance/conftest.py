"""The project of a user and a library that is not there, as other tests have them."""

from __future__ import annotations

from tests.generator.conftest import project
from tests.runtime.conftest import fake, own_backends

__all__ = ["fake", "own_backends", "project"]
