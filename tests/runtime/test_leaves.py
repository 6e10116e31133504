"""Every kind of leaf: nothing crashes, and nothing is lost silently."""

from __future__ import annotations

import array as array_module
import ctypes
import decimal
import enum
import fractions
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from gymbridge_runtime import ConversionError
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.ownership import Ownership
from numpy.lib.stride_tricks import as_strided
from typing_extensions import override

from tests.libraries.jax import jax, jnp
from tests.libraries.ml_dtypes import ml_dtypes
from tests.libraries.mlx import mx
from tests.libraries.strict import strict
from tests.libraries.torch import torch
from tests.support import LIBRARIES, PAIRS, Array, Host, Pair, identical, require_version

if TYPE_CHECKING:
    from collections.abc import Callable

# PyTorch 2.15 warns once that quantized tensors will be removed
pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")

NUMPY_TO_TORCH = Pair("numpy", "torch")
NUMPY_TO_JAX = Pair("numpy", "jax")
TORCH_TO_NUMPY = Pair("torch", "numpy")
JAX_TO_NUMPY = Pair("jax", "numpy")
OUT_OF_NUMPY = [pair for pair in PAIRS if pair.source.name == "numpy"]
OUT_OF_TORCH = [pair for pair in PAIRS if pair.source.name == "torch"]
OUT_OF_JAX = [pair for pair in PAIRS if pair.source.name == "jax"]
OUT_OF_MLX = [pair for pair in PAIRS if pair.source.name == "mlx"]

Into: TypeAlias = "Callable[[object], Array]"

COMMON = (
    *("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32"),
    *("float16", "float32", "complex64", "bfloat16"),
)
"""The dtypes that all libraries have under all settings."""

