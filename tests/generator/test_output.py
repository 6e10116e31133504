"""Writing changes generated files and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gymbridge_generator import commands
from gymbridge_generator.errors import OutputError
from gymbridge_generator.header import with_header
from gymbridge_generator.output import Difference, compare, write
from gymbridge_generator.resources import templates


def generated(body: str) -> str:
    return with_header(body, ["spec", "template"], body)


FILES = {
    "py.typed": "",
    "__init__.py": generated("a = 1\n"),
    "vector/__init__.py": generated("b = 1\n"),
}


def states(files: dict[str, str], out: Path) -> list[tuple[str, str]]:
    return [(difference.path, difference.state) for difference in compare(files, out)]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    write(FILES, tmp_path / "out")
    return tmp_path / "out"


def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    assert [d.state for d in write(FILES, tmp_path)] == ["missing"] * 3
    for path, text in FILES.items():
        assert (tmp_path / path).read_bytes() == text.encode()
    assert write(FILES, tmp_path) == []


def test_a_difference_has_the_diff_that_corrects_it(out: Path) -> None:
    (out / "vector/__init__.py").write_text(generated("b = '\u00e9'"), encoding="utf-8")
    (out / "old.py").write_text(generated("old = 1\n"), encoding="utf-8")
    (out / "__init__.py").unlink()
    first, old, second = compare(FILES, out)
    assert first == Difference("__init__.py", "missing", "", FILES["__init__.py"])
    assert old == Difference("old.py", "stale", generated("old = 1\n"), "")
    assert second.found == generated("b = '\u00e9'")
    assert second.wanted == FILES["vector/__init__.py"]
    lines = second.diff().splitlines(keepends=True)
    assert lines[:2] == ["--- found/vector/__init__.py\n", "+++ generated/vector/__init__.py\n"]
    assert lines[-2:] == ["-b = '\u00e9'\n", "+b = 1\n"]
    assert first.diff().splitlines()[2] == "@@ -0,0 +1,8 @@"


def test_a_link_is_reported_as_not_generated(out: Path, elsewhere: Path) -> None:
    (out / "vector/__init__.py").unlink()
    (out / "vector").rmdir()
    (out / "vector").symlink_to(elsewhere, target_is_directory=True)
    (out / "__init__.py").unlink()
    (out / "__init__.py").symlink_to(elsewhere / "__init__.py")
    assert compare(FILES, out) == [
        Difference("__init__.py", "not generated", "", FILES["__init__.py"]),
        Difference("vector", "not generated", "", ""),
    ]
    check_refused(out, "__init__.py, vector", elsewhere)


def test_only_changed_files_are_written(out: Path) -> None:
    for path in out.rglob("*.py"):
        os.utime(path, (1, 1))
    write(FILES | {"__init__.py": generated("a = 2\n")}, out)
    assert (out / "__init__.py").stat().st_mtime > 1
    assert (out / "vector/__init__.py").stat().st_mtime == 1


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_file_modes_follow_the_umask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write(FILES, tmp_path / "out")
    finally:
        os.umask(before)
    assert (tmp_path / "out/__init__.py").stat().st_mode & 0o777 == mode


def test_stale_files_are_removed_in_the_folders_of_wrappers_only(out: Path) -> None:
    below = out / "mine"
    below.mkdir()
    for path in (out / "old.py", out / "vector/old.py", below / "of_another_spec.py"):
        path.write_text(generated("old = 1\n"), encoding="utf-8")
    assert states(FILES, out) == [("old.py", "stale"), ("vector/old.py", "stale")]
    write(FILES, out)
    assert not (out / "old.py").exists()
    assert not (out / "vector/old.py").exists()
    assert (below / "of_another_spec.py").exists()


def test_writing_tests_does_not_touch_a_package_below(tmp_path: Path) -> None:
    write(FILES, tmp_path / "vector")
    tests = {"test_vector.py": generated("c = 1\n")}
    assert [d.state for d in write(tests, tmp_path)] == ["missing"]
    assert compare(FILES, tmp_path / "vector") == []


def test_an_empty_folder_is_removed(out: Path) -> None:
    write({path: text for path, text in FILES.items() if "vector" not in path}, out)
    assert not (out / "vector").exists()


def test_edited_files_are_kept_without_force(out: Path) -> None:
    path = out / "__init__.py"
    edited = path.read_text(encoding="utf-8") + "# by hand\n"
    path.write_text(edited, encoding="utf-8")
    assert states(FILES, out) == [("__init__.py", "edited by hand")]
    with pytest.raises(OutputError) as caught:
        write(FILES, out)
    assert str(caught.value) == ("edited by hand; save what you need and add --force: __init__.py")
    assert path.read_text(encoding="utf-8") == edited
    write(FILES, out, force=True)
    assert path.read_text(encoding="utf-8") == FILES["__init__.py"]


@pytest.mark.parametrize("force", [False, True])
def test_a_stale_file_edited_by_hand_is_never_removed(out: Path, *, force: bool) -> None:
    edited = generated("old = 1\n") + "mine = 1\n"
    (out / "old.py").write_text(edited, encoding="utf-8")
    with pytest.raises(OutputError, match=r"move away: old\.py"):
        write(FILES, out, force=force)
    assert (out / "old.py").read_text(encoding="utf-8") == edited


@pytest.mark.parametrize("force", [False, True])
def test_a_file_without_the_header_is_never_touched(out: Path, *, force: bool) -> None:
    (out / "__init__.py").write_text("mine = 1\n", encoding="utf-8")
    (out / "vector/__init__.py").unlink()
    (out / "other.py").write_text("mine = 2\n", encoding="utf-8")
    with pytest.raises(OutputError) as caught:
        write(FILES, out, force=force)
    assert str(caught.value) == (
        "not generated by gymbridge, or edited, so left alone; move away: __init__.py"
    )
    assert (out / "__init__.py").read_text(encoding="utf-8") == "mine = 1\n"
    assert (out / "other.py").read_text(encoding="utf-8") == "mine = 2\n"
    assert not (out / "vector/__init__.py").exists(), "nothing is written unless all of it can be"


def test_a_binary_file_is_never_touched(out: Path) -> None:
    (out / "__init__.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(OutputError, match="not generated"):
        write(FILES, out, force=True)


def test_a_folder_in_the_way_is_never_touched(out: Path) -> None:
    (out / "__init__.py").unlink()
    (out / "__init__.py").mkdir()
    with pytest.raises(OutputError, match="not generated"):
        write(FILES, out, force=True)


@pytest.mark.parametrize("text", ["", "partial\n"])
def test_py_typed_may_have_any_content(out: Path, text: str) -> None:
    (out / "py.typed").write_text(text, encoding="utf-8")
    assert write(FILES, out) == []
    assert (out / "py.typed").read_text(encoding="utf-8") == text


def test_windows_line_ends_are_no_difference(out: Path) -> None:
    path = out / "__init__.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert compare(FILES, out) == []


def test_a_write_that_fails_leaves_every_file_whole(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (out / "vector/__init__.py").read_bytes()

    def fail(_self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write(FILES | {"vector/__init__.py": generated("b = 2\n")}, out)
    monkeypatch.undo()
    assert (out / "vector/__init__.py").read_bytes() == before
    assert [path.name for path in (out / "vector").iterdir()] == ["__init__.py"]


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ("{{ content.nothing }}", "has no attribute 'nothing'"),
        ("{{ content.names }}", "a template places Names"),
        ("{{ none }}", "a template places None"),
        ("def (", "invalid syntax"),
    ],
)
def test_a_template_that_fails_writes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch, broken: str, expected: str
) -> None:
    sources = templates() | {"backend.py.jinja": f"{broken}\n"}
    monkeypatch.setattr("gymbridge_generator.commands.templates", lambda: sources)
    with pytest.raises(Exception, match=expected):
        commands.generate(None, None, force=False)
    assert not (project / "src").exists()


# -- links, folders and pipes in the place of files -----------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Another package, beside the written one."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("__init__.py", "of_another_spec.py"):
        (elsewhere / name).write_text(generated("other = 1\n"), encoding="utf-8")
    return elsewhere


def check_refused(out: Path, what: str, elsewhere: Path) -> None:
    """Fail unless writing is refused because of ``what``, and other folders do not change."""
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    for force in (False, True):
        with pytest.raises(OutputError) as caught:
            write(FILES | {"__init__.py": generated("new = 1\n")}, out, force=force)
        assert str(caught.value) == (
            f"not generated by gymbridge, or edited, so left alone; move away: {what}"
        )
    assert {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()} == before


def test_a_link_in_place_of_a_folder_is_not_followed(out: Path, elsewhere: Path) -> None:
    (out / "vector/__init__.py").unlink()
    (out / "vector").rmdir()
    (out / "vector").symlink_to(elsewhere, target_is_directory=True)
    check_refused(out, "vector", elsewhere)
    assert (out / "vector").is_symlink()


def test_a_link_to_a_generated_file_is_not_followed(out: Path, elsewhere: Path) -> None:
    (out / "__init__.py").unlink()
    (out / "__init__.py").symlink_to(elsewhere / "__init__.py")
    check_refused(out, "__init__.py", elsewhere)
    assert (out / "__init__.py").is_symlink()


def test_a_broken_link_is_not_replaced(out: Path, elsewhere: Path) -> None:
    (out / "__init__.py").unlink()
    (out / "__init__.py").symlink_to(elsewhere / "to_be")
    check_refused(out, "__init__.py", elsewhere)
    assert not (elsewhere / "to_be").exists()


def test_a_file_in_place_of_a_folder_is_never_touched(out: Path, elsewhere: Path) -> None:
    (out / "vector/__init__.py").unlink()
    (out / "vector").rmdir()
    (out / "vector").write_text("mine\n", encoding="utf-8")
    check_refused(out, "vector", elsewhere)
    assert (out / "vector").read_text(encoding="utf-8") == "mine\n"


def test_a_link_is_never_stale(out: Path, elsewhere: Path) -> None:
    (out / "old.py").symlink_to(elsewhere / "of_another_spec.py")
    assert write(FILES, out) == []
    assert (out / "old.py").is_symlink()


def test_files_in_a_linked_folder_are_never_stale(out: Path, elsewhere: Path) -> None:
    (out / "backends").symlink_to(elsewhere, target_is_directory=True)
    assert write(FILES, out) == [], "no file of the spec goes there"
    assert (elsewhere / "of_another_spec.py").exists()


def test_the_output_folder_may_be_a_link(tmp_path: Path, out: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(out, target_is_directory=True)
    (out / "old.py").write_text(generated("old = 1\n"), encoding="utf-8")
    files = FILES | {"__init__.py": generated("new = 1\n")}
    assert [(d.path, d.state) for d in write(files, link)] == [
        ("__init__.py", "out of date"),
        ("old.py", "stale"),
    ]
    assert link.is_symlink()
    assert compare(files, out) == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no pipes with names")
def test_a_pipe_in_the_place_of_a_file_is_not_opened(out: Path, elsewhere: Path) -> None:
    (out / "__init__.py").unlink()
    os.mkfifo(out / "__init__.py")
    os.mkfifo(out / "other.py")
    check_refused(out, "__init__.py", elsewhere)
