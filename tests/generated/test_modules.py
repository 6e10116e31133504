"""The generated package as its users meet it."""

from __future__ import annotations

import doctest
import inspect
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym
import pytest
from gymbridge_runtime.testing.parallel_worlds import ParallelWorld

import gymbridge
import gymbridge.batched
import gymbridge.parallel
import gymbridge.vector
from tests.support import require, run_python

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARIES = ("cupy", "jax", "mlx", "numpy", "torch")
PAIRS = [(source, target) for source in LIBRARIES for target in LIBRARIES if source != target]
PACKAGES = ["gymbridge", "gymbridge.vector", "gymbridge.parallel", "gymbridge.batched"]
HAVE_DEVICES = {"cupy", "jax", "torch"}


def wrapper(package: str, source: str, target: str) -> type:
    name = f"{source.title()}To{target.title()}"
    found = getattr(import_module(package), name)
    assert isinstance(found, type)
    assert found.__name__ == name
    return found


@pytest.fixture(autouse=True)
def libraries() -> None:
    for name in LIBRARIES:
        require(name)


def test_every_ordered_pair_has_a_class() -> None:
    names = {f"{source.title()}To{target.title()}" for source, target in PAIRS}
    assert names == set(gymbridge.parallel.__all__) == set(gymbridge.batched.__all__)
    names.add("ArrayConversion")
    assert names == set(gymbridge.vector.__all__)
    assert set(gymbridge.__all__) == names | {
        "BackendNotInstalledError",
        "ConversionError",
        "CopyRequiredError",
        "UnconvertedContainerWarning",
        "__version__",
        "register_container",
    }
    for package in (gymbridge, gymbridge.vector, gymbridge.parallel, gymbridge.batched):
        assert set(package.__all__) <= set(dir(package))
        for name in package.__all__:
            assert getattr(package, name) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_a_misspelt_name_is_an_attribute_error(package: str) -> None:
    misspelt = "NumpyToTroch"
    with pytest.raises(AttributeError) as caught:
        getattr(import_module(package), misspelt)
    assert str(caught.value) == f"module {package!r} has no attribute 'NumpyToTroch'"


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("package", PACKAGES)
def test_signatures_are_complete(package: str, source: str, target: str) -> None:
    expected = ["env"]
    if target in HAVE_DEVICES:
        expected.append("device=None")
    expected.append("*")
    if source in HAVE_DEVICES:
        expected.append("env_device=None")
    expected += ["copy=None", "float_dtype=None"]
    shown: list[str] = []
    keywords = False
    for name, parameter in inspect.signature(wrapper(package, source, target)).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            keywords = True
            shown.append("*")
        default = "" if parameter.default is parameter.empty else f"={parameter.default}"
        shown.append(f"{name}{default}")
    assert shown == expected


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("package", PACKAGES)
def test_infer_calls_the_constructor(package: str, source: str, target: str) -> None:
    kind = wrapper(package, source, target)
    subclass: Any = type("Mine", (kind,), {})
    inferred, made = inspect.signature(subclass.infer), inspect.signature(kind)
    assert inferred.parameters.keys() == made.parameters.keys()
    for name, parameter in inferred.parameters.items():
        assert (parameter.kind, parameter.default) == (
            made.parameters[name].kind,
            made.parameters[name].default,
        )
    make: dict[str, Callable[[], Any]] = {
        "gymbridge": partial(gym.make, "CartPole-v1"),
        "gymbridge.vector": partial(gym.make_vec, "CartPole-v1"),
        "gymbridge.parallel": ParallelWorld,
        "gymbridge.batched": partial(gym.make, "CartPole-v1"),
    }
    env = make[package]()
    given: dict[str, object] = {"copy": True, "float_dtype": "float32"}
    found = subclass.infer(env, **given)
    assert type(found) is subclass
    assert found._convert.settings.arguments() == given


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_module_of_a_pair_has_converters_for_both_directions(source: str, target: str) -> None:
    module = import_module(f"gymbridge.{source}_to_{target}")
    there, back = f"{source}_to_{target}", f"{target}_to_{source}"
    assert set(module.__all__) == {wrapper("gymbridge", source, target).__name__, there, back}
    parameters = inspect.signature(getattr(module, there)).parameters
    device = ["device"] if target in HAVE_DEVICES else []
    assert list(parameters) == ["value", *device, "copy", "into"]
    assert getattr(module, there) is getattr(
        import_module(f"gymbridge.{target}_to_{source}"), there
    )


