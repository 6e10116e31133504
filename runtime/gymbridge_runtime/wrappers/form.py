"""The error for an environment of another form than a wrapper takes: it names the right wrapper."""

from __future__ import annotations

from typing import Literal, TypeAlias

import gymnasium as gym
from gymbridge_runtime.core.narrowing import untyped
from gymnasium.vector import VectorEnv

__all__ = ["Form", "require_form"]

Form: TypeAlias = Literal["single", "vector", "parallel", "batched"]

_TAKE = {
    "single": "the class of that name in the package itself, as in `from gymbridge import {}`",
    "vector": "the class of that name in `vector`, as in `from gymbridge.vector import {}`",
    "parallel": "the class of that name in `parallel`, as in `from gymbridge.parallel import {}`",
    "batched": "the class of that name in `batched`, as in `from gymbridge.batched import {}`",
    "turn-based": "`pettingzoo.utils.aec_to_parallel(env)`, whose agents all act at once",
}
"""What to take for an environment of each form."""


def require_form(wrapper: str, env: object, form: Form) -> None:
    """Raise a TypeError if ``env`` is known to have another form.

    An environment of no known form passes: Gymnasium has its own error for it, and anything with
    the methods of a parallel environment is one.
    """
    found = _forms(env)
    if found and form not in found:
        raise TypeError(
            f"this {wrapper} takes {form} environments, and {type(env).__name__} is {found[0]}; "
            + f"take {_TAKE[found[0]].format(wrapper)}"
        )
    if form == "batched" and not (hasattr(env, "reset") and hasattr(env, "step")):
        raise TypeError(
            f"this {wrapper} takes {form} environments, and {env!r} has no `reset` and `step`; "
            + "make the environment first"
        )


def _forms(env: object) -> tuple[str, ...]:
    """Return the forms that take ``env``, the best of them first."""
    if isinstance(env, VectorEnv):
        return ("vector",)
    if hasattr(env, "agent_iter"):  # only PettingZoo's AECEnv has it
        return ("turn-based",)
    if hasattr(env, "possible_agents"):
        return ("parallel",)
    single = ("single",) if _is_single(env) else ()
    if hasattr(untyped(env, "unwrapped") if single else env, "num_envs"):
        return ("batched", *single)
    return (*single, "batched") if single else ()


def _is_single(env: object) -> bool:
    return isinstance(env, gym.Env)