EIGHTHS = (
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
"""Dtypes of 8 bits that only some libraries have."""

FLOAT4 = pytest.param("float4_e2m1fn_x2", marks=pytest.mark.needs("torch>=2.8"))

ONLY_IN_JAX = {
    *("int2", "int4", "uint2", "uint4"),
    *("float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"),
}

WIDE = ("int64", "uint64", "float64", "complex128")
"""Dtypes that some libraries narrow."""

KEPT = [
    (pair, name)
    for pair in PAIRS
    for name in (*COMMON, *EIGHTHS)
    if name in COMMON or (pair.source.eighths and pair.target.eighths)
]
MISSING = [
    (pair, name)
    for pair in PAIRS
    for name in EIGHTHS
    if pair.source.eighths and not pair.target.eighths
]
SHAPES = [(), (1,), (0,), (3,), (2, 3), (0, 4), (2, 0, 3), (1, 2, 3, 4, 5)]


def dtype_of(name: str) -> np.dtype[np.generic]:
    return np.dtype(getattr(ml_dtypes, name, name))


def require_dtype(pair: Pair, name: str) -> None:
    """Skip a dtype that came with a newer PyTorch than there is."""
    if name == "float8_e8m0fnu" and "torch" in {pair.source.name, pair.target.name}:
        require_version("torch>=2.7")


def numbers(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Host:
    """Return different numbers that every dtype can hold."""
    count = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    return (2.0 ** (count % 5)).astype(dtype) if dtype != np.bool_ else count % 2 == 0


class TestArrays:
    @pytest.mark.parametrize(("pair", "name"), KEPT, ids=str)
    def test_arrays_keep_dtype_shape_and_every_bit(self, pair: Pair, name: str) -> None:
        require_dtype(pair, name)
        for shape in SHAPES:
            values = numbers(shape, dtype_of(name))
            for copy in (None, True):
                result = pair.convert(pair.source.make(values), copy=copy)
                assert pair.target.is_array(result)
                assert pair.target.dtype(result) == name
                assert identical(pair.target.values(result), values), shape

    @pytest.mark.parametrize(("pair", "name"), MISSING, ids=str)
    def test_arrays_of_a_missing_dtype_are_refused(self, pair: Pair, name: str) -> None:
        require_dtype(pair, name)
        with pytest.raises(ConversionError, match=f"has no dtype for {name}"):
            pair.convert(pair.source.make(numbers((2,), dtype_of(name))))

    @pytest.mark.parametrize("name", WIDE)
    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_arrays_of_64_bits_keep_their_dtype_if_the_target_has_it(
        self, pair: Pair, name: str
    ) -> None:
        kept = pair.target.narrow.get(name, name)
        for shape in SHAPES:
            values = numbers(shape, dtype_of(pair.source.narrow.get(name, name)))
            for copy in (None, True):
                result = pair.convert(pair.source.make(values), copy=copy)
                narrower = min(dtype_of(kept), values.dtype, key=lambda dtype: dtype.itemsize)
                assert identical(pair.target.values(result), values.astype(narrower)), shape

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_infinities_nans_and_the_sign_of_zero_are_kept(self, pair: Pair) -> None:
        values = np.array([np.inf, -np.inf, np.nan, -0.0, 1e-45], np.float32)
        result = pair.convert(pair.source.make(values))
        assert identical(pair.target.values(result), values)

    @pytest.mark.parametrize("typecode", sorted(set(np.typecodes["AllInteger"])))
    @pytest.mark.parametrize("pair", OUT_OF_NUMPY, ids=repr)
    def test_every_integer_type_of_c_is_converted(self, pair: Pair, typecode: str) -> None:
        values = np.array([0, 1, 100], typecode)
        for value in (values, values[1], values[:0]):
            result = pair.convert({"a": value})["a"]
            assert pair.target.is_array(result)
            assert pair.target.values(result).tolist() == value.tolist()
            assert pair.target.values(result).dtype.kind == values.dtype.kind

    @pytest.mark.parametrize("order", [">", "<"])
    @pytest.mark.parametrize("name", ["i2", "i4", "u4", "f2", "f4", "c8"])
    @pytest.mark.parametrize("pair", OUT_OF_NUMPY, ids=repr)
    def test_another_byte_order_keeps_its_values(self, pair: Pair, name: str, order: str) -> None:
        values = np.array([1, 2, 3], name)
        for _ in range(3):  # a compiled function takes the bytes unchanged
            native = pair.convert(values)
            swapped = pair.convert(values.astype(order + name))
            assert identical(pair.target.values(swapped), pair.target.values(native))

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_arrays_with_64_dimensions_are_converted(self, pair: Pair) -> None:
        values = np.zeros((1,) * 64, np.float32)
        source = jnp.zeros((1,) * 64) if pair.source.name == "jax" else pair.source.make(values)
        result = pair.convert(source)
        assert identical(pair.target.values(result), values)

    @pytest.mark.parametrize("pair", OUT_OF_NUMPY, ids=repr)
    def test_arrays_with_huge_strides_are_converted(self, pair: Pair) -> None:
        memory = np.zeros(1 << 24, np.float32)  # pages that are never touched take no memory
        values = as_strided(memory, (2, 1, 2), (4 * ((1 << 24) - 2), 1 << 40, 4))
        values[...] = [[[1, 2]], [[3, 4]]]
        result = pair.convert(values)
        assert pair.target.values(result).tolist() == [[[1, 2]], [[3, 4]]]

    @pytest.mark.parametrize("pair", OUT_OF_NUMPY, ids=repr)
    def test_array_subclasses_become_plain_arrays(self, pair: Pair) -> None:
        class Tagged(np.ndarray[tuple[int, ...], np.dtype[np.float32]]):
            pass

        values = np.arange(6, dtype=np.float32).reshape(2, 3)
        result = pair.convert(values.view(Tagged))
        assert pair.target.is_array(result)
        assert identical(pair.target.values(result), values)

    @pytest.mark.parametrize("name", ["float128", "complex256"])
    @pytest.mark.parametrize("pair", OUT_OF_NUMPY, ids=repr)
    def test_long_doubles_are_refused(self, pair: Pair, name: str) -> None:
        values = np.ones(2, np.longdouble if name == "float128" else np.clongdouble)
        for value in (values, values[0]):
            with pytest.raises(ConversionError, match=rf"\['a'\]: .* no dtype for {name}"):
                pair.convert({"a": value})

    @pytest.mark.parametrize(
        "name",
        sorted(
            name
            for name in vars(ml_dtypes)
            if name.startswith(("int", "uint", "float", "bfloat", "complex", "bcomplex"))
        ),
    )
    @pytest.mark.parametrize("pair", OUT_OF_NUMPY, ids=repr)
    def test_every_ml_dtype_is_kept_or_refused(self, pair: Pair, name: str) -> None:
        require_dtype(pair, name)
        values = np.ones(3, dtype_of(name))
        for value in (values, values[0]):
            if (
                name in COMMON
                or (name in EIGHTHS and pair.target.eighths)
                or (pair.target.name == "jax" and name in ONLY_IN_JAX)
            ):
                result = pair.convert([value])[0]
                assert pair.target.dtype(result) == name
                assert (pair.target.values(result) == 1).all()
            else:
                with pytest.raises(ConversionError, match=rf"value\[0\].* no dtype for {name} \("):
                    pair.convert([value])


class TestArraysWithoutNumbers:
    @pytest.mark.parametrize(
        "value",
        [
            np.array(["north", "south"]),
            np.array([b"north"]),
            np.array("north"),
            np.array(["2024-01-01"], "M8[D]"),
            np.array([3], "m8[s]"),
            np.array([(1, 2.0)], "i4,f8"),
            np.zeros(2, "V7"),
            np.array(["north"], np.dtypes.StringDType()),
            np.rec.array([(1, 2.0)], dtype="i4,f8"),
            np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        ],
        ids=lambda value: f"{type(value).__name__} of {value.dtype}, shape {value.shape}",
    )
    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_arrays_without_numbers_stay_themselves(self, pair: Pair, value: Host) -> None:
        assert pair.convert({"a": value})["a"] is value

    def test_masked_arrays_stay_themselves_beside_other_leaves(self, pair: Pair) -> None:
        masked = np.ma.masked_array([1.5, "text"], mask=[True, False], dtype=object)
        result: Array = pair.convert({"masked": masked, "array": pair.source.make([1])})
        assert result["masked"] is masked

    @pytest.mark.parametrize("depth", [1, 20])
    def test_masked_arrays_stay_themselves_at_every_depth(self, pair: Pair, depth: int) -> None:
        values: Array = [pair.source.make([1]), None]
        masked = np.ma.masked_array(values, mask=[False, True], dtype=object)
        tree: Array = masked
        for _ in range(depth):
            tree = [tree]
        result: Array = pair.convert(tree)
        for _ in range(depth):
            (result,) = result
        assert result is masked

    def test_every_element_of_an_object_array_is_converted(self, pair: Pair) -> None:
        array = pair.source.make(np.ones(2, np.float32))
        values = np.empty((2, 3), object)
        values[0] = [array, None, {"goal": [array, "text"]}]
        values[1] = ["text", 3, np.array(["a"])]
        result = pair.convert({"final_obs": values})["final_obs"]
        assert type(result) is np.ndarray
        assert result.dtype == object
        assert result.shape == (2, 3)
        assert pair.target.is_array(result[0, 0])
        assert result[0, 1] is None
        assert pair.target.is_array(result[0, 2]["goal"][0])
        assert result[0, 2]["goal"][1] == "text"
        assert result[1, 0] == "text"
        assert pair.target.values(result[1, 1]) == 3
        assert result[1, 2] is values[1, 2]
        assert values[0, 0] is array

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
    def test_object_arrays_may_be_empty_or_zero_d(self, pair: Pair, shape: tuple[int, ...]) -> None:
        values = np.empty(shape, object)
        if shape == ():
            values[()] = pair.source.make(np.ones(2, np.float32))
        result = pair.convert(values)
        assert result.dtype == object
        assert result.shape == shape
        assert shape or pair.target.is_array(result[()])

    def test_an_object_array_of_equal_shapes_stays_an_object_array(self, pair: Pair) -> None:
        values = np.empty(2, object)
        values[:] = [pair.source.make(np.ones(3, np.float32)) for _ in range(2)]
        result = pair.convert(values)
        assert result.shape == (2,)
        assert all(pair.target.is_array(one) for one in result)

    def test_subclasses_of_object_arrays_keep_their_type(self, pair: Pair) -> None:
        class Cells(np.ndarray):
            """A user's own array class."""

        values = np.array([[None, "text"]], object).view(Cells)
        values[0, 0] = pair.source.make(np.ones(2, np.float32))
        result = pair.convert([values])[0]
        assert type(result) is Cells
        assert pair.target.is_array(result[0, 0])
        assert result[0, 1] == "text"
        assert pair.source.is_array(values[0, 0])


SCALARS = [
    np.dtype(kind).type(1)
    for kind in "?bhilqBHILQefdFD"
    if np.dtype(kind).type not in {np.longdouble, np.clongdouble}
]


class TestNumbers:
    @pytest.mark.parametrize("value", SCALARS, ids=lambda value: value.dtype.char)
    @pytest.mark.parametrize("into", LIBRARIES)
    def test_numpy_scalars_become_zero_d_arrays(self, into: str, value: np.generic) -> None:
        library = LIBRARIES[into]
        pair = next(pair for pair in PAIRS if pair.target.name == into)
        result = pair.convert({"a": value})["a"]
        assert library.is_array(result)
        name = value.dtype.name
        assert library.dtype(result) == library.narrow.get(name, name)
        assert library.values(result).shape == ()
        assert library.values(result) == value

    @pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
    @pytest.mark.parametrize("pair", OUT_OF_NUMPY, ids=repr)
    def test_scalars_of_ml_dtypes_keep_their_dtype(self, pair: Pair, name: str) -> None:
        if name in EIGHTHS and not pair.target.eighths:
            with pytest.raises(ConversionError, match=f"has no dtype for {name}"):
                pair.convert(getattr(ml_dtypes, name)(1.5))
            return
        result = pair.convert(getattr(ml_dtypes, name)(1.5))
        assert pair.target.dtype(result) == name
        assert float(result) == 1.5

    @pytest.mark.parametrize(
        ("value", "dtype"),
        [
            (0, "int64"),
            (-(2**63), "int64"),
            (2**63 - 1, "int64"),
            (1_700_000_000.123456, "float64"),
            (float("nan"), "float64"),
            (float("inf"), "float64"),
            (-0.0, "float64"),
            (1 + 2j, "complex128"),
        ],
    )
    @pytest.mark.parametrize("into", ["numpy", "torch", "mlx"])
    def test_python_numbers_keep_their_value(self, into: str, value: complex, dtype: str) -> None:
        pair = next(pair for pair in PAIRS if pair.target.name == into)
        result = pair.convert(value)
        assert pair.target.is_array(result)
        kept = pair.target.narrow.get(dtype, dtype)
        assert identical(pair.target.values(result), np.array(value, dtype).astype(kept))

    @pytest.mark.parametrize(
        ("value", "dtype"), [(7, "int32"), (0.1, "float32"), (1e300, "float32"), (2j, "complex64")]
    )
    def test_python_numbers_are_narrowed_as_jax_does(self, value: complex, dtype: str) -> None:
        result = NUMPY_TO_JAX.convert(value)
        assert result.dtype == dtype
        assert not result.weak_type
        with np.errstate(over="ignore"):
            assert identical(np.array(result), np.array(value).astype(dtype))

    def test_subclasses_of_numbers_are_numbers(self, pair: Pair) -> None:
        class Seconds(float):
            pass

        class Steps(int):
            pass

        class Gain(np.float32):
            pass

        result = pair.convert([Seconds(0.5), Steps(3), Gain(0.25)])
        assert all(pair.target.is_array(one) for one in result)
        assert [float(one) for one in result] == [0.5, 3, 0.25]

    @pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30])
    def test_integers_beyond_64_bits_are_refused(self, pair: Pair, value: int) -> None:
        with pytest.raises(ConversionError, match=f"the int {value} does not fit int64"):
            pair.convert(value)

    def test_integers_too_long_to_print_are_refused(self, pair: Pair) -> None:
        with pytest.raises(ConversionError, match="an int of 20000 bits does not fit int64"):
            pair.convert({"a": 1 << 19_999})


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


