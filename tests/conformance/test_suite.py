"""The suite finds what is wrong with wrappers: each of its tests fails for a reason."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import jax.numpy as jnp
import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.testing.pair import Sides
from gymbridge_runtime.testing.side import Side
from typing_extensions import override

from gymbridge.testing import BridgeSuite, Pair
from tests.generator.command import GENERATOR, OWN_SPEC, RUNTIME, gymbridge, python
from tests.libraries.torch import torch
from tests.runtime.fake_library import described
from tests.support import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from tests.environments.bridges import Value


class Suite(BridgeSuite):
    """Pytest does not collect these tests: the tests below call them."""

    __test__ = False
    libraries = LIBRARIES


def pair(source: str, target: str) -> Pair:
    found = {(each.source, each.target): each for each in BridgeSuite.pairs}
    return found[source, target]


@dataclass(frozen=True)
class Broken(Pair):
    """A pair with a faulty converter."""

    spoil: Value = field(default=None, hash=False)

    @override
    def convert(self, value: object, *, copy: bool | None = None) -> object:
        return self.spoil(super().convert, value, copy)


def broken(source: str, target: str, spoil: Callable[..., object]) -> Broken:
    whole = pair(source, target)
    return Broken(whole.package, source, target, whole.wrapper, whole.forms, spoil)


def mapped(tree: Value, leaf: Callable[[Value], Value]) -> Value:
    if isinstance(tree, dict):
        return {key: mapped(value, leaf) for key, value in tree.items()}
    if isinstance(tree, list):
        return [mapped(value, leaf) for value in tree]
    return leaf(tree)


def doubles(convert: Value, value: Value, copy: Value) -> Value:
    return mapped(
        convert(value, copy=copy), lambda leaf: leaf.double() if torch.is_tensor(leaf) else leaf
    )


def doubles_copies(convert: Value, value: Value, copy: Value) -> Value:
    return (doubles if copy else plainly)(convert, value, copy)


def flattens(convert: Value, value: Value, copy: Value) -> Value:
    return mapped(
        convert(value, copy=copy), lambda leaf: leaf.reshape(-1) if torch.is_tensor(leaf) else leaf
    )


def wraps_around(convert: Value, value: Value, copy: Value) -> Value:
    try:
        return convert(value, copy=copy)
    except ConversionError:
        return 0


def takes_bools_for_arrays(convert: Value, value: Value, copy: Value) -> Value:
    found = convert(value, copy=copy)
    return torch.tensor(found) if found is True else found


def leaves_numbers(convert: Value, value: Value, copy: Value) -> Value:
    numbers = isinstance(value, dict) and isinstance(value.get("number"), (int, float))
    return value if numbers else convert(value, copy=copy)


def sorts_keys(convert: Value, value: Value, copy: Value) -> Value:
    found = convert(value, copy=copy)
    return dict(sorted(found.items(), key=repr)) if isinstance(found, dict) else found


def copies_its_own(convert: Value, value: Value, copy: Value) -> Value:
    return mapped(
        convert(value, copy=copy), lambda leaf: leaf.clone() if torch.is_tensor(leaf) else leaf
    )


def ends_cycles(convert: Value, value: Value, copy: Value) -> Value:
    return None if isinstance(value, dict) and "again" in value else convert(value, copy=copy)


def aliases(convert: Value, value: Value, copy: Value) -> Value:
    return jnp.from_dlpack(value) if isinstance(value, np.ndarray) else convert(value, copy=copy)


def always_shares(convert: Value, value: Value, copy: Value) -> Value:
    del copy
    return convert(value, copy=None)


def always_copies(convert: Value, value: Value, copy: Value) -> Value:
    del copy
    return convert(value, copy=True)


def writes_through(convert: Value, value: Value, copy: Value) -> Value:
    is_jax = type(value).__module__.startswith("jax")
    return torch.utils.dlpack.from_dlpack(value) if is_jax else convert(value, copy=copy)


def writes_when_sharing(convert: Value, value: Value, copy: Value) -> Value:
    return (writes_through if copy is False else plainly)(convert, value, copy)


def plainly(convert: Value, value: Value, copy: Value) -> Value:
    return convert(value, copy=copy)


def keeps_its_own(convert: Value, value: Value, copy: Value) -> Value:
    return value if torch.is_tensor(value) else convert(value, copy=copy)


def forgets_where_it_is(convert: Value, value: Value, copy: Value) -> Value:
    return convert(value["a"], copy=copy)


def writes_into_what_it_copies(convert: Value, value: Value, copy: Value) -> Value:
    return (writes_into_its_source if copy else plainly)(convert, value, copy)


def writes_into_its_source(convert: Value, value: Value, copy: Value) -> Value:
    found = convert(value, copy=copy)
    value["a"][...] = 0
    return found


def passes(run: Callable[..., object], *arguments: object) -> None:
    """Run a test of the suite; fail if it is skipped."""
    try:
        run(*arguments)
    except pytest.skip.Exception as skipped:
        pytest.fail(f"skipped: {skipped}")


@pytest.mark.parametrize(
    ("test", "source", "target", "spoil"),
    [
        ("arrays_keep_dtype_shape_and_every_bit", "numpy", "torch", doubles),
        ("arrays_keep_dtype_shape_and_every_bit", "numpy", "torch", flattens),
        ("integers_keep_their_value_or_are_refused", "numpy", "jax", wraps_around),
        ("integers_keep_their_value_or_are_refused", "numpy", "torch", doubles),
        ("numbers_keep_their_value", "numpy", "torch", leaves_numbers),
        ("numbers_keep_their_value", "numpy", "torch", flattens),
        ("other_values_stay_themselves", "numpy", "torch", takes_bools_for_arrays),
        ("containers_keep_type_keys_and_order", "numpy", "torch", sorts_keys),
        ("arrays_of_the_target_are_returned_themselves", "numpy", "torch", copies_its_own),
        ("a_container_that_contains_itself_is_an_error", "numpy", "torch", ends_cycles),
        ("a_snapshot_does_not_change_when_its_source_is_overwritten", "numpy", "jax", aliases),
        (
            "a_snapshot_does_not_change_when_its_source_is_overwritten",
            "numpy",
            "torch",
            always_shares,
        ),
        ("memory_is_shared_where_both_libraries_allow", "numpy", "torch", always_copies),
        ("immutable_memory_is_never_written", "jax", "torch", writes_through),
        ("immutable_memory_is_never_written", "jax", "torch", writes_when_sharing),
        ("copy_true_copies", "torch", "numpy", always_shares),
        ("copy_true_copies", "numpy", "torch", keeps_its_own),
        ("copy_false_shares_or_names_the_leaf", "numpy", "jax", forgets_where_it_is),
        ("copy_false_shares_or_names_the_leaf", "torch", "numpy", always_copies),
        ("a_round_trip_keeps_every_common_dtype", "numpy", "torch", doubles),
        ("a_round_trip_keeps_every_common_dtype", "numpy", "torch", doubles_copies),
        ("a_conversion_does_not_change_its_source", "numpy", "torch", writes_into_its_source),
        ("a_conversion_does_not_change_its_source", "numpy", "torch", writes_into_what_it_copies),
    ],
)
def test_every_conversion_test_fails_for_its_own_fault(
    test: str, source: str, target: str, spoil: Callable[..., object]
) -> None:
    run = getattr(Suite(), f"test_{test}")
    passes(run, pair(source, target))
    with pytest.raises(AssertionError):
        run(broken(source, target, spoil))


@dataclass(frozen=True)
class Returning(Pair):
    """A pair with a fault on the way back with copies."""

    @override
    def convert_back(self, value: object, *, copy: bool | None = None) -> object:
        found: Value = super().convert_back(value, copy=copy)
        return {**found, "array": found["array"].astype(object)} if copy else found


def test_round_trips_are_tested_with_copies_in_both_directions() -> None:
    whole = pair("numpy", "torch")
    run = Suite().test_a_round_trip_keeps_every_common_dtype
    with pytest.raises(AssertionError, match=r"bool of shape \(\)\['array'\]: expected "):
        run(Returning(whole.package, "numpy", "torch", whole.wrapper, whole.forms))


def test_two_libraries_without_a_common_dtype_fail_the_round_trip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Suite().test_a_round_trip_keeps_every_common_dtype
    monkeypatch.setattr(Side, "keeps", lambda *_: False)
    with pytest.raises(AssertionError, match=r"numpy and torch have no dtype in common"):
        run(pair("numpy", "torch"))


def test_round_trips_skip_dtypes_that_only_one_library_has() -> None:
    passes(Suite().test_a_round_trip_keeps_every_common_dtype, pair("numpy", "jax"))


@dataclass(frozen=True)
class Careless(Pair):
    """A pair with faulty wrappers."""

    change: Value = field(default=None, hash=False)

    @override
    def wrap(self, form: str, env: Value, **options: object) -> Value:
        agent: Value = super().wrap(form, env, **options)
        self.change(agent, env)
        return agent


def careless(change: Callable[[Value, Value], None]) -> Careless:
    whole = pair("numpy", "torch")
    return Careless(whole.package, "numpy", "torch", whole.wrapper, whole.forms, change)


def passes_actions_on(agent: Value, env: Value) -> None:
    def step(action: Value) -> Value:
        return env.step(np.asarray(action.numpy() if torch.is_tensor(action) else action))

    agent.step = step


def samples_for_the_environment(agent: Value, env: Value) -> None:
    agent.sample_action = env.action_space.sample


def forgets(agent: Value, env: Value) -> None:
    del env
    agent._saved_kwargs = {}


@pytest.mark.parametrize(
    ("test", "change"),
    [
        ("actions_arrive_as_the_space_samples_them", passes_actions_on),
        ("sample_action_returns_the_agents_arrays", samples_for_the_environment),
        ("a_spec_restores_the_wrapper", forgets),
    ],
)
def test_every_wrapper_test_fails_for_its_own_fault(
    test: str, change: Callable[[Value, Value], None]
) -> None:
    run = getattr(Suite(), f"test_{test}")
    passes(run, pair("numpy", "torch"), "single")
    with pytest.raises(AssertionError):
        run(careless(change), "single")


def test_a_shared_action_is_found() -> None:
    run = Suite().test_an_environment_and_its_agent_do_not_share_an_action
    passes(run, pair("numpy", "torch"))
    with pytest.raises(AssertionError):
        run(careless(passes_actions_on))


def shows_actions(agent: Value, env: Value) -> None:
    def step(action: Value) -> Value:
        seen = action.numpy()
        seen.flags.writeable = False
        return env.step(seen)

    agent.step = step


def test_an_action_that_is_a_read_only_view_is_found() -> None:
    run = Suite().test_an_environment_and_its_agent_do_not_share_an_action
    with pytest.raises(AssertionError):
        run(careless(shows_actions))


@dataclass(frozen=True)
class Wrapping(Pair):
    """A pair whose wrappers get extra arguments."""

    options: Value = field(default=None, hash=False)

    @override
    def wrap(self, form: str, env: object, **options: object) -> Value:
        return super().wrap(form, env, **self.options, **options)


@pytest.mark.parametrize("form", ["single", "vector", "parallel", "batched"])
@pytest.mark.parametrize(
    ("test", "copy"),
    [
        ("stored_values_never_change", False),
        ("a_fresh_array_is_shared_and_a_kept_one_is_copied", False),
        ("a_fresh_array_is_shared_and_a_kept_one_is_copied", True),
    ],
)
def test_wrappers_that_share_or_copy_everything_are_found(test: str, copy: bool, form: str) -> None:
    whole = pair("numpy", "torch")
    run = getattr(Suite(), f"test_{test}")
    passes(run, whole, form)
    wrong = Wrapping(whole.package, "numpy", "torch", whole.wrapper, whole.forms, {"copy": copy})
    with pytest.raises(AssertionError):
        run(wrong, form)


# -- parametrisation -------------------------------------------------------------------------------


class Asked:
    """A stand-in for pytest's `Metafunc` that records the parameters."""

    def __init__(self, *fixturenames: str) -> None:
        self.fixturenames = fixturenames
        self.names: Value = None
        self.cases: list[Value] = []
        self.ids: list[str] = []

    def parametrize(self, names: Value, cases: Value, *, ids: Value) -> None:
        self.names, self.cases = names, list(cases)
        self.ids = [ids(case) for case in cases] if callable(ids) else ids


