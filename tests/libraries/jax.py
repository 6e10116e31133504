from tests.support import missing

try:
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError as error:
    missing(error)

__all__ = ["jax", "jnp"]
