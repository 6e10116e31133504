"""Run the command and Python in processes of their own; a user's spec."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GENERATOR = REPOSITORY / "generator"
RUNTIME = REPOSITORY / "runtime"

OWN_SPEC = """\
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
"""A spec that adds one library to those of gymbridge."""


def python(
    *arguments: str,
    cwd: Path,
    path: Sequence[Path],
    stdout: int = subprocess.PIPE,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run Python with ``path`` to import from."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))} | variables
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=cwd,
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
    )


def gymbridge(
    *arguments: str,
    cwd: Path,
    path: Sequence[Path] = (GENERATOR, RUNTIME),
    stdout: int = subprocess.PIPE,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run the command; it does not need the package that it generates."""
    return python(
        "-m", "gymbridge_generator", *arguments, cwd=cwd, path=path, stdout=stdout, **variables
    )
