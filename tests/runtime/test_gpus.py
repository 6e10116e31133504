"""The backends with arrays on GPUs, tested with stand-ins.

No machine of the project has a GPU. These tests show that the backends use the documented calls of
the libraries, and that values and memory are correct if the documentation is.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from gymbridge_runtime import CopyRequiredError
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.backends.dlpack_protocol import host_view
from gymbridge_runtime.backends.jax.imports import CompiledImports
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.ownership import Ownership
from typing_extensions import override

from tests.libraries.jax import jax, jnp
from tests.libraries.simulated_cupy import Transfers, cupy, simulation
from tests.libraries.torch import torch

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

    from tests.support import Array, Host

NUMPY, TORCH, JAX, CUPY = (
    load(f"gymbridge_runtime.backends.{name}:{name.upper()}")
    for name in ("numpy", "torch", "jax", "cupy")
)


CUDA, MANAGED = 2, 13
"""DLPack's numbers for GPU memory and for memory shared by a GPU and the host."""


class CudaTensor(torch.Tensor):
    """A tensor that claims to be on the second GPU."""

    is_cuda: bool = True

    @override
    def __dlpack_device__(self) -> Array:
        return CUDA, 1

    @override
    def __dlpack__(self, *, stream: object = None, **keywords: Array) -> CapsuleType:
        capsule: CapsuleType = self.as_subclass(torch.Tensor).__dlpack__(**keywords)
        return capsule


def numbers(dtype: str = "float32") -> Host:
    return np.arange(6).reshape(2, 3).astype(dtype)


def on(device: int, values: Host) -> Array:
    """Return a CuPy array on a device without counting its transfer."""
    with cupy.cuda.Device(device):
        array = cupy.asarray(values, blocking=True)
    _ = simulation.take_transfers()
    return array


class TestCupy:
    def test_devices_come_from_the_driver(self) -> None:
        assert CUPY.devices() == ("cuda:0", "cuda:1")

    def test_arrays_are_downloaded_once(self) -> None:
        source = on(1, numbers())
        result: Array = Converter(NUMPY)({"a": source})
        assert simulation.take_transfers() == Transfers(downloads=1)
        assert result["a"].tolist() == numbers().tolist()
        assert result["a"].flags.writeable
        with pytest.raises(CopyRequiredError, match="had to be copied to be seen from the host"):
            Converter(NUMPY, copy=False)({"a": source})

    def test_downloaded_arrays_are_not_copied_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> Host:
            raise AssertionError("copied from the GPU, and once more")

        monkeypatch.setattr(type(NUMPY), "private_copy", refuse)
        for convert in (Converter(NUMPY, copy=True), Converter(NUMPY, default=Ownership.SNAPSHOT)):
            result: Array = convert(on(1, numbers()))
            assert result.tolist() == numbers().tolist()

    def test_arrays_are_uploaded_to_the_named_device_and_complete_on_return(self) -> None:
        source = numbers()
        _ = simulation.take_transfers()
        result: Array = Converter(CUPY, device=1)(source)
        source[...] = -1
        assert simulation.take_transfers() == Transfers(uploads=1)
        assert (type(result), result.device.id) == (cupy.ndarray, 1)
        assert result.tolist() == numbers().tolist()
        assert cupy.cuda.runtime.getDevice() == 0

    @pytest.mark.parametrize(("device", "moves"), [(None, 0), (1, 0), (0, 1)])
    def test_arrays_move_to_the_named_device(self, device: int | None, moves: int) -> None:
        source = on(1, numbers())
        result: Array = Converter(CUPY, device=device)(source)
        assert simulation.take_transfers() == Transfers(moves=moves)
        assert result.device.id == 1 - moves
        assert result.tolist() == numbers().tolist()
        assert (result is source) == (not moves)

    @pytest.mark.parametrize("copies", [None, True])
    def test_arrays_with_gaps_move_too(self, copies: Array) -> None:
        source = on(1, numbers())[:, ::2]
        result: Array = Converter(CUPY, device=0, copy=copies)(source)
        assert simulation.take_transfers() == Transfers(moves=1)
        assert result.device.id == 0
        assert result.tolist() == numbers()[:, ::2].tolist()

    @pytest.mark.parametrize(("device", "moves"), [(None, 0), (1, 0), (0, 1)])
    def test_copies_are_made_once_and_on_the_gpu(self, device: int | None, moves: int) -> None:
        source = on(1, numbers())
        result: Array = Converter(CUPY, device=device, copy=True)(source)
        assert simulation.take_transfers() == Transfers(moves=moves)
        with source.device:
            source.fill(-1)
        assert result.device.id == 1 - moves
        assert result.tolist() == numbers().tolist()

    @pytest.mark.parametrize("copies", [None, True])
    def test_casts_stay_on_the_device(self, copies: Array) -> None:
        source = on(1, numbers())
        result: Array = Converter(CUPY, float_dtype="float16", copy=copies)(source)
        assert simulation.take_transfers() == Transfers(uploads=1, downloads=1)
        assert (result.dtype, result.device.id) == (np.float16, 1)
        assert result.tolist() == numbers().tolist()
        whole = on(1, numbers().astype("int32"))
        assert Converter(CUPY, float_dtype="float16")(whole) is whole

    def test_exports_know_their_device_and_gaps(self) -> None:
        array = on(1, numbers())
        for source, dense in ((array, True), (array[:, ::2], False)):
            export = CUPY.export(source)
            assert export is not None
            assert (export.place, export.dtype, export.dense) == ((CUDA, 1), source.dtype, dense)
            assert not export.owned
        assert simulation.take_transfers() == Transfers()

    def test_managed_memory_goes_through_the_host(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cupy.ndarray, "__dlpack_device__", lambda _: (MANAGED, 0))
        assert CUPY.export(on(0, numbers())) is None

    def test_copy_false_refuses_an_array_on_another_gpu(self) -> None:
        with pytest.raises(CopyRequiredError):
            Converter(CUPY, device=0, copy=False)(on(1, numbers()))