class Word(enum.StrEnum):
    YES = "yes"


class Gain(float, enum.Enum):
    HALF = 0.5


class Corner(tuple[int, int], enum.Enum):
    ORIGIN = (0, 0)


class Anything:
    pass


OBJECTS = [
    True,
    False,
    None,
    "text",
    np.str_("text"),
    b"text",
    np.bytes_(b"text"),
    np.datetime64("2024-01-01"),
    np.timedelta64(3, "s"),
    np.void(b"abc"),
    Color.RED,
    Level.LOW,
    Access.READ | Access.WRITE,
    Word.YES,
    Gain.HALF,
    Corner.ORIGIN,
    {1, 2},
    frozenset({1}),
    range(3),
    slice(1, 2),
    iter([1, 2]),
    (one for one in [1]),
    bytearray(b"abc"),
    memoryview(b"abc"),
    array_module.array("d", [1.0]),
    (ctypes.c_float * 2)(),
    decimal.Decimal("0.1"),
    fractions.Fraction(1, 3),
    print,
    lambda: 0,
    int,
    np.float32,
    np.dtype("f4"),
    np.random.default_rng(0),
    np,
    Anything,
    Anything(),
    ...,
    NotImplemented,
    ValueError("text"),
    torch.float32,
    torch.device("cpu"),
    torch.Generator(),
    torch.nn.Linear(1, 1),
    mx.float32,
    mx.cpu,
    jnp.float32,
    jax.random.key(0),
    jax.random.split(jax.random.key(0), 3),
]


