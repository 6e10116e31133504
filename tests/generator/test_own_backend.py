"""A user's own library: a short spec gives working typed wrappers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from gymbridge_runtime import RUNTIME_API

from tests.devices.gpus import STAND_INS
from tests.generator.command import RUNTIME, gymbridge, python
from tests.support import require

if TYPE_CHECKING:
    from pathlib import Path


USE = """
import pickle

import array_api_strict as xp
import gymnasium as gym
import numpy as np
import torch

from mine.bridges import NumpyToStrict, StrictToTorch, vector
from mine.bridges.backends.strict import STRICT, StrictArray
from mine.bridges.numpy_to_strict import numpy_to_strict, strict_to_numpy

assert StrictArray is type(xp.zeros(1))
assert STRICT.reference == "mine.bridges.backends.strict:STRICT"

bare = gym.make("CartPole-v1")
env = NumpyToStrict(gym.make("CartPole-v1"))
obs, info = env.reset(seed=3)
expected, _ = bare.reset(seed=3)
assert isinstance(obs, StrictArray) and obs.dtype == xp.float32
np.testing.assert_array_equal(np.from_dlpack(obs), expected)
obs, reward, terminated, truncated, info = env.step(xp.asarray(1))
np.testing.assert_array_equal(np.from_dlpack(obs), bare.step(1)[0])
assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)

again = pickle.loads(pickle.dumps(env))
assert isinstance(again, NumpyToStrict)
np.testing.assert_array_equal(np.from_dlpack(again.reset(seed=3)[0]), expected)

chain = StrictToTorch(NumpyToStrict(gym.make("CartPole-v1")), device="cpu")
assert isinstance(chain.reset(seed=3)[0], torch.Tensor)
assert isinstance(chain.step(torch.tensor(1))[0], torch.Tensor)

envs = vector.NumpyToStrict(
    gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
)
obs, infos = envs.reset(seed=[3, 4])
np.testing.assert_array_equal(np.from_dlpack(obs)[0], expected)
_, rewards, terminations, truncations, _ = envs.step(envs.sample_action())
assert [type(each) for each in (rewards, terminations, truncations)] == [StrictArray] * 3

tree = {"a": np.arange(3), "b": ("text", None)}
there = numpy_to_strict(tree)
assert isinstance(there["a"], StrictArray) and there["b"] == ("text", None)
np.testing.assert_array_equal(strict_to_numpy(there)["a"], tree["a"])
print("used")
"""


@pytest.fixture
def generated(project: Path) -> Path:
    (project / "my.toml").write_text(
        (project / "my.toml").read_text(encoding="utf-8") + '\n[package]\nname = "mine.bridges"\n',
        encoding="utf-8",
    )
    done = gymbridge("generate", cwd=project)
    assert done.returncode == 0, done.stderr
    (project / "src/mine/__init__.py").touch()
    return project / "src"


def test_wrappers_of_an_own_library_work(generated: Path) -> None:
    require("array_api_strict")
    require("torch")
    # a generated package needs the runtime, not the shipped wrappers
    done = python("-c", USE, cwd=generated, path=[generated, RUNTIME])
    assert (done.returncode, done.stdout) == (0, "used\n"), done.stderr


def test_examples_in_the_docstrings_run(generated: Path) -> None:
    require("array_api_strict")
    require("jax")
    require("mlx")
    require("torch")
    code = """
import doctest, importlib, pkgutil
import mine.bridges
for module in pkgutil.walk_packages(mine.bridges.__path__, "mine.bridges."):
    result = doctest.testmod(importlib.import_module(module.name))
    assert not result.failed, module.name
    if result.attempted:
        print(module.name.removeprefix("mine.bridges."))
"""
    done = python("-c", code, cwd=generated, path=[*STAND_INS, generated, RUNTIME])
    assert done.returncode == 0, done.stdout + done.stderr
    # an example for PyTorch or JAX environments would need a wrapper of another package
    assert done.stdout.split() == [
        "numpy_to_strict",
        "strict_to_cupy",
        "strict_to_jax",
        "strict_to_mlx",
        "strict_to_numpy",
        "strict_to_torch",
        "vector.numpy_to_strict",
        "vector.strict_to_cupy",
        "vector.strict_to_jax",
        "vector.strict_to_mlx",
        "vector.strict_to_numpy",
        "vector.strict_to_torch",
    ]


def test_a_missing_library_is_an_error_with_the_pip_command(generated: Path) -> None:
    code = """
import sys
sys.modules["array_api_strict"] = None
import mine.bridges
try:
    mine.bridges.NumpyToStrict
except ImportError as error:
    print(f"{type(error).__name__}: {error}")
"""
    done = python("-c", code, cwd=generated, path=[generated, RUNTIME])
    assert done.stdout == (
        "BackendNotInstalledError: array-api-strict needs the module 'array_api_strict', which is "
        "not installed; run: pip install 'array-api-strict'\n"
    ), done.stderr


def test_a_package_for_another_runtime_is_refused(generated: Path) -> None:
    code = """
import gymbridge_runtime.api as api
api.RUNTIME_API += 1
import mine.bridges
"""
    done = python("-c", code, cwd=generated, path=[generated, RUNTIME])
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    made_for = f"ImportError: mine.bridges was generated for runtime API {RUNTIME_API}, and "
    assert last.startswith(made_for)
    assert "run `gymbridge generate` with the installed gymbridge" in last