@pytest.mark.parametrize("forms", [None, ["vector"], ["single", "parallel"]])
def test_tests_run_for_all_pairs_and_forms_of_a_suite(forms: list[str] | None) -> None:
    suite: Value = type("Told", (Suite,), {"pairs": [pair("numpy", "torch")], "forms": forms})()
    both, one, none = Asked("pair", "form"), Asked("pair"), Asked("tmp_path")
    for asked in (both, one, none):
        suite.pytest_generate_tests(asked)
    found = forms or ["single", "vector", "parallel", "batched"]
    assert both.names == ("pair", "form")
    assert both.cases == [(pair("numpy", "torch"), form) for form in found]
    assert both.ids == [f"numpy_to_torch-{form}" for form in found]
    assert (one.names, one.cases, one.ids) == (
        "pair",
        [pair("numpy", "torch")],
        ["numpy_to_torch"],
    )
    assert none.names is None


# -- missing libraries and dtypes ---------------------------------------------------------------


def test_a_missing_library_skips_the_tests_of_its_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("gymbridge", "gymbridge_runtime"):
        monkeypatch.delitem(sys.modules, f"{package}.backends.torch", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(pytest.skip.Exception, match="which is not installed; run: pip install"):
        pair("numpy", "torch").sides({}, required=["numpy"])
    with pytest.raises(pytest.fail.Exception, match="the suite was told that torch has to be"):
        pair("numpy", "torch").sides({}, required=["torch"])


def test_an_unusable_library_skips_the_tests_of_its_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Side, "why_unusable", lambda one: f"no memory for {one.title}")
    with pytest.raises(pytest.skip.Exception, match="no memory for NumPy"):
        pair("numpy", "torch").sides({}, required=[])
    with pytest.raises(pytest.fail.Exception, match="no memory for NumPy; the suite was told"):
        pair("numpy", "torch").sides({}, required=["numpy"])


