"""Devices of results: names, meshes, and devices without memory."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime import ConversionError, CopyRequiredError
from gymbridge_runtime.backends.array_api import NamespaceBackend
from gymbridge_runtime.backends.base import load
from gymbridge_runtime.backends.dlpack import DlpackBackend
from gymbridge_runtime.backends.jax import JAX, JaxBackend
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.ownership import Ownership
from gymnasium import spaces

from gymbridge import JaxToTorch, NumpyToJax, NumpyToTorch, TorchToNumpy
from tests.libraries.jax import jax
from tests.libraries.strict import strict
from tests.libraries.torch import torch
from tests.runtime.layouts import expose
from tests.runtime.replay import Replay
from tests.support import LIBRARIES, Array, Host, Interpreter, Pair, identical, require

if TYPE_CHECKING:
    from collections.abc import Iterator

PREAMBLE = """
import warnings
import jax, jax.numpy as jnp, numpy as np, torch
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding
from gymbridge import ConversionError, CopyRequiredError
from tests.support import Pair, identical
devices = jax.devices()
assert len(devices) == 8
mesh = Mesh(np.array(devices), ("batch",))
batches = NamedSharding(mesh, PartitionSpec("batch"))
replicated = NamedSharding(mesh, PartitionSpec())
"""


@pytest.fixture(scope="module")
def eight() -> Iterator[Interpreter]:
    """A process in which JAX has eight devices."""
    with Interpreter(XLA_FLAGS="--xla_force_host_platform_device_count=8") as process:
        yield process


@pytest.mark.parametrize("name", ["numpy", "torch", "jax", "mlx"])
def test_names_of_devices_can_be_parsed(name: str) -> None:
    require(name)
    backend = load(f"gymbridge_runtime.backends.{name}:{name.upper()}")
    names = backend.devices()
    assert len({*names}) == len(names)
    for text in names:
        assert backend.device_text(backend.parse_device(text)) in {text, None}
    assert bool(names) == (name != "mlx"), "MLX has arrays without a device"


def test_devices_are_listed_if_the_library_lists_them(backend: DlpackBackend) -> None:
    assert {"device1", "device2"} < {*backend.devices()}
    quiet = DlpackBackend(
        name="quiet", title="Quiet", reference="nowhere:QUIET", module="json", array="json.Array"
    )
    assert quiet.devices() == ()


class TestJaxWithEightDevices:
    def test_all_devices_are_named(self, eight: Interpreter) -> None:
        found = "print(*__import__('gymbridge_runtime.backends.jax').backends.jax.JAX.devices())"
        assert eight.run(PREAMBLE + found).split() == [f"cpu:{number}" for number in range(8)]

    def test_results_go_to_the_named_device(self, eight: Interpreter) -> None:
        code = """
for name in ("numpy", "torch"):
    pair = Pair(name, "jax")
    for device in ("cpu:3", devices[3], SingleDeviceSharding(devices[3])):
        for _ in range(20):  # often enough to be compiled
            own = jnp.ones(2)
            array = pair.source.make(np.arange(3, dtype="f4"))
            tree = {"a": array, "n": 3, "t": "text", "own": own}
            result = pair.convert(tree, device=device)
        assert result["t"] == "text"
        for key in ("a", "n", "own"):
            assert result[key].devices() == {devices[3]}, (name, device, key)
        assert result["a"].tolist() == [0, 1, 2]
        there = jax.device_put(own, devices[3])
        assert pair.convert(there, device=device) is there
        assert pair.convert(there, device=device, copy=False) is there
        try:
            pair.convert([own], device=device, copy=False)
        except CopyRequiredError as error:
            print(error)
    assert pair.convert(np.ones(2)).devices() == {devices[0]}
    with jax.default_device(devices[5]):
        for _ in range(20):
            assert pair.convert({"a": np.ones(2, "f4")})["a"].devices() == {devices[5]}
