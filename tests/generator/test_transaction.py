"""A package stays whole during failures, kills and concurrent runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gymbridge_generator import output
from gymbridge_generator.header import is_untouched, with_header
from gymbridge_generator.output import compare, write
from gymbridge_generator.transaction import change
from tests.generator.command import GENERATOR, RUNTIME, gymbridge, python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither")


def package(version: int, *modules: str) -> dict[str, str]:
    """Return a package whose modules hold a version, with an `__init__` that imports all."""
    bodies = {f"{name}.py": f"version = {version}\n" for name in modules}
    bodies["__init__.py"] = "".join(
        f"from mine.{name.replace('/', '.')} import version\n" for name in sorted(modules)
    )
    files = {path: with_header(body, ["spec"], body) for path, body in bodies.items()}
    return {"py.typed": "", **files}


OLD = package(1, "a", "b", "vector/gone")
NEW = package(2, "a", "b", "c", "vector/added", "backends/added", "parallel/__init__")
CHANGES = 8
"""The steps of a write: three files to change, four to add, one to remove."""

KILLED_AT = """
import os, pathlib, signal, sys
from gymbridge_generator.output import write
from tests.generator.test_transaction import NEW

left = int(sys.argv[1])

def dying(do):
    def maybe(*arguments, **options):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return do(*arguments, **options)
    return maybe

pathlib.Path.replace = dying(pathlib.Path.replace)
pathlib.Path.unlink = dying(pathlib.Path.unlink)
write(NEW, pathlib.Path("mine"))
"""

IMPORT = "import mine"


def content(folder: Path) -> dict[str, bytes]:
    """Return every file below ``folder``."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def expected(files: dict[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in files.items()}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A generated package with one file of the user."""
    out = tmp_path / "mine"
    write(OLD, out)
    (out / "by_hand.py").write_text("mine = 1\n", encoding="utf-8")
    return out


