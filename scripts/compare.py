"""Compare with other ways to step NumPy environments from PyTorch: `python scripts/compare.py`.

Gymnasium's wrapper, TorchRL, skrl and Stable-Baselines3 step the same CartPoles through the same
episode, in turn in one process. The script checks that they return the same observations. Missing
libraries are left out; `nox -s compare` installs all of them in an environment of its own.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import gymnasium as gym
import numpy as np
import torch

from gymbridge_tools.benchmark.contest import Contest
from gymbridge_tools.benchmark.measure import Budget, measure
from gymbridge_tools.benchmark.worlds import ENVIRONMENTS, Balanced, BalancedVector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.types import AnyType

MOST = 250
"""Steps of an episode; no pole falls in these."""


class Way(NamedTuple):
    """One way to take a step with tensors."""

    world: AnyType
    """The environment, which is reset before each round."""
    step: Callable[[AnyType], AnyType]
    """Takes the result of `action`; returns a tensor of observations."""
    action: Callable[[AnyType], AnyType]
    """Turns a NumPy action into what an agent would have."""


def bare(world: AnyType) -> Way:
    """Step without PyTorch."""
    return Way(world, lambda action: world.env.step(action)[0], lambda action: action)


def with_gymbridge(world: AnyType) -> Way:
    """Step with gymbridge."""
    from gymbridge import NumpyToTorch, vector

    env: AnyType = (vector.NumpyToTorch if _is_vector(world) else NumpyToTorch)(world.env)
    return Way(world, lambda action: env.step(action)[0], torch.as_tensor)


def with_gymnasium(world: AnyType) -> Way:
    """Step with Gymnasium's wrapper."""
    from gymnasium.wrappers import NumpyToTorch, vector

    env: AnyType = (vector.NumpyToTorch if _is_vector(world) else NumpyToTorch)(world.env)
    return Way(world, lambda action: env.step(action)[0], torch.as_tensor)


def with_torchrl(world: AnyType) -> Way:
    """Step as TorchRL's collectors, with a TensorDict."""
    from tensordict import TensorDict

    torchrl: AnyType = import_module("torchrl.envs")
    env: AnyType = torchrl.GymWrapper(world.env, categorical_action_encoding=True)
    env.reset()

    def action(value: AnyType) -> AnyType:
        return TensorDict({"action": torch.as_tensor(value)}, env.batch_size)

    return Way(world, lambda data: env.step(data)["next", "observation"], action)


def with_skrl(world: AnyType) -> Way:
    """Step as skrl's trainers; actions have a second axis."""
    skrl: AnyType = import_module("skrl.envs.wrappers.torch")
    env: AnyType = skrl.wrap_env(world.env, wrapper="gymnasium", verbose=False)

    def action(value: AnyType) -> AnyType:
        return torch.as_tensor(np.atleast_1d(value)).reshape(-1, 1)

    return Way(world, lambda tensor: env.step(tensor)[0], action)


def with_sb3(world: AnyType) -> Way:
    """Step as Stable-Baselines3's rollouts: its own vector, with tensors made around it."""
    sb3: AnyType = import_module("stable_baselines3.common.vec_env")
    tools: AnyType = import_module("stable_baselines3.common.utils")
    count = world.num_envs if _is_vector(world) else 1
    env: AnyType = sb3.DummyVecEnv(
        [lambda: gym.make("CartPole-v1", disable_env_checker=True)] * count
    )
    cpu = torch.device("cpu")

    def step(tensor: torch.Tensor) -> AnyType:
        return tools.obs_as_tensor(env.step(tensor.cpu().numpy())[0], cpu)

    return Way(_Restarted(env), step, lambda value: torch.as_tensor(np.atleast_1d(value)))


def _cartpole() -> AnyType:
    return gym.make("CartPole-v1", disable_env_checker=True)


class _Restarted:
    """Stable-Baselines3's vector with Gymnasium's `reset`."""

    def __init__(self, env: AnyType) -> None:
        self._env: AnyType = env

    def reset(self, *, seed: int) -> None:
        self._env.seed(seed)
        self._env.reset()


WAYS: dict[str, tuple[str, Callable[[AnyType], Way]]] = {
    "bare": ("gymnasium", bare),
    "gymbridge": ("gymbridge_runtime", with_gymbridge),
    "Gymnasium": ("gymnasium", with_gymnasium),
    "TorchRL": ("torchrl", with_torchrl),
    "skrl": ("skrl", with_skrl),
    "Stable-Baselines3": ("stable_baselines3", with_sb3),
}
"""The ways by their names in the table, with the modules that they need."""


def contest(world: Callable[[], AnyType], ways: Sequence[str]) -> Contest:
    """Let every way step through the same episode."""
    made = {name: WAYS[name][1](world()) for name in ways}
    actions = world().prepare(MOST)

    def prepare(name: str, calls: int) -> Sequence[object]:
        way = made[name]
        way.world.reset(seed=0)
        return [way.action(action) for action in actions[:calls]]

    agree({name: (way, prepare(name, MOST)) for name, way in made.items()})
    return Contest({name: way.step for name, way in made.items()}, prepare, MOST)


def agree(played: dict[str, tuple[Way, Sequence[object]]]) -> None:
    """Refuse to compare ways with different observations."""
    expected: AnyType = None
    for name, (way, actions) in played.items():
        seen = np.array([np.asarray(way.step(action)) for action in actions[:50]]).squeeze()
        expected = seen if expected is None else expected
        if not np.array_equal(seen, expected):
            raise SystemExit(f"{name} does not return the observations of the bare environment")


def _is_vector(world: AnyType) -> bool:
    return hasattr(world, "num_envs")


def main() -> int:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="for each of the two columns")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    options = parser.parse_args()
    seconds: float = options.seconds
    warnings.simplefilter("ignore")  # libraries warn about their own code
    torch.set_num_threads(1)
    ways = [name for name, (module, _) in WAYS.items() if find_spec(module) is not None]
    left_out = [name for name in WAYS if name not in ways]
    worlds: dict[str, Callable[[], AnyType]] = {
        "one CartPole": Balanced,
        f"{ENVIRONMENTS} CartPoles": lambda: BalancedVector(
            vectorization_mode="sync",
            # TorchRL needs this mode
            vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP},
        ),
    }
    times = {
        title: measure(contest(world, ways), Budget(seconds, 0.002)).figures.times
        for title, world in worlds.items()
    }
    print(f"| µs of a step | {' | '.join(times)} |\n|---|{'---|' * len(times)}")
    for name in ways:
        cells = [f"{figures[name] * 1e6:.1f}" for figures in times.values()]
        print(f"| {name} | {' | '.join(cells)} |")
    packages = ["gymnasium", "numpy", "torch", "torchrl", "skrl", "stable-baselines3"]
    there = [name for name in packages if find_spec(name.replace("-", "_")) is not None]
    versions = {"python": platform.python_version()} | {name: version(name) for name in there}
    print("\n" + ", ".join(f"{name} {number}" for name, number in versions.items()))
    if left_out:
        print(f"left out, for they are not installed: {', '.join(left_out)}")
    if options.json:
        found = {"versions": versions, "machine": platform.machine(), "seconds": times}
        file: Path = options.json
        file.write_text(json.dumps(found, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
