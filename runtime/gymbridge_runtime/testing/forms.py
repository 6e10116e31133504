"""The forms of environments: how a test makes their actions and compares their results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np
from gymbridge_runtime.core.narrowing import is_mapping, is_single_number
from gymbridge_runtime.testing.expectation import Difference, Expectation, items_of
from gymbridge_runtime.testing.side import numbers_of
from gymbridge_runtime.wrappers.batched import BatchedBridge
from gymbridge_runtime.wrappers.single import SingleBridge
from gymbridge_runtime.wrappers.vector import VectorBridge
from gymbridge_runtime.wrappers.wrapper import Bridge
from gymnasium.vector import AutoresetMode
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gymbridge_runtime.types import AnySpace
    from gymnasium.envs.registration import EnvSpec

Step: TypeAlias = tuple[object, ...]
"""The result of `reset` (two values) or of `step` (five)."""

_RESET = ("obs", "info")
_STEP = ("obs", "reward", "terminated", "truncated", "info")


class Driven(Protocol):
    """The methods that every form of environment has."""

    def reset(self, *, seed: int | None = None) -> Step:
        """Start an episode."""
        ...

    def step(self, action: object, /) -> Step:
        """Take a step."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class Wrapped(Driven, Protocol):
    """The further members of every wrapper."""

    @property
    def unwrapped(self) -> object:
        """The environment below all wrappers."""
        ...

    @property
    def spec(self) -> EnvSpec | None:
        """The spec from which Gymnasium makes the environment again."""
        ...

    def sample_action(self) -> object:
        """Return a random action."""
        ...


class Form(ABC):
    """Environments of one form."""

    keeps_numbers: bool = False
    """Whether the numbers in infos stay numbers."""

    def action_spaces(self, env: object) -> dict[str, AnySpace]:
        """Return the spaces to sample from, by the path step of each sample."""
        return {"": cast("_HasSpace", env).action_space}

    def action(self, samples: dict[str, object]) -> object:
        """Return an action made of samples."""
        return samples[""]

    def actions(self, action: object) -> dict[str, object]:
        """Return the samples in an action, by the names of their spaces."""
        return {"": action}

    @abstractmethod
    def is_over(self, env: object, step: Step) -> bool:
        """Tell whether the environment has to be reset."""

    def differences(
        self, found: Step, bare: Step, expect: Expectation, observe: Expectation
    ) -> Iterator[Difference]:
        """Yield the wrong values in the result of a wrapper.

        Args:
            found: The result of the wrapper.
            bare: The result of the environment.
            expect: The expectation for infos.
            observe: The expectation for observations, rewards and flags.
        """
        names = _RESET if len(bare) == len(_RESET) else _STEP
        if type(found) is not tuple or len(found) != len(bare):
            yield Difference("the result", f"{len(bare)} values", repr(found))
            return
        for name, value, other in zip(names, found, bare, strict=True):
            if name == "obs":
                yield from observe.differences(value, other, name)
            elif name in {"reward", "terminated", "truncated"}:
                yield from self._scalars(value, other, name, observe)
            else:
                yield from expect.differences(value, other, name)

    def _scalars(
        self, found: object, bare: object, name: str, expect: Expectation
    ) -> Iterator[Difference]:
        yield from expect.differences(found, bare, name)


def _ends(step: Step) -> bool:
    return len(step) == len(_STEP) and (_is_true(step[2]) or _is_true(step[3]))


def _is_true(flags: object) -> bool:
    """Tell whether one flag, or any of several flags, is true."""
    items = items_of(flags)
    if items is not None:
        return any(_is_true(flag) for _, flag in items)
    numbers = numbers_of(flags)
    return bool(flags if numbers is None else numbers.any())


class _Single(Form):
    @override
    def is_over(self, env: object, step: Step) -> bool:
        return _ends(step)

    @override
    def _scalars(
        self, found: object, bare: object, name: str, expect: Expectation
    ) -> Iterator[Difference]:
        yield from _scalar(found, bare, name, expect)


