"""Quirks of single libraries that would abort the process or change values silently.

Each test runs in a process of its own, with nothing imported before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import run_python

if TYPE_CHECKING:
    from tests.catalogue.bridges import Bridges
    from tests.catalogue.libraries import CatalogueLibrary

QUIRKS: dict[str, tuple[str, str]] = {
    "warp: is started by its first array": (
        "warp",
        """
import numpy as np
from bridges_of_warp.numpy_to_warp import numpy_to_warp
assert numpy_to_warp(np.arange(3.0)).numpy().tolist() == [0, 1, 2]
""",
    ),
    "warp: vectors and matrices are numbers along further axes": (
        "warp",
        """
import numpy as np, warp as wp
from bridges_of_warp.numpy_to_warp import warp_to_numpy
places = wp.array([(1, 2, 3), (4, 5, 6)], dtype=wp.vec3, device="cpu")
assert warp_to_numpy({"a": places})["a"].tolist() == [[1, 2, 3], [4, 5, 6]]
turned = wp.array(np.ones((2, 3, 3), "f4"), dtype=wp.mat33, device="cpu")
assert warp_to_numpy(turned).shape == (2, 3, 3)
""",
    ),
    "tensorflow: text would end the process": (
        "tensorflow",
        """
import tensorflow as tf
from gymbridge_runtime import ConversionError
from bridges_of_tensorflow.numpy_to_tensorflow import tensorflow_to_numpy
try:
    tensorflow_to_numpy({"a": tf.constant("text")})
except ConversionError as error:
    assert str(error).startswith("value['a']: TensorFlow does not export arrays of ")
else:
    raise AssertionError
""",
    ),
    "tensorflow: memory that is not aligned would end the process later": (
        "tensorflow",
        """
import numpy as np, tensorflow as tf
from bridges_of_tensorflow.numpy_to_tensorflow import numpy_to_tensorflow
for offset in (0, 1, 4, 8, 32):
    raw = np.zeros(64 * 64 * 4 + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    source = raw[start : start + 64 * 64 * 4].view("f4").reshape(64, 64)
    source[...] = 1
    made = numpy_to_tensorflow(source)
    assert float(tf.reduce_sum(tf.matmul(made, made) + made)) == 64 * 64 * 65
""",
    ),
    "tensorflow: devices are gone to, and never silently left out": (
        "tensorflow",
        """
import gymnasium as gym, numpy as np, tensorflow as tf
from bridges_of_tensorflow import NumpyToTensorflow
from bridges_of_tensorflow.numpy_to_tensorflow import numpy_to_tensorflow
(cpu,) = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
for device in ("CPU:1", "/device:CPU:1"):
    agent = NumpyToTensorflow(gym.make("CartPole-v1"), device)
    assert agent.reset()[0].device.endswith("CPU:1")
    assert agent.step(agent.sample_action())[0].device.endswith("CPU:1")
    assert gym.make(agent.spec).reset()[0].device.endswith("CPU:1")
there = numpy_to_tensorflow(np.ones(2), device="CPU:1")
assert numpy_to_tensorflow(there, device="CPU:1") is there
assert numpy_to_tensorflow(there, device="CPU:0").device.endswith("CPU:0")
try:
    NumpyToTensorflow(gym.make("CartPole-v1"), "GPU:5")
except ValueError as error:
    assert "leaves arrays that should go to 'GPU:5' on " in str(error), error
else:
    raise AssertionError
""",
    ),
    "paddle: gradients are left behind": (
        "paddle",
        """
import numpy as np, paddle
from bridges_of_paddle.numpy_to_paddle import paddle_to_numpy
known = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
assert paddle_to_numpy([known * 2])[0].tolist() == [2, 4]
assert paddle_to_numpy(paddle.create_parameter([2], "float32")).shape == (2,)
""",
    ),
    "paddle: 16 bits are integers or bfloat16, and never mistaken": (
        "paddle",
        """
import ml_dtypes, numpy as np, paddle
from bridges_of_paddle.numpy_to_paddle import numpy_to_paddle, paddle_to_numpy
bits = np.array([0x3F80, 0x4000], np.uint16)
there = numpy_to_paddle(bits)
assert there.dtype == paddle.uint16 != paddle.bfloat16
assert paddle_to_numpy(there).dtype == np.uint16
brain = numpy_to_paddle(bits.view(ml_dtypes.bfloat16))
assert brain.dtype == paddle.bfloat16 != paddle.uint16
assert brain.astype("float32").tolist() == [1, 2]
assert paddle_to_numpy(brain).dtype == ml_dtypes.bfloat16
""",
    ),
    "dpnp: memory of a device is copied, and stays when it is there": (
        "dpnp",
        """
import dpnp, numpy as np
from bridges_of_dpnp.numpy_to_dpnp import dpnp_to_numpy, numpy_to_dpnp
from gymbridge_runtime import CopyRequiredError
source = np.ones(2)
there = numpy_to_dpnp(source)
assert isinstance(there, dpnp.ndarray)
source[:] = 7
assert dpnp.asnumpy(there).tolist() == [1, 1]
back = dpnp_to_numpy(there)
there[:] = 9
assert back.tolist() == [1, 1]
for convert, value in ((numpy_to_dpnp, source), (dpnp_to_numpy, there)):
    try:
        convert(value, copy=False)
    except CopyRequiredError:
        pass
    else:
        raise AssertionError(convert)
""",
    ),
    "pyarrow: columns are read too": (
        "pyarrow",
        """
import numpy as np, pyarrow as pa
from bridges_of_pyarrow.numpy_to_pyarrow import numpy_to_pyarrow, pyarrow_to_numpy
column = pa.array([1, 2, 3])
assert pyarrow_to_numpy({"a": column})["a"].tolist() == [1, 2, 3]
assert isinstance(numpy_to_pyarrow(column), pa.Tensor)
""",
    ),
}


@pytest.mark.parametrize(("about", "code"), QUIRKS.values(), ids=QUIRKS)
def test_a_quirk_of_a_library_is_handled(
    bridges: Bridges, entry: CatalogueLibrary, about: str, code: str
) -> None:
    if about != entry.name:
        pytest.skip(f"about {about}")
    prepared = (
        # warnings about the machine at import
        f"import warnings; warnings.simplefilter('ignore'); import {entry.module}\n"
        f"import sys; warnings.simplefilter('error'); sys.path.insert(0, {str(bridges.folder)!r})\n"
    )
    assert run_python(f"{prepared}{code}\nprint('done')").endswith("done\n")
