"""Helpers for the tests of several folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from abc import ABC, abstractmethod
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from packaging.requirements import Requirement
from typing_extensions import override

from tests.devices.gpus import STAND_INS

if TYPE_CHECKING:
    from typing import Self

REPOSITORY = Path(__file__).parents[1]

Array: TypeAlias = Any
"""An array or a tree of arrays, of a library that only the test knows."""

Host: TypeAlias = npt.NDArray[Any]


# -- missing libraries --------------------------------------------------------------------------


def missing(error: ModuleNotFoundError) -> NoReturn:
    """Skip a test that needs a missing module; in CI this is a failure."""
    message = f"{error.name} is not installed"
    if os.environ.get("CI"):
        pytest.fail(f"{message}, and CI has to test with it", pytrace=False)
    pytest.skip(message, allow_module_level=True)


def require(name: str) -> None:
    """Skip the test, or fail it in CI, unless the module ``name`` is installed."""
    if find_spec(name) is None:
        missing(ModuleNotFoundError(name=name))


def require_version(text: str) -> None:
    """Skip what needs another version than there is: `text` is a requirement as pip has them."""
    requirement = Requirement(text)
    require(requirement.name)
    found = version(requirement.name)
    if found not in requirement.specifier:
        message = f"needs {requirement}, and {found} is installed"
        if os.environ.get("CI"):
            pytest.fail(f"{message}, and CI has to test with it", pytrace=False)
        pytest.skip(message)


# -- processes of their own ---------------------------------------------------------------------


def _environment(variables: dict[str, str]) -> dict[str, str]:
    sources = (REPOSITORY / name for name in ("generated", "generator", "runtime"))
    roots = [*STAND_INS, REPOSITORY, *sources]
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, roots))} | variables


def run_python(code: str, *arguments: str, **variables: str) -> str:
    """Run ``code`` in a process of its own; return its output, and fail if it fails."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", dedent(code), *arguments],
        cwd=REPOSITORY,
        env=_environment(variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert result.returncode == 0, f"exit code {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout


class Interpreter:
    """A process that runs pieces of code one after the other, each with its own names.

    Imports happen only once.
    """

    def __init__(self, **variables: str) -> None:
        self._process: subprocess.Popen[str] = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", dedent(_ONE_AFTER_THE_OTHER)],
            cwd=REPOSITORY,
            env=_environment(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, code: str) -> str:
        """Run ``code``; return its output, and fail if it fails."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"exit code {self._process.wait()}"
        printed, error = json.loads(answer)
        assert not error, printed + error
        return str(printed)

    @property
    def is_running(self) -> bool:
        """Whether the process can run more code."""
        return self._process.poll() is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _ = self._process.communicate(timeout=60)  # it ends at the end of its input


_ONE_AFTER_THE_OTHER = """
    import contextlib, io, json, sys, traceback
    answers = sys.stdout
    for line in sys.stdin:
        printed, error = io.StringIO(), ""
        try:
            with contextlib.redirect_stdout(printed):
                exec(json.loads(line), {"__name__": "__main__"})
        except BaseException:
            error = traceback.format_exc()
        print(json.dumps([printed.getvalue(), error]), file=answers, flush=True)
"""


# -- array libraries, handled without the code under test ------------------------------------


class Library(ABC):
    """How a test makes and reads arrays of one library."""

    name: str
    mutable: bool = True
    """Whether its arrays can be written into."""
    shares: bool = True
    """Whether its arrays share memory with other libraries, in both directions."""
    narrow: ClassVar[dict[str, str]] = {}
    """The dtypes that it narrows, under the settings of the tests."""
    eighths: bool = True
    """Whether it has floating-point numbers of 8 bits."""

    @abstractmethod
    def make(self, values: npt.ArrayLike) -> Array:
        """Return a new array of the library with these values."""

    @abstractmethod
    def values(self, array: Array) -> Host:
        """Return a NumPy copy of ``array``."""

    @abstractmethod
    def is_array(self, value: object) -> bool:
        """Tell whether ``value`` is an array of the library."""

    @abstractmethod
    def address(self, array: Array) -> int:
        """Return the address of the memory of ``array``."""

    def dtype(self, array: Array) -> str:
        """Return the name of the dtype of ``array``."""
        return str(array.dtype).rpartition(".")[2]


class _Numpy(Library):
    name = "numpy"

    @override
    def make(self, values: npt.ArrayLike) -> Array:
        return np.array(values)

    @override
    def values(self, array: Array) -> Host:
        return np.array(array)

    @override
    def is_array(self, value: object) -> bool:
        return type(value) is np.ndarray

    @override
    def address(self, array: Array) -> int:
        address: int = array.ctypes.data
        return address


class _Torch(Library):
    name = "torch"

    @override
    def make(self, values: npt.ArrayLike) -> Array:
        import torch

        host = np.array(values, order="C")
        if hasattr(np, host.dtype.name):
            return torch.from_numpy(host)
        return torch.from_numpy(host.view(f"u{host.itemsize}")).view(
            getattr(torch, host.dtype.name)
        )

    @override
    def values(self, array: Array) -> Host:
        import torch

        tensor = array.detach().cpu().resolve_conj().resolve_neg().clone()
        name = self.dtype(array)
        if not name.startswith(("bfloat16", "float8_")):
            return np.array(tensor.numpy())
        import ml_dtypes

        bits = {1: torch.uint8, 2: torch.uint16}[tensor.element_size()]
        return np.array(tensor.view(bits).numpy()).view(getattr(ml_dtypes, name))

    @override
    def is_array(self, value: object) -> bool:
        import torch

        return type(value) is torch.Tensor

    @override
    def address(self, array: Array) -> int:
        address: int = array.data_ptr()
        return address


class _Jax(Library):
    name = "jax"
    mutable = False
    shares = False
    narrow: ClassVar[dict[str, str]] = {
        "int64": "int32",
        "uint64": "uint32",
        "float64": "float32",
        "complex128": "complex64",
    }

    @override
    def make(self, values: npt.ArrayLike) -> Array:
        import jax

        # a fresh copy, because JAX may keep the memory
        return jax.device_put(np.array(values, order="C")).block_until_ready()

    @override
    def values(self, array: Array) -> Host:
        return np.array(array)

    @override
    def is_array(self, value: object) -> bool:
        import jax

        return isinstance(value, jax.Array)

    @override
    def address(self, array: Array) -> int:
        address: int = array.unsafe_buffer_pointer()
        return address


class _Mlx(Library):
    name = "mlx"
    shares = False
    eighths = False
    narrow: ClassVar[dict[str, str]] = {"float64": "float32", "complex128": "complex64"}

    @override
    def make(self, values: npt.ArrayLike) -> Array:
        import mlx.core as mx

        return mx.array(np.array(values, order="C"))

    @override
    def values(self, array: Array) -> Host:
        return np.array(self._view(array))

    @override
    def is_array(self, value: object) -> bool:
        import mlx.core as mx

        return type(value) is mx.array

    @override
    def address(self, array: Array) -> int:
        address: int = self._view(array).ctypes.data
        return address

    def _view(self, array: Array) -> Host:
        import mlx.core as mx

        if array.dtype != mx.bfloat16:
            return np.asarray(array)
        import ml_dtypes

        return np.asarray(array.view(mx.uint16)).view(ml_dtypes.bfloat16)


LIBRARIES = {library.name: library for library in (_Numpy(), _Torch(), _Jax(), _Mlx())}


class Pair:
    """Two libraries, and the converter from one to the other."""

    def __init__(self, source: str, target: str) -> None:
        self.source: Library = LIBRARIES[source]
        self.target: Library = LIBRARIES[target]
        self.name: str = f"{source}_to_{target}"

    def require(self) -> None:
        """Skip the test, or fail it in CI, unless both libraries are installed."""
        require(self.source.name)
        require(self.target.name)

    def convert(self, value: object, **options: object) -> Array:
        """Call the generated converter."""
        module = import_module(f"gymbridge.{self.name}")
        return getattr(module, self.name)(value, **options)

    @override
    def __repr__(self) -> str:
        return self.name


PAIRS = [Pair(source, target) for source, target in permutations(LIBRARIES, 2)]
"""All ordered pairs of different libraries."""


def identical(one: Host, other: Host) -> bool:
    """Tell whether two NumPy arrays have the same dtype, shape and bits."""
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )
