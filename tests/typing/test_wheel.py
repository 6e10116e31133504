"""The types of the wheel, in a project without all array libraries."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support import REPOSITORY, require
from tests.typing.checkers import CHECKERS, Project, differences, marked, run_all

pytestmark = pytest.mark.slow

PARTS = {
    "cupy": ("cupy", "cupyx", "cupy_backends", "cupy_cuda12x"),
    "jax": ("jax", "jaxlib"),
    "mlx": ("mlx", "mlx_cpu", "mlx_metal"),
    "torch": ("torch", "torchgen", "functorch"),
}
"""The modules that a library's distributions install."""

USE = """\
from __future__ import annotations

from typing import Any, assert_type

import gymnasium as gym
import numpy as np
{imports}
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

import gymbridge
from gymbridge import ConversionError, NumpyTo{name}, {name}ToNumpy, vector
from gymbridge.numpy_to_{module} import numpy_to_{module}, {module}_to_numpy


def use(flat: gym.Env[dict[str, NDArray[np.float32]], NDArray[np.int64]], array: {array}) -> None:
    env = NumpyTo{name}(gym.make("CartPole-v1"))
    assert_type(env.reset()[0], {array})
    env.step(np.zeros(1))  # E
    NumpyTo{name}(flat)  # E
    assert_type(NumpyTo{name}.infer(flat).reset()[0], dict[str, {array}])
    assert_type({name}ToNumpy(env).reset()[0], NDArray[Any])
    envs = vector.NumpyTo{name}(gym.make_vec("CartPole-v1"))
    same: VectorEnv[{array}, {array}, {array}] = envs
    assert_type(same.reset()[0], {array})
    assert_type(numpy_to_{module}({{"a": np.zeros(1)}}), dict[str, {array}])
    assert_type({module}_to_numpy(array), NDArray[Any])
    gymbridge.NumpyTo{name}(gym.make("CartPole-v1")).step(1)  # E
    print(ConversionError)
"""

BARE = """\
from __future__ import annotations

from typing import Any, assert_type

import gymnasium as gym

import gymbridge
from gymbridge import ArrayConversion, CopyRequiredError
from gymbridge.array_conversion import array_conversion
from gymbridge.backends.numpy import NUMPY

version: str = gymbridge.__version__
assert_type(ArrayConversion(gym.make("CartPole-v1"), "numpy", "numpy").reset()[0], Any)
assert_type(array_conversion({"a": 1}, "numpy"), Any)
gymbridge.ArrayConverison  # E
print(CopyRequiredError, NUMPY, version)
"""

SCRIPTS = {
    "torch": USE.format(name="Torch", module="torch", array="torch.Tensor", imports="import torch"),
    "jax": USE.format(name="Jax", module="jax", array="jax.Array", imports="import jax"),
    "mlx": USE.format(name="Mlx", module="mlx", array="mx.array", imports="import mlx.core as mx"),
    "": BARE,
}
"""Code of a user with NumPy and at most one other library."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the working tree."""
    require("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys, hatchling.build; print(hatchling.build.build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(folder)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return folder / done.stdout.split()[-1]


def environment(folder: Path, wheel: Path, library: str) -> str:
    """Make an environment with the wheel, NumPy and one other array library."""
    venv.create(folder)
    paths = {"base": str(folder), "platbase": str(folder)}
    site = Path(sysconfig.get_path("purelib", vars=paths))
    absent = {part for name, parts in PARTS.items() if name != library for part in parts}
    for root in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(root).iterdir():
            name = entry.name.partition("-")[0].partition(".")[0].lower()
            # a .pth file may point to this checkout
            if name in absent or name.startswith("gymbridge") or entry.suffix == ".pth":
                continue
            (site / entry.name).symlink_to(entry)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    scripts = Path(sysconfig.get_path("scripts", vars=paths))
    return str(scripts / Path(sys.executable).name)


@pytest.mark.parametrize("library", SCRIPTS, ids=lambda name: name or "none")
def test_the_types_work_with_one_library_installed(
    library: str, wheel: Path, tmp_path: Path
) -> None:
    for name in (*PARTS, *CHECKERS):
        require(name)
    python = environment(tmp_path / "env", wheel, library)
    known = [name for name in PARTS if name != library]
    probe = f"import importlib.util as u; print([n for n in {known} if u.find_spec(n)])"
    done = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    script = SCRIPTS[library]
    assert marked("", script)
    folders = [tmp_path / checker / f"only_{library}" for checker in CHECKERS]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "use.py").write_text(script, encoding="utf-8")
    said = run_all(Project(folder, python, roots=()) for folder in folders)
    assert differences({"use.py": script}, said) == []
