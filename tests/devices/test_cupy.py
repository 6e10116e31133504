"""The stand-in for CuPy; it must refuse everything that CuPy refuses."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from torch.utils.dlpack import from_dlpack

from tests.libraries.simulated_cupy import Transfers, cupy, simulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Array


@pytest.fixture
def array() -> Array:
    """Return six numbers on the first device; their transfer is not counted."""
    made = cupy.asarray(np.arange(6.0).reshape(2, 3), blocking=True)
    _ = simulation.take_transfers()
    return made


def test_arrays_are_not_numpy_arrays(array: Array) -> None:
    assert not isinstance(array, np.ndarray)
    assert (type(array).__module__, type(array).__name__) == ("cupy", "ndarray")
    assert (array.shape, array.ndim, array.size, array.nbytes) == ((2, 3), 2, 6, 48)
    assert (array.dtype, array.strides, len(array)) == (np.float64, (24, 8), 2)
    assert array.flags.c_contiguous
    assert not array.T.flags.c_contiguous
    for convert in (np.asarray, np.array):
        with pytest.raises(TypeError, match="Implicit conversion to a NumPy array is not allowed"):
            convert(array)
    with pytest.raises(TypeError, match="unhashable"):
        hash(array)


@pytest.mark.parametrize("calculate", [operator.add, operator.mul, operator.eq, operator.lt])
def test_arrays_calculate_with_arrays_and_numbers_only(
    array: Array, calculate: Callable[[Array, Array], Array]
) -> None:
    for other in (array, 2, 2.0, np.float32(2)):
        result = calculate(array, other)
        assert isinstance(result, cupy.ndarray)
        host = other.get() if other is array else other
        np.testing.assert_array_equal(result.get(), calculate(array.get(), host))
    for refused in (np.ones(3), [1, 2, 3]):
        with pytest.raises(TypeError, match=f"^Unsupported type {type(refused)}"):
            calculate(array, refused)
        with pytest.raises(TypeError, match=f"^Unsupported type {type(refused)}"):
            calculate(refused, array)


def test_arrays_can_be_written(array: Array) -> None:
    row = array[1]
    row[...] = cupy.asarray(np.ones(3))
    array[0, 1:] = 7
    array[0, 0] = np.array(9)
    array += 1
    assert array.tolist() == [[10, 8, 8], [2, 2, 2]]
    assert row.tolist() == [2, 2, 2]
    assert array[array > 9].tolist() == [10]
    assert array[0, 0].shape == ()
    with pytest.raises(ValueError, match=r"non-scalar numpy\.ndarray cannot be used for fill"):
        array[0] = np.ones(3)
    with pytest.raises(TypeError, match="Unsupported type <class 'list'>"):
        array[0] = [1, 2, 3]


def test_reductions_stay_on_the_device_until_read(array: Array) -> None:
    results = [array.sum(), array.any(), (array < 9).all(), array.sum(axis=0)]
    assert simulation.take_transfers() == Transfers()
    assert [result.shape for result in results] == [(), (), (), (3,)]
    assert (float(results[0]), int(results[0]), results[0].item()) == (15.0, 15, 15.0)
    assert bool(results[1])
    assert simulation.take_transfers() == Transfers(downloads=4)
    with pytest.raises(ValueError, match="can only convert an array of size 1"):
        array.item()
    with pytest.raises(ValueError, match="truth value of an array"):
        bool(array)


def test_views_share_memory_and_copies_do_not(array: Array) -> None:
    views = [array[0], array.reshape(3, 2), array.reshape(6), array.T, array.view(np.int64)]
    copies = [array.copy(), array.astype(np.float64), array.T.reshape(6), array + 0, array[[0, 1]]]
    for view in (*views, array.astype(np.float64, copy=False), cupy.asarray(array)):
        assert np.shares_memory(view._memory, array._memory)
    for other in (*copies, cupy.array(array), copy.copy(array), copy.deepcopy(array)):
        assert not np.shares_memory(other._memory, array._memory)
    assert simulation.take_transfers() == Transfers()
    assert pickle.loads(pickle.dumps(array)).tolist() == array.tolist()


@pytest.mark.parametrize("dtype", [object, "U3", "M8[s]", "longdouble"])
def test_dtypes_that_no_gpu_has_are_refused(dtype: Array) -> None:
    with pytest.raises(ValueError, match=r"^Unsupported dtype "):
        cupy.asarray(np.zeros(2, dtype))
    with pytest.raises(ValueError, match=r"^Unsupported dtype "):
        cupy.empty(2, dtype)


def test_uploads_keep_values_dtype_and_order() -> None:
    for values in (np.ones(3, ">i2"), np.asfortranarray(np.ones((2, 3))), np.arange(6)[::-2], 3):
        made = cupy.asarray(values)
        np.testing.assert_array_equal(made.get(), values)
        assert made.dtype == np.asarray(values).dtype.newbyteorder("=")
        assert made.flags.f_contiguous == np.array(values).flags.f_contiguous
    assert cupy.asarray([1, 2], np.float32, "C").dtype == np.float32
    assert cupy.array([1, 2], ndmin=2).shape == (1, 2)
    assert cupy.zeros((2, 2), np.int8).tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        cupy.asarray(cupy.zeros(2), np.int8, copy=False)


def test_transfers_are_counted(array: Array) -> None:
    with cupy.cuda.Device(1):
        moved = cupy.asarray(array)
    assert moved.device == cupy.cuda.Device(1)
    assert moved.get().tolist() == cupy.asnumpy(moved).tolist()
    assert simulation.take_transfers() == Transfers(downloads=2, moves=1)
    _ = cupy.asarray(np.zeros(3)), cupy.asarray(np.zeros(0)), cupy.zeros(3)
    assert simulation.take_transfers() == Transfers(uploads=1)


def test_a_nonblocking_upload_is_late() -> None:
    source = np.zeros(3)
    blocking, late = cupy.asarray(source, blocking=True), cupy.asarray(source)
    source[...] = 7
    assert late.tolist() == [7, 7, 7]
    assert blocking.tolist() == [0, 0, 0]


def test_a_nonblocking_download_is_late(array: Array) -> None:
    out = np.zeros((2, 3))
    assert cupy.asnumpy(array, out=out, blocking=False) is out
    assert not out.any()
    cupy.cuda.Stream.null.synchronize()
    np.testing.assert_array_equal(out, array.get())
    assert array.get(order="F").flags.f_contiguous
    for wrong in (np.zeros(6), np.zeros((2, 3), np.float32)):
        with pytest.raises((TypeError, ValueError)):
            array.get(out=wrong)


class TestDevices:
    def test_kernels_take_only_arrays_of_the_current_device(self, array: Array) -> None:
        with cupy.cuda.Device(1):
            there = cupy.zeros((2, 3))
            assert (there + 1).device.id == 1
        for run in (lambda: there + 1, lambda: there + array, there.sum, lambda: there.fill(1)):
            with pytest.raises(ValueError, match=r"resides \(1\) is different from the current"):
                run()
        assert there.get().shape == (2, 3)
        assert copy.deepcopy(there).device.id == 1
        assert there.copy().device.id == 0

    def test_arrays_with_gaps_are_not_copied_to_another_device(self, array: Array) -> None:
        with cupy.cuda.Device(1):
            with pytest.raises(NotImplementedError, match="cannot copy non-contiguous array"):
                cupy.asarray(array[:, ::2])
            assert cupy.asarray(array.T).tolist() == array.T.tolist()
            assert array[:, ::2].copy().tolist() == [[0, 2], [3, 5]]

    def test_a_device_object_may_name_a_missing_device(self) -> None:
        one = cupy.cuda.Device(1)
        assert (one.id, int(one), repr(one)) == (1, 1, "<CUDA Device 1>")
        assert one == cupy.cuda.Device(one) != cupy.cuda.Device(0)
        assert cupy.cuda.Device() == cupy.cuda.Device(0)
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
        none = cupy.cuda.Device(2)
        with pytest.raises(RuntimeError, match="cudaErrorInvalidDevice"), none:
            pass
        assert cupy.cuda.runtime.getDevice() == 0

    def test_devices_are_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert cupy.cuda.runtime.getDeviceCount() == 2
        monkeypatch.setattr(simulation, "device_count", 0)
        for ask in (cupy.cuda.runtime.getDeviceCount, lambda: cupy.zeros(1)):
            with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="cudaErrorNoDevice"):
                ask()


class TestDlpack:
    def test_memory_is_shared_on_its_device(self) -> None:
        with cupy.cuda.Device(1):
            array = cupy.zeros(3)
        assert array.__dlpack_device__() == (2, 1)
        shared = cupy.from_dlpack(array)
        assert shared.device.id == 1
        assert np.shares_memory(shared._memory, array._memory)

    def test_the_host_cannot_import_arrays(self, array: Array) -> None:
        with pytest.raises(ValueError, match="invalid PyCapsule"):
            np.from_dlpack(array)
        with pytest.raises((RuntimeError, AssertionError)):
            from_dlpack(array)
        copied = np.from_dlpack(array, device="cpu")
        np.testing.assert_array_equal(copied, array.get())
        assert not np.shares_memory(copied, array._memory)

    def test_unsupported_requests_are_refused(self, array: Array) -> None:
        with pytest.raises(TypeError, match="CPU arrays cannot be directly imported to CuPy"):
            cupy.from_dlpack(np.zeros(3))
        with pytest.raises(BufferError, match="copy=True only supported for copy to CPU"):
            array.__dlpack__(copy=True)
        with pytest.raises(BufferError, match="unsupported device requested"):
            array.__dlpack__(dl_device=(2, 1))
        with pytest.raises(ValueError, match="cannot be exported to CPU without copy"):
            array.__dlpack__(dl_device=(1, 0), copy=False)
        with pytest.raises(ValueError, match="the stream is -1 or more"):
            array.__dlpack__(stream=-2)
