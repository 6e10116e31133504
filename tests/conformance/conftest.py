"""The project of a user, as the tests of the generator have it."""

from __future__ import annotations

from tests.generator.conftest import project

__all__ = ["project"]
