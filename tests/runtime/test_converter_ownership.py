"""What converters share and copy: copies never change, and read-only memory is not written."""

from __future__ import annotations

import pickle
import threading
from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.ownership import Ownership
from gymnasium import spaces
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

from gymbridge import JaxToNumpy, JaxToTorch
from tests.libraries.jax import jax, jnp
from tests.libraries.ml_dtypes import ml_dtypes
from tests.libraries.mlx import mx
from tests.libraries.torch import torch
from tests.runtime.layouts import LAYOUTS, SIZES, expose
from tests.runtime.replay import Replay
from tests.support import LIBRARIES, PAIRS, Array, Host, Pair, identical, run_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

EXPOSED = [pair for pair in PAIRS if pair.source.shares]
INTO_JAX = [pair for pair in EXPOSED if pair.target.name == "jax"]
FROM_JAX = [pair for pair in PAIRS if pair.source.name == "jax"]
FROM_MLX = [pair for pair in PAIRS if pair.source.name == "mlx"]
SHARING = [pair for pair in EXPOSED if pair.target.shares]

# torch.from_dlpack aborts at a negative stride: these are converted in another process
SAFE = [layout for layout in LAYOUTS if layout != "negative"]

# tensors have whole strides and are never read-only
OF_TORCH = [layout for layout in SAFE if layout not in {"within bytes", "read-only"}]


def layouts_of(pair: Pair) -> list[str]:
    return SAFE if pair.source.name == "numpy" else OF_TORCH


def over(pair: Pair, array: Host) -> Array:
    """Return an array of the pair's source over the memory of ``array``."""
    return torch.from_numpy(array) if pair.source.name == "torch" else array


def snapshot(pair: Pair, array: Array, how: str) -> Array:
    """Convert in one of the ways that promise a snapshot."""
    if how == "nothing was promised":
        backend = load(f"gymbridge_runtime.backends.{pair.target.name}:{pair.target.name.upper()}")
        return Converter(backend, default=Ownership.SNAPSHOT)(array)
    return pair.convert(array, copy={"copy=None": None, "copy=True": True}[how])


def ways(pair: Pair) -> list[str]:
    """Return the ways that promise a snapshot; into JAX and MLX all of them do."""
    always = [] if pair.target.shares else ["copy=None"]
    return [*always, "copy=True", "nothing was promised"]


@pytest.fixture
def busy_jax() -> Iterator[None]:
    """Keep JAX's queue busy for a while."""
    heavy = jax.jit(lambda x: jax.lax.fori_loop(0, 12, lambda _, y: y @ y * 1e-3, x))
    pending = heavy(jnp.ones((512, 512), jnp.float32))
    yield
    pending.block_until_ready()


