"""Arrays on a shared device are passed without the host.

The device is simulated: arrays over NumPy memory claim to be on a GPU, and every host view of them
is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError
from gymbridge_runtime.backends.base import Backend, Export, HostView, load
from gymbridge_runtime.backends.registry import register
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.ownership import Ownership
from typing_extensions import override

from tests.libraries.jax import jax, jnp
from tests.libraries.torch import torch

if TYPE_CHECKING:
    from gymbridge_runtime.core.dtypes import AnyDType
    from typing_extensions import CapsuleType

    from tests.support import Array, Host

CUDA = 2


class GpuArray:
    """An array that says it is on a GPU."""

    def __init__(self, memory: Host, index: int = 0) -> None:
        self.memory = memory
        self.index = index

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.index

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None) -> CapsuleType:
        return self.memory.__dlpack__(max_version=max_version)

    @property
    def address(self) -> int:
        return self.memory.ctypes.data


class _OnHost:
    """The same memory as host memory, because NumPy refuses GPU memory."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **keywords: object) -> CapsuleType:
        capsule: CapsuleType = self._array.__dlpack__(max_version=keywords["max_version"])
        return capsule


class GpuLibrary(Backend[GpuArray, int]):
    """A library on GPUs; its devices are numbers."""

    def __init__(self, name: str, kind: type[GpuArray], *, mutable: bool = True) -> None:
        self.name = self.title = name
        self.reference = f"tests.runtime.test_direct:{name}"
        self.roots = frozenset({"tests"})
        self.mutable = mutable
        self.kind = kind
        self.copies_in = True
        self.lacks: frozenset[str] = frozenset()
        self.seen = 0
        self.snapshots = 0
        self.owned = False

    @override
    def is_array(self, kind: type[object]) -> bool:
        return issubclass(kind, self.kind)

    @override
    def to_host(self, array: GpuArray) -> HostView:
        self.seen += 1
        return HostView(array.memory.copy(), owned=True, copied=True)

    @override
    def from_host(self, view: Host, device: int | None) -> object:
        return self.kind(view.copy(), device or 0)

    @override
    def snapshot(self, array: GpuArray, device: int | None) -> object:
        self.snapshots += 1
        return self.kind(array.memory.copy(), array.index if device is None else device)

    @override
    def stored_as(self, dtype: AnyDType) -> AnyDType | None:
        return np.dtype("float32") if dtype.name in self.lacks else dtype

    @override
    def parse_device(self, device: object) -> object:
        return device

    @override
    def export(self, array: GpuArray) -> Export | None:
        memory = array.memory
        return Export(
            array, (CUDA, array.index), memory.dtype, memory.flags.c_contiguous, self.owned
        )

    @override
    def imports_at(self, place: tuple[int, int], device: int | None) -> bool:
        kind, index = place
        return kind == CUDA and device in {None, index}

    @override
    def from_dlpack(self, array: Array) -> object:
        return self.kind(np.from_dlpack(_OnHost(array)), array.index)


class Red(GpuArray):
    """An array of a library with writable arrays."""


class Blue(GpuArray):
    """An array of another library of this kind."""


class Ice(GpuArray):
    """An array of a library with immutable arrays."""


class Snow(GpuArray):
    """An array of another library of this kind."""


class Libraries:
    def __init__(self) -> None:
        self.red = GpuLibrary("Red", Red)
        self.blue = GpuLibrary("Blue", Blue)
        self.ice = GpuLibrary("Ice", Ice, mutable=False)
        self.snow = GpuLibrary("Snow", Snow, mutable=False)

    def all(self) -> list[GpuLibrary]:
        return [self.red, self.blue, self.ice, self.snow]


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch, own_backends: None) -> Libraries:
    del own_backends
    found = Libraries()
    for kind, library in zip((Red, Blue, Ice, Snow), found.all(), strict=True):
        # each library has its own root package
        monkeypatch.setattr(kind, "__module__", f"{library.name.lower()}_gpu.core")
        library.roots = frozenset({f"{library.name.lower()}_gpu"})
        register(library)
    return found


def numbers(dtype: str = "float32") -> Host:
    return np.arange(6).reshape(2, 3).astype(dtype)


def nothing_was_seen(libraries: Libraries) -> bool:
    return all(library.seen == 0 for library in libraries.all())


