"""Fixtures: a user's project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.generator.command import OWN_SPEC

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def own_spec() -> str:
    """A spec that adds one library to those of gymbridge."""
    return OWN_SPEC


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a spec and settings."""
    (tmp_path / "my.toml").write_text(OWN_SPEC, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.gymbridge]\nspec = "my.toml"\nout = "src/mine/bridges"\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path
