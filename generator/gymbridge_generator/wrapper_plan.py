"""What the module of one wrapper says, for single and for vector environments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming, sharing
from gymbridge_generator.layout import WIDTH, exported, fold, import_from, imports_from, paragraph
from gymbridge_generator.structures import LEAVES, Structure, structures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gymbridge_generator.model import Backend, Form

__all__ = ["WrapperPlan"]

GYMNASIUM = "numpy"
"""The library of the environments that Gymnasium comes with, and of examples."""


@dataclass(frozen=True)
class Inferred:
    """One overload of `infer`: a structure of observations, and what the wrapper is for it."""

    env: str
    """The type of the environment."""
    returns: str
    """From the bracket after the parameters to the end of the line."""


@dataclass(frozen=True)
class WrapperPlan:
    """The wrapper of one pair in one form."""

    class_name: str
    exports: tuple[str, ...]
    source: str
    target: str
    source_names: naming.Names
    target_names: naming.Names
    imports: str
    class_line: str
    step_returns: str
    """From the bracket after the parameters to the end of the line."""
    values: str
    """The first paragraph: what goes in and comes out."""
    memory: str
    subscription: str
    leaves: tuple[str, ...]
    """The type variables for leaves of observations."""
    inferred: tuple[Inferred, ...]
    example: tuple[str, ...]
    """The lines of the example, or none where the package cannot build one."""

    @classmethod
    def of(
        cls,
        source: Backend,
        target: Backend,
        form: Form,
        package: str | None,
        pairs: Sequence[tuple[Backend, Backend]],
    ) -> WrapperPlan:
        """Plan the wrapper of ``source`` environments for ``target`` agents."""
        ours, theirs = naming.Names.of(source), naming.Names.of(target)
        vector = form == "vector"
        parameters = [theirs.obs, theirs.act, ours.env_obs, ours.env_act]
        results = [theirs.obs, "float", "bool", "bool", "Info"]
        if vector:
            parameters.append(theirs.array)
            results[1:4] = [theirs.array] * 3
        name = naming.wrapper(source, target)
        forward, backward = naming.forward(source, target), naming.forward(target, source)
        return cls(
            class_name=name,
            exports=(name,) if vector else tuple(exported([name, forward, backward])),
            source=source.title,
            target=target.title,
            source_names=ours,
            target_names=theirs,
            imports=_imports(source, target, vector=vector),
            class_line=_class_line(name, f"{form.title()}Bridge", parameters),
            step_returns=fold(") -> tuple[", results, "]:", indent=4),
            values=paragraph(_values(target, vector=vector)),
            memory=paragraph(
                f"{sharing.observations(source, target, vector=vector)} {sharing.actions(source)}"
            ),
            subscription=paragraph(
                "An environment whose observations are no single arrays is typed by subscription: "
                + f"``{name}[dict[str, {theirs.array}]](env)``; `infer` finds the type where that "
                + "of the environment says enough."
            ),
            leaves=LEAVES,
            inferred=tuple(_inferred(name, theirs, vector=vector)),
            example=tuple(_example(source, target, package, pairs, vector=vector)),
        )


def _imports(source: Backend, target: Backend, *, vector: bool) -> str:
    ours, theirs = naming.Names.of(source), naming.Names.of(target)
    dots = ".." if vector else "."
    blocks = {
        f"{dots}backends.{source.name}": {
            ours.constant,
            ours.device,
            ours.env_act,
            ours.env_obs,
            ours.leaf,
        },
        f"{dots}backends.{target.name}": {
            theirs.constant,
            theirs.act,
            theirs.array,
            theirs.action,
            theirs.device,
            theirs.dtype,
            theirs.obs,
        },
    }
    if not vector:
        for function in (naming.forward(source, target), naming.forward(target, source)):
            blocks[f".converters.{function}"] = {function}
    return imports_from({module: names - {""} for module, names in blocks.items()})


def _class_line(name: str, base: str, parameters: Sequence[str]) -> str:
    bases = f"{base}[{', '.join(parameters)}]"
    if len(bases) + 4 > WIDTH:
        bases = fold(f"{base}[", parameters, "]", indent=4)
    return fold(f"class {name}(", [bases], "):")


def _inferred(name: str, theirs: naming.Names, *, vector: bool) -> Iterator[Inferred]:
    """Return one overload a structure, no two of which accept the same environment."""
    env = "VectorEnv" if vector else "gym.Env"
    plain = Structure(LEAVES[0], theirs.array)
    for structure in (plain, *structures(theirs.array)):
        # what the wrapper is told of the environment is that it has arrays, or nothing
        observed = structure.source if structure is plain else "types.AnyType"
        parameters = [structure.folded(8), theirs.action or theirs.array, observed, "_ActLeafT"]
        yield Inferred(
            env=f"{env}[{structure.source}, _ActLeafT]",
            returns=fold(f") -> {name}[", parameters, "]: ...", indent=4),
        )


def _values(target: Backend, *, vector: bool) -> str:
    if vector:
        return (
            f"Actions go in as arrays of {target.title}; observations, rewards, terminations, "
            "truncations and infos come back as such."
        )
    return (
        f"Actions go in as arrays of {target.title}, observations and infos come back as such. "
        "Reward, terminated and truncated are a float and two bools."
    )


def _example(
    source: Backend,
    target: Backend,
    package: str | None,
    pairs: Sequence[tuple[Backend, Backend]],
    *,
    vector: bool,
) -> list[str]:
    """Return an example that runs; without the package's name none that has to import it twice."""
    names = [naming.wrapper(source, target)]
    if source.name != GYMNASIUM:
        inner = [a for a, b in pairs if a.name == GYMNASIUM and b == source]
        if not (inner and package):
            return []
        names.append(naming.wrapper(inner[0], source))
    lines = [">>> import gymnasium as gym", f">>> import {target.module}"]
    if package:
        module = f"{package}.vector" if vector else package
        lines.append(f">>> {import_from(module, names)}")
    if vector:
        lines.append(
            '>>> cartpoles = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")'
        )
    made = "cartpoles" if vector else 'gym.make("CartPole-v1")'
    for name in reversed(names):
        made = f"{name}({made})"
    variable, infos = ("envs", "infos") if vector else ("env", "info")
    lines += [
        f">>> {variable} = {made}",
        f">>> obs, {infos} = {variable}.reset(seed=0)",
        f">>> isinstance(obs, {target.array})",
        "True",
    ]
    if vector:
        return [
            *lines,
            ">>> obs, rewards, terminations, truncations, infos = envs.step(envs.sample_action())",
            ">>> tuple(rewards.shape)",
            "(2,)",
        ]
    return [
        *lines,
        ">>> obs, reward, terminated, truncated, info = env.step(env.sample_action())",
        ">>> reward",
        "1.0",
    ]
