"""The base of wrappers for vector environments. It is the general path."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, Literal, cast, overload

from gymbridge_runtime.core.narrowing import getattr_untyped
from gymbridge_runtime.wrappers.conversions import VectorConversions, batched
from gymbridge_runtime.wrappers.generics import (
    ActType,
    ArrayType,
    GenericVectorWrapper,
    ObsType,
    WrapperActType,
    WrapperObsType,
)
from gymbridge_runtime.wrappers.wrapper import Bridge
from gymnasium.vector import VectorWrapper
from gymnasium.vector.utils import concatenate, create_empty_array
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime import types
    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import AnySpace, HostArray, Info
    from gymbridge_runtime.wrappers.settings import Options
    from gymnasium.spaces import Space
    from gymnasium.vector import VectorEnv
    from typing_extensions import Unpack


_ENVPOOL = frozenset({"async_reset", "recv", "send", "xla"})


def _method(
    env: object, name: str, *, is_passed: bool = False
) -> Callable[..., tuple[types.AnyType, ...]]:
    """Return a method that only some vector environments have.

    Gymnasium's vector wrappers hide such methods. If values are only passed on (``is_passed``), the
    method may be one inside these wrappers. Converted values must not bypass these wrappers.
    """
    found = env
    while not hasattr(found, name) and isinstance(found, VectorWrapper):
        found = getattr_untyped(cast("object", found), "env")
    kind, has = type(env).__name__, type(found).__name__
    if not hasattr(found, name):
        has = "EnvPool" if name in _ENVPOOL else "AsyncVectorEnv"
        raise AttributeError(f"{kind} has no method {name!r}; {has} has it")
    if found is not env and not is_passed:
        raise AttributeError(
            f"{kind} hides the method {name!r} of {has}; wrap the {has} with gymbridge first"
        )
    return cast("Callable[..., tuple[types.AnyType, ...]]", getattr_untyped(found, name))


class VectorBridge(
    GenericVectorWrapper[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
    Bridge,
    Generic[WrapperObsType, WrapperActType, ObsType, ActType, ArrayType],
):
    """Steps and resets by the general path; generated classes add the fast path of their pair."""

    def __init__(
        self,
        env: VectorEnv[ObsType, ActType, ArrayType],
        source: AnyBackend,
        target: AnyBackend,
        **options: Unpack[Options],
    ) -> None:
        settings = self._settings("vector", env, source, target, options)
        super().__init__(env)
        self.metadata: Info = settings.metadata(env.metadata)
        self._convert: VectorConversions[WrapperObsType, WrapperActType, ActType, ArrayType] = (
            VectorConversions(self, settings)
        )

    @override
    def step(
        self, actions: WrapperActType, env_id: ArrayType | Sequence[int] | None = None
    ) -> tuple[WrapperObsType, ArrayType, ArrayType, ArrayType, Info]:
        """Take one step in every environment.

        They receive ``actions`` as their own ``action_space`` would have sampled them. For
        EnvPool, ``env_id`` has the numbers of the environments that ``actions`` are for.
        """
        if env_id is not None:
            self.send(actions, env_id)
            return self.recv()
        return self._convert_results(self.env.step(self._convert_actions(actions)))

    def _convert_actions(self, actions: WrapperActType) -> ActType:
        """Convert actions for `step`, `step_async` and `send`."""
        return self._convert.action(actions)

    def _convert_results(
        self, results: tuple[object, object, object, object, Info]
    ) -> tuple[WrapperObsType, ArrayType, ArrayType, ArrayType, Info]:
        """Convert the results of `step`, `step_wait` and `recv`."""
        env_obs, rewards, terminations, truncations, infos = results
        del results  # this reference would force a copy of the observations
        return self._convert.step(env_obs, rewards, terminations, truncations, infos)

    @override
    def reset(
        self,
        env_id: ArrayType | Sequence[int] | None = None,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Info | None = None,
    ) -> tuple[WrapperObsType, Info]:
        """Start an episode in every environment.

        Array leaves of ``options`` are converted towards the environments. ``seed`` is passed on:
        Gymnasium's vector environments also take a list with a seed for each environment, although
        their base class does not declare it. For EnvPool, ``env_id`` has the numbers of the
        environments to reset.
        """
        convert = self._convert
        which: dict[str, object] = {} if env_id is None else {"env_id": convert.env_ids(env_id)}
        reset = cast("Callable[..., tuple[object, Info]]", self.env.reset)
        return self._begin(partial(reset, seed=seed, options=convert.options(options), **which))

    def _begin(
        self, wait: Callable[..., tuple[object, Info]], *arguments: object
    ) -> tuple[WrapperObsType, Info]:
        env_obs, env_infos = wait(*arguments)
        self._convert.begin(env_obs)
        return self._convert.obs_and_info(env_obs, env_infos)

    def sample_action(self) -> WrapperActType:
        """Return random actions, one for each environment, as the agent's own arrays."""
        space = self.action_space
        if batched(self, space) is space:
            return self._convert.sample(space.sample())
        samples = [cast("object", space.sample()) for _ in range(self.num_envs)]
        batch = cast("HostArray", create_empty_array(space, self.num_envs))
        return self._convert.sample(concatenate(space, samples, batch))

    # -- the two halves of a step, as AsyncVectorEnv has them ---------------------------------

    def step_async(self, actions: WrapperActType) -> None:
        """Send ``actions``, converted as in `step`; `step_wait` returns the results."""
        _ = _method(self.env, "step_async")(self._convert_actions(actions))

    def step_wait(
        self, timeout: float | None = None
    ) -> tuple[WrapperObsType, ArrayType, ArrayType, ArrayType, Info]:
        """Wait for the environments, and return what `step` returns."""
        return self._convert_results(_method(self.env, "step_wait")(timeout))

    def reset_async(
        self, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> None:
        """Start an episode in every environment; `reset_wait` returns what `reset` returns."""
        _ = _method(self.env, "reset_async")(seed=seed, options=self._convert.options(options))

    def reset_wait(self, timeout: float | None = None) -> tuple[WrapperObsType, Info]:
        """Wait for the environments, and return what `reset` returns."""
        return self._begin(_method(self.env, "reset_wait"), timeout)

    # -- EnvPool ------------------------------------------------------------------------------

    def send(self, action: WrapperActType, env_id: ArrayType | Sequence[int] | None = None) -> None:
        """Send actions to the environments with the numbers ``env_id``, by default to all."""
        convert = self._convert
        send = _method(self.env, "send")
        if env_id is None:
            _ = send(self._convert_actions(action), None)
        elif convert.action_type is None:
            _ = send(*convert.action_for(action, env_id))  # one transfer from a device
        else:
            _ = send(self._convert_actions(action), convert.env_ids(env_id))

    @overload
    def recv(
        self, reset: Literal[False] = False, return_info: bool = True
    ) -> tuple[WrapperObsType, ArrayType, ArrayType, ArrayType, Info]: ...
    @overload
    def recv(
        self, reset: Literal[True], return_info: bool = True
    ) -> tuple[WrapperObsType, Info]: ...
    def recv(self, reset: bool = False, return_info: bool = True) -> tuple[object, ...]:
        """Wait for a batch of environments, and return what `step` returns for them.

        With ``reset``, return what `reset` returns. ``infos["env_id"]`` has their numbers.
        """
        recv = _method(self.env, "recv")
        if not reset:
            return self._convert_results(recv(reset, return_info))
        return self._begin(recv, reset, return_info)

    def async_reset(self) -> None:
        """Start an episode in every environment; `recv` returns the first observations."""
        _ = _method(self.env, "async_reset")()
        self._convert.begin(None)

    def xla(self) -> tuple[types.AnyType, ...]:
        """Return EnvPool's handle and its functions for JAX unchanged."""
        return _method(self.env, "xla")()

    # -- calls that pass unchanged ------------------------------------------------------------

    def call(self, name: str, *args: object, **kwargs: object) -> tuple[object, ...]:
        """Call a method of every environment, and return the results."""
        return _method(self.env, "call", is_passed=True)(name, *args, **kwargs)

    def call_async(self, name: str, *args: object, **kwargs: object) -> None:
        """Call a method of every environment; `call_wait` returns the results."""
        _ = _method(self.env, "call_async", is_passed=True)(name, *args, **kwargs)

    def call_wait(self, timeout: float | None = None) -> tuple[object, ...]:
        """Wait for the environments, and return the results of `call_async`."""
        return _method(self.env, "call_wait", is_passed=True)(timeout)

    def get_attr(self, name: str) -> tuple[object, ...]:
        """Return an attribute of every environment."""
        return _method(self.env, "get_attr", is_passed=True)(name)

    def set_attr(self, name: str, values: object) -> None:
        """Set an attribute of every environment; a list or tuple has one value for each."""
        _ = _method(self.env, "set_attr", is_passed=True)(name, values)

    if TYPE_CHECKING:  # for a type checker, Gymnasium's own spaces are ``Space[Unknown]``
        env: VectorEnv[ObsType, ActType, ArrayType]  # before Gymnasium 1.4 it has no parameters

        @property
        @override
        def observation_space(self) -> Space[ObsType]: ...
        @observation_space.setter
        @override
        def observation_space(self, space: AnySpace) -> None: ...
        @property
        @override
        def action_space(self) -> Space[ActType]: ...
        @action_space.setter
        @override
        def action_space(self, space: AnySpace) -> None: ...
        @property
        @override
        def single_observation_space(self) -> AnySpace: ...
        @single_observation_space.setter
        @override
        def single_observation_space(self, space: AnySpace) -> None: ...
        @property
        @override
        def single_action_space(self) -> AnySpace: ...
        @single_action_space.setter
        @override
        def single_action_space(self, space: AnySpace) -> None: ...
