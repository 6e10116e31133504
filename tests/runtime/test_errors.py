"""Error messages, word for word."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime import (
    BackendNotInstalledError,
    ConversionError,
    CopyRequiredError,
    require_runtime_api,
)
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.backends.torch import TORCH, TorchBackend
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.describe import describe
from gymnasium import spaces
from typing_extensions import override

from gymbridge import JaxToTorch, NumpyToJax, NumpyToTorch, TorchToNumpy
from tests.libraries.jax import jax, jnp
from tests.libraries.torch import torch
from tests.runtime.replay import Replay
from tests.support import Array, Pair, run_python

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = [2.5, 3, 1j, np.float32(1), np.float64(1), np.int64(3), np.int32(3), np.bool_(True)]

FOUR_BITS = "uint4"
"""A dtype that type checkers do not know."""

N2T, N2J = Pair("numpy", "torch"), Pair("numpy", "jax")
T2N, T2J = Pair("torch", "numpy"), Pair("torch", "jax")
J2N, J2T = Pair("jax", "numpy"), Pair("jax", "torch")


def deleted() -> Array:
    array = jnp.ones(3)
    array.delete()
    return array


def conjugate() -> Array:
    return torch.ones(2, dtype=torch.complex64).conj()


def read_only() -> Array:
    array = np.ones((2, 2))
    array.flags.writeable = False
    return array


def misaligned() -> Array:
    return np.zeros(33, np.uint8)[1:].view(np.complex64)


def cyclic() -> Array:
    tree: dict[str, object] = {"goal": []}
    tree["goal"] = [tree]
    return tree


def far_below(value: object, depth: int = 20) -> object:
    for _ in range(depth):
        value = {"goal": [value]}
    return value


class Speechless:
    @override
    def __repr__(self) -> str:
        raise OSError("it is not to be shown")


class Undecided(int):
    @override
    def bit_length(self) -> int:
        raise OSError("nobody knows it yet")


MESSAGES: dict[str, tuple[Callable[[], object], str]] = {
    "an integer too wide for jax": (
        lambda: N2J.convert({"goal": [0, 1, np.array([2**40])]}),
        "value['goal'][2]: JAX cannot hold the int64 value 1099511627776 with x64 off "
        "(numpy.ndarray of int64, shape (1,), on cpu); set jax_enable_x64 or cast it",
    ),
    "an unsigned integer too wide for jax": (
        lambda: T2J.convert((torch.tensor(2**40),)),
        "value[0]: JAX cannot hold the int64 value 1099511627776 with x64 off "
        "(torch.Tensor of int64, shape (), on cpu); set jax_enable_x64 or cast it",
    ),
    "a scalar too wide for jax": (
        lambda: N2J.convert({"t": np.uint64(2**33)}),
        "value['t']: JAX cannot hold the uint64 value 8589934592 with x64 off "
        "(numpy.uint64 of uint64, shape (), on cpu); set jax_enable_x64 or cast it",
    ),
    "a number too wide for jax": (
        lambda: N2J.convert({"t": -(2**40)}),
        "value['t']: JAX cannot hold the int64 value -1099511627776 with x64 off (int); "
        "set jax_enable_x64 or cast it",
    ),
    "a number too wide for arrays": (
        lambda: N2T.convert([2**64]),
        "value[0]: the int 18446744073709551616 does not fit int64 (int); "
        "pass it as a str, or leave it out",
    ),
    "a dtype that the target has not": (
        lambda: N2T.convert({"a": np.ones(2, np.longdouble)}),
        "value['a']: PyTorch has no dtype for float128 (numpy.ndarray of float128, shape (2,), "
        "on cpu); cast it first",
    ),
    "a dtype that numpy has not": (
        lambda: T2N.convert([torch.empty(2, dtype=getattr(torch, FOUR_BITS))]),
        "value[0]: PyTorch has torch.uint4, which NumPy has not (torch.Tensor of uint4, "
        "shape (2,), on cpu); cast it with to() first",
    ),
    "a sparse tensor": (
        lambda: T2J.convert({"obs": torch.eye(2).to_sparse()}),
        "value['obs']: PyTorch cannot show the layout torch.sparse_coo as strided memory "
        "(torch.Tensor of float32, shape (2, 2), on cpu); call to_dense() first",
    ),
    "a tensor without values": (
        lambda: T2N.convert({"obs": torch.ones(2, device="meta")}),
        "value['obs']: PyTorch holds no values in a tensor on the device 'meta' "
        "(torch.Tensor of float32, shape (2,), on meta); make it on a real device",
    ),
    "a deleted jax array": (
        lambda: J2T.convert([deleted()]),
        "value[0]: the JAX array was deleted or donated (jaxlib._jax.ArrayImpl of float32, "
        "shape (3,)); keep a copy of it",
    ),
    "a read-only array that is not to be copied": (
        lambda: N2T.convert({"a": read_only()}, copy=False),
        "value['a']: PyTorch would write through to memory that is read-only (numpy.ndarray of "
        "float64, shape (2, 2), on cpu); allow copies: copy=None or copy=True",
    ),
    "complex numbers between words that are not to be copied": (
        lambda: N2T.convert({"a": misaligned()}, copy=False),
        "value['a']: PyTorch does not take memory that is not aligned (numpy.ndarray of "
        "complex64, shape (4,), on cpu); allow copies: copy=None or copy=True",
    ),
    "complex numbers with gaps that are not to be copied": (
        lambda: N2T.convert(misaligned()[::2], copy=False),
        "value: PyTorch does not take memory that is not aligned (numpy.ndarray of "
        "complex64, shape (2,), on cpu); allow copies: copy=None or copy=True",
    ),
    "an array that runs backwards that is not to be copied": (
        lambda: N2T.convert(np.ones(2)[::-1], copy=False),
        "value: PyTorch does not take memory with the strides (-8,) (numpy.ndarray of "
        "float64, shape (2,), on cpu); allow copies: copy=None or copy=True",
    ),
    "an array for jax that is not to be copied": (
        lambda: T2J.convert(torch.ones(2), copy=False),
        "value: JAX arrays never change, and this memory may (torch.Tensor of float32, "
        "shape (2,), on cpu); allow copies: copy=None or copy=True",
    ),
    "a jax array that is not to be copied": (
        lambda: J2T.convert(jnp.ones(2), copy=False),
        "value: PyTorch would write through to memory that is read-only (jaxlib._jax.ArrayImpl "
        f"of float32, shape (2,), on {jax.devices()[0]}); allow copies: copy=None or copy=True",
    ),
    "a conjugate tensor that is not to be copied": (
        lambda: T2N.convert(conjugate(), copy=False),
        "value: the array had to be copied to be seen from the host (torch.Tensor of complex64, "
        "shape (2,), on cpu); allow copies: copy=None or copy=True",
    ),
    "a cast where nothing is to be copied": (
        lambda: N2T.convert(np.ones(2, ">f4"), copy=False),
        "value: >f4 would have to be cast to float32 (numpy.ndarray of >f4, shape (2,), "
        "on cpu); cast it first, or allow copies",
    ),
    "a cycle": (
        lambda: N2T.convert([cyclic()]),
        "value[0]['goal'][0]: the dict contains itself; break the cycle first",
    ),
    "what is far below": (
        lambda: N2T.convert(far_below(2**64)),
        "value" + "['goal'][0]" * 6 + "['goal'][…[0]" + "['goal'][0]" * 7 + ": the "
        "int 18446744073709551616 does not fit int64 (int); pass it as a str, or "
        "leave it out",
    ),
    "containers that are nested too deeply": (
        lambda: N2T.convert(far_below(0, 50_010)),
        "value" + "['goal'][0]" * 6 + "['goal'][…l'][0]" + "['goal'][0]" * 6 + "['goal']: the "
        "containers are nested too deeply; flatten them first",
    ),
    "what is below a key that has no text": (
        lambda: N2T.convert({Speechless(): [2**64]}),
        "value[<Speechless>][0]: the int 18446744073709551616 does not fit int64 "
        "(int); pass it as a str, or leave it out",
    ),
    "what fails in a way of its own": (
        lambda: N2T.convert({"log": [Undecided(2**64)]}),
        "value['log'][0]: it could not be converted: nobody knows it yet "
        "(tests.runtime.test_errors.Undecided); see the cause above",
    ),
    "a device without memory": (
        lambda: N2T.convert(np.ones(2), device="meta"),
        "PyTorch's device 'meta' has no memory to hold values; name another device",
    ),
    "an observation": (
        lambda: NumpyToJax(Replay(spaces.Box(0, 2**62, (1,), np.int64), np.array([2**40]))).reset(),
        "obs: JAX cannot hold the int64 value 1099511627776 with x64 off (numpy.ndarray of int64, "
        "shape (1,), on cpu); set jax_enable_x64 or cast it",
    ),
    "an info": (
        lambda: TorchToNumpy(
            Replay(spaces.Discrete(2), torch.tensor(1), {"map": [torch.eye(2).to_sparse()]})
        ).reset(),
        "info['map'][0]: PyTorch cannot show the layout torch.sparse_coo as strided memory "
        "(torch.Tensor of float32, shape (2, 2), on cpu); call to_dense() first",
    ),
    "an option": (
        lambda: NumpyToTorch(Replay(spaces.Discrete(2), 0)).reset(
            options={"start": torch.ones(2, device="meta")}
        ),
        "options['start']: PyTorch holds no values in a tensor on the device 'meta' "
        "(torch.Tensor of float32, shape (2,), on meta); make it on a real device",
    ),
    "an action": (
        lambda: NumpyToTorch[Array, Array](
            Replay(spaces.Discrete(2), 0, action_space=spaces.Dict(a=spaces.Box(0, 1)))
        ).step({"a": torch.eye(2).to_sparse()}),
        "action['a']: PyTorch cannot show the layout torch.sparse_coo as strided memory "
        "(torch.Tensor of float32, shape (2, 2), on cpu); call to_dense() first",
    ),
    "an action that the library of the environment cannot hold": (
        lambda: JaxToTorch(
            Replay(spaces.Discrete(2), jnp.ones(1), action_space=spaces.Text(3))
        ).step(torch.tensor([2**40])),
        "action: JAX cannot hold the int64 value 1099511627776 with x64 off (numpy.ndarray of "
        "int64, shape (1,), on cpu); set jax_enable_x64 or cast it",
    ),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_the_message_is_exact(what: str) -> None:
    fail, message = MESSAGES[what]
    with pytest.raises(ConversionError) as caught:
        fail()
    assert str(caught.value) == message


class TestConversionError:
    def test_the_parts_of_the_message_are_attributes(self) -> None:
        with pytest.raises(ConversionError) as caught:
            N2J.convert({"goal": [np.array([2**40])]})
        error = caught.value
        assert error.path == "value['goal'][0]"
        assert error.problem == "JAX cannot hold the int64 value 1099511627776 with x64 off"
        assert error.subject == "numpy.ndarray of int64, shape (1,), on cpu"
        assert error.advice == "set jax_enable_x64 or cast it"

    def test_an_error_from_a_conversion_can_be_pickled(self) -> None:
        with pytest.raises(CopyRequiredError) as caught:
            N2T.convert({"a": read_only()}, copy=False)
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is CopyRequiredError
        assert str(again) == str(caught.value)
        assert again.path == "value['a']"

    def test_a_new_error_can_be_pickled(self) -> None:
        for words in (("it is broken", "mend it"), ("it is broken", "mend it", "a vase", "shelf")):
            again = pickle.loads(pickle.dumps(ConversionError(*words)))
            assert str(again) == str(ConversionError(*words))
            assert (again.problem, again.advice, again.subject, again.path) == again.args
            assert again.args[: len(words)] == words

    def test_an_error_can_be_made_from_its_message(self) -> None:
        """Gymnasium does this with errors from workers of asynchronous environments."""
        with pytest.raises(CopyRequiredError) as caught:
            N2T.convert({"a": read_only()}, copy=False)
        again = type(caught.value)(str(caught.value))
        assert str(again) == str(caught.value)
        again.below("worker")
        assert str(again) == f"worker: {caught.value}"

    def test_errors_have_the_documented_base_classes(self) -> None:
        assert issubclass(ConversionError, TypeError)
        assert issubclass(CopyRequiredError, ConversionError)

    def test_empty_and_repeated_parts_are_left_out(self) -> None:
        bare = ConversionError("it is broken", "mend it")
        assert str(bare) == "it is broken; mend it"
        bare.about("a vase")
        bare.about("an urn")
        bare.below("[1]")
        bare.below("shelf")
        assert str(bare) == "shelf[1]: it is broken (a vase); mend it"
        assert bare.args == ("it is broken", "mend it", "a vase", "shelf[1]")

    def test_a_long_path_is_shortened(self) -> None:
        for length, shown in ((160, "x" * 160), (161, "x" * 80 + "…" + "x" * 80)):
            error = ConversionError("it is broken", "mend it", path="x" * length)
            assert str(error) == f"{shown}: it is broken; mend it"

    def test_the_error_of_the_library_is_the_cause(self) -> None:
        guard = jax.transfer_guard_host_to_device("disallow_explicit")
        with guard, pytest.raises(ConversionError) as caught:
            N2J.convert({"obs": [np.ones(2, np.float32)]})
        assert str(caught.value).startswith("value['obs'][0]: JAX could not make the array: ")
        assert "Disallowed host-to-device transfer" in str(caught.value.__cause__)
        assert "Disallowed host-to-device transfer" in str(caught.value)

    @pytest.mark.parametrize("number", NUMBERS, ids=lambda number: type(number).__name__)
    @pytest.mark.parametrize("copy", [None, True])
    def test_an_error_about_a_number_has_path_and_subject(
        self, number: Array, copy: bool | None
    ) -> None:
        for tree, path in ((number, "value"), ({"lives": [number, "text"]}, "value['lives'][0]")):
            with (
                jax.transfer_guard_host_to_device("disallow_explicit"),
                pytest.raises(ConversionError) as caught,
            ):
                N2J.convert(tree, copy=copy)
            assert caught.value.path == path
            assert "Disallowed host-to-device transfer" in caught.value.problem
            assert caught.value.subject.startswith(describe(number))
            assert caught.value.__cause__ is not None

    @pytest.mark.parametrize("target", ["numpy", "torch"])
    def test_converting_from_jax_needs_no_transfer_into_jax(self, target: str) -> None:
        code = f"""
            import jax
            from gymbridge.jax_to_{target} import jax_to_{target} as convert
            array = jax.numpy.ones(3)
            with jax.transfer_guard("disallow_explicit"):
                print(convert(array).sum().item())
        """
        assert run_python(code) == "3.0\n"

    def test_an_error_without_text_is_shown_by_its_type(self) -> None:
        assert str(ConversionError.unforeseen(AssertionError())) == (
            "it could not be converted: <AssertionError>; see the cause above"
        )

    def test_every_error_of_a_library_becomes_a_conversion_error(self) -> None:
        def refuse(*_: Array, **__: Array) -> None:
            raise KeyError("out of words")

        mode: Array = torch.utils._python_dispatch.TorchDispatchMode
        refusing: Array = type("Refusing", (mode,), {"__torch_dispatch__": refuse})
        for value in (np.ones(2), 2.5, 3, np.float32(1)):
            for convert in (N2T.convert, Converter(TORCH), Converter(TORCH, copy=True)):
                with refusing(), pytest.raises(ConversionError, match="out of words") as caught:
                    convert({"a": value})
                assert caught.value.path == "value['a']"
                assert caught.value.subject.startswith(describe(value))


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"copy": False}], ids=repr)
def test_an_error_of_mlx_is_quoted(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, bool]
) -> None:
    from tests.libraries.mlx import mx

    def fail(_: object) -> None:
        raise RuntimeError("[malloc] no memory left")

    array = mx.array([1.0])
    monkeypatch.setattr("gymbridge_runtime.backends.mlx._computed", fail)
    monkeypatch.setattr("gymbridge_runtime.backends.mlx.to_numpy", fail)
    convert = Converter(load("gymbridge_runtime.backends.numpy:NUMPY"), copy=options.get("copy"))
    with pytest.raises(ConversionError) as caught:
        convert({"obs": [array]})
    assert str(caught.value) == (
        "value['obs'][0]: MLX could not show the array in host memory: [malloc] no memory left "
        "(mlx.core.array of float32, shape (1,)); see the cause above, or turn it into an ordinary "
        "array first"
    )
    assert isinstance(caught.value.__cause__, RuntimeError)


class TestMissingLibraries:
    @pytest.mark.parametrize(
        ("hidden", "name", "title"),
        [("torch", "NumpyToTorch", "PyTorch"), ("jax", "NumpyToJax", "JAX")],
    )
    def test_a_missing_library_is_an_error_with_the_pip_command(
        self, hidden: str, name: str, title: str
    ) -> None:
        code = f"""
            import sys
            sys.modules[{hidden!r}] = None
            import gymbridge
            try:
                gymbridge.{name}
            except gymbridge.BackendNotInstalledError as error:
                print(error)
                print(isinstance(error, ImportError), error.name)
        """
        message, facts = run_python(code).splitlines()
        assert message == (
            f"{title} needs the module '{hidden}', which is not installed; "
            f"run: pip install 'gymbridge[{hidden}]'"
        )
        assert facts == f"True {hidden}"

    def test_a_missing_backend_package_is_named(self) -> None:
        with pytest.raises(BackendNotInstalledError, match="the package of the backend 'nowhere"):
            load("nowhere.backends:NOWHERE")

    def test_a_missing_backend_module_is_named(self) -> None:
        with pytest.raises(BackendNotInstalledError) as caught:
            load("gymbridge_runtime.nowhere:NOWHERE")
        assert str(caught.value) == (
            "gymbridge_runtime.nowhere:NOWHERE needs the module 'gymbridge_runtime.nowhere', which "
            "is not installed; run: pip install gymbridge_runtime.nowhere"
        )

    def test_an_object_that_is_no_backend_is_a_type_error(self) -> None:
        with pytest.raises(TypeError, match="is None and no gymbridge backend; correct the ref"):
            load("gymbridge_runtime.backends.numpy:NOWHERE")

    def test_missing_ml_dtypes_is_an_error_with_the_pip_command(self) -> None:
        code = """
            import importlib.util
            find_spec = importlib.util.find_spec
            def hiding(name, *package):
                return None if name == "ml_dtypes" else find_spec(name, *package)
            importlib.util.find_spec = hiding
            import torch
            from gymbridge import ConversionError
            from gymbridge.torch_to_numpy import torch_to_numpy
            try:
                torch_to_numpy({"a": torch.ones(2, dtype=torch.bfloat16)})
            except ConversionError as error:
                print(error)
        """
        assert run_python(code) == (
            "value['a']: NumPy holds bfloat16 only through the package ml_dtypes, which is not "
            "installed (torch.Tensor of bfloat16, shape (2,), on cpu); run: pip install ml-dtypes\n"
        )


def test_wrappers_for_another_runtime_ask_to_be_generated_again() -> None:
    with pytest.raises(ImportError) as caught:
        require_runtime_api(99, "mine")
    assert caught.value.name == "mine"
    assert "mine was generated for runtime API 99, and gymbridge " in str(caught.value)
    assert "run `gymbridge generate`" in str(caught.value)


def test_errors_of_an_environment_pass_unchanged() -> None:
    class Failing(gym.Wrapper[Array, Array, Array, Array]):
        @override
        def step(self, action: Array) -> Array:
            raise RuntimeError("out of fuel")

    env = NumpyToTorch(Failing(gym.make("CartPole-v1")))
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="out of fuel"):
        env.step(torch.tensor(1))


def test_an_unexpected_error_of_a_backend_names_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_self: TorchBackend, _array: object) -> None:
        raise KeyError("nobody thought of it")

    monkeypatch.setattr(TorchBackend, "export", fails)
    with pytest.raises(ConversionError, match=r"^value\['a'\]: .*nobody thought of it") as caught:
        Pair("torch", "numpy").convert({"a": torch.ones(2, requires_grad=True)})
    assert isinstance(caught.value.__cause__, KeyError)
    assert "torch.Tensor of float32, shape (2,), on cpu" in str(caught.value)
