"""Environments used from every library of the catalogue, and environments of these libraries."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.backends.dlpack_devices import DlpackDevices
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from tests.runtime.replay import Replay
from tests.support import LIBRARIES, Array, identical

if TYPE_CHECKING:
    from tests.catalogue.bridges import Bridges
    from tests.catalogue.libraries import CatalogueLibrary
    from tests.support import Library

NUMPY = LIBRARIES["numpy"]


class TestAgents:
    def test_agents_play_a_numpy_environment(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        bare, env = gym.make("CartPole-v1"), gym.make("CartPole-v1")
        agent = bridges.wrapper(NUMPY, entry)(env)
        obs, info = agent.reset(seed=3)
        expected, _ = bare.reset(seed=3)
        assert entry.is_array(obs)
        assert identical(entry.values(obs), expected)
        assert info == {}
        for _ in range(3):
            action = entry.make(np.int64(1))
            obs, reward, terminated, truncated, _ = agent.step(action)
            expected, *rest, _ = bare.step(np.int64(1))
            assert identical(entry.values(obs), expected)
            assert [reward, terminated, truncated] == rest
            assert [type(each) for each in (reward, terminated, truncated)] == [float, bool, bool]
        assert env.action_space.contains(int(entry.values(agent.sample_action()).reshape(())))

    def test_agents_play_where_observations_are_numbers(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        agent = bridges.wrapper(NUMPY, entry)(gym.make("FrozenLake-v1", is_slippery=False))
        obs, info = agent.reset(seed=0)
        assert entry.values(obs).reshape(()) == 0
        assert entry.values(info["prob"]).reshape(()) == 1
        obs, *_ = agent.step(entry.make(np.int64(2)))
        assert entry.values(obs).reshape(()) == 1
        assert entry.dtype(obs) == "int64"

    def test_agents_play_vector_environments(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        make = [lambda: gym.make("CartPole-v1")] * 2
        agent = bridges.wrapper(NUMPY, entry, "vector")(SyncVectorEnv(make))
        bare = SyncVectorEnv(make)
        obs, _ = agent.reset(seed=[3, 4])
        expected, _ = bare.reset(seed=[3, 4])
        assert identical(entry.values(obs), expected)
        for _ in range(30):  # more than one episode
            actions = np.array([1, 1])
            obs, *arrays, infos = agent.step(entry.make(actions))
            expected, *values, expected_infos = bare.step(actions)
            assert identical(entry.values(obs), expected)
            for array, value in zip(arrays, values, strict=True):
                assert entry.is_array(array)
                stored = entry.narrow.get(value.dtype.name, value.dtype)
                assert identical(entry.values(array), value.astype(stored))
            assert infos.keys() == expected_infos.keys()

    def test_restored_wrappers_keep_their_arguments(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        device = {"device": "cpu:0" if entry.name == "tensorflow" else "cpu"}
        options = {"copy": True, **(device if entry.devices else {})}
        kind = bridges.wrapper(NUMPY, entry)
        agent = kind(gym.make("CartPole-v1"), **options)
        restored = [
            pickle.loads(pickle.dumps(agent)),
            copy.deepcopy(agent),
            gym.make(agent.spec),
            gym.make(gym.envs.registration.EnvSpec.from_json(agent.spec.to_json())),
        ]
        expected, _ = agent.reset(seed=3)
        for again in restored:
            assert isinstance(again, kind)
            assert again.action_space == agent.action_space
            obs, _ = again.reset(seed=3)
            assert entry.is_array(obs)
            assert identical(entry.values(obs), entry.values(expected))
            if entry.devices:
                assert again.device == agent.device

    def test_agents_get_arrays_from_environments_of_every_library(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        for source, target in ((entry, partner), (partner, entry)):
            values = np.arange(6, dtype=np.float32).reshape(2, 3)
            box = spaces.Box(-10, 10, (2, 3), np.float32)
            info = {"deep": [{"array": source.make(values)}, "text"]}
            single = Replay(box, source.make(values), info, spaces.Box(-1, 1, (2,)))
            agent = bridges.wrapper(source, target)(single)
            for result in (agent.reset(), agent.step(target.make(np.ones(2, np.float32)))):
                assert identical(target.values(result[0]), values)
                assert identical(target.values(result[-1]["deep"][0]["array"]), values)
                assert result[-1]["deep"][1] == "text"
            (action,) = single.actions
            assert source.is_array(action)
            assert source.values(action).tolist() == [1, 1]


def _devices(entry: CatalogueLibrary) -> list[Array]:
    """Return the name of the only device, and the library's own object for it."""
    if entry.name == "warp":
        return ["cpu", entry.xp.get_device("cpu")]
    if entry.name == "paddle":
        return ["cpu", entry.xp.CPUPlace()]
    if entry.name == "dpnp":
        return ["cpu", "opencl:cpu", entry.make([1]).device]
    return ["CPU:0", "/CPU:0", "cpu:0", "/device:CPU:0"]


class TestDevices:
    def test_devices_may_be_named_as_the_library_names_them(
        self, bridges: Bridges, entry: CatalogueLibrary, partner: Library
    ) -> None:
        if not entry.devices:
            pytest.skip(f"{entry.name} has none to choose from")
        values = np.arange(3, dtype=np.float32)
        for device in _devices(entry):
            made = partner.make(values)
            result = bridges.convert(partner, entry, [made, 3], device=device)
            assert all(entry.is_array(each) for each in result)
            assert entry.values(result[0]).tolist() == [0, 1, 2]
            assert bridges.convert(partner, entry, result[0], device=device) is result[0]

    def test_a_missing_device_is_an_error(self, bridges: Bridges, entry: CatalogueLibrary) -> None:
        backend = bridges.backend(entry)
        if not entry.devices:
            pytest.skip(f"{entry.name} has none to choose from")
        for device in ("nowhere:3", "gpu:7"):
            with pytest.raises(ValueError, match=r"has no device|leaves arrays that should go to"):
                backend.parse_device(device)

    def test_arrays_go_to_the_named_device(
        self, bridges: Bridges, entry: CatalogueLibrary, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not entry.devices:
            pytest.skip(f"{entry.name} has none to choose from")
        made = entry.make(np.arange(3, dtype=np.float32))
        # there is one device, so no transfer is refused
        monkeypatch.setattr(DlpackDevices, "place_of", lambda *_: None)
        sent = bridges.backend(entry).to_device(made, _devices(entry)[0])
        assert entry.is_array(sent)
        assert entry.values(sent).tolist() == [0, 1, 2]

    def test_device_text_can_be_parsed_again(
        self, bridges: Bridges, entry: CatalogueLibrary
    ) -> None:
        if not entry.devices:
            pytest.skip(f"{entry.name} has none to choose from")
        backend = bridges.backend(entry)
        for device in _devices(entry):
            found = backend.parse_device(device)
            text = backend.device_text(found)
            assert isinstance(text, str)
            assert backend.parse_device(text) == found
