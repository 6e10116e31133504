"""`ArrayConversion`, and the functions of Gymnasium's module of that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.backends.array_api import backend_for
from gymbridge_runtime.backends.namespaces import (
    Namespace,
    module_name_to_namespace,
    module_namespace,
    namespace_name,
)
from gymbridge_runtime.core.converter import converter_to
from gymbridge_runtime.wrappers.generics import ActType, ObsType, WrapperActType, WrapperObsType
from gymbridge_runtime.wrappers.single import SingleBridge
from typing_extensions import override

if TYPE_CHECKING:
    import gymnasium as gym
    from gymbridge_runtime import types
    from gymbridge_runtime.wrappers.settings import Settings

__all__ = [
    "ArrayConversion",
    "array_conversion",
    "conversion_arguments",
    "module_name_to_namespace",
    "module_namespace",
]


def array_conversion(  # pyright: ignore[reportAny] its type depends on the value of ``xp``
    value: object, xp: Namespace, device: object = None, *, copy: bool | None = None
) -> types.AnyType:
    """Convert every array and number of a tree to arrays of ``xp``.

    Args:
        value: An array, a number, or containers of them.
        xp: The array API module of the library, or its name.
        device: Where the arrays go: the library's own object, or text.
        copy: None shares memory where both libraries allow it; otherwise it copies. True always
            copies. False never copies, and raises `CopyRequiredError` where a copy is needed.
    """
    return converter_to(backend_for(xp), device, copy)(value)


def conversion_arguments(names: tuple[str, str], settings: Settings) -> dict[str, object]:
    """Return the arguments of an `ArrayConversion` between libraries of these names."""
    renamed = {"device": "target_device"}
    given = {renamed.get(name, name): value for name, value in settings.arguments().items()}
    return {"env_xp": names[0], "target_xp": names[1], **given}


class ArrayConversion(SingleBridge[WrapperObsType, WrapperActType, ObsType, ActType]):
    """Use environments of one array API library from another.

    Prefer a generated class, such as ``NumpyToTorch(env)``: a type checker knows its types. The
    types of this class are ``Any`` unless you name them: ``ArrayConversion[Tensor, Tensor](env,
    "numpy", "torch")``.

    Reward is a float; terminated and truncated are bools. Rendered frames do not change.
    Specs and pickles hold the names of the modules.

    Args:
        env: The environment.
        env_xp: The array API module of the environment, or its name.
        target_xp: The array API module of the agent, or its name.
        env_device: Where actions go: the library's own object, or text.
        target_device: Where the agent's arrays go.
        copy: None shares an array only if nobody else can change it; otherwise it copies.
            True always copies. False never copies, and raises `CopyRequiredError` where a copy is
            needed.
        float_dtype: The dtype for floating observations and rewards; infos keep their dtypes.

    Examples:
        >>> import gymnasium as gym
        >>> from gymbridge import ArrayConversion
        >>> env = ArrayConversion(gym.make("CartPole-v1"), "numpy", "array_api_strict")
        >>> obs, info = env.reset(seed=0)
        >>> obs.dtype
        array_api_strict.float32
        >>> obs, reward, terminated, truncated, info = env.step(env.sample_action())
        >>> reward
        1.0
    """

    takes_any_source: bool = True

    def __init__(
        self,
        env: gym.Env[ObsType, ActType],
        env_xp: Namespace,
        target_xp: Namespace,
        env_device: object = None,
        target_device: object = None,
        *,
        copy: bool | None = None,
        float_dtype: object = None,
    ) -> None:
        self._names: tuple[str, str] = namespace_name(env_xp), namespace_name(target_xp)
        super().__init__(
            env,
            backend_for(env_xp),
            backend_for(target_xp),
            device=target_device,
            env_device=env_device,
            copy=copy,
            float_dtype=float_dtype,
        )

    @override
    def _arguments(self, settings: Settings) -> dict[str, object]:
        return conversion_arguments(self._names, settings)
