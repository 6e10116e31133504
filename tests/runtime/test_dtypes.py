"""Dtypes are kept, narrowed as the library does, or refused."""

from __future__ import annotations

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from gymbridge import NumpyToJax, NumpyToTorch, TorchToJax, vector
from tests.libraries.jax import enable_x64, jax, jnp
from tests.libraries.ml_dtypes import ml_dtypes
from tests.libraries.mlx import mx
from tests.libraries.torch import torch
from tests.runtime.replay import Replay
from tests.support import LIBRARIES, PAIRS, Array, Pair, identical, run_python

# PyTorch 2.15 warns once that quantized tensors will be removed
pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")


def narrow(array: Array) -> Array:
    return array.astype("c8" if array.dtype.kind == "c" else "f4")


INTO_JAX = [pair for pair in PAIRS if pair.target.name == "jax"]
OUT_OF_JAX = [pair for pair in PAIRS if pair.source.name == "jax"]
JAX = load("gymbridge_runtime.backends.jax:JAX")
NUMPY = load("gymbridge_runtime.backends.numpy:NUMPY")
TORCH = load("gymbridge_runtime.backends.torch:TORCH")
MLX = load("gymbridge_runtime.backends.mlx:MLX")
BACKENDS = {"numpy": NUMPY, "torch": TORCH, "jax": JAX, "mlx": MLX}

INT32 = np.iinfo(np.int32)
UINT32 = np.iinfo(np.uint32)


