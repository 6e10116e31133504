"""Examples for many devices, processes and machines, run on this one."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support import REPOSITORY, require, run_python

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

LOCAL = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
}  # no usage statistics, no authentication


def test_a_mesh_of_devices_learns_the_same_as_one_device(tmp_path: Path) -> None:
    for name in ("flax", "jax", "matplotlib", "optax"):
        require(name)
    printed = run_python(f"""\
        import gymnasium as gym, jax, numpy as np
        from flax import nnx
        from gymbridge.vector import NumpyToJax
        from scripts.examples import jax_mesh, ppo_jax
        from scripts.examples.watch import Watch

        jax_mesh.main(["--quick", "--picture", {str(tmp_path / "curve.svg")!r}])

        envs = jax_mesh.cartpoles()
        observations, infos = envs.reset(seed=0)
        assert [shard.data.shape for shard in observations.addressable_shards] == [(2, 4)] * 8
        assert len(envs.step(envs.sample_action())[1].devices()) == 8

        def learned(envs):
            network = ppo_jax.train(envs, Watch("", 2_000))
            return [np.asarray(leaf) for leaf in jax.tree.leaves(nnx.state(network))]

        fresh = ppo_jax.ActorCritic(4, 2, nnx.Rngs(ppo_jax.SEED))
        start = [np.asarray(leaf) for leaf in jax.tree.leaves(nnx.state(fresh))]
        many = learned(envs)
        one = learned(NumpyToJax(gym.make_vec("CartPole-v1", 16)))
        for before, on_many, on_one in zip(start, many, one, strict=True):
            assert not np.array_equal(before, on_one)
            np.testing.assert_allclose(on_many, on_one, atol=1e-4)
        print("done")
        """)
    assert "environments 0 to 1 are on cpu:0\n" in printed
    assert "environments 14 to 15 are on cpu:7\n" in printed
    assert printed.endswith("done\n")
    assert (tmp_path / "curve.svg").exists()


def start(*command: str, **variables: str) -> subprocess.Popen[str]:
    """Start a Python process that can import the checkout."""
    roots = (REPOSITORY / name for name in ("", "generated", "generator", "runtime"))
    variables |= {"PYTHONPATH": os.pathsep.join(map(str, roots)), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=REPOSITORY,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    """Return the output of a process; fail if it failed."""
    with process:
        try:
            printed, _ = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, printed
    return printed


def test_jax_processes_combine_their_environments() -> None:
    for name in ("jax", "matplotlib"):
        require(name)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    example = ("-m", "scripts.examples.jax_processes")
    started = [start(*example, str(process), "2", address) for process in range(2)]
    try:
        for number, process in enumerate(started):
            # every CartPole stands for ten steps, whichever process it is in
            assert f"process {number}: 16 environments earned 160\n" in output(process)
    finally:
        for process in started:
            process.kill()


def test_two_ranks_of_gloo_train_one_network(tmp_path: Path) -> None:
    for name in ("matplotlib", "torch"):
        require(name)
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    example = ("-m", "scripts.examples.torch_distributed")
    picture = str(tmp_path / "curve.svg")
    printed = output(start(*torchrun, *example, "--quick", "--picture", picture))
    said = re.search(r"2 ranks with mean returns \[(.+), (.+)\] have (.+) param", printed)
    assert said is not None, printed
    one, other, agree = float(said[1]), float(said[2]), said[3]
    assert agree == "the same"
    assert one != other  # each process has its own environments
    assert min(one, other) > 80  # random actions reach 22
    assert (tmp_path / "curve.svg").exists()


def test_ray_actors_play_and_one_that_dies_is_replaced(tmp_path: Path) -> None:
    for name in ("matplotlib", "ray", "torch"):
        require(name)
    printed = run_python(
        f"""\
        import os, signal
        import ray, torch
        from scripts.examples import ppo_torch, ray_actors

        watch = ray_actors.main(["--quick", "--picture", {str(tmp_path / "curve.svg")!r}])
        assert watch.mean_return > 80, watch.mean_return  # chance reaches 22

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        actors = ray_actors.hire()
        network = ppo_torch.ActorCritic(4, 2)

        def look(self):
            return os.getpid(), type(self.player.envs).__name__, self.player.envs.spec.id

        def plays():
            return ray.get([actor.play.remote(network) for actor in actors], timeout=120)

        def found():
            return ray.get([actor.__ray_call__.remote(look) for actor in actors], timeout=120)

        first = plays()
        before = found()
        assert {{each[1:] for each in before}} == {{("NumpyToTorch", "CartPole-v1")}}
        assert len({{os.getpid(), *(pid for pid, *_ in before)}}) == 3
        for tensor in ray_actors.together(first)[:-1]:
            assert type(tensor) is torch.Tensor and tensor.shape[:2] == (ppo_torch.STRETCH, 16)

        # killed while it is asked: Ray starts another, and asks that one
        asked = [actor.play.remote(network) for actor in actors]
        os.kill(before[0][0], signal.SIGKILL)
        answers = ray.get(asked, timeout=120)
        assert [len(play.actions) for play in answers] == [ppo_torch.STRETCH] * 2
        after = found()
        assert after[0][0] != before[0][0] and after[0][1:] == before[0][1:]
        assert after[1] == before[1]

        # the new one began new episodes, the same that the dead one had begun with
        assert torch.equal(answers[0].observations[0], first[0].observations[0])
        assert not torch.equal(answers[1].observations[0], first[1].observations[0])
        ppo_torch.improve(
            network, torch.optim.Adam(network.parameters()), ray_actors.together(answers), 1.0
        )
        ray.shutdown()
        print("done")
        """,
        **LOCAL,
    )
    assert printed.endswith("done\n")
    assert (tmp_path / "curve.svg").exists()


def test_env_runners_of_rllib_make_their_environments_from_json(tmp_path: Path) -> None:
    for name in ("flax", "lz4", "matplotlib", "ormsgpack", "pyarrow", "ray", "tree"):
        require(name)
    code = f"""
from scripts.examples import rllib
from gymbridge import JaxToNumpy

env = rllib.make({{"spec": rllib.cartpole()}})
assert type(env) is JaxToNumpy and env.spec.id == "phys2d/CartPole-v1"
watch = rllib.main(["--quick", "--picture", {str(tmp_path / "curve.svg")!r}])
assert watch.steps >= 2_000
assert watch.curve[-1].mean_return > 26, watch.curve  # chance reaches 22
"""
    printed = output(start("-c", code, **LOCAL))
    assert "PPO of RLlib on CartPoles in JAX: mean return" in printed
    assert (tmp_path / "curve.svg").exists()
