"""Plans the module of a wrapper, in any form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming, sharing
from gymbridge_generator.fast_path import FastPath, FastPaths
from gymbridge_generator.forms import FormFacts, filled
from gymbridge_generator.layout import (
    WIDTH,
    argument,
    exported,
    fold,
    import_from,
    imports_from,
    paragraph,
)
from gymbridge_generator.structures import LEAVES, Structure, structures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gymbridge_generator.model import Backend

GYMNASIUM = "numpy"
"""The library of Gymnasium's own environments, and of examples."""


@dataclass(frozen=True)
class Inferred:
    """One overload of `infer`: a structure of observations, and the wrapper's type for it."""

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
    device: str
    env_device: str
    """What the docstring says of these arguments."""
    obs: FastPath | None
    """How a step converts the usual observation."""
    action: FastPath | None
    """How a step converts the usual action."""
    helpers: str
    """The functions of the runtime that the fast path needs."""
    subscription: str
    leaves: tuple[str, ...]
    """The type variables for leaves of observations."""
    inferred: tuple[Inferred, ...]
    example: tuple[str, ...]
    """The lines of the example; none if the package has no environment for one."""

    @classmethod
    def of(
        cls,
        source: Backend,
        target: Backend,
        form: FormFacts,
        package: str | None,
        pairs: Sequence[tuple[Backend, Backend]],
    ) -> WrapperPlan:
        """Plan the wrapper of ``source`` environments for ``target`` agents."""
        ours, theirs = naming.Names.of(source), naming.Names.of(target)
        parameters = [*form.agent, theirs.obs, theirs.act, ours.env_obs, ours.env_act]
        parameters += [filled(each, theirs) for each in form.last]
        results = [filled(each, theirs) for each in form.results]
        name = naming.wrapper(source, target)
        converters = () if form.folder else _converters(source, target)
        paths = FastPaths.of(source, target)
        return cls(
            class_name=name,
            exports=tuple(exported([name, *converters])),
            source=source.title,
            target=target.title,
            source_names=ours,
            target_names=theirs,
            imports=_imports(source, target, form, paths),
            class_line=_class_line(name, form.bridge, parameters),
            step_returns=fold(") -> tuple[", results, "]:", indent=4),
            values=paragraph(form.values.format(title=target.title)),
            memory=paragraph(sharing.observations(source, target) + f" {sharing.actions(source)}"),
            device=argument(
                "device",
                f"Where the agent's arrays go; {sharing.place(source, target)}.",
                indent=12,
            ),
            env_device=argument(
                "env_device",
                f"Where actions go; {form.env_place or sharing.place(target, source)}.",
                indent=12,
            ),
            obs=paths.obs,
            action=paths.action,
            helpers=", ".join(sorted(_helpers(paths, form))),
            subscription=paragraph(
                f"``{name}[{filled(form.subscript, theirs)}](env)`` names the type of observations "
                + "that are not single arrays. `infer` takes it from the type of ``env``, if that "
                + "is known."
            ),
            leaves=LEAVES,
            inferred=tuple(_inferred(name, theirs, form)),
            example=tuple(_example(source, target, package, pairs, form)),
        )


def _helpers(paths: FastPaths, form: FormFacts) -> set[str]:
    obs, action, helpers = paths.obs, paths.action, set[str]()
    if action and not action.view:
        helpers.add("as_array")
    if form.name != "parallel" and obs and obs.make and not obs.make_many:
        helpers.add("ndarray")
    if form.name == "single":
        if obs and obs.view and not obs.item:
            helpers.add("number_of")
        if action and not action.make and not action.item:
            helpers.add("number_of")
    return helpers


def _converters(source: Backend, target: Backend) -> tuple[str, str]:
    return naming.forward(source, target), naming.forward(target, source)


def _imports(source: Backend, target: Backend, form: FormFacts, paths: FastPaths) -> str:
    ours, theirs = naming.Names.of(source), naming.Names.of(target)
    dots = ".." if form.folder else "."
    calls = paths.imports(paths.used_by(form.name))
    blocks = {
        f"{dots}backends.{source.name}": {
            ours.constant,
            ours.device,
            ours.env_act,
            ours.env_obs,
            ours.leaf,
            *calls[source.name],
        },
        f"{dots}backends.{target.name}": {
            theirs.constant,
            theirs.act,
            theirs.array,
            theirs.action,
            theirs.device,
            theirs.dtype,
            theirs.obs,
            *calls[target.name],
        },
    }
    if not form.folder:
        for function in _converters(source, target):
            blocks[f".converters.{function}"] = {function}
    return imports_from({module: names - {""} for module, names in blocks.items()})


def _class_line(name: str, base: str, parameters: Sequence[str]) -> str:
    bases = f"{base}[{', '.join(parameters)}]"
    if len(bases) + 4 > WIDTH:
        bases = fold(f"{base}[", parameters, "]", indent=4)
    return fold(f"class {name}(", [bases], "):")


def _inferred(name: str, theirs: naming.Names, form: FormFacts) -> Iterator[Inferred]:
    """Return one overload for each structure; no two accept the same environment."""
    plain = Structure(LEAVES[0], theirs.array)
    for structure in (plain, *structures(theirs.array)):
        # the parameter of the environment is the array type, or Any
        observed = structure.source if structure is plain else "types.AnyType"
        act = theirs.action or theirs.array
        parameters = [*form.agent, structure.folded(8), act, observed, "_ActLeafT"]
        wrapped = ", ".join([*form.agent, structure.source, "_ActLeafT", *form.env_last])
        yield Inferred(
            env=f"{form.env}[{wrapped}]",
            returns=fold(f") -> {name}[", parameters, "]: ...", indent=4),
        )


def _example(
    source: Backend,
    target: Backend,
    package: str | None,
    pairs: Sequence[tuple[Backend, Backend]],
    form: FormFacts,
) -> list[str]:
    """Return an example that runs; without a package name, only one that needs one wrapper."""
    names = [naming.wrapper(source, target)]
    if source.name != GYMNASIUM:
        inner = [a for a, b in pairs if a.name == GYMNASIUM and b == source]
        if not (inner and package):
            return []
        names.append(naming.wrapper(inner[0], source))
    shown = form.example
    lines = [f">>> {statement}" for statement in (*shown.imports, f"import {target.module}")]
    if package:
        module = f"{package}.{form.folder}" if form.folder else package
        lines.append(f">>> {import_from(module, names)}")
    variable, made = shown.made
    if variable:
        lines.append(f">>> {variable} = {made}")
        made = variable
    for name in reversed(names):
        made = f"{name}({made})"
    question, answer = shown.reset
    return [
        *lines,
        f">>> {shown.variable} = {made}",
        f">>> obs, {shown.infos} = {shown.variable}.reset(seed=0)",
        f">>> {question.format(array=target.array)}",
        answer,
        *shown.step,
    ]