class TestSnapshots:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("pair", EXPOSED, ids=repr)
    def test_a_snapshot_does_not_change_when_its_source_is_overwritten(
        self, pair: Pair, size: int
    ) -> None:
        for layout in layouts_of(pair):
            for how in ways(pair):
                array, memory = exposed = expose(layout, size)
                before = array.copy()
                result = snapshot(pair, over(pair, array), how)
                exposed.overwrite()
                assert pair.target.is_array(result)
                assert identical(pair.target.values(result), before), (layout, how)
                assert not identical(array, before), (layout, memory)

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
    @pytest.mark.usefixtures("busy_jax")
    def test_a_snapshot_does_not_change_while_jax_is_busy(self, pair: Pair, size: int) -> None:
        kept = []
        for layout in layouts_of(pair):
            for how in ways(pair):
                exposed = expose(layout, size)
                before = exposed.array.copy()
                kept.append((snapshot(pair, over(pair, exposed.array), how), before, layout, how))
                exposed.overwrite()
        for result, before, layout, how in kept:
            assert identical(pair.target.values(result), before), (layout, how)

    @pytest.mark.usefixtures("nothing_compiled")
    @pytest.mark.parametrize("pair", INTO_JAX, ids=repr)
    def test_snapshots_by_compiled_imports_do_not_change(self, pair: Pair) -> None:
        heavy = jax.jit(lambda x: x @ x * 1e-3)
        pending = jnp.ones((512, 512), jnp.float32)
        kept = []
        for _ in range(40):
            pending = heavy(pending)
            exposed = expose("aligned to 64 bytes", 4096)
            before = exposed.array.copy()
            tree = {"a": over(pair, exposed.array), "b": over(pair, exposed.array[0])}
            kept.append((pair.convert(tree), before))
            exposed.overwrite()
        for result, before in kept:
            assert identical(pair.target.values(result["a"]), before)
            assert identical(pair.target.values(result["b"]), before[0])

    @pytest.mark.usefixtures("busy_jax")
    @pytest.mark.usefixtures("nothing_compiled")
    @pytest.mark.parametrize("wide", [False, True])
    @pytest.mark.parametrize("sizes", [(8192, 8192), (64, 64, 8192), (64, 64)], ids=repr)
    def test_snapshots_by_compiled_batches_do_not_change(
        self, sizes: tuple[int, ...], wide: bool
    ) -> None:
        heavy = jax.jit(lambda x: x @ x * 1e-3)
        pending = jnp.ones((512, 512), jnp.float32)
        kept = []
        with jax.enable_x64(wide):
            for _ in range(40):
                pending = heavy(pending)
                exposed = [expose("aligned to 64 bytes", size) for size in sizes]
                before = [one.array.copy() for one in exposed]
                result = Pair("numpy", "jax").convert([one.array for one in exposed])
                for one in exposed:
                    one.overwrite()
                kept.append((result, before))
        for result, before in kept:
            for array, values in zip(result, before, strict=True):
                assert identical(np.array(array), values)

    @pytest.mark.usefixtures("nothing_compiled")
    @pytest.mark.parametrize("size", [64, 8192, 1 << 18])
    @pytest.mark.parametrize("agent", ["numpy", "torch"])
    def test_snapshots_of_actions_do_not_change(self, agent: str, size: int) -> None:
        heavy = jax.jit(lambda x: x @ x * 1e-3)
        pending = jnp.ones((512, 512), jnp.float32)
        shape = expose("aligned to 64 bytes", size).array.shape
        env = Replay(  # its observation is not waited for
            spaces.Text(9), "text", action_space=spaces.Box(-np.inf, np.inf, shape)
        )
        bridge: Array = {"numpy": JaxToNumpy, "torch": JaxToTorch}[agent](env)
        kept = []
        for _ in range(40):
            pending = heavy(pending)
            exposed = expose("aligned to 64 bytes", size)
            kept.append(exposed.array.copy())
            bridge.step(over(Pair(agent, "jax"), exposed.array))
            exposed.overwrite()
        for action, before in zip(env.actions, kept, strict=True):
            assert identical(np.array(action), before)

    def test_jax_alone_reads_overwritten_memory(self) -> None:
        identity = jax.jit(lambda x: x)
        identity(np.zeros((2, 512), np.float32)).block_until_ready()
        changed = 0
        for _ in range(20):
            pending = jnp.ones((512, 512), jnp.float32) @ jnp.ones((512, 512), jnp.float32)
            exposed = expose("aligned to 64 bytes", 4096)
            before = exposed.array.copy()
            result = identity(exposed.array)
            exposed.overwrite()
            changed += not identical(np.array(result), before)
            pending.block_until_ready()
        assert changed > 0

    @pytest.mark.parametrize("target", ["torch", "jax", "mlx"])
    def test_snapshots_of_negative_strides_do_not_change(self, target: str) -> None:
        code = f"""
            from tests.runtime.layouts import SIZES, expose
            from tests.support import Pair, identical
            pair = Pair("numpy", {target!r})
            for size in SIZES:
                for copy in (None, True):
                    exposed = expose("negative", size)
                    before = exposed.array.copy()
                    result = pair.convert({{"frame": exposed.array}}, copy=copy)["frame"]
                    exposed.overwrite()
                    assert identical(pair.target.values(result), before), size
            print("held")
        """
        assert run_python(code) == "held\n"


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_unaligned_complex_numbers_are_copied_for_pytorch(dtype: str) -> None:
    # PyTorch's own loops over such memory abort the process
    code = f"""
import numpy as np
from gymbridge.numpy_to_torch import numpy_to_torch
for size in range(1, 20):
    raw = np.zeros(size * np.dtype({dtype!r}).itemsize + 1, np.uint8)
    view = raw[1:].view({dtype!r})
    view[...] = 1 + 2j
    print(numpy_to_torch(view).clone().tolist() == [1 + 2j] * size)
"""
    assert run_python(code).split() == ["True"] * 19


