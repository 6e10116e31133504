"""A project of somebody who uses the generator, and the command run in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOTS = [REPOSITORY / name for name in ("generated", "generator", "runtime")]

Result: TypeAlias = "subprocess.CompletedProcess[str]"
Run: TypeAlias = Callable[..., Result]

OWN = """\
spec_version = 1
extends = ["gymbridge"]

[[backend]]
name = "strict"
title = "array-api-strict"
module = "array_api_strict"
array = "array_api_strict._array_object.Array"
distribution = "array-api-strict"
read_only = "kept"
typed = false
"""
"""A spec that a user writes for one more library."""


@pytest.fixture
def repository() -> Path:
    return REPOSITORY


@pytest.fixture
def own_spec() -> str:
    return OWN


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a spec that extends the shipped one."""
    (tmp_path / "my.toml").write_text(OWN, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.gymbridge]\nspec = "my.toml"\nout = "src/mine/bridges"\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_python() -> Run:
    """Run Python in a process of its own."""

    def run(
        *arguments: str,
        cwd: Path | None = None,
        path: Sequence[Path] = ROOTS,
        stdout: int = subprocess.PIPE,
        **variables: str,
    ) -> Result:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))} | variables
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env=environment,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=300,
        )

    return run


@pytest.fixture
def gymbridge(run_python: Run) -> Run:
    """Run the command in a process of its own."""

    def run(*arguments: str, **options: object) -> Result:
        return run_python("-m", "gymbridge_generator", *arguments, **options)

    return run