class TestJaxWithX64Off:
    @pytest.mark.parametrize(
        ("dtype", "value"),
        [
            ("int64", INT32.max),
            ("int64", INT32.min),
            ("uint64", UINT32.max),
            ("uint64", 0),
        ],
    )
    @pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
    def test_integers_that_fit_are_narrowed(self, pair: Pair, dtype: str, value: int) -> None:
        result = pair.convert(pair.source.make(np.array([value, 0], dtype)))
        assert result.dtype.itemsize == 4
        assert result.tolist() == [value, 0]

    @pytest.mark.parametrize(
        ("dtype", "value"),
        [
            ("int64", INT32.max + 1),
            ("int64", INT32.min - 1),
            ("int64", 2**40),
            ("uint64", UINT32.max + 1),
            ("uint64", 2**64 - 1),
        ],
    )
    @pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
    def test_integers_that_do_not_fit_are_refused(self, pair: Pair, dtype: str, value: int) -> None:
        for array in (np.array([0, value], dtype), np.array(value, dtype)):
            with pytest.raises(ConversionError) as caught:
                pair.convert({"goal": [1, 2, pair.source.make(array)]})
            assert str(caught.value).startswith(
                f"value['goal'][2]: JAX cannot hold the {dtype} value {value} with x64 off ("
            )
            assert str(caught.value).endswith("; set jax_enable_x64 or cast it")

    @pytest.mark.parametrize("source", ["numpy", "torch"])
    def test_broadcast_integers_are_checked(self, source: str) -> None:
        pair = Pair(source, "jax")
        for value in (INT32.max, INT32.max + 1, INT32.min, INT32.min - 1):
            column = pair.source.make([[0], [value]])
            broadcast = (
                np.broadcast_to(column, (2, 3)) if source == "numpy" else column.expand(2, 3)
            )
            if INT32.min <= value <= INT32.max:
                assert pair.convert(broadcast).tolist() == [[0] * 3, [value] * 3]
            else:
                with pytest.raises(ConversionError, match=f"the int64 value {value} with x64 off"):
                    pair.convert(broadcast)

    def test_numbers_that_do_not_fit_are_refused(self) -> None:
        for value in (2**31, np.int64(2**31), np.uint64(2**32)):
            with pytest.raises(ConversionError, match=rf"value {int(value)} with x64 off"):
                Pair("numpy", "jax").convert([value])

    @pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
    def test_floats_are_narrowed_as_jax_does(self, pair: Pair) -> None:
        values = np.array([0.1, 1e300, -1e300, np.nan, np.inf, 1e-300])
        with np.errstate(over="ignore"):
            expected = values.astype(np.float32)
        assert identical(np.array(pair.convert(pair.source.make(values))), expected)

    @pytest.mark.usefixtures("nothing_compiled")
    @pytest.mark.parametrize("dtype", ["float64", "complex128"])
    @pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
    def test_floats_that_do_not_fit_are_narrowed_without_a_warning(
        self, pair: Pair, dtype: str
    ) -> None:
        def numbers(size: int) -> list[Array]:
            return [np.full(size, value, dtype) for value in (1e300, -1e-310, 0.5)]

        scalars = [1e-310, 1e300, np.float64(1e-310), np.float64(-1e300), np.complex128(1e-310)]
        trees = [numbers(size) for size in (3, 600, 60_000)]
        trees += [numbers(3) * 30, [*numbers(600), *numbers(3)], *map(numbers, (4, 601))]
        for tree in [*trees, *[[one] for one in numbers(5)], scalars]:
            values = [pair.source.make(one) if np.ndim(one) else one for one in tree]
            with np.errstate(all="raise"):  # some users set this globally
                found = [pair.convert(values) for _ in range(20)]
                found += [[pair.convert(one) for one in values] for _ in range(20)]
            with np.errstate(all="ignore"):
                wanted = [narrow(np.asarray(one)) for one in tree]
            for arrays in found:
                for array, expected in zip(arrays, wanted, strict=True):
                    assert identical(np.asarray(array), expected)

    @pytest.mark.parametrize("dtype", ["float64", "complex128"])
    @pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
    def test_signalling_nan_is_narrowed_without_a_warning(self, pair: Pair, dtype: str) -> None:
        """NumPy warns when it casts a signalling NaN; warnings are errors here."""
        signals = np.full(4, 0x7FF0000000000001, np.uint64).view(dtype)
        with pytest.warns(RuntimeWarning, match="invalid value encountered in cast"):
            signals.astype("c8" if dtype == "complex128" else "f4")
        few = pair.source.make(signals[:1])
        many = pair.source.make(np.tile(signals, 50_000))
        scalar = pair.source.make(signals[0])
        for copy in (None, True):
            for value in ([few], [few, few], [scalar, few], [many], {"a": few, "b": [many]}):
                results = [
                    pair.convert(value, copy=copy) for _ in range(20)
                ]  # enough to be compiled
                assert all(np.isnan(array).all() for array in jax.tree.leaves(results))

    def test_x64_may_change_between_conversions(self) -> None:
        pair = Pair("numpy", "jax")
        value = np.array([2**40])
        with enable_x64(True):
            wide = pair.convert(value)
            assert wide.dtype == np.int64
            assert wide.tolist() == [2**40]
            assert pair.convert(0.1).dtype == np.float64
        with pytest.raises(ConversionError, match="with x64 off"):
            pair.convert(value)

    @pytest.mark.parametrize("pair", OUT_OF_JAX, ids=repr)
    def test_arrays_made_under_x64_stay_wide(self, pair: Pair) -> None:
        with enable_x64(True):
            array = jnp.array([2**40])
        assert pair.target.dtype(pair.convert(array)) == "int64"
        assert pair.target.values(pair.convert(array)).tolist() == [2**40]


def test_jax_with_x64_on_keeps_every_dtype_of_64_bits() -> None:
    code = """
        import numpy as np
        from tests.support import PAIRS, identical
        for pair in [pair for pair in PAIRS if "mlx" not in pair.name]:
            for name in ("int64", "uint64", "float64", "complex128"):
                for shape in ((), (3,), (0, 2)):
                    values = np.full(shape, 2**40 + 1).astype(name)
                    for _ in range(20):  # often enough to be compiled
                        result = pair.convert({"a": pair.source.make(values)})["a"]
                    assert pair.target.dtype(result) == name, (pair, name)
                    assert identical(pair.target.values(result), values), (pair, name)
            if pair.source.name == "numpy":
                result = pair.convert([2**40, 0.1, 2j, np.ulonglong(2**64 - 1)])
                values = [pair.target.values(one) for one in result]
                assert [one.item() for one in values] == [2**40, 0.1, 2j, 2**64 - 1], pair
                assert [one.dtype.itemsize for one in values] == [8, 8, 16, 8], pair
        print("kept")
    """
    assert run_python(code, JAX_ENABLE_X64="1") == "kept\n"


