"""The hover texts of wrappers and converters are correct."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gymbridge_generator import naming
from gymbridge_generator.load import parse
from gymbridge_generator.resources import shipped_spec
from tests.support import require
from tests.typing.language_server import LanguageServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gymbridge_generator.model import Backend

SELECTION = parse(shipped_spec().read_text(encoding="utf-8"), "backends.toml")
SCRIPT = """\
from gymbridge import {wrapper} as One_{forward}
from gymbridge.vector import {wrapper} as Many_{forward}
from gymbridge.{forward} import {forward} as convert_{forward}
one_{forward} = One_{forward}(gym.make("CartPole-v1"))
one_{forward}.reset(seed=1)
one_{forward}.step(one_{forward}.sample_action())
infer_{forward} = One_{forward}.infer
many_{forward} = Many_{forward}(gym.make_vec("CartPole-v1"))
many_{forward}.reset(seed=1)
many_{forward}.step(many_{forward}.sample_action())
infers_{forward} = Many_{forward}.infer
array_{forward} = convert_{forward}(1.5)
arrays_{forward} = convert_{forward}({{"a": 1.5}})
"""


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    for name in ("pyright", "torch", "jax", "mlx"):
        require(name)
    parts = [
        SCRIPT.format(wrapper=naming.wrapper(*pair), forward=naming.forward(*pair))
        for pair in SELECTION.pairs
    ]
    text = "import gymnasium as gym\n" + "".join(parts)
    with LanguageServer(tmp_path_factory.mktemp("editor"), text) as server:
        yield server


@pytest.fixture(params=SELECTION.pairs, ids=lambda pair: naming.forward(*pair))
def pair(request: pytest.FixtureRequest) -> tuple[Backend, Backend]:
    found: tuple[Backend, Backend] = request.param
    return found


def test_hovering_shows_the_types_of_constructors(
    editor: LanguageServer, pair: tuple[Backend, Backend]
) -> None:
    (source, target), name = pair, naming.forward(*pair)
    theirs = naming.Names.of(target)
    for form, env in (("One", "Env[Any, Any]"), ("Many", "VectorEnv[Any, Any, AnyType]")):
        shown = editor.hover(f"= {form}_{name}(", f"{form}_{name}")
        signature, _, text = shown.partition("\n\n")
        expected = [f"class {form}_{name}(", f"    env: {env},"]
        if target.device:
            expected.append(f"    device: {theirs.device} | None = None,")
        expected.append("    *,")
        if source.device:
            expected.append(f"    env_device: {naming.Names.of(source).device} | None = None,")
        expected += [
            "    copy: bool | None = None,",
            f"    float_dtype: {theirs.dtype} | None = None",
        ]
        assert signature.splitlines() == [*expected, ")"]
        assert text.startswith("Wrap ``env``.\n\nArgs:\n")
        assert f"    env: The environment; its arrays are of {source.title}.\n" in text
        # all parameters are documented, and nothing else
        explained = {line.partition(":")[0].strip() for line in text.splitlines() if ": " in line}
        given = {line.partition(":")[0].strip() for line in expected[1:] if ":" in line}
        assert explained == given


def test_hovering_shows_the_types_of_steps_and_resets(
    editor: LanguageServer, pair: tuple[Backend, Backend]
) -> None:
    name, theirs = naming.forward(*pair), naming.Names.of(pair[1])
    array, action = theirs.array, theirs.action or theirs.array
    assert editor.hover(f"one_{name}.step", "step") == (
        f"(method) def step(action: {action}) -> tuple[{array}, float, bool, bool, Info]\n\n"
        "Take one step.\n\n"
        "The environment receives ``action`` as its own ``action_space`` would have sampled it."
    )
    assert editor.hover(f"many_{name}.step", "step") == (
        f"(method) def step(\n    actions: {action},\n"
        f"    env_id: {array} | Sequence[int] | None = None\n"
        f") -> tuple[{array}, {array}, {array}, {array}, Info]\n\n"
        "Take one step in every environment.\n\n"
        "They receive ``actions`` as their own ``action_space`` would have sampled them. With\n"
        "EnvPool, ``env_id`` says which environments ``actions`` are for."
    )
    for form, seed in (("one", "int | None"), ("many", "int | Sequence[int | None] | None")):
        signature, _, text = editor.hover(f"{form}_{name}.reset", "reset").partition("\n\n")
        assert signature.splitlines() == [
            "(method) def reset(",
            *([] if form == "one" else [f"    env_id: {array} | Sequence[int] | None = None,"]),
            "    *,",
            f"    seed: {seed} = None,",
            "    options: Info | None = None",
            f") -> tuple[{array}, Info]",
        ]
        assert text.startswith("Start an episode")
        assert "``seed`` is passed on" in " ".join(text.split())


def test_hovering_shows_inferred_types(
    editor: LanguageServer, pair: tuple[Backend, Backend]
) -> None:
    name, wrapper = naming.forward(*pair), naming.wrapper(*pair)
    for form in ("One", "Many"):
        shown = editor.hover(f"{form}_{name}.infer", "infer")
        assert shown.count(f") -> {wrapper}[") == 8
        assert "returns an environment of unknown type" in " ".join(shown.split())
        assert "Unknown" not in shown


def test_hovering_shows_the_types_of_converters(
    editor: LanguageServer, pair: tuple[Backend, Backend]
) -> None:
    (source, target), name = pair, naming.forward(*pair)
    array = naming.Names.of(target).array
    plain = editor.hover(f"convert_{name}(1.5)", f"convert_{name}")
    assert f") -> {array}\n\nConvert {source.title} arrays" in plain
    assert f"def convert_{name}(\n    value: {naming.Names.of(source).leaf},\n" in plain
    tree = editor.hover(f"convert_{name}({{", f"convert_{name}")
    assert f"-> dict[_KeyT@{name}, {array}]\n\nConvert " in tree
    assert f"The same containers with arrays of {target.title} in them." in tree
    assert editor.hover(f"array_{name} =", f"array_{name}") == f"(variable) array_{name}: {array}"
    assert editor.hover(f"arrays_{name} =", f"arrays_{name}") == (
        f"(variable) arrays_{name}: dict[str, {array}]"
    )