"""
        assert (
            eight.run(PREAMBLE + code).splitlines()
            == [
                f"value[0]: the array would have to be copied to {place} (jaxlib._jax.ArrayImpl of "
                "float32, shape (2,), on cpu:0); move it there first, or allow copies"
                for place in [
                    "cpu:3",
                    "cpu:3",
                    "SingleDeviceSharding(device=CpuDevice(id=3), memory_kind=device)",
                ]
            ]
            * 2
        )

    def test_arrays_are_converted_from_every_device(self, eight: Interpreter) -> None:
        code = """
array = jax.device_put(jnp.arange(6.0).reshape(2, 3), devices[6])
view = Pair("jax", "numpy").convert(array, copy=False)
assert view.ctypes.data == array.unsafe_buffer_pointer()
tensor = Pair("jax", "torch").convert(array)
tensor.zero_()
assert array.tolist() == view.tolist() == [[0, 1, 2], [3, 4, 5]]
"""
        eight.run(PREAMBLE + code)

    def test_sharded_arrays_are_gathered(self, eight: Interpreter) -> None:
        code = """
values = np.arange(64, dtype="f4").reshape(16, 4)
two = Mesh(np.array(devices).reshape(4, 2), ("a", "b"))
for sharding in (
    batches, replicated, NamedSharding(two, PartitionSpec("b", "a")),
    NamedSharding(two, PartitionSpec(None, "a")), NamedSharding(two, PartitionSpec(("a", "b"))),
):
    array = jax.device_put(values, sharding)
    for name in ("numpy", "torch"):
        pair = Pair("jax", name)
        for copy in (None, True):
            result = pair.convert({"obs": array}, copy=copy)["obs"]
            assert identical(pair.target.values(result), values), (sharding, name)
            if name == "torch" or copy:
                result[...] = -1
    assert identical(np.array(array), values), sharding
    assert identical(np.array(jax.device_put(array, devices[0])), values), sharding
    assert Pair("numpy", "jax").convert(array) is array
    assert identical(np.array(Pair("numpy", "jax").convert(array, device="cpu:0")), values)
try:
    Pair("jax", "numpy").convert([jax.device_put(values, batches)], copy=False)
except CopyRequiredError as error:
    print(error.path, error.problem)
"""
        assert eight.run(PREAMBLE + code) == (
            "value[0] the array had to be copied to be seen from the host\n"
        )

    def test_batches_are_sharded_over_a_mesh(self, eight: Interpreter) -> None:
        code = """
import gymnasium as gym
from gymbridge.vector import NumpyToJax, TorchToJax, NumpyToTorch
def bare():
    return gym.make_vec("CartPole-v1", 16, vectorization_mode="sync")
for env in (NumpyToJax(bare(), batches), TorchToJax(NumpyToTorch(bare()), batches)):
    obs, info = env.reset(seed=0)
    assert obs.sharding.is_equivalent_to(batches, 2)
    assert len(obs.addressable_shards) == 8 and obs.addressable_shards[0].data.shape == (2, 4)
    assert identical(np.array(obs), bare().reset(seed=0)[0])
    action = jax.device_put(jnp.ones(16, jnp.int32), batches)
    for _ in range(30):
        obs, reward, terminated, truncated, info = env.step(action)
    for value in (obs, reward, terminated, truncated):
        assert value.sharding.is_equivalent_to(batches, value.ndim), value.sharding
    assert env.sample_action().sharding.is_fully_replicated
"""
        eight.run(PREAMBLE + code)

    def test_arrays_with_fewer_axes_follow_the_first_axes_of_the_sharding(
        self, eight: Interpreter
    ) -> None:
        code = """
import gymnasium as gym
from gymbridge.vector import NumpyToJax
layout = NamedSharding(mesh, PartitionSpec("batch", None))
env = NumpyToJax(gym.make_vec("CartPole-v1", 16, vectorization_mode="sync"), layout)
env.reset(seed=0)
obs, reward, terminated, truncated, _ = env.step(jnp.ones(16, jnp.int32))
assert obs.sharding.is_equivalent_to(layout, 2)
for value in (reward, terminated, truncated):
    assert value.sharding.is_equivalent_to(batches, 1), value.sharding