def test_a_suite_may_describe_how_arrays_are_made() -> None:
    class Sevens:
        def make(self, values: Value) -> Value:
            return np.full_like(values, 7)

        values = address = make

    sides = pair("numpy", "torch").sides({"numpy": Sevens()}, required=[])
    made: list[Value] = [side.make(np.zeros(2)) for side in (sides.source, sides.target)]
    assert [array.tolist() for array in made] == [[7, 7], [0, 0]]


def test_both_directions_of_a_pair_obey_copy_true() -> None:
    both = pair("numpy", "torch")
    array, tensor = np.zeros(3), torch.zeros(3)
    there: Value = both.convert(array, copy=True)
    back: Value = both.convert_back(tensor, copy=True)
    array += 1
    tensor += 1
    assert there.tolist() == back.tolist() == [0, 0, 0]


def test_a_pair_without_single_wrappers_skips_the_test_of_actions() -> None:
    vectors = replace(pair("numpy", "torch"), forms={"vector": "vector"})
    with pytest.raises(pytest.skip.Exception, match="no wrappers for single environments"):
        Suite().test_an_environment_and_its_agent_do_not_share_an_action(vectors)


@dataclass(frozen=True)
class Poor(Pair):
    """A pair whose source has few dtypes."""

    dtypes: ClassVar[list[str]] = ["float32", "int64"]

    @override
    def sides(self, libraries: Value, required: Value) -> Sides:
        sides = super().sides(libraries, required)
        backend = described(dtypes=self.dtypes)
        return Sides(Side(backend, LIBRARIES["numpy"]), sides.target)


