"""Fixtures that other folders define: a user's project, and a fake library."""

from __future__ import annotations

from tests.generator.conftest import project
from tests.runtime.conftest import fake, own_backends

__all__ = ["fake", "own_backends", "project"]
