"""`ArrayConversion` for vectors: environments of any array API library used from any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gymbridge_runtime import types
from gymbridge_runtime.array_conversion import recorded
from gymbridge_runtime.backends.namespace import backend_for
from gymbridge_runtime.namespaces import Namespace, namespace_name
from gymbridge_runtime.vector import VectorBridge
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.settings import Settings
    from gymbridge_runtime.types import Info
    from gymnasium.vector import VectorEnv

__all__ = ["ArrayConversion"]


ObsT = TypeVar("ObsT", default=types.AnyType)
ActT = TypeVar("ActT", default=types.AnyType)
EnvObsT = TypeVar("EnvObsT", default=types.AnyType)
EnvActT = TypeVar("EnvActT", default=types.AnyType)
ArrayT = TypeVar("ArrayT", default=types.AnyType)


class ArrayConversion(VectorBridge[ObsT, ActT, EnvObsT, EnvActT, ArrayT]):
    """Use vector environments of one array API library from another.

    Where both libraries are known by name, a class of their own says more to a type checker:
    ``NumpyToTorch(env)`` instead of ``ArrayConversion(env, "numpy", "torch")``. This one observes
    ``Any``, until it is told what: ``ArrayConversion[Tensor, Tensor](env, "numpy", "torch")``.

    Rendered frames stay as they are. Pickles hold the names of the modules.

    Examples:
        >>> import gymnasium as gym
        >>> from gymbridge.vector import ArrayConversion
        >>> cartpoles = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
        >>> envs = ArrayConversion(cartpoles, "numpy", "array_api_strict")
        >>> obs, infos = envs.reset(seed=0)
        >>> obs.dtype
        array_api_strict.float32
        >>> obs, rewards, terminations, truncations, infos = envs.step(envs.sample_action())
        >>> rewards.shape
        (2,)
    """

    def __init__(
        self,
        env: VectorEnv[EnvObsT, EnvActT, ArrayT],
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
            env_xp: The array API module of the environments, or its name.
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
    def step(self, actions: ActT) -> tuple[ObsT, ArrayT, ArrayT, ArrayT, Info]:
        """Take one step in every environment.

        They receive ``actions`` as their own ``action_space`` would have sampled them.
        """
        traffic = self._traffic
        act, batch = traffic.act, traffic.batch
        env_obs, env_rewards, env_terminations, env_truncations, env_infos = self.env.step(
            act(actions)
        )
        obs, rewards, terminations, truncations = batch(
            env_obs, env_rewards, env_terminations, env_truncations
        )
        infos = {} if type(env_infos) is dict and not env_infos else traffic.inform(env_infos)
        return obs, rewards, terminations, truncations, infos

    @override
    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[ObsT, Info]:
        """Start an episode in every environment.

        Array leaves of ``options`` are converted towards the environments. ``seed`` is passed on:
        Gymnasium's vector environments take one for each environment as well, though the class
        that they share does not say so.
        """
        traffic = self._traffic
        obs, infos = self.env.reset(seed=cast("int | None", seed), options=traffic.options(options))
        return traffic.observe(obs), traffic.inform(infos)
