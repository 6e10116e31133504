"""The names that a library has in generated code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gymbridge_generator.model import Calls

if TYPE_CHECKING:
    from gymbridge_generator.model import Backend

RESERVED = frozenset(
    {
        "AgentT",
        "BackendNotInstalledError",
        "BatchedBridge",
        "BatchedEnv",
        "DlpackBackend",
        "EllipsisType",
        "Info",
        "Mapping",
        "ParallelBridge",
        "ParallelEnv",
        "REFUSED",
        "Self",
        "Sequence",
        "SingleBridge",
        "TYPE_CHECKING",
        "TypeAlias",
        "TypeVar",
        "VectorBridge",
        "VectorEnv",
        "_error",
        "annotations",
        "as_array",
        "behaved_items",
        "calls_reach",
        "cast",
        "converter_to",
        "copied",
        "gym",
        "is_behaved",
        "ndarray",
        "number_of",
        "overload",
        "override",
        "types",
        "items_of_type",
        *(f"{side}{call}" for call in Calls.model_fields for side in ("", "agent_", "env_")),
    }
)
"""The names that templates import or bind; a test compares them."""


class Names(NamedTuple):
    """The names that the module of a library defines; empty if there is none."""

    constant: str
    array: str
    leaf: str
    branch: str
    tree: str
    action: str
    device: str
    dtype: str
    obs: str
    act: str
    env_obs: str
    env_act: str
    subscript: str

    @classmethod
    def of(cls, backend: Backend) -> Names:
        """Return the names for one library."""
        prefix = part(backend)
        return cls(
            constant=backend.name.upper(),
            array=f"{prefix}Array",
            leaf=f"{prefix}Leaf",
            branch=f"_{prefix}Branch",
            tree=f"{prefix}Tree",
            action=f"{prefix}Action" if backend.action else "",
            device=f"{prefix}Device" if backend.device else "",
            dtype=f"{prefix}DType",
            obs=f"{prefix}ObsT",
            act=f"{prefix}ActT",
            env_obs=f"{prefix}EnvObsT",
            env_act=f"{prefix}EnvActT",
            subscript="" if backend.typed else f"{prefix}Index",
        )

    def all(self) -> set[str]:
        """Return all names."""
        return {*self} - {""}

    def public(self) -> set[str]:
        """Return the names that other modules may use."""
        return {name for name in self.all() if not name.startswith("_")}


def part(backend: Backend) -> str:
    """Return the library's part of class names."""
    return backend.class_name or backend.name.title().replace("_", "")


def forward(source: Backend, target: Backend) -> str:
    """Return the name of the module, and of the converter, from one library to another."""
    return f"{source.name}_to_{target.name}"


def wrapper(source: Backend, target: Backend) -> str:
    """Return the class name of a wrapper."""
    return f"{part(source)}To{part(target)}"