@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_every_other_object_stays_itself(pair: Pair, copy: bool | None) -> None:
    for value in OBJECTS:
        assert pair.convert(value, copy=copy) is value
        assert pair.convert({"a": value}, copy=copy)["a"] is value
        assert pair.convert([value], copy=copy)[0] is value
        assert pair.convert((value,), copy=copy)[0] is value
        assert pair.convert([value, 1.5], copy=copy)[0] is value  # beside an imported leaf


def test_a_generator_is_not_consumed() -> None:
    generator = (one for one in [1, 2])
    NUMPY_TO_JAX.convert({"a": generator})
    assert list(generator) == [1, 2]


class TestTensors:
    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_conjugate_and_negative_tensors_keep_their_values(self, pair: Pair) -> None:
        values = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64)
        conjugate = values.conj()
        negative = conjugate.imag
        assert conjugate.is_conj()
        assert negative.is_neg()
        for copy in (None, True):
            result = pair.convert([conjugate, negative, conjugate[0]], copy=copy)
            assert pair.target.values(result[0]).tolist() == [1 - 2j, 3 + 4j]
            assert pair.target.values(result[1]).tolist() == [-2, 4]
            assert pair.target.values(result[2]).tolist() == 1 - 2j

    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_tensors_that_require_grad_are_detached(self, pair: Pair) -> None:
        weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        half = torch.tensor([0.5], dtype=torch.bfloat16, requires_grad=True)
        result = pair.convert({"weight": weight, "twice": weight * 2, "half": half})
        assert pair.target.values(result["weight"]).tolist() == [1, 2]
        assert pair.target.values(result["twice"]).tolist() == [2, 4]
        assert pair.target.values(result["half"]).tolist() == [0.5]
        assert weight.requires_grad

    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_expanded_and_sliced_tensors_keep_their_shape(self, pair: Pair) -> None:
        tensor = torch.arange(6.0).reshape(2, 3)
        for view in (tensor.T, tensor[:, ::2], tensor[0].expand(4, 3), tensor[1:, 1:]):
            result = pair.convert(view)
            assert pair.target.values(result).tolist() == view.tolist()

    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_inference_tensors_are_converted(self, pair: Pair) -> None:
        with torch.inference_mode():
            tensor = torch.ones(3)
            assert pair.target.values(pair.convert(tensor)).tolist() == [1, 1, 1]
        assert pair.target.values(pair.convert(tensor)).tolist() == [1, 1, 1]

    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_return_types_of_pytorch_keep_their_type(self, pair: Pair) -> None:
        found = torch.max(torch.tensor([[1.0, 2.0]]), dim=1)
        result = pair.convert(found)
        assert type(result) is type(found)
        assert pair.target.values(result.values).tolist() == [2]
        assert pair.target.values(result.indices).tolist() == [1]

    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_tensor_sizes_stay_themselves(self, pair: Pair) -> None:
        size = torch.ones(2, 3).shape
        assert pair.convert({"size": size})["size"] is size

    @pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
    @pytest.mark.parametrize("name", ["complex32", "int4", "uint1", FLOAT4])
    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_tensors_of_dtypes_without_numpy_counterpart_are_refused(
        self, pair: Pair, name: str
    ) -> None:
        tensor = torch.empty(2, dtype=getattr(torch, name))
        with pytest.raises(ConversionError, match=rf"\['a'\]: PyTorch has torch.{name}, which"):
            pair.convert({"a": tensor})