assert Pair("numpy", "jax").convert(3, device=layout).sharding.is_fully_replicated
"""
        eight.run(PREAMBLE + code)

    def test_an_array_with_an_equal_sharding_is_returned_itself(self, eight: Interpreter) -> None:
        code = """
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.backends.base import load
convert = Converter(load("gymbridge_runtime.backends.jax:JAX"), device=batches, copy=False)
spelt = jax.device_put(jnp.ones((8, 2)), NamedSharding(mesh, PartitionSpec("batch", None)))
assert convert(spelt) is spelt
for other in (jnp.ones((8, 2)), jax.device_put(jnp.ones((8, 2)), replicated)):
    try:
        convert(other)
    except CopyRequiredError as error:
        assert "would have to be copied to NamedSharding" in str(error)
    else:
        raise AssertionError("it was moved")
"""
        eight.run(PREAMBLE + code)

    def test_reset_options_are_replicated(self, eight: Interpreter) -> None:
        code = """
from gymbridge.vector import JaxToNumpy
from tests.environments.worlds import EchoVector
from gymnasium import spaces
class Told(EchoVector):
    def reset(self, *, seed=None, options=None):
        self.told = options["goal"]
        return super().reset(seed=seed)
env = Told(spaces.Discrete(2))
JaxToNumpy(env, env_device=batches).reset(options={"goal": np.arange(3)})
assert env.told.sharding.is_fully_replicated and len(env.told.devices()) == 8
assert identical(np.array(env.told), np.arange(3, dtype=np.int32))
"""
        eight.run(PREAMBLE + code)

    def test_the_memory_kind_of_the_sharding_is_kept(self, eight: Interpreter) -> None:
        code = """
layout = NamedSharding(mesh, PartitionSpec("batch", None), memory_kind="unpinned_host")
from gymbridge_runtime.backends.base import load
kinds = {one.kind for one in jax.devices()[0].addressable_memories()}
assert {"unpinned_host", "device"} <= kinds, kinds
for shape in ((8, 2), (8,)):
    array = Pair("numpy", "jax").convert(np.ones(shape, "f4"), device=layout)
    assert array.sharding.memory_kind == "unpinned_host", shape
assert load("gymbridge_runtime.backends.jax:JAX").replicated(layout).memory_kind == "unpinned_host"
"""
        eight.run(PREAMBLE + code)

    @pytest.mark.parametrize("kind", ["pinned_host", "unpinned_host", "device"])
    def test_memory_kinds_of_one_device_take_the_compiled_import(
        self, eight: Interpreter, kind: str
    ) -> None:
        code = f"""
import gymnasium as gym
from gymbridge import NumpyToJax
from unittest.mock import patch
place = SingleDeviceSharding(devices[3], memory_kind="{kind}")
env = NumpyToJax(gym.make("Pendulum-v1"), place)
env.reset(seed=0)
action = jnp.zeros(1)
for _ in range(20):
    obs, *_ = env.step(action)
    assert obs.sharding == place and obs.committed
with patch("gymbridge_runtime.backends.jax.backend._put_many") as general:
    obs, *_ = env.step(action)
assert not general.called
assert obs.sharding == place and obs.sharding.memory_kind == "{kind}"
assert identical(np.array(obs), env.unwrapped._get_obs())
"""
        eight.run(PREAMBLE + code)

    def test_the_arrays_of_a_step_go_to_a_mesh_by_one_call(self, eight: Interpreter) -> None:
        code = """
import gymnasium as gym
from gymbridge.vector import NumpyToJax
from gymbridge_runtime.backends.jax import backend
from unittest.mock import patch
layout = NamedSharding(mesh, PartitionSpec("batch"), memory_kind="pinned_host")
env = NumpyToJax(gym.make_vec("CartPole-v1", 16, vectorization_mode="sync"), layout)
env.reset(seed=0)
with patch.object(backend, "_put_many", wraps=backend._put_many) as put:
    step = env.step(jnp.ones(16, jnp.int32))[:4]