@pytest.mark.usefixtures("fake")
def test_integers_are_tested_only_in_dtypes_of_the_source() -> None:
    whole = pair("numpy", "jax")
    asked: list[str] = []

    @dataclass(frozen=True)
    class Asking(Poor):
        @override
        def convert(self, value: Value, *, copy: bool | None = None) -> object:
            asked.append(str(value["a"][0].dtype))
            return super().convert(value, copy=copy)

    poor = Asking(whole.package, "numpy", "jax", whole.wrapper, whole.forms)
    Suite().test_integers_keep_their_value_or_are_refused(poor)
    assert asked == ["int64"]


@pytest.mark.usefixtures("fake")
def test_a_source_without_integers_skips_the_test_of_integers() -> None:
    whole = pair("numpy", "jax")

    @dataclass(frozen=True)
    class Floating(Poor):
        dtypes: ClassVar[list[str]] = ["float32"]

    floating = Floating(whole.package, "numpy", "jax", whole.wrapper, whole.forms)
    with pytest.raises(pytest.skip.Exception, match="numpy has no integers"):
        Suite().test_integers_keep_their_value_or_are_refused(floating)


@dataclass(frozen=True)
class ToFew(Broken):
    """A pair whose target has few dtypes."""

    @override
    def sides(self, libraries: Value, required: Value) -> Sides:
        return Sides(super().sides(libraries, required).source, Side(described(dtypes=["int8"])))

    @override
    def convert(self, value: object, *, copy: bool | None = None) -> object:
        return self.spoil(Converter(described(dtypes=["int8"]), copy=copy), value)


