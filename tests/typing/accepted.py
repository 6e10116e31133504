"""Code of users and its types: five type checkers accept every line."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, assert_type

import gymnasium as gym
import jax
import numpy as np
import torch
from gymnasium.envs.classic_control.cartpole import CartPoleEnv, CartPoleVectorEnv
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv
from gymnasium.vector import SyncVectorEnv, VectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from numpy.typing import NDArray
from torch import Tensor

import gymbridge
from gymbridge import (
    JaxToNumpy,
    JaxToTorch,
    NumpyToJax,
    NumpyToTorch,
    TorchToJax,
    TorchToNumpy,
    vector,
)
from gymbridge.jax_to_torch import jax_to_torch
from gymbridge.numpy_to_torch import numpy_to_torch, torch_to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge.backends.jax import JaxDevice

Floats: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]


class NumpyObs(TypedDict):
    position: Floats
    index: int


class TorchObs(TypedDict):
    position: Tensor
    index: Tensor


class TorchPair(NamedTuple):
    first: Tensor
    second: Tensor


def environments_of_which_nothing_is_known() -> None:
    env = NumpyToTorch(gym.make("CartPole-v1"))
    obs, info = env.reset(seed=1, options={"low": 0.1})
    assert_type(obs, Tensor)
    assert_type(info, dict[str, Any])
    assert_type(env.step(torch.tensor(1)), tuple[Tensor, float, bool, bool, dict[str, Any]])
    assert_type(env.sample_action(), Tensor)
    same: gym.Env[Tensor, Tensor] = env
    assert_type(same.reset()[0], Tensor)
    with NumpyToTorch(gym.make("CartPole-v1"), "cpu", copy=True) as entered:  # needs Gymnasium 1.4
        assert_type(entered.reset()[0], Tensor)  # needs Gymnasium 1.4

    assert_type(NumpyToJax(gym.make("CartPole-v1")).reset()[0], jax.Array)
    assert_type(TorchToNumpy(gym.make("CartPole-v1")).reset()[0], NDArray[Any])
    assert_type(TorchToNumpy(gym.make("CartPole-v1")).step(np.int64(1))[0], NDArray[Any])
    assert_type(JaxToNumpy(gym.make("CartPole-v1")).step(1)[0], NDArray[Any])


def vectors_of_which_nothing_is_known() -> None:
    envs = vector.NumpyToTorch(gym.make_vec("CartPole-v1", num_envs=2))
    assert_type(envs.reset(seed=[1, None])[0], Tensor)
    assert_type(
        envs.step(torch.tensor([0, 1])), tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Any]]
    )
    assert_type(envs.sample_action(), Tensor)
    same: VectorEnv[Tensor, Tensor, Tensor] = envs
    assert_type(same.reset(seed=1)[0], Tensor)
    assert_type(vector.NumpyToTorch(SyncVectorEnv([CartPoleEnv])).reset()[0], Tensor)
    assert_type(vector.NumpyToJax(gym.make_vec("CartPole-v1")).reset()[0], jax.Array)


def devices_and_dtypes(device: JaxDevice, sharding: jax.sharding.Sharding) -> None:
    cartpole = gym.make("CartPole-v1")
    NumpyToTorch(cartpole, torch.device("cpu"), float_dtype=torch.float64)
    NumpyToTorch(cartpole, device="cpu", float_dtype="float64")
    NumpyToJax(cartpole, device, float_dtype="float32")
    NumpyToJax(cartpole, float_dtype=jax.numpy.float32)
    NumpyToJax(cartpole, "cpu:0")
    vector.NumpyToJax(gym.make_vec("CartPole-v1"), sharding)
    JaxToNumpy(cartpole, env_device="cpu:0", float_dtype=np.float64)
    TorchToJax(cartpole, sharding, env_device=torch.device("cpu"))


def environments_with_known_arrays(
    box: gym.Env[Floats, np.int64],
    bare: gym.Env[NDArray[Any]],  # needs Gymnasium 1.4
    vectors: VectorEnv[Floats, Integers, NDArray[np.float64]],
    torch_env: gym.Env[Tensor, Tensor],
) -> None:
    assert_type(NumpyToTorch(box), NumpyToTorch[Tensor, Tensor, Floats, np.int64])
    assert_type(NumpyToTorch(box).reset()[0], Tensor)
    assert_type(NumpyToTorch(box).unwrapped, gym.Env[Floats, np.int64])
    assert_type(NumpyToTorch(bare).reset()[0], Tensor)  # needs Gymnasium 1.4
    assert_type(NumpyToTorch(CartPoleEnv()).reset()[0], Tensor)
    assert_type(NumpyToTorch(TimeLimit(CartPoleEnv(), 5)).reset()[0], Tensor)
    assert_type(NumpyToTorch(RecordEpisodeStatistics(box)).reset()[0], Tensor)
    assert_type(NumpyToTorch(FrozenLakeEnv()).reset()[0], Tensor)
    assert_type(vector.NumpyToTorch(vectors), vector.NumpyToTorch[Tensor, Tensor, Floats, Integers])
    assert_type(vector.NumpyToTorch(CartPoleVectorEnv()).reset()[0], Tensor)
    assert_type(vector.NumpyToTorch(vectors).step(torch.zeros(3))[0], Tensor)
    assert_type(vector.NumpyToTorch(vectors).env.reset()[0], Floats)
    # there and back, and chains
    assert_type(TorchToNumpy(torch_env).reset()[0], NDArray[Any])
    assert_type(TorchToJax(NumpyToTorch(box)).reset()[0], jax.Array)
    assert_type(JaxToTorch(TorchToJax(NumpyToTorch(box))).reset()[0], Tensor)


def structure_is_named_by_subscription(
    *,
    flat: gym.Env[dict[str, Floats], Integers],
    pair: gym.Env[tuple[Floats, int], Integers],
    nested: gym.Env[dict[str, Floats | dict[str, Floats]], Integers],
    typed: gym.Env[NumpyObs, np.int64],
    dict_action: gym.Env[Floats, dict[str, Floats]],
    vectors: VectorEnv[dict[str, Floats], Integers, NDArray[np.float64]],
) -> None:
    made = gym.make("Some-v0")
    named = NumpyToTorch[dict[str, Tensor], Tensor](made)
    assert_type(named.reset()[0], dict[str, Tensor])
    assert_type(named.step(torch.tensor(1))[0]["position"], Tensor)
    assert_type(NumpyToTorch[dict[str, Tensor]](made).reset()[0], dict[str, Tensor])
    assert_type(NumpyToTorch[dict[str, Tensor]](flat).reset()[0], dict[str, Tensor])
    assert_type(NumpyToTorch[tuple[Tensor, Tensor]](pair).reset()[0], tuple[Tensor, Tensor])
    assert_type(NumpyToTorch[TorchPair](pair).reset()[0].first, Tensor)
    assert_type(
        NumpyToTorch[dict[str, Tensor | dict[str, Tensor]]](nested).reset()[0],
        dict[str, Tensor | dict[str, Tensor]],
    )
    assert_type(NumpyToTorch[TorchObs](typed).reset()[0]["position"], Tensor)
    assert_type(NumpyToTorch[TorchObs, Tensor](made).reset()[0]["index"], Tensor)
    acts = NumpyToTorch[Tensor, dict[str, Tensor]](dict_action)
    assert_type(acts.step({"a": torch.zeros(1)})[0], Tensor)
    assert_type(vector.NumpyToTorch[dict[str, Tensor]](vectors).reset()[0], dict[str, Tensor])
    # an annotation works for environments of unknown type
    annotated: NumpyToTorch[dict[str, Tensor]] = NumpyToTorch(made)
    assert_type(annotated.reset()[0], dict[str, Tensor])
    base: gym.Env[dict[str, Tensor], Tensor] = NumpyToTorch(made)
    assert_type(base.reset()[0], dict[str, Tensor])


def converters(
    *,
    a: Floats,
    b: NDArray[Any],
    c: dict[str, Floats],
    d: dict[str, dict[str, Floats]],
    e: dict[str, Floats | dict[str, Floats]],
    f: tuple[Floats, int],
    g: list[Floats],
    h: dict[str, object],
    i: NumpyObs,
    j: dict[str, Floats | int],
    k: jax.Array,
) -> None:
    assert_type(numpy_to_torch(a), Tensor)
    assert_type(numpy_to_torch(b, "cpu"), Tensor)
    assert_type(numpy_to_torch(value=a, device="cpu", copy=True), Tensor)
    assert_type(numpy_to_torch(np.float32(1)), Tensor)
    assert_type(numpy_to_torch(1.5), Tensor)
    assert_type(numpy_to_torch(None), None)
    assert_type(numpy_to_torch(c), dict[str, Tensor])
    assert_type(numpy_to_torch(d), dict[str, dict[str, Tensor]])
    assert_type(numpy_to_torch(e), dict[str, Tensor | dict[str, Tensor]])
    assert_type(numpy_to_torch(f), tuple[Tensor, Tensor])
    assert_type(numpy_to_torch(g), list[Tensor])
    assert_type(numpy_to_torch(i, into=TorchObs), TorchObs)
    assert_type(numpy_to_torch(i, into=TorchObs)["index"], Tensor)
    assert_type(numpy_to_torch(j), dict[str, Tensor])
    found = numpy_to_torch(h)["x"]
    if isinstance(found, Tensor):
        assert_type(found, Tensor)
    assert_type(torch_to_numpy(torch.zeros(1)), NDArray[Any])
    assert_type(torch_to_numpy({"a": torch.zeros(1)}, copy=True), dict[str, NDArray[Any]])
    assert_type(jax_to_torch((k, k, k)), tuple[Tensor, Tensor, Tensor])


def arrays_with_any_in_them_are_not_ambiguous(
    a: dict[str, NDArray[Any]],
    b: dict[str, dict[str, NDArray[Any]]],
    c: list[NDArray[Any]],
    d: tuple[NDArray[Any], int],
    e: tuple[NDArray[Any]],
) -> None:
    assert_type(numpy_to_torch(a), dict[str, Tensor])
    assert_type(numpy_to_torch(b), dict[str, dict[str, Tensor]])
    assert_type(numpy_to_torch(c), list[Tensor])
    assert_type(numpy_to_torch(d), tuple[Tensor, Tensor])
    assert_type(numpy_to_torch(e), tuple[Tensor])


def wrappers_are_passed_around() -> None:
    wrap: Callable[[gym.Env[Any, Any]], gym.Env[Tensor, Tensor]] = NumpyToTorch
    assert_type(wrap(gym.make("CartPole-v1")).reset()[0], Tensor)
    on_cpu = partial(NumpyToTorch[Tensor, Tensor], device="cpu")
    gym.make_vec("CartPole-v1", wrappers=[NumpyToTorch, on_cpu])
    envs = [NumpyToTorch(gym.make("CartPole-v1")) for _ in range(2)]
    assert_type(envs[0].reset()[0], Tensor)


class Subclass(NumpyToTorch[dict[str, Tensor], Tensor]):
    """A user's subclass of a wrapper."""


def a_bare_annotation_means_the_defaults(
    env: Subclass, bare: NumpyToTorch, vectors: vector.NumpyToTorch
) -> None:
    assert_type(env.reset()[0], dict[str, Tensor])
    assert_type(bare.reset()[0], Tensor)
    assert_type(vectors.reset()[0], Tensor)
    assert_type(vectors.action_space.sample(), Any)
    assert_type(vectors.single_action_space, gym.Space[Any])


def names_of_the_lazy_package() -> None:
    assert_type(gymbridge.NumpyToTorch(gym.make("CartPole-v1")).reset()[0], Tensor)
    version: str = gymbridge.__version__
    print(version)