def sparse() -> Array:
    return torch.eye(2).to_sparse()


def compressed() -> Array:
    return torch.eye(2).to_sparse_csr()


def nested() -> Array:
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)


def quantized() -> Array:
    return torch.ops.aten.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)


def fake() -> Array:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(2)


def masked() -> Array:
    from torch.masked import masked_tensor

    return masked_tensor(torch.ones(2), torch.tensor([True, False]))


def freed() -> Array:
    tensor = torch.nn.Parameter(torch.ones(100))
    tensor.untyped_storage().resize_(0)  # as libraries for distributed training do
    return tensor


def wrapping() -> Array:
    class Wrapping(torch.Tensor):
        """A tensor that wraps others and has no memory."""

        @classmethod
        @override
        def __torch_dispatch__(cls, *_called: object) -> Array:
            raise AssertionError("not for what is refused")

    return torch.Tensor._make_wrapper_subclass(Wrapping, (2,), dtype=torch.float32)


TURN = "see the cause above, or turn it into an ordinary array first"
SPECIAL = {
    freed: (
        "has no memory behind the tensor",
        "convert it before its memory is released",
    ),
    wrapping: ("invalid python storage", TURN),
    sparse: (
        "cannot show the layout torch.sparse_coo as strided memory",
        "call to_dense() first",
    ),
    compressed: (
        "cannot show the layout torch.sparse_csr as strided memory",
        "call to_dense() first",
    ),
    nested: (
        "has no one shape for a nested tensor",
        "pad it with to_padded_tensor(), or unbind() it",
    ),
    quantized: ("stores torch.qint8 as quantized numbers", "call dequantize() first"),
    fake: (
        "cannot show a FakeTensor, which has a shape and no values",
        "convert outside the mode",
    ),
    masked: ("", TURN),
    lambda: torch.ones(2, device="meta"): (
        "holds no values in a tensor on the device 'meta'",
        "make it on a real device",
    ),
    torch.nn.UninitializedParameter: ("uninitialized parameter", TURN),
}