def test_converters_convert_arrays() -> None:
    import numpy as np
    import torch

    from gymbridge.numpy_to_torch import numpy_to_torch, torch_to_numpy

    array = np.arange(3.0)
    tensor = numpy_to_torch(array)
    assert isinstance(tensor, torch.Tensor)
    assert tensor.data_ptr() == array.ctypes.data
    for copied in (
        numpy_to_torch(value=array, copy=True),
        # no type checker allows it
        cast("Any", numpy_to_torch)(array, None, True),
    ):
        assert copied.data_ptr() != array.ctypes.data
    there = numpy_to_torch({"a": array}, device="cpu", copy=True)
    np.testing.assert_array_equal(torch_to_numpy(there)["a"], array)


def test_the_device_of_a_converter_may_be_positional() -> None:
    import numpy as np

    from gymbridge import ConversionError
    from gymbridge.numpy_to_torch import numpy_to_torch

    with pytest.raises(ConversionError, match="'meta'"):
        numpy_to_torch(np.arange(3.0), "meta")


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("package", PACKAGES)
def test_examples_run(package: str, source: str, target: str) -> None:
    module = import_module(f"{package}.{source}_to_{target}")
    results = doctest.testmod(module)
    assert results.failed == 0
    assert results.attempted >= 8


def test_the_import_loads_no_array_library_and_no_generator() -> None:
    code = """
import sys
import gymbridge, gymbridge.batched, gymbridge.parallel, gymbridge.vector
dir(gymbridge), gymbridge.__all__, gymbridge.ConversionError
unwanted = {"torch", "jax", "mlx", "cupy", "jinja2", "pydantic", "rich", "gymbridge_generator"}
unwanted |= {"pettingzoo", "pytest"}
print(sorted(unwanted & sys.modules.keys()))
"""
    assert run_python(code) == "[]\n"


def test_a_wrapper_imports_only_its_own_libraries() -> None:
    code = """
import sys
import gymbridge
gymbridge.NumpyToTorch
print([name for name in ("cupy", "jax", "mlx", "torch") if name in sys.modules])
"""
    assert run_python(code) == "['torch']\n"


@pytest.mark.parametrize(
    ("library", "title", "install", "unaffected"),
    [
        ("torch", "PyTorch", "gymbridge[torch]", "NumpyToJax"),
        ("jax", "JAX", "gymbridge[jax]", "NumpyToTorch"),
        ("mlx.core", "MLX", "gymbridge[mlx]", "NumpyToTorch"),
        ("cupy", "CuPy", "cupy-cuda12x>=14", "NumpyToTorch"),
    ],
)
def test_a_missing_library_is_an_error_with_the_pip_command(
    library: str, title: str, install: str, unaffected: str
) -> None:
    code = f"""
import sys
from importlib import import_module
sys.modules[{library!r}] = None
for name in {PACKAGES!r}:
    package = import_module(name)
    package.{unaffected}
    try:
        package.NumpyTo{library.partition(".")[0].title()}
    except ImportError as error:
        print(f"{{type(error).__name__}}: {{error}}")
"""
    message = (
        f"BackendNotInstalledError: {title} needs the module {library!r}, which is not installed; "
        f"run: pip install '{install}'\n"
    )
    assert run_python(code) == message * len(PACKAGES)


def test_missing_pettingzoo_is_an_error_with_the_pip_command() -> None:
    code = """
import sys
sys.modules["pettingzoo"] = None
import gymbridge.parallel
from gymbridge.testing import check_bridge
gymbridge.NumpyToTorch
try:
    gymbridge.parallel.NumpyToTorch
except ImportError as error:
    print(f"{type(error).__name__}: {error}")
"""
    assert run_python(code) == (
        "BackendNotInstalledError: PettingZoo needs the module 'pettingzoo.utils', which is "
        "not installed; run: pip install 'gymbridge[parallel]'\n"
    )


def test_import_star_gives_every_wrapper() -> None:
    assert run_python("from gymbridge import *; print(NumpyToJax.__name__)") == "NumpyToJax\n"
