"""Errors in a spec have a file and a line, and are reported together."""

from __future__ import annotations

import pytest

from gymbridge_generator.errors import SpecError
from gymbridge_generator.load import parse

FIVE_LINES = """\
spec_version = 1
extends = ["gymbridge"]

[[backend]]
name = "mine"
title = "Mine"
module = "mine"
array = "mine.Array"
distribution = "mine"
"""


def errors(text: str) -> list[str]:
    with pytest.raises(SpecError) as caught:
        parse(text, "my.toml")
    return str(caught.value).splitlines()[1:]


def changed(old: str, new: str) -> str:
    assert FIVE_LINES.count(old) == 1
    return FIVE_LINES.replace(old, new)


def test_a_backend_takes_five_lines() -> None:
    selection = parse(FIVE_LINES, "my.toml")
    pairs = {(a.name, b.name) for a, b in selection.pairs}
    others = {name for pair in pairs for name in pair} - {"mine"}
    assert others >= {"cupy", "jax", "mlx", "numpy", "torch"}
    assert pairs == {pair for name in others for pair in (("mine", name), (name, "mine"))}


NAME = "use lower-case letters, digits and underscores, a letter first, at most 24, and no keyword"
TYPE = "use names, dots, subscripts and |, as in torch.Tensor | list[int]"
IMPORT = "write it as in import numpy as np, or from jax import Array"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # keys
        (
            "spec_version = 1",
            "",
            "my.toml:1: spec_version: is missing; give the version of this format: 1",
        ),
        (
            'array = "mine.Array"\n',
            "",
            "my.toml:4: backend[0].array: is missing; give the type of its arrays at run time, "
            'beginning with the module: "torch.Tensor"',
        ),
        (
            'distribution = "mine"',
            "mutabel = true",
            "my.toml:9: backend[0].mutabel: unknown key; did you mean 'mutable'?",
        ),
        (
            "spec_version = 1",
            "spec_version = 1\ncolour = 1",
            "my.toml:2: colour: unknown key; allowed are backend, extends, matrix, package, "
            "spec_version",
        ),
        (
            'distribution = "mine"',
            "[backend.dlpack]\naligment = 8",
            "my.toml:10: backend[0].dlpack.aligment: unknown key; did you mean 'alignment'?",
        ),
        (
            'distribution = "mine"',
            '[backend.calls]\nto_nunpy = "mine.calls:to_numpy"',
            "my.toml:10: backend[0].calls.to_nunpy: unknown key; did you mean 'to_numpy'?",
        ),
        # kinds
        (
            'distribution = "mine"',
            "calls.item = 3",
            "my.toml:9: backend[0].calls.item: 3 is of the wrong kind; use text, in quotes",
        ),
        (
            'title = "Mine"',
            "title = 1",
            "my.toml:6: backend[0].title: 1 is of the wrong kind; use text, in quotes",
        ),
        (
            'distribution = "mine"',
            'typed = "no"',
            "my.toml:9: backend[0].typed: 'no' is of the wrong kind; use true or false, without "
            "quotes",
        ),
        (
            '["gymbridge"]',
            '"gymbridge"',
            "my.toml:2: extends: 'gymbridge' is of the wrong kind; use an array, in brackets",
        ),
        (
            'distribution = "mine"',
            'dlpack = "no"',
            "my.toml:9: backend[0].dlpack: 'no' is of the wrong kind; use a table",
        ),
        (
            'distribution = "mine"',
            "dlpack.max_ndim = 4.0",
            "my.toml:9: backend[0].dlpack.max_ndim: 4.0 is of the wrong kind; use a whole number",
        ),
        (
            'distribution = "mine"',
            'dlpack.start = "other.init"',
            "my.toml:9: backend[0].dlpack.start: 'other.init' is not in 'mine'; begin with the "
            "module",
        ),
        (
            'distribution = "mine"',
            'dlpack.device_within = "mine.device"',
            "my.toml:9: backend[0].dlpack: has one of device_within and device_copy; give both, or "
            "none",
        ),
        (
            'distribution = "mine"',
            'dlpack.dtypes = ["uint8"]\ndlpack.narrows.bool = "int8"',
            "my.toml:10: backend[0].dlpack.narrows.bool: 'int8' is none of its dtypes; name one of "
            "those",
        ),
        *(
            (
                'distribution = "mine"',
                f'calls.{call} = "{reference}"',
                f"my.toml:9: backend[0].calls.{call}: '{reference}' is not a reference; write it "
                "as in package.module:NAME",
            )
            for call in ("to_numpy", "from_numpy", "from_numpy_to", "from_numpy_many", "item")
            for reference in ("mine.calls", "mine.calls:to_numpy()", "mine:a.b", ":item")
        ),
        (
            'distribution = "mine"',
            'imports = ["from mine import to_numpy"]',
            "my.toml:9: backend[0].imports: 'from mine import to_numpy' binds 'to_numpy', which "
            "generated code does; use 'as'",
        ),
        (
            'distribution = "mine"',
            'dlpack.prepare = ["a.b"]',
            "my.toml:9: backend[0].dlpack.prepare[0]: 'a.b' is not a Python name",
        ),
        # values
        (
            "spec_version = 1",
            "spec_version = 2",
            "my.toml:1: spec_version: 2 is not allowed; use 1",
        ),
        (
            'name = "mine"',
            'name = "class"',
            f"my.toml:5: backend[0].name: 'class' is not a Python name; {NAME}",
        ),
        (
            'name = "mine"',
            'name = "Mine"',
            f"my.toml:5: backend[0].name: 'Mine' is not a Python name; {NAME}",
        ),
        (
            'name = "mine"',
            'name = "an_array_library_indeed"',
            "my.toml:5: backend[0].name: gives no class name: 'AnArrayLibraryIndeed' is not part "
            "of a class name; use letters and digits, a capital first, at most 16; or give a "
            "class_name",
        ),
        (
            'name = "mine"',
            'name = "type_checking"',
            "my.toml:5: backend[0].name: 'TYPE_CHECKING' is used by generated code; use another "
            "name",
        ),
        (
            'title = "Mine"',
            'title = ""',
            "my.toml:6: backend[0].title: '' is not a title; use letters, digits, spaces and any "
            "of .+_-, at most 24",
        ),
        (
            'title = "Mine"',
            'title = "Mine "',
            "my.toml:6: backend[0].title: 'Mine ' is not a title; use letters, digits, spaces and "
            "any of .+_-, at most 24",
        ),
        (
            'distribution = "mine"',
            'dlpack.dtypes = ["float32", "a b"]',
            "my.toml:9: backend[0].dlpack.dtypes[1]: 'a b' is not a Python name",
        ),
        (
            'title = "Mine"',
            'title = "Mine"\nclass_name = "mine"',
            "my.toml:7: backend[0].class_name: 'mine' is not part of a class name; use letters "
            "and digits, a capital first, at most 16",
        ),
        (
            'module = "mine"',
            'module = "mine/../x"',
            "my.toml:7: backend[0].module: 'mine/../x' is not a dotted Python name; write it as in "
            "torch.Tensor",
        ),
        (
            '"mine.Array"',
            '"other.Array"',
            "my.toml:8: backend[0].array: 'other.Array' is not in 'mine'; begin with the module",
        ),
        (
            'distribution = "mine"',
            'distribution = "mine; rm -rf /"',
            "my.toml:9: backend[0].distribution: 'mine; rm -rf /' is not something pip installs; "
            "write it as in mlx, mlx[cpu] or mlx>=0.32",
        ),
        (
            'distribution = "mine"',
            'extra = "Mine"',
            "my.toml:9: backend[0].extra: 'Mine' is not an extra; use lower-case letters, digits "
            "and dashes",
        ),
        (
            'distribution = "mine"',
            'runtime = "mine.gymbridge"',
            "my.toml:9: backend[0].runtime: 'mine.gymbridge' is not a reference; write it as in "
            "package.module:NAME",
        ),
        (
            'distribution = "mine"',
            'read_only = "maybe"',
            "my.toml:9: backend[0].read_only: 'maybe' is not allowed; use 'ignored', 'kept' or "
            "'refused'",
        ),
        (
            'distribution = "mine"',
            "dlpack.alignment = 0",
            "my.toml:9: backend[0].dlpack.alignment: 0 is too small; use at least 1",
        ),
        (
            'distribution = "mine"',
            "dlpack.max_ndim = 65",
            "my.toml:9: backend[0].dlpack.max_ndim: 65 is too large; use at most 64",
        ),
        # expressions
        (
            'distribution = "mine"',
            'device = "mine.device("',
            f"my.toml:9: backend[0].device: 'mine.device(' is not a type expression; {TYPE}",
        ),
        (
            'distribution = "mine"',
            'device = "np.device | str"',
            "my.toml:9: backend[0].device: 'np' is bound by none of the imports; add one that "
            "binds it",
        ),
        (
            'distribution = "mine"',
            'imports = [\n    "import mine",\n    "import a, b",\n]',
            f"my.toml:11: backend[0].imports[1]: 'import a, b' is not the import of one name; "
            f"{IMPORT}",
        ),
        (
            'distribution = "mine"',
            'imports = ["import mine", "from x import y as MineLeaf"]',
            "my.toml:9: backend[0].imports: 'from x import y as MineLeaf' binds 'MineLeaf', which "
            "generated code does; use 'as'",
        ),
        (
            'distribution = "mine"',
            'typed = false\nannotation = "int"',
            "my.toml:10: backend[0].annotation: stands beside typed = false, where signatures need "
            "none; leave it out",
        ),
        # duplicates
        (
            'distribution = "mine"',
            'distribution = "mine"\nextra = "mine"',
            "my.toml:9: backend[0].distribution: stands beside extra; give one of the two",
        ),
        (
            'distribution = "mine"',
            'runtime = "a.b:C"\n[backend.dlpack]\nzero_d = false',
            "my.toml:10: backend[0].dlpack: stands beside runtime, which knows all that; give one "
            "of the two",
        ),
        (
            'name = "mine"',
            'name = "torch"\nclass_name = "Mine"',
            "my.toml:5: backend[0].name: 'torch' is in an extended spec already; use another name",
        ),
        (
            'name = "mine"',
            'name = "mine"\nclass_name = "JAX"',
            "my.toml:6: backend[0].class_name: the class names of 'mine' and 'jax' would be the "
            "same but for case, 'JAX' and 'Jax'; give another class_name",
        ),
        # missing parts
        (
            '["gymbridge"]',
            '["gymbridge", "nobody"]',
            "my.toml:2: extends[1]: no spec 'nobody' is installed (known: gymbridge)",
        ),
    ],
)
def test_wrong_backends_are_errors_with_a_line(old: str, new: str, message: str) -> None:
    assert errors(changed(old, new)) == [message]


def test_functions_must_be_in_the_module_of_the_library() -> None:
    keys = ("device_copy", "device_parse", "device_within", "importer", "reinterpret", "start")
    lines = [f'dlpack.{key} = "other.{key}"' for key in keys]
    text = changed('distribution = "mine"', "\n".join(lines))
    assert errors(text) == [
        f"my.toml:{line}: backend[0].dlpack.{key}: 'other.{key}' is not in 'mine'; begin with the "
        "module"
        for line, key in enumerate(keys, start=9)
    ]


KNOWN = "(known: cupy, dpnp, jax, mine, mlx, numpy, paddle, pyarrow, tensorflow, torch, warp)"


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ('backends = ["mine", "tf"]', f"11: matrix.backends[1]: no backend 'tf' {KNOWN}"),
        (
            'backends = ["mine", "jax", "mine"]',
            "11: matrix.backends[2]: 'mine' is there already; leave it out",
        ),
        ('pairs = "some"', "11: matrix.pairs: 'some' is not allowed; use 'all'"),
        (
            "pairs = 5",
            "11: matrix.pairs: 5 is of the wrong kind; use an array, in brackets",
        ),
        (
            'pairs = [\n    ["mine", "jax"],\n    ["mine", "tf"],\n]',
            f"13: matrix.pairs[1][1]: no backend 'tf' {KNOWN}",
        ),
        (
            'pairs = [["mine"]]',
            "11: matrix.pairs[0][1]: is missing; give two names, the environment's library first",
        ),
        (
            'pairs = [["mine", "jax", "torch"]]',
            "11: matrix.pairs[0]: has too many items; give at most 2",
        ),
        (
            'pairs = [["mine", "mine"]]',
            "11: matrix.pairs[0]: pairs 'mine' with itself; name two libraries",
        ),
        (
            'pairs = [["mine", "jax"], ["mine", "jax"]]',
            "11: matrix.pairs[1]: ['mine', 'jax'] is there already; leave it out",
        ),
        (
            'backends = ["mine", "jax"]\npairs = [["mine", "torch"]]',
            "12: matrix.pairs[0][1]: no backend 'torch' (known: jax, mine)",
        ),
        (
            'backends = ["jax", "torch"]',
            '10: matrix: makes no wrapper; in a spec that extends others "all" means pairs with a '
            "backend of its own: add one, or name the pairs",
        ),
        (
            'forms = ["dual"]',
            "11: matrix.forms[0]: 'dual' is not allowed; use 'single', 'vector', 'parallel' or "
            "'batched'",
        ),
        ("forms = []", "11: matrix.forms: has too few items; give at least 1"),
        (
            'forms = ["single", "single"]',
            "11: matrix.forms[1]: 'single' is there already; leave it out",
        ),
    ],
)
def test_a_wrong_matrix_is_an_error_with_a_line(matrix: str, message: str) -> None:
    assert errors(f"{FIVE_LINES}[matrix]\n{matrix}\n") == [f"my.toml:{message}"]


