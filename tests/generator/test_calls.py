"""Generated code calls the functions that a spec names in `[backend.calls]`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gymbridge_generator import resources
from gymbridge_generator.load import parse
from gymbridge_generator.model import Calls
from gymbridge_generator.plan import plan
from gymbridge_generator.render import render
from tests.generator.command import OWN_SPEC, RUNTIME, gymbridge, python
from tests.support import require

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ALL = tuple(Calls.model_fields)
FORMS = {"single": "", "vector": "vector/", "parallel": "parallel/", "batched": "batched/"}


def spec(calls: Iterable[str]) -> str:
    lines = [f'{call} = "mine.calls:my_{call}"' for call in calls]
    table = ["[backend.calls]", *lines] if lines else []
    matrix = ["[matrix]", 'backends = ["strict", "numpy", "jax", "torch"]', f"forms = {[*FORMS]}"]
    return OWN_SPEC + "\n".join(["", *table, "", *matrix, ""])


def rendered(calls: Iterable[str]) -> dict[str, str]:
    return render(plan(parse(spec(calls), "my.toml")), resources.templates(), "my.toml")


SUBSETS = {
    "none": (),
    "all": ALL,
    **{f"only {call}": (call,) for call in ALL},
    **{f"all but {call}": tuple(other for other in ALL if other != call) for call in ALL},
    "two": ("to_numpy", "from_numpy"),
    "two with a device": ("to_numpy", "from_numpy_to"),
}


@pytest.mark.parametrize("calls", SUBSETS.values(), ids=SUBSETS)
def test_every_call_is_optional(calls: tuple[str, ...], tmp_path: Path) -> None:
    """Every used name is bound, and every imported name is used."""
    for path, text in rendered(calls).items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("# ruff: noqa\n", ""), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select=F", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("calls", "to_strict", "from_strict"),
    [
        ((), False, False),
        (("to_numpy",), False, True),
        (("from_numpy",), True, False),
        (("from_numpy_to",), True, False),
        (("from_numpy_many", "item"), False, False),
        (("to_numpy", "from_numpy"), True, True),
    ],
    ids=lambda value: "-".join(value) or "none" if isinstance(value, tuple) else None,
)
def test_a_direction_without_calls_has_no_fast_path(
    form: str, calls: tuple[str, ...], to_strict: bool, from_strict: bool
) -> None:
    files = rendered(calls)
    assert ("REFUSED" in files["converters/numpy_to_strict.py"]) is to_strict
    assert ("REFUSED" in files["converters/strict_to_numpy.py"]) is from_strict
    # actions of a parallel environment take the general path
    acts = form != "parallel"
    there, back = (
        files[f"{FORMS[form]}{pair}.py"] for pair in ("numpy_to_strict", "strict_to_numpy")
    )
    assert ("REFUSED" in there) is (to_strict or (acts and from_strict))
    assert ("REFUSED" in back) is (from_strict or (acts and to_strict))


FUNCTIONS = """
import array_api_strict as xp
import numpy as np

called = []
refuses = False

def refuse_if_told(name):
    called.append(name)
    if refuses:
        raise OSError("not today")

def my_to_numpy(array):
    refuse_if_told("to_numpy")
    return np.from_dlpack(array)

def my_from_numpy(array):
    refuse_if_told("from_numpy")
    return xp.from_dlpack(array)

def my_item(array):
    refuse_if_told("item")
    return int(array)
"""

USE = """
import array_api_strict as xp
import gymnasium as gym
import numpy as np

from mine import calls
from mine.bridges import NumpyToStrict, StrictToNumpy, vector
from mine.bridges.numpy_to_strict import numpy_to_strict, strict_to_numpy

def called(call, *arguments):
    calls.called.clear()
    result = call(*arguments)
    return result, set(calls.called)

for calls.refuses in (False, True):
    bare, env = gym.make("CartPole-v1"), NumpyToStrict(gym.make("CartPole-v1"))
    env.reset(seed=3), bare.reset(seed=3)
    step, names = called(env.step, xp.asarray(1))
    assert names == {"item", "from_numpy"}, names
    np.testing.assert_array_equal(np.from_dlpack(step[0]), bare.step(1)[0])

    envs = vector.NumpyToStrict(gym.make_vec("CartPole-v1", 2, vectorization_mode="sync"))
    envs.reset(seed=3)
    step, names = called(envs.step, xp.asarray([0, 1]))
    assert names == {"to_numpy", "from_numpy"}, names
    assert [type(each) for each in step[:4]] == [type(xp.zeros(1))] * 4

    there = NumpyToStrict(gym.make("Pendulum-v1"))
    chain = StrictToNumpy(there)
    chain.reset(seed=3)
    obs, names = called(lambda: chain.step(np.zeros(1, np.float32))[0])
    assert names == {"to_numpy", "from_numpy"}, names
    assert type(obs) is np.ndarray

    array, names = called(numpy_to_strict, np.ones(2))
    assert names == {"from_numpy"} and isinstance(array, type(xp.zeros(1)))
    back, names = called(strict_to_numpy, {"a": array})
    assert names == {"to_numpy"} and back["a"].tolist() == [1, 1]
print("used")
"""


def test_calls_are_used_and_their_refusals_take_the_general_path(project: Path) -> None:
    require("array_api_strict")
    (project / "my.toml").write_text(
        spec(("to_numpy", "from_numpy", "item")) + '[package]\nname = "mine.bridges"\n',
        encoding="utf-8",
    )
    done = gymbridge("generate", cwd=project)
    assert done.returncode == 0, done.stderr
    package = project / "src/mine"
    (package / "__init__.py").touch()
    (package / "calls.py").write_text(FUNCTIONS, encoding="utf-8")
    done = python("-c", USE, cwd=project, path=[project / "src", RUNTIME])
    assert (done.returncode, done.stdout) == (0, "used\n"), done.stderr
