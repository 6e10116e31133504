"""Changes many files of a folder together: all of them, or none.

Everything new is written first, where nobody looks for it; what is left is to rename, and a rename
that fails has those before it undone. A process that is killed between two renames leaves every
file whole, the old one or the new one, and whoever runs next finishes the work.
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

__all__ = ["change", "locked"]

_STAGE = ".gymbridge-"
"""The beginning of the name of the hidden folder in which new files wait."""
_NOTE, _FILES = "note", "files"
"""In that folder: a file with the header, which proves whose the folder is, and all the rest."""


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Make ``folder``, and wait until nobody else has it who asks for it like this.

    Folders that were made and have nothing in them at the end are removed. The lock is on the
    folder itself, so that it leaves nothing behind. There is none on Windows and on file systems
    without locks: two processes that write different things there mix them.
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
    """Remove the hidden folders of killed processes: the lock says that nobody else works."""
    for stage in folder.glob(f"{_STAGE}*"):
        note = stage / _NOTE
        if stage.is_symlink() or not note.is_file():
            continue
        if is_untouched(note.read_text(encoding="utf-8", errors="replace")):
            _remove(stage)


def _stage(folder: Path) -> Path:
    """Make the hidden folder in which files wait."""
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
    """Give files of ``folder`` these texts, in this order; None removes one.

    Raises:
        OSError: One of them could not be changed, so that none is.
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
            with suppress(OSError):  # the one that failed fails again, and is as it was
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
