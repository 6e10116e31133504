"""A huge, malformed or hostile spec gives a short error, quickly."""

from __future__ import annotations

import json
import os
import sys
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gymbridge_generator.errors import GeneratorError, SpecError
from gymbridge_generator.load import load, parse
from gymbridge_generator.locate import line_of
from gymbridge_generator.plan import plan
from gymbridge_generator.reading import LARGEST
from gymbridge_generator.render import render
from gymbridge_generator.resources import shipped_spec, templates
from tests.generator.command import GENERATOR, OWN_SPEC, RUNTIME, gymbridge, python

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = shipped_spec().read_text(encoding="utf-8")
DEEP = 20_000


def errors(text: str) -> list[str]:
    """Return the lines of the error; fail if one is long or holds escape codes."""
    with pytest.raises(SpecError) as caught:
        parse(text, "my.toml")
    lines = str(caught.value).split("\n")
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 600
    assert len(lines) < 60
    return lines[1:]


def backend(name: str, more: str = "") -> str:
    return f'[[backend]]\nname = "{name}"\ntitle = "A"\nmodule = "a"\narray = "a.A"\n{more}\n'


# -- malformed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"a = {'[' * DEEP}", "1: is nested too deeply"),
        (f"a = {'{a=' * DEEP}", "1: is nested too deeply"),
        (f"spec_version = {'1' * 5000}", "1: has a number with too many digits"),
        (f"spec_version = 0x{'f' * 5000}", "1: spec_version: Unable to parse"),
        (
            "spec_version = 1\n" + backend("mine", f"extra = 0x{'f' * 5000}"),
            f"7: backend[0].extra: 0x{'f' * 35}...{'f' * 38} is of the wrong kind; use text",
        ),
        ('spec_version = 1\n"\\u001b[2J\\r" = 1', r"2: '\x1b[2J\r': unknown key; allowed are"),
        (
            f"spec_version = 1\n{'a' * 5000} = 1",
            f"2: '{'a' * 37}...{'a' * 38}': unknown key; allowed are",
        ),
        ("spec_version = 1\n'' = 1", "2: '': unknown key; allowed are"),
        (f"spec_version = 1\n{'a' * 80} = 1", f"2: {'a' * 80}: unknown key; allowed are"),
        ("spec_version = 1\ncolour-2 = 1", "2: colour-2: unknown key; allowed are"),
        ("a = 1\rb = 2", "1: not TOML: "),
        ("a = \x1b[2J", "1: not TOML: invalid value at column 5"),
        ("a = '\x00'", r"1: not TOML: found invalid character '\x00' at column 6"),
        ("spec_version = 1979-05-27T07:32:00Z", "1: spec_version: datetime.datetime(1979, 5, 27"),
        ("spec_version = nan", "1: spec_version: nan is not allowed; use 1"),
    ],
)
def test_malformed_specs_are_errors_with_a_line(text: str, message: str) -> None:
    assert errors(text)[0].startswith(f"my.toml:{message}")


@pytest.mark.parametrize("depth", [50, 200])
def test_deeply_nested_values_are_accepted(depth: int) -> None:
    text = f"spec_version = {'[' * depth}{']' * depth}\n[matrix]\nbackends = 1"
    assert errors(text)[1].startswith("my.toml:3: matrix.backends: 1 is of the wrong kind")


def test_very_deep_keys_are_refused() -> None:
    text = f"spec_version = 1\n{'.'.join('a' * 1001)} = 1\n"
    assert errors(text)[0].startswith("my.toml:2: a: unknown key")
    text = f"spec_version = 1\n{'.'.join('a' * DEEP)} = 1\n"
    assert errors(text) == ["my.toml:2: has more than 1000 dots; break the line"]