class TestUnusualTensors:
    @pytest.mark.parametrize("make", SPECIAL, ids=lambda make: make.__name__)
    @pytest.mark.parametrize("copy", [None, True, False])
    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    @pytest.mark.filterwarnings("ignore:.*MaskedTensors:UserWarning", "ignore:.*beta state")
    def test_unusual_tensors_are_refused_with_advice(
        self, pair: Pair, copy: bool | None, make: Callable[[], Array]
    ) -> None:
        problem, advice = SPECIAL[make]
        with pytest.raises(ConversionError) as caught:
            pair.convert({"obs": [make()]}, copy=copy)
        message = str(caught.value)
        assert message.startswith("value['obs'][0]: PyTorch ")
        assert problem in message
        assert caught.value.advice == advice

    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    @pytest.mark.parametrize("tree", [torch.ones(2), {"a": torch.ones(2)}], ids=["alone", "in"])
    def test_tensors_in_a_fake_mode_are_refused(self, pair: Pair, tree: Array) -> None:
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode(), pytest.raises(ConversionError, match="convert all Tensors to Fake"):
            pair.convert(tree)

    @pytest.mark.parametrize("make", [sparse, nested, fake], ids=lambda make: make.__name__)
    def test_unusual_tensors_stay_themselves_for_pytorch(self, make: Callable[[], Array]) -> None:
        tensor = make()
        assert NUMPY_TO_TORCH.convert([tensor])[0] is tensor

    @pytest.mark.parametrize("make", [sparse, nested, quantized])
    @pytest.mark.parametrize("device", [None, "cpu"])
    def test_copy_true_copies_unusual_tensors_for_pytorch(
        self, make: Callable[[], Array], device: str | None
    ) -> None:
        tensor = make()
        torch_backend = load("gymbridge_runtime.backends.torch:TORCH")
        copy = Converter(torch_backend, copy=True, device=device)([tensor])
        assert isinstance(copy, list)
        assert type(copy[0]) is type(tensor)
        assert copy[0] is not tensor
        assert copy[0].layout == tensor.layout
        assert copy[0].dtype == tensor.dtype
        shown = [one.unbind()[0] if one.is_nested else one for one in (tensor, copy[0])]
        values = [one.dequantize() if one.is_quantized else one.to_dense() for one in shown]
        assert torch.equal(*values)

    @pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
    @pytest.mark.parametrize(
        "make",
        [
            lambda: torch.full((2,), 2 + 1j, dtype=torch.complex32),
            pytest.param(
                lambda: torch.ones(2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2),
                marks=pytest.mark.needs("torch>=2.8"),
            ),
            lambda: torch.ones(2, device="meta"),
            lambda: torch._efficientzerotensor(2),
            fake,
        ],
        ids=["complex32", "float4", "meta", "zeros", "fake"],
    )
    def test_copy_true_copies_tensors_without_numpy_counterpart(
        self, make: Callable[[], Array]
    ) -> None:
        tensor = make()
        (copy,) = NUMPY_TO_TORCH.convert([tensor], copy=True)
        assert type(copy) is type(tensor)
        assert copy is not tensor
        assert (copy.dtype, copy.shape, copy.device) == (tensor.dtype, tensor.shape, tensor.device)
        if tensor.device.type == "cpu" and tensor.dtype == torch.complex32:
            assert copy.to(torch.complex64).tolist() == [2 + 1j, 2 + 1j]
            assert copy.data_ptr() != tensor.data_ptr()

    def test_a_freed_tensor_cannot_be_copied(self) -> None:
        with pytest.raises(ConversionError, match=r"^value\[0\]: PyTorch has no memory behind"):
            NUMPY_TO_TORCH.convert([freed()], copy=True)

    @pytest.mark.parametrize("pair", OUT_OF_TORCH, ids=repr)
    def test_values_inside_a_transformation_are_refused(self, pair: Pair) -> None:
        def convert(tensor: Array) -> Array:
            match = r"\['a'\]\[0\]: PyTorch is transforming a function.*outside of vmap, grad and"
            with pytest.raises(ConversionError, match=match):
                pair.convert({"a": [tensor]})
            return tensor.sum()

        ones = torch.ones(3)
        torch.func.vmap(convert)(torch.ones(2, 3))
        torch.func.grad(convert)(ones)
        torch.func.functionalize(convert)(ones)

    def test_released_tensors_are_refused_in_trees(self) -> None:
        tensor = torch.ones(3)
        tensor.untyped_storage().resize_(0)
        with pytest.raises(ConversionError, match=r"^value\[0\]: PyTorch has no memory behind"):
            Pair("torch", "numpy").convert([tensor])