class TestImmutableArrays:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("copy", [None, True])
    @pytest.mark.parametrize("pair", FROM_JAX, ids=repr)
    def test_a_jax_array_cannot_be_written_through_a_result(
        self, pair: Pair, copy: bool | None, size: int
    ) -> None:
        array = jnp.arange(size // 4, dtype=jnp.float32)
        before = np.array(array)
        result = pair.convert(array, copy=copy)
        if pair.target.name == "numpy" and copy is None:
            assert pair.target.address(result) == array.unsafe_buffer_pointer()
            with pytest.raises(ValueError, match="read-only"):
                result[...] = -1
            with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                result.flags.writeable = True
        else:
            result[...] = -1
            assert (pair.target.values(result) == -1).all()
        assert identical(np.array(array), before)

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("copy", [None, True])
    @pytest.mark.parametrize("pair", FROM_MLX, ids=repr)
    def test_mlx_arrays_that_share_memory_cannot_be_written_through_a_result(
        self, pair: Pair, copy: bool | None, size: int
    ) -> None:
        array = mx.arange(size // 4, dtype=mx.float32)
        other = array.astype(mx.float32)
        mx.eval(array, other)
        before = np.array(array)
        assert pair.source.address(array) == pair.source.address(other)
        result = pair.convert(array, copy=copy)
        if pair.target.name == "numpy" and copy is None:
            assert pair.target.address(result) == pair.source.address(array)
            with pytest.raises(ValueError, match="read-only"):
                result[...] = -1
            with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                result.flags.writeable = True
        elif pair.target.mutable:
            result[...] = -1
            assert (pair.target.values(result) == -1).all()
        assert identical(np.array(array), before)
        assert identical(np.array(other), before)

    @pytest.mark.parametrize("copy", [None, True])
    @pytest.mark.parametrize("pair", FROM_MLX, ids=repr)
    def test_writing_into_an_mlx_array_does_not_change_a_result(
        self, pair: Pair, copy: bool | None
    ) -> None:
        if pair.target.name == "numpy" and copy is None:
            copy = True  # otherwise it is a view
        array = mx.zeros(1024)
        result = pair.convert(array, copy=copy)
        array[:] = 5
        mx.eval(array)
        assert (pair.target.values(result) == 0).all()

    def test_arrays_are_not_copied_before_mlx_copies_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> Host:
            raise AssertionError("copied on the host, and once more by MLX")

        target = load("gymbridge_runtime.backends.mlx:MLX")
        monkeypatch.setattr(type(target), "private_copy", refuse)
        numbers = np.arange(6).astype(ml_dtypes.bfloat16)
        for source in (numbers[::2], numbers.reshape(2, 3).T, np.broadcast_to(numbers, (2, 6))):
            for convert in (Converter(target), Converter(target, copy=True)):
                result: Array = convert({"a": source})
                assert result["a"].tolist() == source.tolist()

    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("copy", [None, True])
    def test_a_read_only_numpy_array_cannot_be_written_through_a_tensor(
        self, copy: bool | None, size: int
    ) -> None:
        array, memory = expose("read-only", size)
        before = memory.copy()
        tensor = Pair("numpy", "torch").convert(array, copy=copy)
        tensor.fill_(-1)
        assert (tensor == -1).all()
        assert identical(memory, before)

    @pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
    def test_read_only_numpy_arrays_of_a_dict_cannot_be_written_through_tensors(self) -> None:
        memory = np.ones(3)
        array = memory.view()
        array.flags.writeable = False
        for _ in range(2):  # PyTorch warns once
            result = Pair("numpy", "torch").convert({"a": array})
            result["a"].fill_(7)
        assert memory.tolist() == [1, 1, 1]

    def test_a_read_only_file_in_memory_is_converted_to_a_writable_result(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "numbers"
        path.write_bytes(np.arange(1024, dtype=np.float32).tobytes())
        code = f"""
            import numpy as np
            from gymbridge.numpy_to_torch import numpy_to_torch
            from gymbridge.numpy_to_jax import numpy_to_jax
            file = np.memmap({str(path)!r}, np.float32, "r")
            tensor = numpy_to_torch(file)
            tensor += 1
            print(tensor[:3].tolist(), numpy_to_jax(file)[:3].tolist(), file[:3].tolist())
        """
        assert run_python(code) == "[1.0, 2.0, 3.0] [0.0, 1.0, 2.0] [0.0, 1.0, 2.0]\n"

    def test_a_view_keeps_its_values_when_the_jax_array_is_donated(self) -> None:
        array = jnp.arange(1024, dtype=jnp.float32)
        view = Pair("jax", "numpy").convert(array)
        before = view.copy()
        negated = jax.jit(lambda x: -x, donate_argnums=0)(array)
        assert identical(np.array(negated), -before)
        assert identical(view, before)

    @pytest.mark.parametrize("pair", FROM_JAX, ids=repr)
    def test_an_array_that_jax_still_computes_gets_its_final_values(self, pair: Pair) -> None:
        heavy = jax.jit(lambda x: jax.lax.fori_loop(0, 8, lambda _, y: y @ y * 1e-3, x))
        start = jnp.full((512, 512), 2e-3, jnp.float32)
        expected = np.array(heavy(start).block_until_ready())
        assert identical(pair.target.values(pair.convert(heavy(start))), expected)


class TestSharing:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("copy", [None, False])
    @pytest.mark.parametrize("pair", SHARING, ids=repr)
    def test_writes_to_shared_memory_are_seen_on_both_sides(
        self, pair: Pair, copy: bool | None, size: int
    ) -> None:
        for layout in OF_TORCH:
            exposed = expose(layout, size)
            source = over(pair, exposed.array)
            result = pair.convert(source, copy=copy)
            assert pair.target.address(result) == pair.source.address(source), layout
            result[0, 0] = 2000
            assert exposed.array[0, 0] == 2000, layout
            exposed.overwrite()
            assert identical(pair.target.values(result), exposed.array.copy()), layout

    def test_numpy_views_the_memory_of_a_jax_array(self) -> None:
        array = jnp.arange(1024.0)
        for copy in (None, False):
            view = Pair("jax", "numpy").convert(array, copy=copy)
            assert LIBRARIES["numpy"].address(view) == array.unsafe_buffer_pointer()

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_a_shared_array_keeps_its_memory_alive(self, pair: Pair) -> None:
        result = pair.convert(pair.source.make(np.full(1 << 20, 3, np.float32)))
        churn = [pair.source.make(np.full(1 << 20, 5, np.float32)) for _ in range(8)]
        assert (pair.target.values(result) == 3.0).all()
        assert len(churn) == 8

    def test_a_tensor_that_requires_grad_is_shared_without_its_history(self) -> None:
        leaf = torch.ones(3, requires_grad=True)
        for tensor in (leaf, leaf * 2, torch.nn.Parameter(torch.ones(3))):
            array = Pair("torch", "numpy").convert(tensor, copy=False)
            assert LIBRARIES["numpy"].address(array) == tensor.data_ptr()


REFUSED = {
    "numpy_to_jax": (SAFE, "JAX arrays never change, and this memory may"),
    "torch_to_jax": (OF_TORCH, "JAX arrays never change, and this memory may"),
    "numpy_to_torch": (
        ["read-only"],
        "PyTorch would write through to memory that is read-only",
    ),
    "numpy_to_mlx": (SAFE, "MLX copies whatever it imports"),
    "torch_to_mlx": (OF_TORCH, "MLX copies whatever it imports"),
}


class TestNeverCopy:
    @pytest.mark.parametrize("name", REFUSED)
    def test_the_error_names_the_leaf_and_the_reason(self, name: str) -> None:
        pair = next(pair for pair in PAIRS if pair.name == name)
        layouts, reason = REFUSED[name]
        for layout in layouts:
            exposed = expose(layout, 4096)
            with pytest.raises(CopyRequiredError) as caught:
                pair.convert({"goal": [over(pair, exposed.array)]}, copy=False)
            message = str(caught.value)
            assert message.startswith(f"value['goal'][0]: {reason} ("), layout
            assert message.endswith("); allow copies: copy=None or copy=True"), layout

    @pytest.mark.parametrize("layout", ["within bytes", "negative"])
    def test_the_error_names_strides_that_a_tensor_cannot_have(self, layout: str) -> None:
        code = f"""
            from gymbridge import CopyRequiredError
            from gymbridge.numpy_to_torch import numpy_to_torch
            from tests.runtime.layouts import expose
            array = expose({layout!r}, 48).array
            try:
                numpy_to_torch(array, copy=False)
            except CopyRequiredError as error:
                print(error.problem)
        """
        strides = {"within bytes": "(6,)", "negative": "(-24, -4)"}[layout]
        assert run_python(code) == f"PyTorch does not take memory with the strides {strides}\n"

    def test_pytorch_may_not_share_arrays_of_jax_and_mlx(self) -> None:
        for name, array in {"jax": jnp.ones(3), "mlx": mx.ones(3)}.items():
            with pytest.raises(CopyRequiredError, match="would write through to memory that is re"):
                Pair(name, "torch").convert(array, copy=False)

    def test_conjugate_and_negative_tensors_are_refused(self) -> None:
        conjugate = torch.ones(2, dtype=torch.complex64).conj()
        for tensor in (conjugate, conjugate.imag):
            with pytest.raises(CopyRequiredError, match="had to be copied to be seen"):
                Pair("torch", "numpy").convert(tensor, copy=False)

    @pytest.mark.parametrize("dtype", ["int4", "uint4", "int2", "float4_e2m1fn"])
    def test_jax_arrays_of_packed_dtypes_are_refused(self, dtype: str) -> None:
        for shape in ((64,), (), (2, 3)):
            with pytest.raises(CopyRequiredError, match="had to be copied to be seen"):
                Pair("jax", "numpy").convert(jnp.zeros(shape, dtype), copy=False)

    def test_jax_arrays_in_column_order_are_refused(self) -> None:
        place = Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0]))
        columns = jax.device_put(jnp.arange(12.0).reshape(3, 4), place)
        with pytest.raises(CopyRequiredError, match="had to be copied to be seen"):
            Pair("jax", "numpy").convert(columns, copy=False)

    def test_broadcast_arrays_are_refused_as_read_only(self) -> None:
        # reading the flag of such an array gives a FutureWarning
        into_torch = Pair("numpy", "torch").convert
        torch_backend = load("gymbridge_runtime.backends.torch:TORCH")
        cast_into_torch = Converter(torch_backend, float_dtype="float32")
        for dtype in (float, int):
            spread, _ = np.broadcast_arrays(np.zeros((3, 1), dtype), np.zeros((1, 4)))
            with pytest.raises(CopyRequiredError, match="write through to memory that is read-onl"):
                into_torch(spread, copy=False)
            for convert in (into_torch, cast_into_torch):
                alone: Array = convert(spread)
                alone += 1
                among: Array = convert({"a": spread, "b": "text"})
                among["a"] += 1
            assert not spread.any()

    def test_a_cast_is_refused(self) -> None:
        numpy = load("gymbridge_runtime.backends.numpy:NUMPY")
        with pytest.raises(CopyRequiredError, match="float32 would have to be cast to float64"):
            Converter(numpy, copy=False, float_dtype="float64")(torch.ones(3))
        with pytest.raises(CopyRequiredError, match=">f4 would have to be cast to float32"):
            Pair("numpy", "torch").convert(np.ones(3, ">f4"), copy=False)
        negative = torch.ones(3, dtype=torch.complex64).conj().imag
        with pytest.raises(CopyRequiredError, match="float32 would have to be cast to float64"):
            Converter(load("gymbridge_runtime.backends.torch:TORCH"), copy=False, float_dtype="f8")(
                negative
            )

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_numbers_become_arrays(self, pair: Pair) -> None:
        result = pair.convert({"steps": 3, "gain": np.float32(0.5)}, copy=False)
        assert pair.target.is_array(result["steps"])
        assert pair.target.values(result["gain"]) == np.float32(0.5)