print(put.call_count)
for array in step:
    assert array.sharding.is_equivalent_to(layout, array.ndim)
    assert array.sharding.memory_kind == "pinned_host"
"""
        assert eight.run(PREAMBLE + code) == "1\n"

    def test_a_device_with_another_memory_kind_has_no_text(self, eight: Interpreter) -> None:
        code = """
from gymbridge_runtime.backends.base import load
backend = load("gymbridge_runtime.backends.jax:JAX")
pinned = SingleDeviceSharding(devices[3], memory_kind="pinned_host")
assert backend.device_text(pinned) is pinned
assert backend.device_text(SingleDeviceSharding(devices[3])) == "cpu:3"
"""
        eight.run(PREAMBLE + code)

    def test_arrays_that_a_mesh_does_not_divide_are_replicated(self, eight: Interpreter) -> None:
        code = """
good, bad = np.ones((8, 4), "f4"), np.full((6, 4), 2, "f4")
for tree in ({"obs": [bad]}, {"obs": [bad, good]}):
    found, *others = Pair("numpy", "jax").convert(tree, device=batches)["obs"]
    assert found.sharding.is_fully_replicated and len(found.devices()) == 8
    assert identical(np.array(found), bad)
    for other in others:
        assert other.sharding.is_equivalent_to(batches, 2)
"""
        eight.run(PREAMBLE + code)

    def test_snapshots_on_every_device_do_not_change(self, eight: Interpreter) -> None:
        code = """
from tests.runtime.layouts import expose
heavy = jax.jit(lambda x: jax.lax.fori_loop(0, 12, lambda _, y: y @ y * 1e-3, x))
for name in ("numpy", "torch"):
    pair = Pair(name, "jax")
    for device in ("cpu:0", "cpu:3", batches, replicated):
        for size in (4096, 131072, 1 << 20):
            pending = [heavy(jax.device_put(jnp.ones((512, 512)), one)) for one in devices[:4]]
            exposed = expose("aligned to 64 bytes", size)
            values = exposed.array.reshape(8, -1)
            before = values.copy()
            source = torch.from_numpy(values) if name == "torch" else values
            result = pair.convert(source, device=device)
            exposed.overwrite()
            assert identical(np.array(result), before), (name, device, size)
            jax.block_until_ready(pending)
"""
        eight.run(PREAMBLE + code)

    def test_copies_stay_on_the_device_of_the_original(self, eight: Interpreter) -> None:
        code = """
for place in (devices[3], batches, replicated):
    array = jax.device_put(jnp.arange(8.0), place)
    copy = Pair("numpy", "jax").convert(array, copy=True)
    assert copy is not array
    assert copy.sharding == array.sharding
    assert copy.tolist() == array.tolist()
    moved = Pair("numpy", "jax").convert(array, copy=True, device="cpu:5")
    assert moved.devices() == {devices[5]}
with jax.default_device(devices[2]):
    elsewhere = jnp.arange(8.0)
for array in (jnp.arange(8.0), elsewhere):
    copy = Pair("numpy", "jax").convert(array, copy=True)
    assert copy is not array
    assert not copy.committed and copy.devices() == array.devices()
"""
        eight.run(PREAMBLE + code)

    def test_casts_stay_on_the_device_of_the_original(self, eight: Interpreter) -> None:
        code = """
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.backends.base import load
own = [jax.device_put(jnp.arange(8.0), place) for place in (devices[3], batches, replicated)]
with jax.default_device(devices[2]):
    own += [jnp.arange(8.0)]
for copy in (None, True):
    settings = {"float_dtype": "float16", "copy": copy}
    convert = Converter(load("gymbridge_runtime.backends.jax:JAX"), **settings)
    for array, cast in zip(own, convert(own)):
        assert (cast.dtype, cast.tolist()) == (jnp.float16, array.tolist())
        assert cast.sharding == array.sharding
        assert cast.committed is array.committed