def failing_at(
    number: int, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> Callable[[], int]:
    """Let one step of a write fail; return a function that counts the steps."""
    steps = 0

    def fail(do: Callable[..., object]) -> Callable[..., object]:
        def maybe(*arguments: object, **options: object) -> object:
            nonlocal steps
            steps += 1
            if steps == number:
                raise error
            return do(*arguments, **options)

        return maybe

    monkeypatch.setattr(Path, "replace", fail(Path.replace))
    monkeypatch.setattr(Path, "unlink", fail(Path.unlink))
    return lambda: steps


def test_a_write_takes_the_expected_number_of_steps(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = failing_at(0, monkeypatch, OSError())
    write(NEW, out)
    assert count() == CHANGES


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("number", range(1, CHANGES + 1))
def test_a_write_that_fails_halfway_is_undone(
    out: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException
) -> None:
    before = content(out)
    failing_at(number, monkeypatch, error)
    with pytest.raises(type(error)):
        write(NEW, out)
    assert content(out) == before
    assert not (out / "backends").exists(), "a folder that was made is left"


def test_a_write_that_cannot_finish_does_not_begin(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(out)
    count = failing_at(0, monkeypatch, OSError())
    with pytest.raises(UnicodeEncodeError):
        write({**NEW, "b.py": with_header("x = '\ud800'\n", ["spec"], "")[:-1]}, out)
    assert count() == 0
    assert content(out) == before


def test_a_new_folder_that_stays_empty_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing_at(1, monkeypatch, OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="No space left"):
        write(NEW, tmp_path / "src/mine")
    assert list(tmp_path.iterdir()) == []


def test_new_nested_folders_are_removed_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(tmp_path, {"a/b/c.py": "c = 1\n"})
    assert content(tmp_path) == {"a/b/c.py": b"c = 1\n"}
    failing_at(2, monkeypatch, OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="No space left"):
        change(tmp_path, {"d/e/f.py": "", "d/e/g.py": ""})
    assert not (tmp_path / "d").exists()


@posix
@pytest.mark.parametrize("number", range(1, CHANGES + 1))
def test_a_killed_write_leaves_a_working_package_and_is_completed_later(
    out: Path, number: int
) -> None:
    home = out.parent
    roots = [GENERATOR, RUNTIME, GENERATOR.parent]
    done = python("-c", KILLED_AT, str(number), cwd=home, path=roots)
    assert done.returncode == -signal.SIGKILL, done.stderr
    for path, text in content(out).items():
        if path.endswith(".py") and path != "by_hand.py":
            assert is_untouched(text.decode()), path
            assert path not in OLD or path not in NEW or text.decode() in {OLD[path], NEW[path]}
    # an `__init__` that names a missing module would fail
    done = python("-B", "-c", IMPORT, cwd=home, path=[home])
    assert (done.returncode, done.stderr) == (0, "")
    write(NEW, out)
    assert content(out) == {**expected(NEW), "by_hand.py": b"mine = 1\n"}, "something is left over"
    assert compare(NEW, out) == []


@posix
def test_the_folder_is_locked_during_a_write(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def taken() -> bool:
        handle = os.open(out, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    seen: list[bool] = []
    moved: list[object] = []

    def look(do: Callable[..., object]) -> Callable[..., object]:
        def looked(*arguments: object, **options: object) -> object:
            seen.append(taken())
            moved.append(arguments[0])
            return do(*arguments, **options)

        return looked

    monkeypatch.setattr(output, "compare", look(output.compare))
    monkeypatch.setattr(Path, "replace", look(Path.replace))
    monkeypatch.setattr(Path, "unlink", look(Path.unlink))
    write(NEW, out)
    assert seen == [True] * (1 + CHANGES)
    # a rename is atomic only on one file system
    assert all(out in each.parents for each in moved if isinstance(each, Path))
    assert not taken()


@posix
def test_hidden_files_of_the_user_are_kept(out: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/file").touch()
    (out / ".gymbridge-link").symlink_to(tmp_path / "theirs", target_is_directory=True)
    (out / ".gymbridge-file").touch()
    (out / ".gymbridge-notes").mkdir()
    (out / ".gymbridge-notes/0.new").touch()
    (out / ".gymbridge-notes/note").write_text("mine\n", encoding="utf-8")
    (out / ".gymbridge-empty").mkdir()
    write(NEW, out)
    assert (tmp_path / "theirs/file").exists()
    assert (out / ".gymbridge-notes/0.new").exists()
    left = sorted(path.name for path in out.glob(".*"))
    names = ("empty", "file", "link", "notes")
    assert left == [f".gymbridge-{name}" for name in names]


@posix
@pytest.mark.slow
def test_concurrent_runs_leave_the_result_of_one(project: Path) -> None:
    """Several processes write a new package, half of them from another spec."""
    spec = (project / "my.toml").read_text(encoding="utf-8")
    (project / "less.toml").write_text(f"{spec}[matrix]\nforms = ['single']\n", encoding="utf-8")
    command = [sys.executable, "-m", "gymbridge_generator", "generate", "--spec"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (GENERATOR, RUNTIME)))}
    running = [
        subprocess.Popen([*command, f"{name}.toml"], env=environment, stdout=subprocess.PIPE)
        for name in ("my", "less") * 3
    ]
    for process in running:
        process.communicate(timeout=300)
    assert [process.returncode for process in running] == [0] * 6
    checks = [gymbridge("check", "--spec", f"{name}.toml", cwd=project) for name in ("my", "less")]
    assert sorted(check.returncode for check in checks) == [0, 1], "neither, or a mixture"
    assert not list((project / "src/mine/bridges").glob(".*"))


def test_a_file_system_without_locks_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl", reason="Windows has none to begin with")

    def refuse(_handle: int, _operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    write(NEW, tmp_path / "mine")
    assert compare(NEW, tmp_path / "mine") == []


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A package in a folder that this process may not write into, even as root."""
    if sys.platform == "win32":
        pytest.skip("has no such modes")
    root = os.getuid() == 0
    with tempfile.TemporaryDirectory() as name:  # only root can read pytest's own folders
        folder = Path(name)
        write(OLD, folder / "mine")
        before = content(folder)
        folders = [folder, folder / "mine", folder / "mine/vector"]
        for each in folders:
            each.chmod(0o555)
        if root:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if root:
                os.seteuid(0)
            for each in folders:
                each.chmod(0o755)
        assert content(folder) == before


@pytest.mark.parametrize("name", ["mine", "another/one"])
def test_a_read_only_folder_is_an_error(read_only: Path, name: str) -> None:
    with pytest.raises(PermissionError, match=f"'{read_only}"):
        write(NEW, read_only / name)


def test_a_read_only_package_that_is_up_to_date_is_no_error(read_only: Path) -> None:
    assert write(OLD, read_only / "mine") == []


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine\n", encoding="utf-8")
    with pytest.raises(OSError, match="file"):
        write(NEW, tmp_path / "file")
    with pytest.raises(OSError, match="file"):
        write(NEW, tmp_path / "file/mine")
    assert content(tmp_path) == {"file": b"mine\n"}
    done = gymbridge("generate", "--out", "file/mine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gymbridge: file/mine: Not a directory\n"