class TestIntegersOfObservations:
    """Their values are checked, whatever the space declares."""

    @pytest.mark.parametrize("name", ["numpy", "torch"])
    @pytest.mark.parametrize(
        "space",
        [
            spaces.Box(0, 2**32 - 1, (1,), np.uint32),
            spaces.Box(0, 2**32 - 1, (1,), np.uint64),
            spaces.MultiDiscrete([2**32 - 1], dtype=np.uint32),
        ],
        ids=str,
    )
    def test_unsigned_spaces_do_not_hide_a_loss(self, space: gym.Space[Array], name: str) -> None:
        """PyTorch has few operations for unsigned integers, so environments return signed ones."""
        observation = LIBRARIES[name].make(np.array([3_000_000_000]))
        env = Replay(space, observation)
        wrapper = NumpyToJax if name == "numpy" else TorchToJax
        with pytest.raises(ConversionError, match=r"^obs: JAX cannot hold the int64 value 30000"):
            wrapper(env).reset()

    @pytest.mark.parametrize(
        ("space", "observation"),
        [
            (spaces.Dict(a=spaces.Discrete(3)), {"a": 1, "undeclared": np.array([2**40])}),
            (spaces.Discrete(3), {"a": np.array([2**40])}),
            (spaces.Discrete(3), 2**40),
            (spaces.Discrete(3), [[[[[[[[[[[[np.array([2**40])]]]]]]]]]]]]),
        ],
        ids=str,
    )
    def test_undeclared_values_are_checked(
        self, space: gym.Space[Array], observation: Array
    ) -> None:
        env = NumpyToJax(Replay(space, observation))
        with pytest.raises(ConversionError, match=r"obs.*: JAX cannot hold the int64 value"):
            env.reset()

    @pytest.mark.parametrize(
        ("space", "observation"),
        [
            (spaces.Box(0, 255, (1,), np.int64), np.array([2**40 + 7])),
            (spaces.Box(0, 2**62, (1,), np.int64), np.array([2**40])),
            (spaces.Box(-np.inf, np.inf, (1,), np.float64), np.array([2**40])),
            (spaces.Box(-np.inf, np.inf, (), np.float32), 2**40),
            (spaces.Dict(a=spaces.Box(-np.inf, np.inf, (), np.float64)), {"a": np.int64(2**40)}),
        ],
    )
    @pytest.mark.filterwarnings("ignore:.*Casting input x to numpy array")
    def test_bounds_do_not_hide_a_loss(self, space: gym.Space[Array], observation: Array) -> None:
        env = NumpyToJax(Replay(space, observation))
        with pytest.raises(ConversionError, match=r"obs.*: JAX cannot hold the int64 value"):
            env.reset()

    def test_infos_are_checked(self) -> None:
        env = NumpyToJax(Replay(spaces.Discrete(3), np.int64(1), {"seed": np.int64(2**40)}))
        with pytest.raises(ConversionError, match=r"info\['seed'\]: JAX cannot hold the int64"):
            env.reset()

    def test_a_loss_is_found_when_x64_is_turned_off_later(self) -> None:
        with enable_x64(True):
            env = NumpyToJax(Replay(spaces.Box(0, 2**62, (1,), np.int64), np.array([2**40])))
            assert env.reset()[0].tolist() == [2**40]
        with pytest.raises(ConversionError, match="with x64 off"):
            env.reset()


OWN_HALVES = {
    "numpy": np.float16,
    "torch": torch.float16,
    "jax": jnp.float16,
    "mlx": mx.float16,
}
FLOATS = ["float16", "float32", "float64", "bfloat16", "float8_e5m2"]