@pytest.mark.usefixtures("fake")
def test_missing_dtypes_of_a_target_must_be_refused_with_a_path() -> None:
    whole = pair("numpy", "torch")

    def to_few(spoil: Callable[..., object]) -> ToFew:
        return ToFew(whole.package, "numpy", "torch", whole.wrapper, whole.forms, spoil)

    def named(convert: Value, value: Value) -> object:
        return convert(value)

    def unnamed(convert: Value, value: Value) -> object:
        return convert(value["leaf"] if isinstance(value, dict) else value)

    def unrefused(_convert: Value, _value: Value) -> object:
        return None

    run = Suite().test_arrays_keep_dtype_shape_and_every_bit
    passes(run, to_few(named))
    with pytest.raises(AssertionError, match="bool of shape"):
        run(to_few(unnamed))
    with pytest.raises(AssertionError, match=r"bool of shape .* became"):
        run(to_few(unrefused))


def test_a_dtype_that_the_library_cannot_make_is_reported(fake: ModuleType) -> None:
    def refuse(producer: object) -> object:
        raise TypeError(f"not {producer}")

    fake.__dict__["from_dlpack"] = refuse
    with pytest.raises(AssertionError, match=r"^Fake is said to have arrays of float32 and of"):
        Side(described()).refuses(np.zeros(3, np.float32))
    assert Side(described(dtypes=["int8"])).refuses(np.zeros(3, np.float32))


# -- a user's package -----------------------------------------------------------------------------

TWO_LINES = """\
from mine.bridges.testing import BridgeSuite
class TestBridges(BridgeSuite): ...
"""


@pytest.fixture
def mine(project: Path) -> Path:
    (project / "my.toml").write_text(
        OWN_SPEC + '[matrix]\nbackends = ["strict", "numpy"]\n', encoding="utf-8"
    )
    assert gymbridge("generate", cwd=project).returncode == 0
    (project / "src/mine/__init__.py").touch()
    (project / "test_bridges.py").write_text(TWO_LINES, encoding="utf-8")
    return project


def run_pytest(folder: Path, *arguments: str) -> str:
    path = [folder / "src", GENERATOR, RUNTIME]
    done = python("-m", "pytest", "-q", "-rs", *arguments, cwd=folder, path=path)
    return done.stdout + done.stderr


def test_two_lines_test_the_pairs_of_a_user(mine: Path) -> None:
    said = run_pytest(mine, "test_bridges.py")
    assert " passed" in said
    assert " failed" not in said
    assert "strict_to_numpy-vector" in run_pytest(mine, "--collect-only", "test_bridges.py")


@pytest.mark.slow
def test_a_wrong_fact_in_a_spec_is_found(mine: Path) -> None:
    spec = mine / "my.toml"
    wrong = '[backend.dlpack]\ndtypes = ["float16", "float32"]\n[matrix]'
    text = spec.read_text(encoding="utf-8").replace("[matrix]", wrong)
    spec.write_text(text, encoding="utf-8")
    assert gymbridge("generate", cwd=mine).returncode == 0
    said = run_pytest(mine, "test_bridges.py", "-k", "test_arrays_keep_dtype")
    assert " failed" in said
    assert "array-api-strict is said to have arrays of float16" in said


@pytest.mark.slow
def test_missing_libraries_are_skipped_unless_they_are_required(mine: Path) -> None:
    (mine / "conftest.py").write_text(
        "import sys\nsys.modules['array_api_strict'] = None\n", encoding="utf-8"
    )
    said = run_pytest(mine, "test_bridges.py")
    assert " passed" not in said
    assert " skipped" in said
    assert "run: pip install 'array-api-strict'" in said
    (mine / "test_bridges.py").write_text(
        TWO_LINES.replace("...", "required = ['strict']"), encoding="utf-8"
    )
    said = run_pytest(mine, "test_bridges.py")
    assert "the suite was told that strict has to be there" in said
    assert " skipped" not in said