moved = Converter(load("gymbridge_runtime.backends.jax:JAX"), float_dtype="float16", device="cpu:5")
assert moved(own[0]).devices() == {devices[5]}
"""
        eight.run(PREAMBLE + code)

    def test_arrays_made_with_x64_keep_their_values_on_every_device(
        self, eight: Interpreter
    ) -> None:
        code = """
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.backends.base import load
with jax.enable_x64(True):
    values = jnp.arange(8) + 2**40
    own = [jax.device_put(values, place) for place in (batches, replicated, devices[2])]
wanted = np.arange(8) + 2**40
for place in (batches, replicated, "cpu:1", None):
    for copy in (None, True):
        convert = Converter(load("gymbridge_runtime.backends.jax:JAX"), device=place, copy=copy)
        for array in own:
            moved = convert(array)
            assert moved.dtype == "int64" and np.array_equal(np.asarray(moved), wanted), place
            assert (moved is array) <= (copy is None)
"""
        eight.run(PREAMBLE + code)

    def test_graphs_and_sequences_are_replicated(self, eight: Interpreter) -> None:
        code = """
import gymnasium as gym
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv
from gymbridge.vector import NumpyToJax
graph = spaces.Graph(spaces.Box(-1, 1, (3,)), spaces.Discrete(4))
space = spaces.Dict(
    graph=graph,
    box=spaces.Box(-1, 1, (2,)),
    both=spaces.Tuple((spaces.Sequence(spaces.Discrete(3), stack=True), spaces.Discrete(4))),
)
space.seed(3)
def observed():
    sample = space.sample()
    sample["graph"] = graph.sample(num_nodes=3)  # which eight devices do not divide
    return sample
class Seen(gym.Env):
    observation_space, action_space = space, spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return observed(), {}
    def step(self, action):
        return observed(), 0.0, False, False, {}
env = NumpyToJax(SyncVectorEnv([Seen] * 8), batches)
for obs, *_ in (env.reset(), env.step(env.sample_action())):
    assert obs.keys() == space.spaces.keys()
    for one in obs["graph"]:
        assert type(one) is spaces.GraphInstance
        assert one.nodes.shape == (3, 3)
        assert one.nodes.sharding.is_fully_replicated and len(one.nodes.devices()) == 8
    assert type(obs["both"]) is tuple
    assert all(one.sharding.is_fully_replicated for one in obs["both"][0])
    for batch in (obs["box"], obs["both"][1]):
        assert batch.sharding.is_equivalent_to(batches, batch.ndim), batch.sharding
reward = env.step(env.sample_action())[1]
assert reward.sharding.is_equivalent_to(batches, 1)
"""
        eight.run(PREAMBLE + code)

    def test_undeclared_observations_are_replicated(self, eight: Interpreter) -> None:
        code = """
from gymnasium import spaces
from gymbridge.vector import NumpyToJax
from tests.environments.worlds import EchoVector
class Odd(EchoVector):
    def reset(self, *, seed=None, options=None):
        return options["obs"], {}
bare = Odd(spaces.Discrete(2))
bare.single_observation_space = spaces.Dict(words=spaces.Sequence(spaces.Discrete(3)))
env = NumpyToJax(bare, batches)
more = {"words": (np.ones(3),), "more": np.ones(3)}
for obs in ({"other": np.ones(3)}, [np.ones(3)], more, np.ones(3)):
    found, _ = env.reset(options={"obs": obs})
    leaves = jax.tree.leaves(found)
    assert jax.tree.structure(found) == jax.tree.structure(obs)
    assert all(leaf.sharding.is_fully_replicated for leaf in leaves)
try:
    env.reset(options={"obs": {"words": [2**80]}})
except ConversionError as error:
    assert error.path == "obs['words'][0]", error.path
else:
    raise AssertionError("it has 81 bits")
"""
        eight.run(PREAMBLE + code)
        eight.run(PREAMBLE + code)

    def test_memory_is_copied_once_for_another_device(self, eight: Interpreter) -> None:
        code = """
from gymbridge_runtime.backends.jax import JaxBackend
from unittest.mock import patch
copied = []
private_copy = JaxBackend.private_copy
def counted(self, view, dtype):
    copied.append(private_copy(self, view, dtype))
    return copied[-1]
