"""The error for an environment of another form than a wrapper takes: it names the right wrapper."""

from __future__ import annotations

from typing import Literal, TypeAlias

import gymnasium as gym
from gymnasium.vector import VectorEnv

__all__ = ["Form", "require_form"]

Form: TypeAlias = Literal["single", "vector", "parallel"]

_TAKE = {
    "single": "the class of that name in the package itself, as in `from gymbridge import {}`",
    "vector": "the class of that name in `vector`, as in `from gymbridge.vector import {}`",
    "parallel": "the class of that name in `parallel`, as in `from gymbridge.parallel import {}`",
    "turn-based": "`pettingzoo.utils.aec_to_parallel(env)`, whose agents all act at once",
}
"""The wrapper to use for an environment of each form."""


def require_form(wrapper: str, env: object, form: Form) -> None:
    """Raise a TypeError if ``env`` is known to have another form.

    An environment of an unknown form passes: Gymnasium has its own error for it, and any object
    with the methods of a parallel environment counts as one.
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
    if hasattr(env, "agent_iter"):  # only PettingZoo's AECEnv has it
        return "turn-based"
    return "parallel" if hasattr(env, "possible_agents") else ""
