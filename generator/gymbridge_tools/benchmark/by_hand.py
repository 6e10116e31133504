"""The code that a careful engineer would write by hand for one pair and one case.

Each function here returns the source of such code. The code does what is necessary and safe, and
no more: arrays that nobody else holds are shared, arrays that the environment keeps are copied,
actions are copied, and reward and flags become Python's own. JAX may read its arguments later,
so arrays are copied before they go into JAX, and all arrays of a step go in with one call.

The code is text, because calling a helper for each array would slow it down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import jax
import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gymbridge_runtime.types import AnyArray, AnyType

    from .pairs import Pair

Way: TypeAlias = "Mapping[str, str]"
"""By the name of a pair: the expression that converts the array ``{0}``."""

# -- one array; into JAX, a compiled identity is called around it ---------------------------------

SHARED: Final[Way] = {
    "numpy_to_torch": "from_numpy({0})",
    "torch_to_numpy": "{0}.numpy()",
    "jax_to_numpy": "np.asarray({0})",
    "jax_to_torch": "from_numpy(np.array({0}))",
    "numpy_to_jax": "{0}.copy()",
    "torch_to_jax": "{0}.numpy().copy()",
}
COPIED: Final[Way] = {
    **SHARED,
    "numpy_to_torch": "from_numpy({0}.copy())",
    "torch_to_numpy": "{0}.numpy().copy()",
    "jax_to_numpy": "np.array({0})",
}
RETURNED: Final[Way] = {  # nobody can tell who else holds the memory of a tensor
    **SHARED,
    "torch_to_numpy": COPIED["torch_to_numpy"],
}
CAST: Final[Way] = {
    "numpy_to_torch": "from_numpy({0}.astype(np.float32))",
    "torch_to_numpy": "{0}.numpy().astype(np.float32)",
    "numpy_to_jax": "{0}.astype(np.float32)",
    "torch_to_jax": "{0}.numpy().astype(np.float32)",
}
UNKNOWN: Final[Way] = {  # the memory may be read-only, and PyTorch would write into it
    **SHARED,
    "numpy_to_torch": "from_numpy({0}) if {0}.flags.writeable else from_numpy({0}.copy())",
}

# -- actions for CartPole: a Discrete space samples np.int64, and JAX counts in int32 -------------

COUNT: Final[Way] = {
    "torch_to_numpy": "np.int64({0}.item())",
    "jax_to_numpy": "np.int64(np.asarray({0}).item())",
}
COUNTS: Final[Way] = {
    **COPIED,
    "jax_to_numpy": "np.asarray({0}).astype(np.int64)",
}

# -- numbers --------------------------------------------------------------------------------------

FROM_NUMBER: Final = {  # keys are target libraries
    "numpy": "np.array({0})",
    "torch": "from_numpy(np.array({0}))",
    "jax": "np.array({0}, np.{1})",
}
TO_NUMBER: Final = {  # keys are source libraries
    "numpy": "{1}({0})",
    "torch": "{0}.item()",
    "jax": "np.asarray({0}).item()",
}


def placed(device: str) -> Way:
    """Return the expressions to another device of PyTorch and back."""
    return {
        "numpy_to_torch": f"from_numpy({{0}}).to({device!r})",
        "torch_to_numpy": "{0}.cpu().numpy()",
    }


def _one(pair: Pair, way: Way, name: str) -> str:
    converted = way[pair.name].format(name)
    return f"identity({converted})" if pair.target == "jax" else converted


def _lines(converted: Sequence[str]) -> str:
    return ",\n        ".join(converted)


# -- converters -----------------------------------------------------------------------------------


def one_array(pair: Pair, way: Way = UNKNOWN) -> str:
    """Convert an array."""
    return f"""
def by_hand(array):
    return {_one(pair, way, "array")}
"""


def image(pair: Pair) -> str:
    """Convert a large array: JAX takes over memory that is aligned for it."""
    if pair.target != "jax":
        return one_array(pair)
    return f"""
def by_hand(array):
    return jax.device_put(aligned({"array" if pair.source == "numpy" else "array.numpy()"}))
"""


def number(pair: Pair) -> str:
    """Convert a float."""
    way = {pair.name: FROM_NUMBER[pair.target].replace("{1}", "float32")}
    return f"""
def by_hand(number):
    return {_one(pair, way, "number")}
"""


def mapping(pair: Pair) -> str:
    """Convert a dict of arrays."""
    array = UNKNOWN[pair.name].format("array")
    if pair.target != "jax":
        return f"""
def by_hand(arrays):
    return {{key: {array} for key, array in arrays.items()}}
