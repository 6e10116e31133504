"""Tries a wrapper with an environment that sends one array and receives another."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import gymnasium as gym
import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.core.converter import Converter
from gymbridge_runtime.core.errors import CopyRequiredError
from gymbridge_runtime.core.ownership import IS_PROVABLE
from gymbridge_runtime.wrappers.vector import VectorBridge
from gymnasium.spaces import Box
from typing_extensions import override

from gymbridge_tools.doctor.findings import Memory, PairFinding
from gymbridge_tools.doctor.look import WrongError, backend_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backends.base import AnyBackend, HostView
    from gymbridge_runtime.types import AnySpace, HostArray, Info

    from gymbridge_tools.doctor.package import Pair

_SHAPE = (2, 8)
_SPACE = Box(-np.inf, np.inf, _SHAPE[1:], np.float32)


class _Wrapper(Protocol):
    def reset(self) -> tuple[object, object]: ...
    def step(self, action: object) -> tuple[object, ...]: ...


def attempt(pair: Pair) -> PairFinding:
    """Take a step through the wrappers of a pair, and compare both sides."""
    source, target = backend_in(pair.source), backend_in(pair.target)
    wrappers = [getattr(import_module(module), pair.wrapper) for module in pair.modules]
    trial, *others = [
        _Trial(source, target, wrapper)
        for wrapper in cast("list[Callable[..., _Wrapper]]", wrappers)
    ]
    for other in others:
        _ = other.observations(), other.actions()
    observations = trial.observations()
    return PairFinding(
        pair.wrapper,
        source.title,
        target.title,
        works=True,
        observations=observations,
        why=trial.obstacle() if observations == "copied" else _why_uncopied(source),
        actions=trial.actions(),
    )


class _Trial:
    """One wrapper around an environment whose arrays can be examined."""

    def __init__(
        self, source: AnyBackend, target: AnyBackend, wrapper: Callable[..., _Wrapper]
    ) -> None:
        self._source: AnyBackend = source
        self._target: AnyBackend = target
        self._wrapper: Callable[..., _Wrapper] = wrapper
        kind = _Environments if issubclass(cast("type[object]", wrapper), VectorBridge) else _Single
        self._values: HostArray = np.arange(16, dtype=np.float32).reshape(_SHAPE)
        if kind is _Single:
            self._values = self._values[0]
        self._env: _Single | _Environments = kind(source, self._values)

    def observations(self) -> Memory:
        """Return how the wrapper treats the memory of a fresh observation."""
        seen, _ = self._wrapper(self._env).reset()
        here = self._arrived("observation", self._target, seen)
        if here.array.ctypes.data == self._env.address:
            return self._shared(self._target, here)
        self._env.keeps = True
        seen, _ = self._wrapper(self._env).reset()
        self._check_copy("observation", self._source, self._env.sent, self._target, seen)
        return "copied"

    def actions(self) -> Memory:
        """Return how the wrapper treats the memory of an action."""
        env = self._wrapper(self._env)
        _ = env.reset()
        action = Converter(self._target, copy=True)(self._values)
        _ = env.step(action)
        given, received = self._target.show(action), self._env.received
        here = self._arrived("action", self._source, received)
        if np.shares_memory(given.array, here.array):
            return self._shared(self._source, here)
        self._check_copy("action", self._target, action, self._source, received)
        return "copied"

    def obstacle(self) -> str:
        """Return why observations are copied: the error of `copy=False`, or the missing proof."""
        try:
            _ = self._wrapper(self._env, copy=False).reset()
        except CopyRequiredError as error:
            return error.problem
        if self._source is NUMPY and not IS_PROVABLE:
            return "this Python cannot prove that nobody else reaches an array"
        return "the environment may keep its arrays and write into them"

    def _arrived(self, what: str, target: AnyBackend, arrived: object) -> HostView:
        """Return the NumPy view of a received array; fail if it differs from the sent values."""
        if not target.is_array(type(arrived)):
            raise WrongError(f"the {what} arrived as {type(arrived).__name__}")
        here = target.show(arrived)
        if not np.array_equal(here.array, self._values) or here.array.dtype != self._values.dtype:
            raise WrongError(f"the {what} arrived with other values than it was sent with")
        return here

    def _shared(self, target: AnyBackend, here: HostView) -> Memory:
        return "shared" if target.mutable and here.array.flags.writeable else "read-only view"

    def _check_copy(
        self, what: str, source: AnyBackend, given: object, target: AnyBackend, arrived: object
    ) -> None:
        """Write into the sent array, and check that the copy does not change."""
        there = source.show(given)
        if there.copied or not there.array.flags.writeable:
            return
        there.array[...] = -1
        if not np.array_equal(target.show(arrived).array, self._values):
            raise WrongError(f"the copy of the {what} changed with what it is a copy of")


class _Sender:
    """Makes fresh observations, unless ``keeps`` is set."""

    def __init__(self, library: AnyBackend, values: HostArray) -> None:
        self._library: AnyBackend = library
        self._made: Converter = Converter(library, copy=True)
        self._values: HostArray = values
        self.keeps: bool = False
        self.address: int | None = None
        """The address of the last observation, if it can be read."""
        self.sent: object = None
        self.received: object = None

    def _observation(self) -> object:
        made = self._made(self._values)
        view = self._library.show(made)
        self.address = None if view.copied else view.array.ctypes.data
        if self.keeps:
            self.sent = made
        return made


class _Single(_Sender, gym.Env[object, object]):
    observation_space: AnySpace = _SPACE
    action_space: AnySpace = _SPACE

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[object, Info]:
        return self._observation(), {}

    @override
    def step(self, action: object) -> tuple[object, float, bool, bool, Info]:
        self.received: object = action
        return self._made(self._values), 0.0, False, False, {}


class _Environments(_Sender, gym.vector.VectorEnv[object, object, object]):
    num_envs: int = _SHAPE[0]
    single_observation_space: AnySpace = _SPACE
    single_action_space: AnySpace = _SPACE
    observation_space: AnySpace = Box(-np.inf, np.inf, _SHAPE, np.float32)
    action_space: AnySpace = observation_space

    @override
    def reset(
        self, *, seed: int | list[int | None] | None = None, options: Info | None = None
    ) -> tuple[object, Info]:
        return self._observation(), {}

    @override
    def step(self, actions: object) -> tuple[object, object, object, object, Info]:
        self.received: object = actions
        flags = self._made(np.zeros(self.num_envs, np.bool_))
        rewards = self._made(np.zeros(self.num_envs, np.float32))
        return self._made(self._values), rewards, flags, flags, {}


def _why_uncopied(source: AnyBackend) -> str:
    """Return why observations need no copy."""
    if not source.mutable:
        return f"{source.title} arrays never change, and the view is read-only"
    if source.never_changes:
        return f"{source.title} never writes into memory that is viewed; the view is read-only"
    return "nobody else can reach what step and reset return"
