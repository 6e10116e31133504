from typing import TYPE_CHECKING

from tests.support import missing

try:
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError as error:
    missing(error)

if TYPE_CHECKING or hasattr(jax, "enable_x64"):
    enable_x64 = jax.enable_x64
else:  # before JAX 0.8
    from jax.experimental import enable_x64

__all__ = ["enable_x64", "jax", "jnp"]
