"""Compares what a wrapper returns with what its environment returned, leaf by leaf."""

from __future__ import annotations

import copy
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import numpy as np
from gymbridge_runtime.backends.numpy import NUMPY
from gymbridge_runtime.core.dtypes import named_dtype
from gymbridge_runtime.core.narrowing import getattr_untyped, is_host_array, is_mapping, is_tuple
from gymbridge_runtime.testing.copies import copied
from gymbridge_runtime.testing.expectation import Difference, Expectation
from gymbridge_runtime.testing.forms import Driven, Form, Step, form_of
from gymbridge_runtime.testing.side import Side
from gymnasium.vector import AsyncVectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gymbridge_runtime.wrappers.settings import Settings

_SHOWN = 20


class BridgeMismatchError(AssertionError):
    """A wrapper returned a wrong value.

    Attributes:
        differences: Every wrong place, with the expected and the found value.
    """

    def __init__(self, when: str, differences: Sequence[Difference]) -> None:
        self.differences: tuple[Difference, ...] = tuple(differences)
        lines = [f"  {difference}" for difference in differences[:_SHOWN]]
        if len(differences) > _SHOWN:
            lines.append(f"  and {len(differences) - _SHOWN} more")
        super().__init__("\n".join([f"{when}:", *lines]))


class _Bridge(Protocol):
    """The parts of a wrapper."""

    env: object


class _Returned(NamedTuple):
    """The result of the wrapper, and a copy of the environment's."""

    when: str
    found: Step
    bare: Step


class _Recorder:
    """Keeps copies of what an environment last received and returned."""

    action: object = None
    returned: Step = ()

    def __init__(self, env: Driven) -> None:
        self._reset: Callable[..., Step] = env.reset
        self._step: Callable[[object], Step] = env.step
        methods = cast("_Methods", cast("object", env))
        methods.reset, methods.step = self.reset, self.step

    def reset(self, **arguments: object) -> Step:
        returned = self._reset(**arguments)
        self.returned = copied(returned)
        return returned

    def step(self, action: object) -> Step:
        self.action = copied(action)
        returned = self._step(action)
        self.returned = copied(returned)
        return returned


class _Methods(Protocol):
    """The methods that a recorder replaces."""

    reset: Callable[..., Step]
    step: Callable[[object], Step]


def check_bridge(
    env: object,
    *,
    make: Callable[[], object] | None = None,
    steps: int = 32,
    seed: int = 0,
    values: bool = True,
) -> int:
    """Compare a wrapper with its environment, step by step and leaf by leaf.

    ``env`` and its environment do not change: the check makes both again with the same arguments.
    The wrapper takes random actions as the agent's arrays. It must return what its environment
    returns, converted. Results are compared again one step later and at the end: they must not
    change, even if the environment writes into its buffers.

    Args:
        env: A wrapper of gymbridge, of any form.
        make: Makes the wrapped environment, if it cannot be deep-copied.
        steps: The number of steps.
        seed: The seed of the first reset and of the action spaces.
        values: Whether values are compared; libraries, dtypes, shapes and structure always are.

    Returns:
        The number of compared leaves.

    Raises:
        BridgeMismatchError: A value is wrong; the message says where and what.
        TypeError: ``env`` is no wrapper of gymbridge, or its environment runs in other processes
            and ``make`` is missing.
    """
    form, settings = form_of(env), _settings(env)
    source = Side(settings.source, device=settings.env_device)
    target = Side(settings.target, device=settings.device)
    dtype = None if settings.float_dtype is None else named_dtype(settings.float_dtype)
    expect = Expectation(target, values=values, arrays_only=form.keeps_numbers)
    observe = Expectation(target, float_dtype=dtype, values=values)
    receive = Expectation(source, scalars=settings.source is NUMPY)
    wrapped, inner = _again(cast("_Bridge", env), settings, make)
    recorder = _Recorder(inner)
    seeded: set[str] = set()
    returned: list[_Returned] = []

    def compare(when: str, found: Step, bare: Step) -> None:
        differences = list(form.differences(found, bare, expect, observe))
        if differences:
            raise BridgeMismatchError(when, differences)

    with closing(wrapped):
        when = f"reset(seed={seed})"
        found = wrapped.reset(seed=seed)
        bare = recorder.returned
        compare(when, found, bare)
        for number in range(1, steps + 1):
            seen = _Returned(when, found, bare)
            returned.append(seen)
            if form.is_over(inner, bare):
                when = f"the reset before step {number}"
                found = wrapped.reset()
            else:
                when = f"step {number}"
                sample = _sample(form, inner, seed, seeded)
                found = wrapped.step(agent_action(target, sample))
                wrong = [*receive.differences(recorder.action, rounded(sample, target), "action")]
                if wrong:
                    raise BridgeMismatchError(f"what the environment received in {when}", wrong)
            bare = recorder.returned
            compare(when, found, bare)
            compare(f"what was returned before {when}, and changed since", seen.found, seen.bare)
        leaves = expect.leaves + observe.leaves + receive.leaves
        for seen in returned:
            compare(f"what was returned in {seen.when}, and changed later", seen.found, seen.bare)
    return leaves


def _settings(env: object) -> Settings:
    return cast("Settings", getattr_untyped(getattr_untyped(env, "_convert"), "settings"))


def _again(
    env: _Bridge, settings: Settings, make: Callable[[], object] | None
) -> tuple[Driven, Driven]:
    """Make the wrapper and its environment again."""
    if make is None and isinstance(getattr_untyped(env, "unwrapped"), AsyncVectorEnv):
        # a copied connection would close the original
        raise TypeError(
            "AsyncVectorEnv cannot be deep-copied; pass make=, a function that makes it"
        )
    inner = cast("Driven", copy.deepcopy(env.env) if make is None else make())
    given = cast("Callable[[Settings], dict[str, object]]", getattr_untyped(env, "_arguments"))(
        settings
    )
    return cast("Callable[..., Driven]", type(env))(inner, **given), inner


def _sample(form: Form, env: object, seed: int, seeded: set[str]) -> object:
    samples: dict[str, object] = {}
    for name, space in form.action_spaces(env).items():
        if name not in seeded:
            _ = space.seed(seed)
            seeded.add(name)
        samples[name] = cast("object", space.sample())
    return form.action(samples)


def agent_action(side: Side, sample: object) -> object:
    """Return a sample of an action space as an agent makes it: arrays for arrays and scalars."""

    def leaf(values: np.generic | np.ndarray) -> object:
        stored = side.stored(values.dtype)
        return side.make(np.asarray(values, stored or values.dtype))

    return _mapped(sample, leaf)


def rounded(sample: object, side: Side) -> object:
    """Return a sample rounded to the dtypes of a library."""

    def leaf(values: np.generic | np.ndarray) -> object:
        stored = side.stored(values.dtype)
        there = np.asarray(values).astype(stored or values.dtype).astype(values.dtype)
        return there[()] if isinstance(values, np.generic) else there

    return _mapped(sample, leaf)


def _mapped(sample: object, leaf: Callable[..., object]) -> object:
    if is_mapping(sample):
        return {key: _mapped(value, leaf) for key, value in sample.items()}
    if is_tuple(sample):
        parts = [_mapped(value, leaf) for value in sample]
        make = cast("Callable[[Sequence[object]], object]", getattr(type(sample), "_make", tuple))
        return make(parts)
    if is_host_array(sample) or isinstance(sample, np.generic):
        return leaf(sample)
    return sample