class TestSharing:
    def test_mutable_arrays_share_memory_on_the_device(self, libraries: Libraries) -> None:
        source = Red(numbers(), 3)
        for copy in (None, False):
            result: Array = Converter(libraries.blue, copy=copy)({"a": [source]})
            (array,) = result["a"]
            assert type(array) is Blue
            assert array.index == 3
            assert array.address == source.address
            source.memory[0, 0] += 9
            assert array.memory[0, 0] == source.memory[0, 0]
        assert nothing_was_seen(libraries)
        assert libraries.red.snapshots == 0

    def test_immutable_arrays_share_memory_on_the_device(self, libraries: Libraries) -> None:
        source = Ice(numbers())
        result: Array = Converter(libraries.snow)(source)
        assert type(result) is Snow
        assert result.address == source.address

    @pytest.mark.parametrize(("kind", "target"), [(Red, "ice"), (Ice, "red"), (Ice, "blue")])
    def test_a_mutable_and_an_immutable_array_do_not_share_memory(
        self, libraries: Libraries, kind: type[GpuArray], target: str
    ) -> None:
        source = kind(numbers())
        result: Array = Converter(getattr(libraries, target))(source)
        source.memory[...] = -1
        assert result.memory.tolist() == numbers().tolist()
        result.memory[...] = -2
        assert (source.memory == -1).all()
        assert nothing_was_seen(libraries)
        assert sum(library.snapshots for library in libraries.all()) == 1

    def test_owned_memory_is_not_copied_again(self, libraries: Libraries) -> None:
        libraries.red.owned = True
        source = Red(numbers())
        result: Array = Converter(libraries.ice, copy=True)(source)
        assert result.address == source.address
        assert libraries.red.snapshots == 0


class TestCopies:
    @pytest.mark.parametrize(
        "options", [{"copy": True}, {"default": Ownership.SNAPSHOT}], ids=["copy=True", "actions"]
    )
    @pytest.mark.parametrize("target", ["blue", "ice"])
    def test_the_source_library_makes_the_only_copy(
        self, libraries: Libraries, target: str, options: dict[str, Array]
    ) -> None:
        source = Red(numbers(), 1)
        result: Array = Converter(getattr(libraries, target), **options)((source,))
        source.memory[...] = -1
        assert result[0].memory.tolist() == numbers().tolist()
        assert result[0].index == 1
        assert libraries.red.snapshots == 1
        assert nothing_was_seen(libraries)

    def test_memory_with_gaps_is_copied(self, libraries: Libraries) -> None:
        for gaps in (numbers()[:, ::2], numbers()[:, ::-1], numbers().T):
            source = Red(gaps)
            result: Array = Converter(libraries.blue)(source)
            assert result.memory.tolist() == gaps.tolist()
            assert result.address != source.address
        assert libraries.red.snapshots == 3
        assert nothing_was_seen(libraries)

    @pytest.mark.parametrize(
        ("kind", "target", "reason"),
        [
            (Red, "ice", "Ice arrays never change, and this memory may"),
            (Ice, "blue", "Blue would write through to memory that is read-only"),
        ],
    )
    def test_copy_false_names_the_leaf_and_the_reason(
        self, libraries: Libraries, kind: type[GpuArray], target: str, reason: str
    ) -> None:
        with pytest.raises(CopyRequiredError) as caught:
            Converter(getattr(libraries, target), copy=False)({"obs": [kind(numbers())]})
        assert str(caught.value).startswith(f"value['obs'][0]: {reason} (")
        assert str(caught.value).endswith("; allow copies: copy=None or copy=True")

    def test_copy_false_refuses_memory_with_gaps(self, libraries: Libraries) -> None:
        with pytest.raises(CopyRequiredError, match="Blue may not take memory with gaps"):
            Converter(libraries.blue, copy=False)(Red(numbers()[:, ::2]))