def test_deep_expressions_are_refused() -> None:
    for text in ("(" * 200, "a[" * 100, "-" * 200, "a." * 100, "a|" * 100, "[" * 199):
        message = errors(f"spec_version = 1\n{backend('mine', f'dtype = {text!r}')}")[0]
        assert message.startswith("my.toml:7: backend[0].dtype: '")
        assert "is not a type expression" in message


def test_lines_are_counted_as_editors_do() -> None:
    text = "# \u2028 \u0085 \x0c\nspec_version = 2\r\ncolour = 1\r\n".replace("\x0c", "")
    assert [line.split(": ")[0] for line in errors(text)] == ["my.toml:2", "my.toml:3"]


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(b"\xef\xbb\xbf" + OWN_SPEC.replace("\n", "\r\n").encode())
    assert load(path) == parse(OWN_SPEC, "my.toml")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff", "{path}:1: is not UTF-8; name a spec with --spec"),
        (b"\n\xff\n\n", "{path}:2: is not UTF-8; name a spec with --spec"),
        (b"a = 1\nb = '\xff'\n", "{path}:2: is not UTF-8; name a spec with --spec"),
        ("a = 1".encode("utf-16"), "{path}:1: is not UTF-8; name a spec with --spec"),
        (
            b"#" * (LARGEST + 1),
            "{path}: is too large; the most that is read is 262144 bytes; name a spec with --spec",
        ),
    ],
)
def test_files_that_are_no_utf_8_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(data)
    with pytest.raises(GeneratorError) as caught:
        load(path)
    assert str(caught.value) == message.format(path=path)


def test_a_spec_of_the_largest_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text(OWN_SPEC + "#" * (LARGEST - len(OWN_SPEC)), encoding="utf-8")
    assert load(path) == parse(OWN_SPEC, "my.toml")