"""
    return f"""
def by_hand(arrays):
    return dict(zip(arrays, identities(*[{array} for array in arrays.values()])))
"""


# -- steps of one environment ---------------------------------------------------------------------


def step(pair: Pair, obs: Way = RETURNED, action: Way = COPIED, *, arrays: bool = False) -> str:
    """Step; with ``arrays``, reward and flags are arrays too."""
    act = _one(pair.back, action, "action")
    to_number = TO_NUMBER[pair.source if arrays else "numpy"]
    return f"""
def by_hand(self, action):
    obs, reward, terminated, truncated, info = self.env.step({act})
    return (
        {_one(pair, obs, "obs")},
        {to_number.format("reward", "float")},
        {to_number.format("terminated", "bool")},
        {to_number.format("truncated", "bool")},
        dict(info),
    )
"""


def step_with_info(pair: Pair) -> str:
    """Step; the info holds two arrays, two numbers and two strings."""
    act = _one(pair.back, COPIED, "action")
    array, number = RETURNED[pair.name], FROM_NUMBER[pair.target]
    converted = [
        array.format("obs"),
        array.format('info["position"]'),
        array.format('info["speed"]'),
        number.format('info["lives"]', "int32"),
        number.format('info["time"]', "float32"),
    ]
    return f"""
def by_hand(self, action):
    obs, reward, terminated, truncated, info = self.env.step({act})
    obs, position, speed, lives, time = {"identities" if pair.target == "jax" else ""}(
        {_lines(converted)},
    )
    info = {{
        "position": position,
        "speed": speed,
        "lives": lives,
        "time": time,
        "mission": info["mission"],
        "outcome": info["outcome"],
    }}
    return obs, float(reward), bool(terminated), bool(truncated), info
"""


# -- steps of a vector of environments ------------------------------------------------------------


def vector_step(
    pair: Pair, obs: Way = RETURNED, rest: Way = RETURNED, actions: Way = COPIED
) -> str:
    """Step; the ``rest`` is rewards and flags."""
    act = _one(pair.back, actions, "actions")
    converted = _lines([obs[pair.name].format("obs"), *_rest(pair, rest)])
    if pair.target != "jax":
        return f"""
def by_hand(self, actions):
    obs, rewards, terminated, truncated, infos = self.env.step({act})
    return (
        {converted},
        dict(infos),
    )
"""
    return f"""
def by_hand(self, actions):
    obs, rewards, terminated, truncated, infos = self.env.step({act})
    obs, rewards, terminated, truncated = identities(
        {converted},
    )
    return obs, rewards, terminated, truncated, dict(infos)
"""


def vector_step_with_dict(pair: Pair, way: Way = RETURNED, actions: Way = COPIED) -> str:
    """Step; observations are a dict of arrays."""
    act = _one(pair.back, actions, "actions")
    array, rest = way[pair.name].format("array"), _lines(_rest(pair, way))
    if pair.target != "jax":
        return f"""
def by_hand(self, actions):
    obs, rewards, terminated, truncated, infos = self.env.step({act})
    return (
        {{key: {array} for key, array in obs.items()}},
        {rest},
        dict(infos),
    )
"""
    return f"""
def by_hand(self, actions):
    obs, rewards, terminated, truncated, infos = self.env.step({act})
    *leaves, rewards, terminated, truncated = identities(
        *[{array} for array in obs.values()],
        {rest},
    )
    return dict(zip(obs, leaves)), rewards, terminated, truncated, dict(infos)
"""


def _rest(pair: Pair, way: Way) -> list[str]:
    rewards = CAST if pair.name == "numpy_to_jax" else way  # rewards are float64
    return [
        rewards[pair.name].format("rewards"),
        way[pair.name].format("terminated"),
        way[pair.name].format("truncated"),
    ]


# -- compilation ----------------------------------------------------------------------------------


def _aligned(array: AnyArray) -> AnyArray:
    """Copy ``array`` to aligned memory, which JAX takes over."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy: AnyArray = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


_NAMES: Final[dict[str, object]] = {
    "np": np,
    "jax": jax,
    "from_numpy": torch.from_numpy,
    "aligned": _aligned,
    # a compiled identity is the cheapest import of NumPy arrays into JAX
    "identity": jax.jit(lambda array: array),
    "identities": jax.jit(lambda *arrays: arrays),
}


def compiled(source: str) -> Callable[..., object]:
    """Return the function that ``source`` defines."""
    names: dict[str, AnyType] = dict(_NAMES)
    exec(compile(source, "<by hand>", "exec"), names)
    function: Callable[..., object] = names["by_hand"]
    return function
