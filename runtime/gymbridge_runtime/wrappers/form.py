"""Errors for environments of another form or library than a wrapper takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import gymnasium as gym
from gymbridge_runtime.core.errors import ConversionError
from gymbridge_runtime.core.narrowing import getattr_untyped
from gymbridge_runtime.core.tree import Leaves, flatten
from gymnasium.vector import VectorEnv

if TYPE_CHECKING:
    from gymbridge_runtime.backends.base import AnyBackend

Form: TypeAlias = Literal["single", "vector", "parallel", "batched"]

_TAKE = {
    "single": "the class of that name in the package itself, as in `from gymbridge import {}`",
    "vector": "the class of that name in `vector`, as in `from gymbridge.vector import {}`",
    "parallel": "the class of that name in `parallel`, as in `from gymbridge.parallel import {}`",
    "batched": "the class of that name in `batched`, as in `from gymbridge.batched import {}`",
    "turn-based": "`pettingzoo.utils.aec_to_parallel(env)`, whose agents all act at once",
}
"""The wrapper to use for an environment of each form."""


def require_form(wrapper: str, env: object, form: Form) -> None:
    """Raise a TypeError if ``env`` is known to have another form.

    An environment of an unknown form passes: Gymnasium has its own error for it, and any object
    with the methods of a parallel environment is one.
    """
    found = _forms(env)
    if found and form not in found:
        raise TypeError(
            f"this {wrapper} takes {form} environments, and {type(env).__name__} is {found[0]}; "
            + f"take {_TAKE[found[0]].format(wrapper)}"
        )
    is_env = hasattr(env, "reset") and hasattr(env, "step") and not isinstance(env, type)
    if form == "batched" and not is_env:
        raise TypeError(
            f"this {wrapper} takes {form} environments, and {env!r} is none; "
            + "make the environment first"
        )


def require_source(wrapper: str, obs: object, source: AnyBackend, target: AnyBackend) -> None:
    """Raise a TypeError if the arrays of an observation are those of another known library.

    Empty arrays do not count. Arrays of ``target`` do not count either, because an encoder inside
    may have made them. If any array is of ``source``, the observation passes.
    """
    leaves: Leaves = []
    try:
        _ = flatten(obs, leaves, is_free=False)
    except (ConversionError, RecursionError):
        return  # the conversion says what is wrong
    others: list[AnyBackend] = []
    for leaf, (role, backend), _ in leaves:
        if source.is_array(type(leaf)):
            return
        if backend is None or role not in {"host", "array"}:
            continue
        is_empty = 0 in cast("tuple[int, ...]", getattr_untyped(leaf, "shape"))
        if not is_empty and not target.is_array(type(leaf)):
            others.append(backend)
    if others:
        right = "To".join(one.name.title().replace("_", "") for one in (others[0], target))
        raise TypeError(
            f"this {wrapper} takes environments of {source.title}, and the observations are arrays "
            + f"of {others[0].title}; take {right}"
        )


def _forms(env: object) -> tuple[str, ...]:
    """Return the forms that take ``env``, the best one first."""
    if isinstance(env, VectorEnv):
        return ("vector",)
    if hasattr(env, "agent_iter"):  # only PettingZoo's AECEnv has it
        return ("turn-based",)
    if hasattr(env, "possible_agents"):
        return ("parallel",)
    single = ("single",) if issubclass(type(env), gym.Env) else ()
    if hasattr(getattr_untyped(env, "unwrapped") if single else env, "num_envs"):
        return ("batched", *single)
    return (*single, "batched") if single else ()