class TestAlwaysCopy:
    @pytest.mark.parametrize("size", SIZES)
    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_the_copy_owns_its_memory_and_is_writable(self, pair: Pair, size: int) -> None:
        source = pair.source.make(np.arange(size // 4, dtype=np.float32))
        result = pair.convert(source, copy=True)
        assert pair.target.address(result) != pair.source.address(source)
        assert identical(pair.target.values(result), pair.source.values(source))
        if pair.target.mutable:
            result[...] = -1
            assert (pair.target.values(result) == -1).all()

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_the_copy_of_ml_dtypes_owns_its_memory(self, pair: Pair) -> None:
        source = pair.source.make(np.ones(3, ml_dtypes.bfloat16))
        result = pair.convert(source, copy=True)
        assert pair.target.address(result) != pair.source.address(source)
        if pair.target.mutable:
            result[...] = -1
        assert (pair.source.values(source) == 1).all()

    def test_the_copy_of_a_weakly_typed_array_is_weakly_typed(self) -> None:
        weak = jnp.asarray(1.0)
        copied: Array = Converter(load("gymbridge_runtime.backends.jax:JAX"), copy=True)(weak)
        assert copied is not weak
        assert (copied.weak_type, float(copied)) == (True, 1)
        assert copied.unsafe_buffer_pointer() != weak.unsafe_buffer_pointer()
        assert (copied * jnp.ones(2, jnp.bfloat16)).dtype == jnp.bfloat16

    @pytest.mark.parametrize("float_dtype", [None, "float32"])
    def test_the_copy_is_in_c_order(self, float_dtype: str | None) -> None:
        columns = np.arange(6.0).reshape(2, 3).T
        frozen = columns.view()
        frozen.flags.writeable = False
        convert = Converter(
            load("gymbridge_runtime.backends.torch:TORCH"), copy=True, float_dtype=float_dtype
        )
        for source in (columns, frozen, columns.astype(">f8")):
            result: Array = convert({"a": source})
            tensor = result["a"]
            assert tensor.is_contiguous()
            assert tensor.tolist() == columns.tolist()

    @pytest.mark.parametrize("text", [np.array(["a", "b"]), np.array([b"a"]), np.zeros(2, "i4,f4")])
    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_arrays_without_numbers_are_copied(self, pair: Pair, text: Host) -> None:
        result = pair.convert(text, copy=True)
        assert result is not text
        assert not np.shares_memory(result, text)
        assert identical(result, text)

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_masked_arrays_are_copied_with_their_mask(self, pair: Pair) -> None:
        masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
        result = pair.convert(masked, copy=True)
        masked[1] = np.ma.masked
        masked.data[:] = 0
        assert result.mask.tolist() == [True, False]
        assert result.data.tolist() == [1.0, 2.0]

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_rows_of_structured_arrays_are_copied(self, pair: Pair) -> None:
        rows = np.zeros(2, [("x", float), ("kept", object)])
        array = np.ones(2)
        rows["kept"][0] = array
        assert pair.convert([rows[0]], copy=None)[0]["kept"] is array
        result: Array = pair.convert({"row": rows[0], "rows": rows}, copy=True)
        rows["x"], array[:] = 7, 7
        assert type(result["row"]) is np.void
        assert result["row"]["x"] == result["rows"]["x"][0] == 0
        assert result["row"]["kept"].tolist() == result["rows"]["kept"][0].tolist() == [1, 1]

    @pytest.mark.parametrize("pair", PAIRS, ids=repr)
    def test_a_value_that_cannot_be_copied_is_named(self, pair: Pair) -> None:
        rows = np.zeros(1, [("lock", object)])
        rows["lock"][0] = threading.Lock()
        with pytest.raises(ConversionError, match=r"^value\['a'\]: .*cannot pickle"):
            pair.convert({"a": rows}, copy=True)


class TestArraysOfTheTarget:
    def test_arrays_of_the_target_are_returned_themselves(self, pair: Pair) -> None:
        own = pair.target.make(np.arange(3, dtype=np.float32))
        for copy in (None, False):
            assert pair.convert({"a": own}, copy=copy)["a"] is own

    def test_copy_true_copies_arrays_of_the_target(self, pair: Pair) -> None:
        own = pair.target.make(np.arange(3, dtype=np.float32))
        result = pair.convert(own, copy=True)
        assert pair.target.is_array(result)
        assert pair.target.address(result) != pair.target.address(own)
        assert identical(pair.target.values(result), pair.target.values(own))

    def test_snapshots_copy_mutable_arrays_of_the_target(self, pair: Pair) -> None:
        own = pair.target.make(np.arange(3, dtype=np.float32))
        result = snapshot(pair, own, "nothing was promised")
        assert (result is own) is not pair.target.mutable
        assert identical(pair.target.values(result), pair.target.values(own))

    @pytest.mark.parametrize("default", [Ownership.SNAPSHOT, Ownership.PROVE])
    @pytest.mark.parametrize("said", [None, True])
    def test_a_copy_keeps_the_subclass(self, said: bool | None, default: Ownership) -> None:
        array = np.ones((1, 2)).view(np.matrix)
        numpy = load("gymbridge_runtime.backends.numpy:NUMPY")
        copy: Array = Converter(numpy, copy=said, default=default)(array)
        assert type(copy) is np.matrix
        copy[:] = 7
        assert array.tolist() == [[1, 1]]

    @pytest.mark.parametrize("dtype", ["int64", "float64", "complex128"])
    def test_arrays_of_64_bits_are_copied_with_x64_off(self, dtype: str) -> None:
        with jax.enable_x64(True):
            array = jnp.array([2**40], dtype)
        for device in (None, "cpu"):
            copy: Array = Pair("numpy", "jax").convert(array, copy=True, device=device)
            assert copy.dtype == array.dtype
            assert copy.tolist() == [2**40]
            assert copy.unsafe_buffer_pointer() != array.unsafe_buffer_pointer()

    def test_read_only_arrays_stay_read_only(self) -> None:
        own = np.ones(3)
        own.flags.writeable = False
        assert Pair("torch", "numpy").convert(own) is own


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_a_snapshot_is_writable_where_arrays_are(pair: Pair) -> None:
    result = snapshot(pair, pair.source.make(np.ones(3, np.float32)), "nothing was promised")
    if pair.target.mutable:
        result[...] = 2
    assert pair.target.values(result).tolist() == [1 + pair.target.mutable] * 3


@pytest.mark.parametrize("said", ["never", "False", 2, ()])
def test_copy_must_be_none_true_or_false(pair: Pair, said: Array) -> None:
    with pytest.raises(TypeError, match="is none of None, True and False"):
        pair.convert(pair.source.make(np.ones(3, np.float32)), copy=said)


@pytest.mark.parametrize("said", [np.True_, 1])
def test_values_equal_to_true_mean_copy_true(pair: Pair, said: Array) -> None:
    array = pair.source.make(np.ones(3, np.float32))
    result = pair.convert(array, copy=said)
    assert pair.target.address(result) != pair.source.address(array)


@pytest.mark.parametrize(
    "travel", [lambda one: pickle.loads(pickle.dumps(one)), deepcopy], ids=["pickle", "copy"]
)
def test_a_copied_converter_keeps_its_arguments(
    travel: Callable[[Converter], Converter],
) -> None:
    torch_backend = load("gymbridge_runtime.backends.torch:TORCH")
    again = travel(
        Converter(torch_backend, default=Ownership.SNAPSHOT, arrays_only=True, root="obs")
    )
    source = np.zeros(3)
    result: Array = again({"array": source, "number": 3})
    source += 1
    assert result["array"].tolist() == [0, 0, 0]
    assert type(result["number"]) is int
    with pytest.raises(ConversionError, match=r"^obs\['array'\]: "):
        again({"array": np.zeros(3, np.longdouble)})
    cast: Array = travel(Converter(torch_backend, float_dtype="float32"))(np.zeros(3))
    assert cast.dtype == torch.float32
