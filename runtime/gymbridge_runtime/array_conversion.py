"""`ArrayConversion`, and what else Gymnasium's module of the name has: any library to any other."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gymbridge_runtime import types
from gymbridge_runtime.backends.namespace import backend_for
from gymbridge_runtime.converter import Converter
from gymbridge_runtime.namespaces import (
    Namespace,
    module_name_to_namespace,
    module_namespace,
    namespace_name,
)
from gymbridge_runtime.single import SingleBridge
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    import gymnasium as gym
    from gymbridge_runtime.backend import AnyBackend
    from gymbridge_runtime.settings import Settings
    from gymbridge_runtime.types import Info

__all__ = [
    "ArrayConversion",
    "array_conversion",
    "module_name_to_namespace",
    "module_namespace",
    "recorded",
]


ObsT = TypeVar("ObsT", default=types.AnyType)
ActT = TypeVar("ActT", default=types.AnyType)
EnvObsT = TypeVar("EnvObsT", default=types.AnyType)
EnvActT = TypeVar("EnvActT", default=types.AnyType)


def array_conversion(  # pyright: ignore[reportAny] what it is follows from a value: ``xp``
    value: object, xp: Namespace, device: object = None, *, copy: bool | None = None
) -> types.AnyType:
    """Convert every array and number of a tree to arrays of ``xp``.

    Args:
        value: An array, a number, or containers of them.
        xp: The array API module of the library, or its name.
        device: Where the arrays go: the library's own object, or text.
        copy: None shares memory where nobody can tell and copies elsewhere, True always copies,
            False never does and raises `CopyRequiredError` where it would have to.
    """
    backend = backend_for(xp)
    if device is None:
        return _converter(backend, copy)(value)
    return Converter(backend, device=device, copy=copy)(value)


@cache
def _converter(backend: AnyBackend, copy: bool | None) -> Converter:
    return Converter(backend, copy=copy)


def recorded(names: tuple[str, str], settings: Settings) -> dict[str, object]:
    """Return the arguments of an `ArrayConversion` between libraries of these names."""
    renamed = {"device": "target_device"}
    given = {renamed.get(name, name): value for name, value in settings.given().items()}
    return {"env_xp": names[0], "target_xp": names[1], **given}


class ArrayConversion(SingleBridge[ObsT, ActT, EnvObsT, EnvActT]):
    """Use environments of one array API library from another.

    Where both libraries are known by name, a class of their own says more to a type checker:
    ``NumpyToTorch(env)`` instead of ``ArrayConversion(env, "numpy", "torch")``. This one observes
    ``Any``, until it is told what: ``ArrayConversion[Tensor, Tensor](env, "numpy", "torch")``.

    Reward, terminated and truncated are a float and two bools. Rendered frames stay as they are.
    Specs and pickles hold the names of the modules.

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

    def __init__(
        self,
        env: gym.Env[EnvObsT, EnvActT],
        env_xp: Namespace,
        target_xp: Namespace,
        env_device: object = None,
        target_device: object = None,
        *,
        copy: bool | None = None,
        float_dtype: object = None,
    ) -> None:
        """Wrap ``env``.

        Args:
            env: What to wrap.
            env_xp: The array API module of the environment, or its name.
            target_xp: The array API module of the agent, or its name.
            env_device: Where actions go: the library's own object, or text.
            target_device: Where the agent's arrays go.
            copy: None shares memory where nobody can tell and copies elsewhere, True always
                copies, False never does and raises `CopyRequiredError` where it would have to.
            float_dtype: What floating observations are cast to; infos keep theirs.
        """
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
    def _given(self, settings: Settings) -> dict[str, object]:
        return recorded(self._names, settings)

    @override
    def step(self, action: ActT) -> tuple[ObsT, float, bool, bool, Info]:
        """Take one step.

        The environment receives ``action`` as its own ``action_space`` would have sampled it.
        """
        traffic = self._traffic
        act = traffic.act
        # environments may return other numbers and flags than they declare
        step: tuple[object, object, object, object, Info] = self.env.step(act(action))
        env_obs, reward, terminated, truncated, info = step
        new_info: Info = {}
        if type(info) is dict and not info:
            obs = traffic.observe(env_obs)
        else:  # both at once, where that is cheaper
            obs, new_info = traffic.report(env_obs, info)
        return (
            obs,
            reward if type(reward) is float else traffic.reward(reward),
            terminated if terminated is False or terminated is True else traffic.over(terminated),
            truncated if truncated is False or truncated is True else traffic.cut(truncated),
            new_info,
        )

    @override
    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[ObsT, Info]:
        """Start an episode.

        Array leaves of ``options`` are converted towards the environment; ``seed`` is passed on.
        """
        traffic = self._traffic
        obs, info = self.env.reset(seed=seed, options=traffic.options(options))
        return traffic.observe(obs), traffic.inform(info)