class TestTorch:
    def test_tensors_on_a_gpu_export_their_memory(self) -> None:
        tensor = torch.from_numpy(numbers()).as_subclass(CudaTensor)
        export = TORCH.export(tensor)
        assert export is not None
        assert (export.place, export.dtype) == ((CUDA, 1), np.dtype("float32"))
        assert export.dense
        assert not export.owned
        array: Array = export.array
        assert array.data_ptr() == tensor.data_ptr()
        strided = TORCH.export(tensor[:, ::2])
        assert strided is not None
        assert not strided.dense

    @pytest.mark.parametrize("lazy", ["conjugate", "negative"])
    def test_conjugate_and_negative_bits_are_resolved_before_an_export(self, lazy: str) -> None:
        plain = torch.tensor([1 + 2j, 3 - 4j])
        noted = plain.conj() if lazy == "conjugate" else plain.conj().imag
        export = TORCH.export(noted.as_subclass(CudaTensor))
        assert export is not None
        assert export.owned
        array: Array = export.array
        assert not array.is_conj()
        assert not array.is_neg()
        assert array.tolist() == noted.tolist()
        assert array.data_ptr() != noted.data_ptr()

    def test_exports_require_no_gradient(self) -> None:
        tensor = torch.ones(2, requires_grad=True).as_subclass(CudaTensor)
        export = TORCH.export(tensor)
        assert export is not None
        array: Array = export.array
        assert not array.requires_grad

    def test_dtypes_without_dlpack_go_through_the_host(self) -> None:
        tensor = torch.ones(2).to(torch.float8_e4m3fn).as_subclass(CudaTensor)
        assert TORCH.export(tensor) is None

    def test_memory_is_imported_on_the_named_gpu_only(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(torch.version, "hip", None)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
        assert TORCH.imports_at((CUDA, 0), None)
        assert TORCH.imports_at((CUDA, 1), torch.device("cuda", 1))
        assert TORCH.imports_at((CUDA, 1), torch.device("cuda"))  # the current device
        assert not TORCH.imports_at((CUDA, 0), torch.device("cuda"))
        assert not TORCH.imports_at((CUDA, 0), torch.device("cuda", 1))
        assert not TORCH.imports_at((CUDA, 0), torch.device("cpu"))
        rocm = 10
        assert not TORCH.imports_at((rocm, 0), None)
        monkeypatch.setattr(torch.version, "hip", "6.4")
        assert TORCH.imports_at((rocm, 0), None)
        assert not TORCH.imports_at((CUDA, 0), None)

    def test_pytorch_and_cupy_share_in_both_directions(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tensor: Array = torch.from_numpy(numbers()).as_subclass(CudaTensor)
        (array,) = cast("list[Array]", Converter(CUPY)([tensor]))
        assert (type(array), array.device.id) == (cupy.ndarray, 1)
        assert array.data.ptr == tensor.data_ptr()
        monkeypatch.setattr(torch.version, "hip", None)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(
            "gymbridge_runtime.backends.torch.from_dlpack",
            lambda array: torch.from_numpy(array._memory).as_subclass(CudaTensor),
        )
        (back,) = cast("list[Array]", Converter(TORCH)([array]))
        assert type(back) is CudaTensor
        assert back.data_ptr() == tensor.data_ptr()
        (kept,) = cast("list[Array]", Converter(TORCH, copy=True)([array]))
        tensor[0, 0] = 9
        assert back[0, 0] == 9
        assert kept[0, 0] == 0


class TestJax:
    @pytest.fixture
    def gpu(self, monkeypatch: pytest.MonkeyPatch) -> Array:
        """Treat JAX's devices as GPUs; return one that is the third of its machine."""
        monkeypatch.setattr("gymbridge_runtime.backends.jax.backend._is_host", lambda _: False)
        device = SimpleNamespace(platform="gpu", local_hardware_id=2)
        monkeypatch.setattr(
            "gymbridge_runtime.backends.jax.backend._local_devices", lambda: [device]
        )
        return device

    @pytest.mark.usefixtures("gpu")
    def test_arrays_on_one_gpu_export_their_memory(self) -> None:
        array: Array = jnp.arange(3.0)
        export = JAX.export(array)
        assert export is not None
        assert export.array is array
        assert export.place == (1, 0)  # its real device
        assert export.dtype == np.dtype("float32")
        assert export.dense

    @pytest.mark.usefixtures("gpu")
    def test_jax_copies_its_own_arrays(self) -> None:
        array = jnp.arange(3.0)
        result: Array = JAX.snapshot(array, None)
        assert isinstance(result, jax.Array)
        assert result.unsafe_buffer_pointer() != array.unsafe_buffer_pointer()
        assert result.tolist() == [0, 1, 2]

    def test_memory_is_imported_on_the_named_gpu_only(self, gpu: Array) -> None:
        assert JAX.imports_at((CUDA, 2), None)
        assert JAX.imports_at((CUDA, 2), gpu)
        assert not JAX.imports_at((CUDA, 2), object())
        assert not JAX.imports_at((CUDA, 0), None)  # another process has this device
        assert not JAX.imports_at((1, 2), None)

    @pytest.mark.parametrize("device", [None, jax.devices()[0]])
    def test_transfers_are_complete_on_return(
        self, monkeypatch: pytest.MonkeyPatch, device: object
    ) -> None:
        waited: list[object] = []

        class Pending:
            def block_until_ready(self) -> None:
                waited.append(self)

        def leaves(_backend: object, asked: object) -> bool:
            return asked is device

        monkeypatch.setattr(type(JAX), "leaves_host", leaves)
        module = "gymbridge_runtime.backends.jax.backend"
        monkeypatch.setattr(f"{module}._put_many", lambda *_: [Pending()] * 2)
        monkeypatch.setattr(f"{module}.IMPORTS", CompiledImports())  # other tests compile imports
        result = JAX.from_host_many([numbers(), numbers()], device)
        assert waited == result
        assert len(waited) == 2


def test_a_producer_on_a_gpu_is_asked_for_a_copy_on_the_host() -> None:
    class Producer:
        def __dlpack_device__(self) -> tuple[int, int]:
            return CUDA, 0

        def __dlpack__(self, **keywords: object) -> CapsuleType:
            if keywords["dl_device"] != (1, 0):
                raise BufferError("the host cannot read a GPU's memory")
            return numbers().__dlpack__(max_version=(1, 0))

    view = host_view(Producer())
    assert view.copied
    assert view.array.tolist() == numbers().tolist()