with patch.object(JaxBackend, "private_copy", counted):
    result = Pair("numpy", "jax").convert(np.arange(1 << 20, dtype="f4"), device="cpu:3")
assert len(copied) == 1
# what JAX has is the copy itself, which nobody else holds
assert result.block_until_ready().unsafe_buffer_pointer() == copied[0].ctypes.data
"""
        eight.run(PREAMBLE + code)

    def test_actions_go_to_the_device_of_the_environment(self, eight: Interpreter) -> None:
        code = """
import pickle, gymnasium as gym
from gymbridge import JaxToTorch, NumpyToJax
class Where(gym.Wrapper):
    def step(self, action):
        self.seen = action
        return self.env.step(action)
for place in ("cpu:2", devices[2]):
    inner = Where(NumpyToJax(gym.make("Pendulum-v1"), device="cpu:4"))
    env = JaxToTorch(inner, env_device=place)
    obs, _ = env.reset(seed=0)
    assert isinstance(obs, torch.Tensor)
    env.step(torch.zeros(1))
    assert inner.seen.devices() == {devices[2]}
    assert inner.env.reset(seed=0)[0].devices() == {devices[4]}
    assert inner.env.device == devices[4]
    for again in (pickle.loads(pickle.dumps(inner.env)), gym.make(inner.env.spec)):
        assert again.device == devices[4]
        assert again.reset(seed=0)[0].devices() == {devices[4]}
    print(inner.env.spec.to_json().count('"cpu:4"'))