class TestFloatDtype:
    @pytest.mark.parametrize("source", FLOATS)
    @pytest.mark.parametrize("target", FLOATS)
    @pytest.mark.parametrize("into", BACKENDS)
    def test_floating_arrays_of_every_library_are_cast(
        self, into: str, source: str, target: str
    ) -> None:
        library = LIBRARIES[into]
        if target == "float8_e5m2" and not library.eighths:
            with pytest.raises(ConversionError, match="has no dtype for float8_e5m2"):
                Converter(BACKENDS[into], float_dtype=target)(np.ones(3))
            return
        convert = Converter(BACKENDS[into], float_dtype=target)
        values = np.array([0.5, 1, -2], getattr(ml_dtypes, source, source))
        expected = library.narrow.get(target, target)
        for made in LIBRARIES.values():
            if made.eighths or source != "float8_e5m2":
                array = made.make(values)
                result = convert(array)
                assert library.is_array(result)
                assert library.dtype(result) == expected
                assert library.values(result).astype(float).tolist() == [0.5, 1, -2]

    def test_swapped_byte_orders_are_cast_without_a_warning(self) -> None:
        convert = Converter(TORCH, float_dtype="float16")
        with np.errstate(all="raise"):
            for tree in (np.array([1e300, 1], ">f8"), {"a": np.array([1e300, 1], ">f8")}):
                found: Array = convert(tree)
                assert (found["a"] if isinstance(tree, dict) else found).tolist() == [np.inf, 1]

    @pytest.mark.parametrize("into", BACKENDS)
    def test_other_dtypes_are_not_cast(self, into: str) -> None:
        library = LIBRARIES[into]
        convert = Converter(BACKENDS[into], float_dtype="float16")
        for name in ("bool", "int32", "uint8", "complex64"):
            for pair in [pair for pair in PAIRS if pair.target.name == into]:
                result = convert(pair.source.make(np.ones(2, name)))
                assert library.dtype(result) == name
        assert convert("text") == "text"

    @pytest.mark.parametrize("into", BACKENDS)
    def test_numbers_are_cast(self, into: str) -> None:
        library = LIBRARIES[into]
        convert = Converter(BACKENDS[into], float_dtype="float16")
        for value in (0.5, np.float64(0.5), np.float32(0.5)):
            assert library.dtype(convert(value)) == "float16"

    @pytest.mark.parametrize(("into", "own"), OWN_HALVES.items(), ids=OWN_HALVES)
    def test_float_dtype_may_be_given_in_every_usual_form(self, into: str, own: object) -> None:
        for given in (own, np.float16, np.dtype("float16"), "float16"):
            result = Converter(BACKENDS[into], float_dtype=given)(np.ones(2))
            assert LIBRARIES[into].dtype(result) == "float16"

    def test_a_cast_does_not_share_memory(self) -> None:
        for backend in BACKENDS.values():
            source = np.ones(3)
            result: Array = Converter(backend, float_dtype="float32")(source)
            source[:] = 5
            assert result.tolist() == [1, 1, 1]

    @pytest.mark.parametrize("times", [1, 20])
    def test_infos_imported_with_an_observation_are_not_cast(self, times: int) -> None:
        info = {"x": np.ones(2, np.float32), "t": 0.5}
        space = spaces.Box(-1, 1, (2,), np.float32)
        env = NumpyToJax(Replay(space, np.ones(2, np.float32), info), float_dtype="float16")
        for _ in range(times):
            obs, *_, told = env.step(jnp.asarray(1))
            names = [array.dtype.name for array in (obs, told["x"], told["t"])]
            assert names == ["float16", "float32", "float32"]
            assert (obs.tolist(), told["x"].tolist(), float(told["t"])) == ([1, 1], [1, 1], 0.5)

    def test_own_arrays_that_are_not_floating_are_not_cast(self) -> None:
        convert = Converter(TORCH, float_dtype="float32")
        for own in (
            torch.eye(2, dtype=torch.int64).to_sparse(),
            torch.ops.aten.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8),
            torch.ones(2, dtype=torch.int64),
            torch.ones(2, dtype=torch.complex64),
            torch.ones(2).requires_grad_(),
        ):
            result: Array = convert([own])
            assert result[0] is own
        columns = np.arange(4, dtype=">i4")
        swapped: Array = Converter(NUMPY, float_dtype="float32")([columns])
        assert swapped[0] is columns

    def test_an_own_array_that_cannot_be_cast_is_an_error(self) -> None:
        own = torch.eye(2).to_sparse()
        with pytest.raises(ConversionError, match=r"value\[0\]: PyTorch cannot show the layout"):
            Converter(TORCH, float_dtype="float16")([own])

    def test_float64_without_x64_keeps_float32_arrays(self) -> None:
        own = jnp.ones(2, jnp.float32)
        result: Array = Converter(JAX, float_dtype="float64")([own])
        assert result[0] is own, "with x64 off it is what float64 is stored as"

    def test_arrays_that_need_no_cast_are_shared(self) -> None:
        source = np.ones(3, np.float32)
        result = Converter(TORCH, float_dtype=torch.float32)(source)
        assert isinstance(result, torch.Tensor)
        assert result.data_ptr() == source.ctypes.data

    @pytest.mark.parametrize("where", ["alone", "in a tree"])
    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_float_dtype_does_not_change_sharing_of_other_dtypes(
        self, pair: Pair, where: str
    ) -> None:
        for name in ("uint8", "int32", "bool", "complex64"):
            array = pair.source.make(np.ones((2, 3), name))
            shared = []
            for float_dtype in (None, "float16"):
                convert = Converter(BACKENDS[pair.target.name], float_dtype=float_dtype)
                result: Array = convert(array if where == "alone" else [array])
                result = result if where == "alone" else result[0]
                shared.append(pair.target.address(result) == pair.source.address(array))
            assert shared[0] is shared[1], name

    @pytest.mark.parametrize("layout", ["negative", "read-only"])
    def test_integer_arrays_that_pytorch_cannot_share_are_copied(self, layout: str) -> None:
        source = np.arange(6)
        array = source[::-1] if layout == "negative" else source.view()
        array.flags.writeable = layout == "negative"
        result: Array = Converter(TORCH, float_dtype=torch.float16)(array)
        assert result.tolist() == array.tolist()
        result += 1
        assert source.tolist() == [0, 1, 2, 3, 4, 5]

    @pytest.mark.parametrize(
        "given", [torch.float32, "float32", "torch.float32", np.float32], ids=repr
    )
    def test_a_wrapper_casts_observations_and_not_infos(self, given: Array) -> None:
        info = {"x": np.ones(2), "t": 0.5}
        env = NumpyToTorch(
            Replay(spaces.Box(-1, 1, (2,), np.float64), np.ones(2), info), float_dtype=given
        )
        for obs, got in (env.reset(), env.step(torch.tensor(1))[::4]):
            assert obs.dtype == torch.float32
            assert obs.tolist() == [1, 1]
            assert got["x"].dtype == torch.float64
            assert got["t"].dtype == torch.float64

    def test_a_vector_wrapper_casts_observations_and_rewards(self) -> None:
        envs = vector.NumpyToTorch(
            SyncVectorEnv([partial(gym.make, "CartPole-v1")] * 2), float_dtype=torch.float16
        )
        obs, _ = envs.reset(seed=0)
        assert obs.dtype == torch.float16
        obs, reward, *_ = envs.step(torch.ones(2, dtype=torch.int64))
        assert obs.dtype == torch.float16
        assert reward.dtype == torch.float16
        envs.close()

    def test_a_wrapper_takes_ml_dtypes(self) -> None:
        space = spaces.Box(-1, 1, (2,), np.float64)
        env = NumpyToJax(Replay(space, np.ones(2)), float_dtype=jnp.bfloat16)
        assert env.reset()[0].dtype == jnp.bfloat16

    def test_a_wrapper_refuses_a_dtype_that_is_not_floating(self) -> None:
        with pytest.raises(ValueError, match=r"float_dtype=torch.int32 is no floating-point dtype"):
            NumpyToTorch(Replay(spaces.Discrete(2), 0), float_dtype=torch.int32)

    def test_actions_are_not_cast(self) -> None:
        inner = Replay(spaces.Discrete(2), 0, action_space=spaces.Box(-1, 1, (1,), np.float64))
        env = NumpyToTorch(inner, float_dtype=torch.float32)
        env.step(torch.tensor([0.1], dtype=torch.float64))
        assert inner.actions[0].dtype == np.float64
        assert inner.actions[0].tolist() == [0.1]


def test_a_wrapper_narrows_int64_tensors_within_bounds() -> None:
    env = TorchToJax(Replay(spaces.Box(0, 9, (2,), np.int64), torch.tensor([1, 2])))
    obs, _ = env.reset()
    assert obs.dtype == np.int32
    assert obs.tolist() == [1, 2]