def backend(name: str, class_name: str = "") -> str:
    extra = f'class_name = "{class_name}"\n' if class_name else ""
    return f'[[backend]]\nname = "{name}"\ntitle = "A"\nmodule = "a"\narray = "a.A"\n{extra}'


def test_two_libraries_with_the_same_file_are_an_error() -> None:
    text = (
        "spec_version = 1\n"
        + backend("a")
        + backend("a_to_b", "X")
        + backend("b_to_c", "Y")
        + backend("c")
        + '[matrix]\npairs = [["a", "b_to_c"], ["a_to_b", "c"]]\n'
    )
    assert errors(text) == [
        "my.toml:25: matrix.pairs: ['a', 'b_to_c'] and ['a_to_b', 'c'] would both be "
        "'a_to_b_to_c'; rename a backend"
    ]


def test_two_libraries_with_the_same_type_are_an_error() -> None:
    text = "spec_version = 1\n" + backend("mine") + backend("mine_env")
    assert errors(text)[0] == (
        "my.toml:1: matrix.pairs: 'mine' and 'mine_env' both define 'MineEnvActT'; give one "
        "another class_name"
    )


def test_two_backends_with_one_name_are_an_error() -> None:
    text = "spec_version = 1\n" + backend("mine") + backend("mine")
    assert errors(text) == [
        "my.toml:8: backend[1].name: 'mine' is in this spec already; use another name"
    ]


