"""JAX: its backend, and the calls of its fast path."""

from gymbridge_runtime.backends.jax.backend import JAX, ArrayImpl, JaxBackend, to_numpy
from gymbridge_runtime.backends.jax.imports import from_numpy_many, from_numpy_to

__all__ = ["JAX", "ArrayImpl", "JaxBackend", "from_numpy_many", "from_numpy_to", "to_numpy"]
