"""Completion scripts, tried in the shells."""

from __future__ import annotations

import os
import shutil
import subprocess
from select import select
from typing import TYPE_CHECKING

import pytest

from tests.generator.command import gymbridge
from tests.support import require

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 60.0


@pytest.fixture
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An installed shell, with its script in the working folder."""
    require("shtab")
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    done = gymbridge("--completion", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "_gymbridge").write_text(done.stdout, encoding="utf-8")
    return name


def run(shell: str, code: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [shell, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize("shell", ["bash"], indirect=True)
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("gymbridge do", ["doctor"]),
        ("gymbridge generate --f", ["--force"]),
        ("gymbridge doctor --", ["--help", "--json", "--package"]),
        ("gymbridge generate --spec mi", ["mine.toml"]),
        ("gymbridge generate --out s", ["src"]),
    ],
)
def test_bash_completes_commands_and_options(
    shell: str, words: str, completed: list[str], tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").touch()
    (tmp_path / "script").touch()
    (tmp_path / "src").mkdir()
    code = (
        f"source ./_gymbridge; COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); "
        "$(complete -p gymbridge | sed 's/.* -F \\([^ ]*\\).*/\\1/'); "
        "echo ${COMPREPLY[@]}"
    )
    assert run(shell, code, tmp_path) == completed


@pytest.mark.parametrize("shell", ["fish"], indirect=True)
def test_fish_completes_commands_and_options(shell: str, tmp_path: Path) -> None:
    code = "source ./_gymbridge; complete -C 'gymbridge do'; complete -C 'gymbridge generate --f'"
    found = run(shell, code, tmp_path)
    assert found[0] == "doctor"
    assert "--force" in found


@pytest.mark.parametrize("shell", ["zsh"], indirect=True)
def test_zsh_completes_commands_and_options(shell: str, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="zsh completes on a terminal only")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [shell, "-f", "-i"],
        cwd=tmp_path,
        env=os.environ | {"TERM": "dumb", "PS1": ""},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        os.write(ours, b"fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D\n")
        os.write(ours, b"gymbridge doc\t--js\t")
        shown = b""
        while b"--json" not in shown and select([ours], [], [], PATIENCE)[0]:
            shown += os.read(ours, 1 << 12)
        process.kill()
    os.close(ours)
    assert b"gymbridge doctor" in shown
    assert b"--json" in shown
