"""The forms of environments: what each kind of wrapper is called, typed and said to do.

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

__all__ = ["FORMS", "Example", "FormFacts", "PassedOn", "filled"]


@dataclass(frozen=True)
class PassedOn:
    """A module of the runtime that a package passes on as it is."""

    module: str
    names: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class Example:
    """How a wrapper is tried in its docstring, with an environment that comes without downloads."""

    imports: tuple[str, ...]
    made: tuple[str, str]
    """The name of the environment made, with the line that makes it, or the expression alone."""
    variable: str
    infos: str
    reset: tuple[str, ...]
    """What is looked at after a reset, and what that shows."""
    step: tuple[str, ...]


@dataclass(frozen=True)
class FormFacts:
    """One kind of environment."""

    folder: str
    """The package of its wrappers below the package; empty: that is where they are."""
    template: str
    summary: str
    """What the package of its wrappers says."""
    bridge: str
    """The base class of its wrappers."""
    env: str
    """The type of what is wrapped, without its parameters."""
    agent: tuple[str, ...]
    """The parameters before all others, of environments and of wrappers: who acts."""
    last: tuple[str, ...]
    """The parameters of a wrapper's base class after those of the environment."""
    results: tuple[str, ...]
    """What a step returns."""
    values: str
    """What goes in and comes out, in words."""
    reuses_buffers: bool
    """Whether its environments can be told to return the same arrays again and again."""
    subscript: str
    """An example of a wrapper's parameters."""
    example: Example
    array_conversion: PassedOn | None = None
    """The wrapper between any two libraries, where there is one of this form."""


_ANY = "ArrayConversion"

FORMS: Mapping[Form, FormFacts] = {
    "single": FormFacts(
        folder="",
        template="single.py.jinja",
        summary="Typed Gymnasium wrappers between array libraries: a class for every ordered pair.",
        bridge="SingleBridge",
        env="gym.Env",
        agent=(),
        last=(),
        results=("{theirs.obs}", "float", "bool", "bool", "Info"),
        values=(
            "Actions go in as arrays of {title}, observations and infos come back as such. "
            "Reward, terminated and truncated are a float and two bools."
        ),
        reuses_buffers=False,
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
            "array_conversion",
            (_ANY, "array_conversion", "module_name_to_namespace", "module_namespace"),
            "`ArrayConversion`: environments of any array API library used from any other.",
        ),
    ),
    "vector": FormFacts(
        folder="vector",
        template="vector.py.jinja",
        summary="The same wrappers for vector environments, under the same names.",
        bridge="VectorBridge",
        env="VectorEnv",
        agent=(),
        last=("{theirs.array}",),
        results=("{theirs.obs}", "{theirs.array}", "{theirs.array}", "{theirs.array}", "Info"),
        values=(
            "Actions go in as arrays of {title}; observations, rewards, terminations, "
            "truncations and infos come back as such."
        ),
        reuses_buffers=True,
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
            "array_conversion_vector",
            (_ANY,),
            "`ArrayConversion` for vectors: any array API library used from any other.",
        ),
    ),
    "parallel": FormFacts(
        folder="parallel",
        template="parallel.py.jinja",
        summary="The same wrappers for PettingZoo's parallel environments, under the same names.",
        bridge="ParallelBridge",
        env="ParallelEnv",
        agent=("AgentT",),
        last=("{theirs.array}",),
        results=(
            "dict[AgentT, {theirs.obs}]",
            "dict[AgentT, float]",
            "dict[AgentT, bool]",
            "dict[AgentT, bool]",
            "dict[AgentT, Info]",
        ),
        values=(
            "Actions go in as arrays of {title}, observations and infos come back as such, in a "
            "dictionary with an entry for each agent. Rewards are floats; terminations and "
            "truncations are bools."
        ),
        reuses_buffers=False,
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
}


def filled(text: str, theirs: Names) -> str:
    """Return a type of a form for agents of one library."""
    return text.format(theirs=theirs)