class TestJaxArrays:
    @pytest.mark.parametrize("pair", OUT_OF_JAX, ids=repr)
    def test_weakly_typed_arrays_keep_dtype_and_value(self, pair: Pair) -> None:
        weak = jax.jit(lambda: 1.5)()
        assert weak.weak_type
        result = pair.convert(weak)
        assert pair.target.dtype(result) == "float32"
        assert pair.target.values(result) == 1.5

    @pytest.mark.parametrize("pair", OUT_OF_JAX, ids=repr)
    def test_traced_arrays_are_refused(self, pair: Pair) -> None:
        def convert(array: Array) -> Array:
            match = r"value\['a'\]: JAX is tracing this value.*outside of jit, vmap and grad"
            with pytest.raises(ConversionError, match=match):
                pair.convert({"a": array})
            return array.sum()

        jax.jit(convert)(jnp.ones(3))
        jax.vmap(convert)(jnp.ones((2, 3)))
        jax.grad(convert)(jnp.ones(3))

    @pytest.mark.parametrize("pair", OUT_OF_JAX, ids=repr)
    def test_concrete_arrays_are_converted_during_tracing(self, pair: Pair) -> None:
        constant = jnp.arange(3.0)

        def convert(array: Array) -> Array:
            assert pair.target.values(pair.convert(constant)).tolist() == [0, 1, 2]
            return array

        jax.jit(convert)(jnp.ones(3))

    @pytest.mark.parametrize("pair", OUT_OF_JAX, ids=repr)
    def test_deleted_arrays_are_refused(self, pair: Pair) -> None:
        array = jnp.ones(3)
        array.delete()
        match = r"value\[0\]: the JAX array was deleted or donated .*float32, shape \(3,\)"
        with pytest.raises(ConversionError, match=match):
            pair.convert([array])

    @pytest.mark.parametrize("name", ["int4", "uint4", "int2", "float8_e3m4"])
    def test_arrays_of_few_bits_are_viewed_from_numpy(self, name: str) -> None:
        values = np.array([0, 1, 1], dtype_of(name))
        array = jax.device_put(values)
        assert identical(np.array(JAX_TO_NUMPY.convert(array)), values)


class TestMlxArrays:
    @pytest.mark.parametrize("pair", OUT_OF_MLX, ids=repr)
    def test_lazy_arrays_are_computed(self, pair: Pair) -> None:
        lazy = mx.arange(6, dtype=mx.float32).reshape(2, 3).T * 2
        for copy in (None, True):
            result = pair.convert({"a": [lazy + 1]}, copy=copy)["a"][0]
            assert pair.target.values(result).tolist() == [[1, 7], [3, 9], [5, 11]]

    @pytest.mark.parametrize("pair", OUT_OF_MLX, ids=repr)
    def test_slices_are_converted(self, pair: Pair) -> None:
        array = mx.arange(12, dtype=mx.int32).reshape(3, 4)
        for part in (array[1:, 1:3], array[2], array[:, ::2], array[2, 3]):
            assert pair.target.values(pair.convert(part)).tolist() == part.tolist()

    def test_float64_arrays_keep_their_dtype(self) -> None:
        wide = mx.array(np.array([0.1, 1e300]), dtype=mx.float64)
        seen = Pair("mlx", "numpy").convert(wide)
        assert identical(seen, np.array([0.1, 1e300]))
        own = Pair("numpy", "mlx").convert(wide, copy=True)
        assert own.dtype == mx.float64
        assert identical(np.array(own), np.array([0.1, 1e300]))

    @pytest.mark.parametrize("pair", OUT_OF_MLX, ids=repr)
    def test_values_inside_a_transformation_are_refused(self, pair: Pair) -> None:
        def convert(array: Array) -> Array:
            with pytest.raises(ConversionError, match=r"value\['a'\]: MLX could not show"):
                pair.convert({"a": array})
            return array.sum()

        mx.vmap(convert)(mx.ones((2, 3)))
        mx.compile(convert)(mx.ones(3))

    @pytest.mark.parametrize("pair", OUT_OF_MLX, ids=repr)
    def test_a_lazy_array_of_another_thread_must_be_computed_there(self, pair: Pair) -> None:
        lazy = mx.ones(3) * 2

        def elsewhere() -> str:
            with pytest.raises(ConversionError) as caught:
                pair.convert({"a": lazy})
            return str(caught.value)

        with ThreadPoolExecutor(1) as threads:
            message = threads.submit(elsewhere).result()
        assert message.startswith("value['a']: MLX has not computed the array yet, and cannot do")
        assert message.endswith("; call mx.eval() on it in the thread that made it")
        assert pair.target.values(pair.convert(lazy)).tolist() == [2, 2, 2]


