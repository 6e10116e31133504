"""The forms of environments: the names, types and descriptions of each kind of wrapper.

A form is an entry here, a template, and a base class in the runtime. Texts in braces are filled in
for a pair: `theirs` are the names of the agent's library, and `title` is how people spell it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gymbridge_generator.model import Form
    from gymbridge_generator.naming import Names


@dataclass(frozen=True)
class PassedOn:
    """A module of the runtime that a package re-exports."""

    module: str
    names: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class Example:
    """The example in a wrapper's docstring; its environment needs no download."""

    imports: tuple[str, ...]
    made: tuple[str, str]
    """A variable, which may be empty, and the expression that makes the environment."""
    variable: str
    infos: str
    reset: tuple[str, ...]
    """An expression after a reset, and its result."""
    step: tuple[str, ...]


@dataclass(frozen=True)
class FormFacts:
    """One kind of environment."""

    name: Form
    folder: str
    """The subpackage of its wrappers; empty: they are in the package itself."""
    template: str
    summary: str
    """The docstring of that package."""
    bridge: str
    """The base class of its wrappers."""
    env: str
    """The type of the environment, without its parameters."""
    agent: tuple[str, ...]
    """The first type parameters of environments and wrappers: the agent's name."""
    last: tuple[str, ...]
    """The last type parameters of the wrapper's base class."""
    env_last: tuple[str, ...]
    """The last type parameters of the environment."""
    results: tuple[str, ...]
    """What a step returns."""
    values: str
    """The first paragraph of the docstring: what goes in and comes out."""
    subscript: str
    """An example of type parameters."""
    example: Example
    array_conversion: PassedOn | None = None
    """The wrapper between any two libraries, where there is one of this form."""
    env_place: str = ""
    """Where actions go by default; empty: where the environment's library puts them."""


_ANY = "ArrayConversion"

FORMS: Mapping[Form, FormFacts] = {
    "single": FormFacts(
        name="single",
        folder="",
        template="single.py.jinja",
        summary="Typed Gymnasium wrappers between array libraries: a class for every ordered pair.",
        bridge="SingleBridge",
        env="gym.Env",
        agent=(),
        last=(),
        env_last=(),
        results=("{theirs.obs}", "float", "bool", "bool", "Info"),
        values=(
            "Actions are arrays of {title}; observations and infos come back as arrays of {title}, "
            "too. Reward is a float; terminated and truncated are bools."
        ),
        subscript="dict[str, {theirs.array}]",
        example=Example(
            imports=("import gymnasium as gym",),
            made=("", 'gym.make("CartPole-v1")'),
            variable="env",
            infos="info",
            reset=("isinstance(obs, {array})", "True"),
            step=(
                ">>> obs, reward, terminated, truncated, info = env.step(env.sample_action())",
                ">>> reward",
                "1.0",
            ),
        ),
        array_conversion=PassedOn(
            "wrappers.array_conversion",
            (_ANY, "array_conversion", "module_name_to_namespace", "module_namespace"),
            "`ArrayConversion`: environments of any array API library used from any other.",
        ),
    ),
    "vector": FormFacts(
        name="vector",
        folder="vector",
        template="vector.py.jinja",
        summary="The same wrappers for vector environments, under the same names.",
        bridge="VectorBridge",
        env="VectorEnv",
        agent=(),
        last=("{theirs.array}",),
        env_last=("types.AnyType",),
        results=("{theirs.obs}", "{theirs.array}", "{theirs.array}", "{theirs.array}", "Info"),
        values=(
            "Actions are arrays of {title}; observations, rewards, terminations, truncations and "
            "infos come back as arrays of {title}, too."
        ),
        subscript="dict[str, {theirs.array}]",
        example=Example(
            imports=("import gymnasium as gym",),
            made=(
                "cartpoles",
                'gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")',
            ),
            variable="envs",
            infos="infos",
            reset=("isinstance(obs, {array})", "True"),
            step=(
                ">>> obs, rewards, terminations, truncations, infos = "
                + "envs.step(envs.sample_action())",
                ">>> tuple(rewards.shape)",
                "(2,)",
            ),
        ),
        array_conversion=PassedOn(
            "wrappers.vector_array_conversion",
            (_ANY,),
            "`ArrayConversion` for vectors: any array API library used from any other.",
        ),
    ),
    "parallel": FormFacts(
        name="parallel",
        folder="parallel",
        template="parallel.py.jinja",
        summary="The same wrappers for PettingZoo's parallel environments, under the same names.",
        bridge="ParallelBridge",
        env="ParallelEnv",
        agent=("AgentT",),
        last=("{theirs.array}",),
        env_last=(),
        results=(
            "dict[AgentT, {theirs.obs}]",
            "dict[AgentT, float]",
            "dict[AgentT, bool]",
            "dict[AgentT, bool]",
            "dict[AgentT, Info]",
        ),
        values=(
            "Actions are arrays of {title}; observations and infos come back as arrays of {title}, "
            "too, in dictionaries with an entry for each agent. Rewards are floats; terminations "
            "and truncations are bools."
        ),
        subscript="str, dict[str, {theirs.array}]",
        example=Example(
            imports=("import pettingzoo",),
            made=("", 'pettingzoo.make("parallel", "classic/rps-v2")'),
            variable="env",
            infos="infos",
            reset=('isinstance(obs["player_0"], {array})', "True"),
            step=(
                ">>> obs, rewards, terminations, truncations, infos = "
                + "env.step(env.sample_action())",
                ">>> sorted(rewards)",
                "['player_0', 'player_1']",
            ),
        ),
    ),
    "batched": FormFacts(
        name="batched",
        folder="batched",
        template="batched.py.jinja",
        summary="The same wrappers for environments whose every result is an array.",
        bridge="BatchedBridge",
        env="BatchedEnv",
        agent=(),
        last=("{theirs.array}",),
        env_last=(),
        results=("{theirs.obs}", "{theirs.array}", "{theirs.array}", "{theirs.array}", "Info"),
        env_place="by default to the ``device`` of ``env``",
        values=(
            "Actions go in as arrays of {title}; observations, reward, terminated and truncated "
            "come back as such, and so do the arrays of infos. Numbers of infos stay numbers."
        ),
        subscript="dict[str, {theirs.array}]",
        example=Example(
            imports=("import gymnasium as gym",),
            made=("", 'gym.make("CartPole-v1")'),
            variable="env",
            infos="info",
            reset=("isinstance(obs, {array})", "True"),
            step=(
                ">>> obs, reward, terminated, truncated, info = env.step(env.sample_action())",
                ">>> tuple(reward.shape), tuple(terminated.shape)",
                "((), ())",
            ),
        ),
    ),
}


def filled(text: str, theirs: Names) -> str:
    """Return a type of a form with the names of the agent's library."""
    return text.format(theirs=theirs)