class _Vector(Form):
    @override
    def is_over(self, env: object, step: Step) -> bool:
        mode = cast("_HasMetadata", env).metadata.get("autoreset_mode")
        return mode is AutoresetMode.DISABLED and _ends(step)


class _Parallel(Form):
    @override
    def action_spaces(self, env: object) -> dict[str, AnySpace]:
        parallel = cast("_HasAgents", env)
        return {agent: parallel.action_space(agent) for agent in parallel.agents}

    @override
    def action(self, samples: dict[str, object]) -> object:
        return samples

    @override
    def actions(self, action: object) -> dict[str, object]:
        return cast("dict[str, object]", action)

    @override
    def is_over(self, env: object, step: Step) -> bool:
        return not cast("_HasAgents", env).agents

    @override
    def _scalars(
        self, found: object, bare: object, name: str, expect: Expectation
    ) -> Iterator[Difference]:
        if not (is_mapping(bare) and is_mapping(found) and list(found) == list(bare)):
            yield from expect.differences(found, bare, name)
            return
        for agent, value in bare.items():
            yield from _scalar(found[agent], value, f"{name}[{agent!r}]", expect)


class _Batched(Form):
    """Batched environments, which return only arrays.

    Args:
        shape: The shape of a reward; a number stands for an array of that shape.
    """

    keeps_numbers: bool = True

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        self._shape: tuple[int, ...] = shape

    @override
    def is_over(self, env: object, step: Step) -> bool:
        return not self._shape and _ends(step)

    @override
    def _scalars(
        self, found: object, bare: object, name: str, expect: Expectation
    ) -> Iterator[Difference]:
        numbers = numbers_of(bare)
        if numbers is None and isinstance(bare, bool):
            numbers = np.array(bare)
        if numbers is not None:
            if is_single_number(bare):
                numbers = np.full(self._shape, numbers, np.float64)
            numbers = numbers if name == "reward" else numbers.astype(np.bool_)
        yield from expect.differences(found, bare if numbers is None else numbers, name)


class _HasMetadata(Protocol):
    metadata: dict[str, object]


class _HasSpace(Protocol):
    action_space: AnySpace


class _HasAgents(Protocol):
    agents: list[str]

    def action_space(self, agent: str) -> AnySpace: ...


def _scalar(found: object, bare: object, name: str, expect: Expectation) -> Iterator[Difference]:
    """Compare a result with the Python number that a single environment promises."""
    kind: Callable[[object], object] = cast(
        "Callable[[object], object]", float if name.startswith("reward") else bool
    )
    is_number = isinstance(bare, (Real, Decimal)) and not isinstance(bare, np.timedelta64)
    numbers = None if is_number else numbers_of(bare)
    if not is_number and (numbers is None or numbers.size != 1 or numbers.dtype.kind == "c"):
        yield from expect.differences(found, bare, name)
        return
    wanted = kind(bare if numbers is None else numbers.item())
    expect.leaves += 1
    if type(found) is not type(wanted) or not expect.alike(found, wanted):
        yield Difference(name, repr(wanted), repr(found))


SINGLE, VECTOR, PARALLEL = _Single(), _Vector(), _Parallel()


BY_NAME: dict[str, Form] = {
    "single": SINGLE,
    "vector": VECTOR,
    "parallel": PARALLEL,
    "batched": _Batched(),
}
"""The forms by the names that specs give them."""


def form_of(env: object) -> Form:
    """Return the form of a wrapper."""
    if isinstance(env, SingleBridge):
        return SINGLE
    if isinstance(env, VectorBridge):
        return VECTOR
    if isinstance(env, BatchedBridge):
        count = cast("int | None", getattr(cast("object", env), "num_envs", None))
        return _Batched(() if count is None else (count,))
    if isinstance(env, Bridge):  # the parallel base exists only with PettingZoo
        return PARALLEL
    raise TypeError(f"{env!r} is no wrapper of gymbridge; wrap the environment first")