class TestArraysOfOtherLibraries:
    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_arrays_with_dlpack_are_converted(self, pair: Pair) -> None:
        array = strict.reshape(strict.arange(6, dtype=strict.float32), (2, 3))
        for copy in (None, True):
            result = pair.convert({"a": [array]}, copy=copy)["a"][0]
            assert pair.target.is_array(result)
            assert pair.target.values(result).tolist() == [[0, 1, 2], [3, 4, 5]]

    def test_arrays_with_dlpack_are_shared_with_mutable_libraries(self) -> None:
        array = strict.zeros(3)
        for pair in (NUMPY_TO_TORCH, TORCH_TO_NUMPY):
            pair.convert(array, copy=False)[0] += 1
        assert array[0] == 2

    def test_snapshots_copy_arrays_with_dlpack(self) -> None:
        array = strict.zeros(3)
        for name in ("numpy", "torch"):
            backend = load(f"gymbridge_runtime.backends.{name}:{name.upper()}")
            result = Converter(backend, default=Ownership.SNAPSHOT)(array)
            assert isinstance(result, (np.ndarray, torch.Tensor))
            result[...] = 1
        assert array[0] == 0

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_an_array_that_raises_is_refused_with_its_own_message(self, pair: Pair) -> None:
        class Mute:
            def __array_namespace__(self) -> object:
                return strict

            def __array__(self, dtype: object = None, copy: object = None) -> Host:
                raise RuntimeError("call todense() first")

        with pytest.raises(ConversionError, match="call todense") as caught:
            pair.convert([Mute()])
        assert str(caught.value).startswith("value[0]: the array could not be shown in host memory")
        assert isinstance(caught.value.__cause__, RuntimeError)

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_arrays_that_offer_only_the_array_method_are_computed(self, pair: Pair) -> None:
        class Lazy:
            def __array_namespace__(self) -> object:
                return strict

            def __array__(self, dtype: object = None, copy: object = None) -> Host:
                return np.arange(3, dtype=np.float32)

        result = pair.convert(Lazy())
        assert pair.target.is_array(result)
        assert pair.target.values(result).tolist() == [0, 1, 2]
        with pytest.raises(ConversionError, match="had to be copied to be seen"):
            pair.convert(Lazy(), copy=False)

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_copy_true_copies_memory_that_an_array_keeps(self, pair: Pair) -> None:
        memory = np.arange(3, dtype=np.float32)

        class Keeps:
            def __array_namespace__(self) -> object:
                return strict

            def __array__(self, dtype: object = None, copy: object = None) -> Host:
                return memory

        result = pair.convert(Keeps(), copy=True)
        memory[:] = 7
        assert pair.target.values(result).tolist() == [0, 1, 2]

    def test_arrays_without_any_protocol_are_refused(self) -> None:
        class Namespaced:
            def __array_namespace__(self) -> object:
                return strict

        with pytest.raises(
            ConversionError,
            match=": it has neither __dlpack__ with __dlpack_device__ nor __array__ ",
        ):
            NUMPY_TO_TORCH.convert(Namespaced())

    def test_arrays_of_a_third_library_are_converted(self, pair: Pair) -> None:
        values = np.arange(3, dtype=np.float32)
        for third in set(LIBRARIES) - {pair.source.name, pair.target.name}:
            result = pair.convert(LIBRARIES[third].make(values))
            assert pair.target.is_array(result)
            assert identical(pair.target.values(result), values)
