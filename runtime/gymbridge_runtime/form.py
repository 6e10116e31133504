"""The refusal of environments of another form than a wrapper takes, with the wrapper to take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium as gym
from gymnasium.vector import VectorEnv

if TYPE_CHECKING:
    from typing import Literal

__all__ = ["require_form"]

_TAKE = {
    "single": "the class of that name in the package itself, as in `from gymbridge import {}`",
    "vector": "the class of that name in `vector`, as in `from gymbridge.vector import {}`",
    "parallel": "the class of that name in `parallel`, as in `from gymbridge.parallel import {}`",
    "turn-based": "`pettingzoo.utils.aec_to_parallel(env)`, whose agents all act at once",
}


def require_form(wrapper: str, env: object, form: Literal["single", "vector", "parallel"]) -> None:
    """Raise a TypeError if ``env`` is known to be of another form than a wrapper takes.

    What is of no known form passes: Gymnasium refuses it in its own words, and whatever has the
    methods of a parallel environment is one.
    """
    found = _form(env)
    if found not in {form, ""}:
        raise TypeError(
            f"this {wrapper} takes {form} environments, and {type(env).__name__} is {found}; "
            + f"take {_TAKE[found].format(wrapper)}"
        )


def _form(env: object) -> str:
    if isinstance(env, VectorEnv):
        return "vector"
    if isinstance(env, gym.Env):
        return "single"
    if hasattr(env, "agent_iter"):  # what PettingZoo's AECEnv has, and its ParallelEnv has not
        return "turn-based"
    return "parallel" if hasattr(env, "possible_agents") else ""
