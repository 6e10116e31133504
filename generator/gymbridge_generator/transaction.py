"""Changes many files of a folder together: all of them, or none.

Everything new is first written to a hidden folder. Then files are renamed into place; if a rename
fails, the ones before it are undone. If the process is killed between two renames, every file is
whole, old or new, and the next run completes the work.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gymbridge_generator.header import is_untouched, with_header

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

_STAGE = ".gymbridge-"
"""The beginning of the name of the hidden folder for new files."""
_NOTE, _FILES = "note", "files"
"""In that folder: a file with the header, which proves that it is ours, and the new files."""


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Make ``folder``, and hold its lock: other processes that ask for the lock wait.

    New folders that stay empty are removed. The lock is on the folder itself, so it leaves no file
    behind. Windows and some file systems have no such locks: two processes that write different
    packages into one folder mix them there.
    """
    made = _missing(folder)
    folder.mkdir(parents=True, exist_ok=True)
    handle = _lock(folder)
    try:
        if handle is not None:
            _clear(folder)
        yield
    finally:
        if handle is not None:
            os.close(handle)
        _remove_empty(made)


def _lock(folder: Path) -> int | None:
    """Return a file that holds the lock until it is closed; None where there are no locks."""
    if sys.platform == "win32":
        return None
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        os.close(handle)
        return None
    return handle


def _clear(folder: Path) -> None:
    """Remove the hidden folders of killed processes: with the lock, nobody else uses them."""
    for stage in folder.glob(f"{_STAGE}*"):
        note = stage / _NOTE
        if stage.is_symlink() or not note.is_file():
            continue
        if is_untouched(note.read_text(encoding="utf-8", errors="replace")):
            _remove(stage)


def _stage(folder: Path) -> Path:
    """Make the hidden folder for the new files."""
    stage = Path(tempfile.mkdtemp(prefix=_STAGE, dir=folder))
    note = with_header("", ["a run of `gymbridge generate`, which removes this folder"], "")
    _ = (stage / _NOTE).write_text(note, encoding="utf-8", newline="\n")
    (stage / _FILES).mkdir()
    return stage


def _remove(stage: Path) -> None:
    """Remove the hidden folder; its note goes last."""
    shutil.rmtree(stage / _FILES, ignore_errors=True)
    shutil.rmtree(stage)


def change(folder: Path, files: Mapping[str, str | None]) -> None:
    """Write these texts to files of ``folder``, in this order; None removes a file.

    Raises:
        OSError: One file could not be changed, so no file is.
    """
    stage = _stage(folder)
    try:
        new = _written(files, stage / _FILES)
        there = [path for path in files if (folder / path).exists()]
        old = _copied(there, folder, stage / _FILES)
        _rename(folder, files, new, old)
    finally:
        _remove(stage)
    _remove_empty((folder / path).parent for path, text in files.items() if text is None)


def _written(files: Mapping[str, str | None], stage: Path) -> dict[str, Path]:
    texts = {path: text for path, text in files.items() if text is not None}
    new = {path: stage / f"{number}.new" for number, path in enumerate(texts)}
    for path, text in texts.items():
        _ = new[path].write_text(text, encoding="utf-8", newline="\n")
    return new


def _copied(paths: Iterable[str], folder: Path, stage: Path) -> dict[str, Path]:
    old = {path: stage / f"{number}.old" for number, path in enumerate(paths)}
    for path, copy in old.items():
        _ = shutil.copy2(folder / path, copy)
    return old


def _rename(
    folder: Path, paths: Iterable[str], new: Mapping[str, Path], old: Mapping[str, Path]
) -> None:
    made: list[Path] = []
    begun: list[str] = []
    try:
        for path in paths:
            parent = (folder / path).parent
            made += _missing(parent)
            parent.mkdir(parents=True, exist_ok=True)
            begun.append(path)
            _put(new.get(path), folder / path)
    except BaseException:
        for path in reversed(begun):
            with suppress(OSError):  # the failed step fails again, and its file is unchanged
                _put(old.get(path), folder / path)
        _remove_empty(sorted(made, reverse=True))
        raise


def _put(file: Path | None, target: Path) -> None:
    if file is None:
        target.unlink(missing_ok=True)
    else:
        _ = file.replace(target)


def _missing(folder: Path) -> list[Path]:
    """Return the folders that do not exist yet, the innermost first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