class TestTheHost:
    def test_a_change_of_device_goes_through_the_host(self, libraries: Libraries) -> None:
        result: Array = Converter(libraries.blue, device=1)(Red(numbers(), 0))
        assert (type(result), result.index) == (Blue, 1)
        assert result.memory.tolist() == numbers().tolist()
        assert libraries.red.seen == 1
        assert libraries.red.snapshots == 0

    def test_arrays_on_the_named_device_do_not_pass_the_host(self, libraries: Libraries) -> None:
        source = Red(numbers(), 1)
        result: Array = Converter(libraries.blue, device=1)(source)
        assert result.address == source.address
        assert nothing_was_seen(libraries)

    def test_a_narrowed_dtype_goes_through_the_host(self, libraries: Libraries) -> None:
        libraries.blue.lacks = frozenset({"float64"})
        result: Array = Converter(libraries.blue)(Red(numbers("float64")))
        assert result.memory.dtype == np.float32
        assert libraries.red.seen == 1

    @pytest.mark.parametrize(("dtype", "seen"), [("float32", 0), ("float64", 1), ("int32", 0)])
    def test_a_cast_goes_through_the_host(
        self, libraries: Libraries, dtype: str, seen: int
    ) -> None:
        result: Array = Converter(libraries.blue, float_dtype="float32")(Red(numbers(dtype)))
        assert result.memory.dtype == ("int32" if dtype == "int32" else "float32")
        assert libraries.red.seen == seen

    def test_libraries_on_the_host_get_a_copy(self, libraries: Libraries) -> None:
        numpy = load("gymbridge_runtime.backends.numpy:NUMPY")
        source = Red(numbers())
        result = Converter(numpy)(source)
        assert isinstance(result, np.ndarray)
        assert result.tolist() == numbers().tolist()
        back: Array = Converter(libraries.red)(result)
        assert type(back) is Red
        assert back.memory.tolist() == numbers().tolist()
        with pytest.raises(CopyRequiredError, match="had to be copied to be seen from the host"):
            Converter(numpy, copy=False)(source)


def test_an_error_of_an_importer_names_the_leaf(
    libraries: Libraries, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> object:
        raise BufferError("the stream is gone")

    monkeypatch.setattr(libraries.blue, "from_dlpack", refuse)
    with pytest.raises(ConversionError) as caught:
        Converter(libraries.blue)({"a": Red(numbers())})
    assert str(caught.value).startswith(
        "value['a']: Blue could not take the array over from Red: the stream is gone ("
    )
    assert str(caught.value).endswith("; see the cause above, or move the array to the host first")
    assert isinstance(caught.value.__cause__, BufferError)


def test_direct_imports_and_batched_imports_work_in_one_tree(libraries: Libraries) -> None:
    source = Red(numbers())
    result: Array = Converter(libraries.blue)({"a": source, "b": numbers(), "c": 3})
    assert [type(one) for one in result.values()] == [Blue, Blue, Blue]
    assert result["a"].address == source.address
    assert result["b"].memory.tolist() == numbers().tolist()


def test_batched_imports_go_to_the_named_device(libraries: Libraries) -> None:
    result: Array = Converter(libraries.blue, device=2)({"b": numbers(), "c": numbers()})
    assert [array.index for array in result.values()] == [2, 2]


def test_a_host_library_imports_only_from_the_host() -> None:
    numpy = load("gymbridge_runtime.backends.numpy:NUMPY")
    assert numpy.export(numbers()) is None
    assert not numpy.imports_at((CUDA, 0), None)
    with pytest.raises(NotImplementedError, match="NumPy imports from the host only"):
        numpy.from_dlpack(Red(numbers()))


class TestShippedLibraries:
    """Without a GPU: arrays on the host, and devices that are not there."""

    def test_arrays_on_the_host_are_not_exported(self) -> None:
        torch_backend = load("gymbridge_runtime.backends.torch:TORCH")
        jax_backend = load("gymbridge_runtime.backends.jax:JAX")
        for tensor in (torch.ones(2), torch.ones(2, device="meta"), torch.ones(2).to_sparse()):
            assert torch_backend.export(tensor) is None
        deleted = jnp.ones(2)
        deleted.delete()
        for array in (jnp.ones(2), deleted):
            assert jax_backend.export(array) is None
        jax.jit(lambda array: [jax_backend.export(array), array][1])(jnp.ones(2))

    @pytest.mark.parametrize("name", ["torch", "jax", "mlx"])
    def test_places_out_of_reach_are_not_imported_from(self, name: str) -> None:
        backend = load(f"gymbridge_runtime.backends.{name}:{name.upper()}")
        assert not backend.imports_at((1, 0), None)
        if not torch.cuda.is_available():
            assert not backend.imports_at((CUDA, 0), None)

    def test_memory_is_imported_from_dlpack_producers(self) -> None:
        memory = np.arange(3, dtype=np.float32)
        tensor = load("gymbridge_runtime.backends.torch:TORCH").from_dlpack(memory)
        assert isinstance(tensor, torch.Tensor)
        assert tensor.data_ptr() == memory.ctypes.data
        array = load("gymbridge_runtime.backends.jax:JAX").from_dlpack(tensor)
        assert isinstance(array, jax.Array)
        assert array.tolist() == [0, 1, 2]