"""
        assert eight.run(PREAMBLE + code) == "1\n1\n"


def test_a_platform_names_its_first_device() -> None:
    result = Pair("numpy", "jax").convert(np.ones(1), device="cpu")
    assert result.devices() == {jax.devices("cpu")[0]}


def elsewhere(_backend: object, device: object) -> bool:
    """Treat every named device as off the host."""
    return device is not None


class TestJaxOffTheHost:
    """There is no accelerator, so the tests treat the CPU as one."""

    def test_an_upload_needs_no_private_copy_and_ends_before_the_return(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copied: list[object] = []
        private_copy = JaxBackend.private_copy

        def counted(self: JaxBackend, view: Host, dtype: np.dtype[Array]) -> Host:
            copied.append(view)
            return private_copy(self, view, dtype)

        monkeypatch.setattr(JaxBackend, "leaves_host", elsewhere)
        monkeypatch.setattr(JaxBackend, "private_copy", counted)
        exposed = expose("aligned to 4 bytes", 1 << 20)  # JAX must copy this memory
        before = exposed.array.copy()
        result: Array = Converter(JAX, device="cpu:0")(exposed.array)
        exposed.overwrite()
        assert identical(np.array(result), before)
        assert copied == []

    def test_the_fast_path_needs_a_cpu_as_default_device(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert JAX.calls_reach(None)
        monkeypatch.setattr(JaxBackend, "leaves_host", lambda *_: True)
        assert not JAX.calls_reach(None)

    def test_the_fast_path_needs_a_cpu_as_device(self, monkeypatch: pytest.MonkeyPatch) -> None:
        (device, *_) = jax.devices()
        assert JAX.calls_reach(device)
        monkeypatch.setattr(JaxBackend, "leaves_host", elsewhere)
        assert not JAX.calls_reach(device)

    def test_the_fast_path_needs_a_single_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        # parts of an array may be on other hosts
        monkeypatch.setattr("gymbridge_runtime.backends.jax.backend._process_count", lambda: 2)
        assert not JAX.calls_reach(None)

    def test_arrays_with_parts_on_other_hosts_are_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        array = jax.numpy.ones(3)
        monkeypatch.setattr(type(array), "is_fully_addressable", False)
        with pytest.raises(ConversionError, match=r"are on other hosts .*process_allgather\(\)"):
            Converter(load("gymbridge_runtime.backends.numpy:NUMPY"), copy=False)([array])


class TestWrongDevices:
    @pytest.mark.parametrize("device", ["cpu:99", "cpu:x", "cpu:-1", "rocket", "CPU", "", 0, 3.5])
    def test_jax_refuses_a_wrong_device_and_lists_its_own(self, device: Array) -> None:
        with pytest.raises(ValueError, match="JAX has no device ") as caught:
            NumpyToJax(gym.make("CartPole-v1"), device)
        there = ", ".join(map(repr, JAX.devices()))
        assert f"{device!r}; write one of {there}, or pass" in str(caught.value)

    @pytest.mark.parametrize("device", ["nonsense", "gpu", "cpu:x", "cpu:3", "lazy", "", 0, 1.5])
    def test_pytorch_refuses_a_wrong_device_and_lists_its_own(self, device: Array) -> None:
        with pytest.raises(ValueError, match="PyTorch cannot use device=") as caught:
            NumpyToTorch(gym.make("CartPole-v1"), device)
        message = str(caught.value)
        assert repr(device) in message
        assert "; write one of 'cpu'" in message
        assert "\n" not in message
        assert len(message) < 300

    def test_numpy_refuses_every_device_except_cpu(self) -> None:
        numpy = load("gymbridge_runtime.backends.numpy:NUMPY")
        with pytest.raises(ValueError, match="NumPy has the device 'cpu' only, got device='cuda'"):
            Converter(numpy, device="cuda")
        assert Converter(numpy, device="cpu").device is None


class TestPyTorch:
    @pytest.mark.parametrize("device", ["cpu", torch.device("cpu"), "cpu:0"], ids=repr)
    def test_naming_the_cpu_shares_memory(self, device: Array) -> None:
        array = np.arange(3.0)
        for said in (None, False, True):
            tensor = Pair("numpy", "torch").convert(array, device=device, copy=said)
            assert (tensor.data_ptr() == array.ctypes.data) is (said is not True)
        own = torch.ones(3)
        assert Pair("numpy", "torch").convert(own, device=device) is own

    @pytest.mark.parametrize("device", ["meta", torch.device("meta"), "meta:0"], ids=repr)
    def test_the_meta_device_is_refused(self, device: Array) -> None:
        match = "PyTorch's device 'meta' has no memory to hold values; name another device"
        for pair in (Pair("numpy", "torch"), Pair("jax", "torch")):
            with pytest.raises(ConversionError, match=match):
                pair.convert(pair.source.make(np.ones(1)), device=device)
        env = Replay(spaces.Discrete(2), 0)
        with pytest.raises(ConversionError, match=match):
            NumpyToTorch(env, device)
        with pytest.raises(ConversionError, match=match):
            TorchToNumpy(env, env_device=device)

    def test_a_missing_device_is_refused_at_construction(self) -> None:
        device = "xpu" if torch.cuda.is_available() else "cuda"
        for make in (
            lambda: Pair("numpy", "torch").convert(np.ones(2), device=device),
            lambda: NumpyToTorch(gym.make("CartPole-v1"), device),
            lambda: TorchToNumpy(NumpyToTorch(gym.make("CartPole-v1")), env_device=device),
        ):
            with pytest.raises(ValueError, match=f"PyTorch cannot use device='{device}'") as caught:
                make()
            assert "; write one of 'cpu'" in str(caught.value)
            assert caught.value.__cause__ is not None


STRICT = "tests.runtime.test_devices:BACKEND"
BACKEND: DlpackBackend


@pytest.fixture
def backend(own_backends: None) -> DlpackBackend:
    """array-api-strict, which has several devices, as a spec would describe it."""
    del own_backends
    return DlpackBackend(
        name="strict",
        title="array-api-strict",
        reference=STRICT,
        module="array_api_strict",
        array="array_api_strict._array_object.Array",
        read_only="kept",
    )


FIRST, SECOND = strict.Device("device1"), strict.Device("device2")


def keep(backend: DlpackBackend | NamespaceBackend) -> None:
    """Fail unless casts and copies of the library's array stay on its device."""
    array = strict.arange(3, dtype=strict.float64, device=SECOND)
    for copies in (None, True):
        result: Array = Converter(backend, float_dtype="float32", copy=copies)(array)
        assert (result.dtype, result.device) == (strict.float32, SECOND)
    copied: Array = Converter(backend, copy=True)(array)
    assert copied is not array
    assert (copied.dtype, copied.device) == (strict.float64, SECOND)