def test_two_names_with_one_class_name_are_an_error() -> None:
    text = "spec_version = 1\n" + backend("my_lib") + backend("mylib")
    assert errors(text) == [
        "my.toml:8: backend[1].name: the class names of 'mylib' and 'my_lib' would be the same but "
        "for case, 'Mylib' and 'MyLib'; give another class_name"
    ]


def test_all_errors_are_reported_together() -> None:
    text = changed('title = "Mine"', 'title = ""') + (
        '[[backend]]\nname = "jax"\ntitle = "J"\nmodule = "j"\narray = "k.J"\n'
        '[matrix]\nbackends = ["mine", "tf"]\n'
    )
    assert [line.split(": ")[0:2] for line in errors(text)] == [
        ["my.toml:6", "backend[0].title"],
        ["my.toml:11", "backend[1].name"],
        ["my.toml:14", "backend[1].array"],
        ["my.toml:16", "matrix.backends[1]"],
    ]


def test_the_number_of_errors_comes_first() -> None:
    with pytest.raises(SpecError, match=r"\A2 errors in the spec\n"):
        parse("a = 1\n", "my.toml")
    with pytest.raises(SpecError, match=r"\A1 error in the spec\n"):
        parse(f"{FIVE_LINES}[matrix]\nforms = []\n", "my.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = =\n", "my.toml:2: not TOML: invalid value at column 5"),
        ("a = 1\n\nb = [\n", "my.toml:3: not TOML: invalid value at the end of the file"),
        ("a = 1\na = 2\n", "my.toml:2: not TOML: cannot overwrite a value at column 6"),
        ("[matrix\n", "my.toml:1: not TOML: expected ']' at the end of a table declaration"),
    ],
)
def test_a_file_that_is_no_toml_is_an_error(text: str, message: str) -> None:
    assert errors(text)[0].startswith(message)
