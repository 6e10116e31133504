"""The fast path of a pair: the functions of the two libraries that convert the usual array.

A fast path exists where the spec names functions that lead from NumPy's memory to the target and
from the source to NumPy's memory. NumPy itself needs none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gymbridge_generator.model import Backend, Form


@dataclass(frozen=True)
class FastPath:
    """The conversion of usual arrays in one direction; each field is a name in generated code."""

    view: str
    """The function that views an array on the host; empty for NumPy's arrays."""
    make: str
    """The function that makes an array of NumPy's memory; empty for NumPy's arrays."""
    takes_device: bool
    """Whether that function copies to a device; it may return None."""
    make_many: str
    """The function that makes several arrays at once; empty where there is none."""
    item: str
    """The function that returns the number of an array; empty: the method of its view does."""

    def used(self, *, one: bool = False, many: bool = False, number: bool = False) -> set[str]:
        """Return the names that generated code needs to convert one array, many, or a number."""
        names = {self.view}
        if one or not self.make_many:
            names.add(self.make)
        if many:
            names.add(self.make_many)
        if number:
            names.add(self.item)
        return names


@dataclass(frozen=True)
class FastPaths:
    """The fast paths of a pair in both directions; None where there is none."""

    obs: FastPath | None
    action: FastPath | None
    sides: tuple[tuple[str, Mapping[str, str]], tuple[str, Mapping[str, str]]]
    """For each library: the functions in its module, with their names in generated code."""

    @classmethod
    def of(cls, source: Backend, target: Backend) -> FastPaths:
        """Plan both directions for environments of ``source`` and agents of ``target``."""
        ours, theirs = calls_of(source), calls_of(target)
        env = {call: f"env_{call}" if call in theirs else call for call in ours}
        agent = {call: f"agent_{call}" if call in ours else call for call in theirs}
        return cls(
            obs=_direction(source, target, env, agent),
            action=_direction(target, source, agent, env),
            sides=((source.name, env), (target.name, agent)),
        )

    def used_by(self, form: Form) -> set[str]:
        """Return the names that the wrappers of a form need."""
        obs, action, used = self.obs, self.action, set[str]()
        if obs:
            used |= obs.used(one=form == "single", many=True, number=form == "single")
        if action and form != "parallel":
            used |= action.used(one=True, number=form == "single" and not action.make)
        return used

    def imports(self, used: set[str]) -> dict[str, set[str]]:
        """Return the imports of ``used`` from the modules of both libraries."""
        return {
            library: {
                call if call == name else f"{call} as {name}"
                for call, name in names.items()
                if name in used
            }
            for library, names in self.sides
        }


def is_numpy(backend: Backend) -> bool:
    """Tell whether the library's arrays are NumPy's."""
    return backend.array == "numpy.ndarray"


def calls_of(backend: Backend) -> dict[str, str]:
    """Return the calls of a library: from their keys in the spec to references."""
    return {} if backend.calls is None else backend.calls.model_dump(exclude_none=True)


def _direction(
    source: Backend, target: Backend, outwards: Mapping[str, str], inwards: Mapping[str, str]
) -> FastPath | None:
    make = inwards.get("from_numpy_to") or inwards.get("from_numpy") or ""
    view = outwards.get("to_numpy", "")
    if not ((is_numpy(source) or view) and (is_numpy(target) or make)):
        return None
    return FastPath(
        view=view,
        make=make,
        takes_device="from_numpy_to" in inwards,
        make_many=inwards.get("from_numpy_many", ""),
        item=outwards.get("item", ""),
    )