def test_a_folder_instead_of_a_spec_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GeneratorError) as caught:
        load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: Is a directory; name a spec with --spec"


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_an_endless_file_is_refused(tmp_path: Path) -> None:
    done = gymbridge("list", "--spec", "/dev/zero", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gymbridge: /dev/zero: is too large")


def test_settings_that_are_no_utf_8_are_an_error(project: Path) -> None:
    (project / "pyproject.toml").write_bytes(b"[tool.gymbridge]\nout = '\xff'\n")
    done = gymbridge("generate", cwd=project)
    file = project / "pyproject.toml"
    assert (done.returncode, done.stderr) == (2, f"gymbridge: {file}:2: is not UTF-8\n")


def test_a_null_byte_in_a_path_of_the_settings_is_an_error(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.gymbridge]\nout = "a\\u0000b"\n', "utf-8")
    done = gymbridge("generate", cwd=project)
    assert done.returncode == 2
    assert "tool.gymbridge.out: 'a\\x00b' is of the wrong kind" in done.stderr


# -- huge -----------------------------------------------------------------------------------------


def test_only_the_first_of_many_errors_are_shown() -> None:
    text = "".join(f"key{number} = {number}\n" for number in range(5000))
    with pytest.raises(SpecError, match=r"\A5001 errors in the spec\n"):
        parse(text, "my.toml")
    lines = errors(text)
    assert lines[0].startswith("my.toml:1: spec_version: is missing")
    assert lines[1].startswith("my.toml:1: key0: unknown key")
    assert lines[-1] == "and 4951 more"


def test_too_many_libraries_are_one_error() -> None:
    text = "spec_version = 1\n" + "".join(backend(f"a{number}") for number in range(5000))
    assert errors(text)[0] == "my.toml:2: backend: has too many items; give at most 64"


def test_a_key_is_found_at_the_end_of_a_large_file() -> None:
    text = "".join(f'[[matrix.x]]\na = "{"b" * 40}"\n' for _ in range(1500)) + "[last]\nkey = 1\n"
    assert line_of(text, ("last", "key")) == 3002
    assert line_of(text, ("matrix", "x", 1200, "a")) == 2402


def test_a_value_with_very_many_lines_is_located_in_time() -> None:
    nested = "[[[\n" + "1,\n" * 50_000 + "]]]\n"
    text = f"spec_version = 1\ncolour = {nested}[matrix]\nforms = 1\n"
    assert line_of(text, ("matrix", "forms")) >= 50_000


def test_too_many_pairs_are_one_error() -> None:
    pairs = ", ".join(['["numpy", "torch"]'] * 5000)
    text = f'spec_version = 1\nextends = ["gymbridge"]\n[matrix]\npairs = [{pairs}]\n'
    assert errors(text) == [
        "my.toml:4: matrix.pairs: has too many items; give at most 4096",
    ]


# -- names of files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["aux", "con", "nul", "prn", "com1", "lpt9"])
def test_device_names_of_windows_are_refused(name: str) -> None:
    assert errors(f"spec_version = 1\n{backend(name)}")[0] == (
        f"my.toml:3: backend[0].name: {name!r} is a device on Windows, and no file; use another "
        "name"
    )


def test_no_two_file_names_differ_only_in_case() -> None:
    for text in (SHIPPED, OWN_SPEC):
        paths = [path.lower() for path in render(plan(parse(text, "x")), templates(), "x")]
        assert len(set(paths)) == len(paths)


# -- code -----------------------------------------------------------------------------------------


def test_modules_named_in_a_spec_are_never_imported(project: Path) -> None:
    (project / "trap.py").write_text("open('sprung', 'w').close()\n", encoding="utf-8")
    (project / "my.toml").write_text(
        'spec_version = 1\nextends = ["gymbridge"]\n'
        '[[backend]]\nname = "trap"\ntitle = "Trap"\nmodule = "trap"\narray = "trap.Array"\n'
        'imports = ["import trap"]\nruntime = "trap:TRAP"\n',
        encoding="utf-8",
    )
    for command in (["list"], ["generate"], ["check"]):
        done = gymbridge(*command, cwd=project, path=(GENERATOR, RUNTIME, project))
        assert (done.returncode, done.stderr) == (0, "")
    assert not (project / "sprung").exists()
    use = "import bridges.backends.trap"
    python("-c", use, cwd=project, path=(GENERATOR, RUNTIME, project, project / "src/mine"))
    assert (project / "sprung").exists(), "importing what was generated is what imports it"


# -- random specs ---------------------------------------------------------------------------------

NAMES = st.from_regex(r"[a-z_./\\A-Z0-9]{1,12}", fullmatch=True) | st.sampled_from(
    ["../evil", "/etc/evil", "__init__", "vector", "backends", "con", "a_to_b", "numpy", "a", "b"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=3))
def test_no_library_name_moves_a_file_out_of_its_folder(
    libraries: list[tuple[str, str]],
) -> None:
    entries = "".join(
        backend("", f"class_name = {json.dumps(part)}").replace('""', json.dumps(name), 1)
        for name, part in libraries
    )
    try:
        selection = parse(f'spec_version = 1\nextends = ["gymbridge"]\n{entries}', "my.toml")
    except SpecError:
        return
    for path in render(plan(selection), templates(), "my.toml"):
        folders = PurePosixPath(path).parts[:-1]
        assert folders in {(), ("backends",), ("converters",), ("vector",)}
        assert os.path.normpath(path) == path


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_damaged_spec_works_or_is_refused(data: st.DataObject) -> None:
    """Parts of the spec are removed, repeated or replaced."""
    text = SHIPPED
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        put = data.draw(
            st.sampled_from(["", '"', "[", "]", "[[", "=", "\n", "1", "{", "'''", "a.b = 1\n"])
            | st.text(max_size=5)
            | st.just(text[start:end] * 2)
        )
        text = text[:start] + put + text[end:]
    try:
        selection = parse(text, "my.toml")
    except SpecError:
        assert errors(text)
        return
    libraries = [page for page in plan(selection) if page.path.startswith("backends/")]
    assert render(libraries, templates(), "my.toml")