class TestSeparateDevices:
    @pytest.mark.parametrize("device", [FIRST, SECOND], ids=str)
    def test_results_go_to_the_named_device(self, backend: DlpackBackend, device: Array) -> None:
        convert = Converter(backend, device=device)
        values = [np.arange(3.0), torch.arange(3.0), jax.numpy.arange(3.0), strict.arange(3)]
        for value in values:
            result: Array = convert({"a": [value]})
            (array,) = result["a"]
            assert array.device == device
            assert [int(one) for one in array] == [0, 1, 2]
        there = strict.arange(3, device=device)
        assert convert(there) is there

    def test_memory_for_another_device_is_copied_once(
        self, backend: DlpackBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> Host:
            raise AssertionError("copied on the host, and once more by the library")

        source = np.arange(3.0)
        with monkeypatch.context() as patch:
            for convert in (
                Converter(backend, device=FIRST),
                Converter(backend, device=FIRST, copy=True),
                Converter(backend, device=FIRST, default=Ownership.SNAPSHOT),
            ):
                convert(np.ones(1))  # finds the default device of the library
                patch.setattr(backend, "private_copy", refuse)
                result: Array = convert(source)
                assert result.device == FIRST
                source[:] = -1
                assert [float(one) for one in result] == [0, 1, 2]
                source[:] = np.arange(3)
                patch.undo()

    def test_copy_false_refuses_another_device(self, backend: DlpackBackend) -> None:
        for value in (np.ones(2), strict.ones(2)):
            with pytest.raises(CopyRequiredError, match=r"transferred to|copied to"):
                Converter(backend, device=FIRST, copy=False)(value)

    def test_arrays_on_the_host_device_share_memory(self, backend: DlpackBackend) -> None:
        source = np.ones(2)
        for device in (None, strict.Device("CPU_DEVICE")):
            result: Array = Converter(backend, device=device, copy=False)(source)
            source[0] += 1
            assert float(result[0]) == source[0]

    def test_casts_and_copies_stay_on_the_device(self, backend: DlpackBackend) -> None:
        keep(backend)

    @pytest.mark.usefixtures("own_backends")
    def test_casts_and_copies_of_a_generic_library_stay_on_the_device(self) -> None:
        keep(NamespaceBackend("array_api_strict"))

    @pytest.mark.usefixtures("backend")
    def test_arrays_on_a_device_are_copied_to_the_host(self) -> None:
        array = strict.arange(3, dtype=strict.float32, device=SECOND)
        for name, library in LIBRARIES.items():
            target = load(f"gymbridge_runtime.backends.{name}:{name.upper()}")
            assert library.values(Converter(target)(array)).tolist() == [0, 1, 2]


class TestDevicesAreRecorded:
    def test_restored_wrappers_keep_their_device(self) -> None:
        for make in (
            lambda: NumpyToTorch(gym.make("CartPole-v1"), torch.device("cpu")),
            lambda: NumpyToJax(gym.make("CartPole-v1"), jax.devices()[0]),
        ):
            env = make()
            spec = env.spec
            assert spec is not None
            assert '"device": "cpu' in spec.to_json().replace('\\"', '"').replace("'", '"')
            for again in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), gym.make(spec)):
                assert again.get_wrapper_attr("device") == env.device

    def test_restored_stacks_keep_both_devices(self) -> None:
        env = JaxToTorch(NumpyToJax(gym.make("Pendulum-v1")), "cpu", env_device=jax.devices()[0])
        again = pickle.loads(pickle.dumps(env))
        assert again.device == torch.device("cpu")
        again.reset(seed=0)
        obs = again.step(torch.zeros(1))[0]
        assert obs.device == torch.device("cpu")
