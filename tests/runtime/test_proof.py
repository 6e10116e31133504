"""Reference counts tell fresh arrays from held ones, on this Python and with no other library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import gymnasium as gym
import numpy as np
import pytest
from gymbridge_runtime.core.ownership import IS_PROVABLE, Owner, own
from gymnasium import spaces
from typing_extensions import override

from gymbridge import ArrayConversion
from tests.support import Array, require

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support import Host

needs_proof = pytest.mark.skipif(not IS_PROVABLE, reason="this Python counts otherwise")


def test_reference_counts_are_a_proof_on_this_interpreter() -> None:
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    is_known = sys.implementation.name == "cpython" and sys.version_info < (3, 14)
    assert (is_known and has_lock) is IS_PROVABLE


@needs_proof
@pytest.mark.parametrize("check", [own, Owner(None, shares=True).own], ids=["own", "Owner.own"])
def test_a_fresh_array_is_kept_and_a_held_one_is_copied(check: Callable[[Host], Host]) -> None:
    fresh = np.ones(3)
    assert check(fresh) is fresh
    held = np.ones(3)
    holder = [held]
    assert check(held) is not held
    assert holder[0] is held


FRESH: dict[str, Callable[[Host], Array]] = {
    "an array": lambda state: state.copy(),
    "a view": lambda state: state.copy()[:],
    "a dict": lambda state: {"a": state.copy()},
    "a list in a dict": lambda state: {"a": [state.copy()]},
}
HELD: dict[str, Callable[[Host], Array]] = {
    "an array": lambda state: state,
    "a view": lambda state: state[:],
    "a dict": lambda state: {"a": state},
    "a list in a dict": lambda state: {"a": [state]},
}


class State(gym.Env[Array, Array]):
    """Returns its state, or a copy of it, and notes where the memory is."""

    observation_space = spaces.Box(-np.inf, np.inf, (4,))
    action_space = spaces.Discrete(2)

    def __init__(self, show: Callable[[Host], Array]) -> None:
        self.state = np.ones(4, np.float32)
        self.show = show
        self.address = 0

    def observe(self) -> Array:
        obs = self.show(self.state)
        self.address = address(obs)
        return obs

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Array] | None = None
    ) -> tuple[Array, dict[str, Array]]:
        return self.observe(), {}

    @override
    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Array]]:
        return self.observe(), 1.0, False, False, {}


def address(obs: Array) -> int:
    """Return where the memory of the only array of an observation is."""
    if isinstance(obs, dict):
        return address(obs["a"])
    if isinstance(obs, list):
        return address(obs[0])
    host: Host = obs if isinstance(obs, np.ndarray) else np.from_dlpack(obs)
    return host.ctypes.data


@needs_proof
@pytest.mark.parametrize("outer", [lambda env: env, gym.wrappers.OrderEnforcing])
@pytest.mark.parametrize(
    ("show", "is_shared"),
    [
        *[pytest.param(show, True, id=f"fresh: {name}") for name, show in FRESH.items()],
        *[pytest.param(show, False, id=f"held: {name}") for name, show in HELD.items()],
    ],
)
def test_a_wrapper_shares_only_what_is_fresh(
    show: Callable[[Host], Array], is_shared: bool, outer: Callable[[Array], Array]
) -> None:
    require("array_api_strict")
    state = State(show)
    env = ArrayConversion(outer(state), "numpy", "array_api_strict")
    for act in (env.reset, lambda: env.step(1)):
        obs, *_ = act()
        assert (address(obs) == state.address) is is_shared
