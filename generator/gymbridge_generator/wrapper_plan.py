"""What the module of one wrapper says, whatever the form of the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gymbridge_generator import naming, sharing
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
from gymbridge_generator.ordinary import is_host, shares_observations
from gymbridge_generator.structures import LEAVES, Structure, structures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gymbridge_generator.model import Backend

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
    device: str
    env_device: str
    """What the docstring says of these arguments."""
    shares_observations: bool
    """Whether a step shares an ordinary observation at once."""
    takes_host_actions: bool
    """Whether actions are NumPy's arrays, at which a step need not be shown them."""
    given_action: str
    """What a step makes an action of: where NumPy's are wanted, making one is a copy already."""
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
        return cls(
            class_name=name,
            exports=tuple(exported([name, *converters])),
            source=source.title,
            target=target.title,
            source_names=ours,
            target_names=theirs,
            imports=_imports(source, target, form),
            class_line=_class_line(name, form.bridge, parameters),
            step_returns=fold(") -> tuple[", results, "]:", indent=4),
            values=paragraph(form.values.format(title=target.title)),
            memory=paragraph(
                sharing.observations(source, target, reused=form.reuses_buffers)
                + f" {sharing.actions(source)}"
            ),
            device=argument(
                "device",
                f"Where the agent's arrays go; {sharing.place(source, target)}.",
                indent=12,
            ),
            env_device=argument(
                "env_device", f"Where actions go; {sharing.place(target, source)}.", indent=12
            ),
            shares_observations=shares_observations(source, target),
            takes_host_actions=is_host(target),
            given_action="seen" if is_host(source) else "seen.copy()",
            subscription=paragraph(
                "An environment whose observations are no single arrays is typed by subscription: "
                + f"``{name}[{filled(form.subscript, theirs)}](env)``; `infer` finds the "
                + "type where that of the environment says enough."
            ),
            leaves=LEAVES,
            inferred=tuple(_inferred(name, theirs, form)),
            example=tuple(_example(source, target, package, pairs, form)),
        )


def _converters(source: Backend, target: Backend) -> tuple[str, str]:
    return naming.forward(source, target), naming.forward(target, source)


def _imports(source: Backend, target: Backend, form: FormFacts) -> str:
    ours, theirs = naming.Names.of(source), naming.Names.of(target)
    dots = ".." if form.folder else "."
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
    """Return one overload a structure, no two of which accept the same environment."""
    plain = Structure(LEAVES[0], theirs.array)
    for structure in (plain, *structures(theirs.array)):
        # what the wrapper is told of the environment is that it has arrays, or nothing
        observed = structure.source if structure is plain else "types.AnyType"
        act = theirs.action or theirs.array
        parameters = [*form.agent, structure.folded(8), act, observed, "_ActLeafT"]
        wrapped = ", ".join([*form.agent, structure.source, "_ActLeafT"])
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
    """Return an example that runs; without the package's name none that has to import it twice."""
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
